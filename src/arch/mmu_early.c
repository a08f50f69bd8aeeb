/*
 * Makes the first translation tables. Runs at physical addresses: with the small code model the
 * compiler takes the address of a symbol relative to the PC, so that it is the physical address
 * here. Two things would be link-time addresses instead and are avoided: pointers stored in data,
 * and a symbol plus a large constant, which the compiler puts into a literal pool.
 */
#include "mmu_early.h"

#include <stddef.h>

#include "el1bench/mmu.h"
#include "mmu_tables.h"
#include "stacks.h"

extern const char image_end[];
extern const char timed_text_start[]; /* the boot code lies from image_start to here */
extern const char text_end[];
extern const char rodata_start[], rodata_end[];
extern const char data_start[];

static uint64_t page_down(uint64_t address)
{
	return address & ~(MMU_PAGE_BYTES - 1);
}

static uint64_t page_up(uint64_t address)
{
	return page_down(address + MMU_PAGE_BYTES - 1);
}

/* The address of `symbol`, which the compiler cannot combine with a constant. */
static uint64_t run_time_address(const void *symbol)
{
	uint64_t address = (uint64_t)symbol;

	__asm__("" : "+r"(address));
	return address;
}

/*
 * The pool is sized for this, so that nothing here can fail; if it did, the first access to what is
 * missing would end in early_vectors.S.
 */
static void map_image(uint64_t image, uint64_t start, uint64_t end, uint64_t attributes)
{
	uint64_t physical = page_down(start);
	uint64_t bytes = page_up(end) - physical;

	if (bytes != 0) {
		(void)mmu_tables_map(MMU_ROOT_HIGH, IMAGE_VA + (physical - image), physical, bytes,
				     attributes, MMU_PAGES_ONLY);
	}
}

void mmu_early_build(uint64_t image)
{
	uint64_t block = run_time_address(stacks);

	mmu_tables_start();
	map_image(image, image, run_time_address(text_end), MMU_CODE_PAGE);
	map_image(image, run_time_address(rodata_start), run_time_address(rodata_end),
		  MMU_CONSTANT_PAGE);

	/* Data up to the stacks, the stacks without their guard pages, and what comes after. */
	map_image(image, run_time_address(data_start), block, MMU_DATA_PAGE);
	for (size_t i = 0; i < STACK_BLOCKS; i++) {
		uint64_t emergency = block + offsetof(struct stack_block, emergency);
		uint64_t stack = block + offsetof(struct stack_block, stack);

		map_image(image, emergency, emergency + CPU_EMERGENCY_STACK_BYTES, MMU_DATA_PAGE);
		map_image(image, stack, stack + CPU_STACK_BYTES, MMU_DATA_PAGE);
		block += sizeof(struct stack_block);
	}
	map_image(image, block, run_time_address(image_end), MMU_DATA_PAGE);

	(void)mmu_tables_map(MMU_ROOT_IDENTITY, image, image,
			     page_up(run_time_address(timed_text_start)) - image, MMU_CODE_PAGE,
			     MMU_PAGES_ONLY);
}
