/*
 * The cores' own structures and stacks, and the C half of each core's entry: src/boot ends here.
 */
#include "el1bench/cpu.h"

#include <stddef.h>

#include "../boot/boot.h"
#include "boot_entry.h"
#include "el1bench/counter.h"
#include "el1bench/mmu.h"
#include "el1bench/image.h"
#include "el1bench/smp.h"
#include "stacks.h"

_Static_assert(offsetof(struct cpu, emergency_stack) == CPU_OFFSET_EMERGENCY_STACK, "cpu.h");
_Static_assert(offsetof(struct cpu, index) == CPU_OFFSET_INDEX, "cpu.h");
_Static_assert(offsetof(struct cpu, spurious_interrupts) == CPU_OFFSET_SPURIOUS, "cpu.h");
_Static_assert(sizeof(struct cpu) == 1 << CPU_BYTES_SHIFT, "boot.h");
_Static_assert(sizeof(struct stack_block) == STACK_BLOCK_BYTES, "boot.h");
_Static_assert(offsetof(struct stack_block, emergency) == STACK_GUARD_BYTES, "boot.h");
_Static_assert(offsetof(struct stack_block, stack) ==
		       2 * STACK_GUARD_BYTES + CPU_EMERGENCY_STACK_BYTES,
	       "boot.h");

struct cpu cpus[CPU_MAX];

struct stack_block stacks[STACK_BLOCKS] __attribute__((section(".sbss.stacks"), aligned(4096)));

/* Fills in the calling core's structure and leaves the boot's special state. */
static void cpu_begin(uint32_t index, uint64_t stamp, uint64_t entry_el)
{
	struct cpu *cpu = cpu_current();

	cpu->index = index;
	cpu->entry_stamp = stamp;
	cpu->entry_el = (uint32_t)entry_el;
	cpu->mpidr = SYSREG_READ(mpidr_el1);
	cpu->midr = SYSREG_READ(midr_el1);
	cpu->counter_hz = counter_hz();
	mmu_identity_off();
	/* From here on an SError can be reported. */
	__asm__ volatile("msr daifclr, #4" : : : "memory");
}

void boot_primary(uint64_t x0, uint64_t x1, uint64_t stamp, uint64_t entry_el, uint64_t mmu_on,
		  uint64_t image_address, uint64_t load_address)
{
	boot_record = (struct boot_record){
		.x0 = x0,
		.x1 = x1,
		.load_address = load_address,
		.image_address = image_address,
		.entry_stamp = stamp,
		.entry_el = (uint32_t)entry_el,
		.entry_mmu_on = (uint32_t)mmu_on,
	};
	cpu_begin(0, stamp, entry_el);
	image_main();
}

void boot_secondary(uint64_t index, uint64_t stamp, uint64_t entry_el)
{
	cpu_begin((uint32_t)index, stamp, entry_el);
	smp_secondary_main((uint32_t)index);
}
