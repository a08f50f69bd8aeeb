/* sources: src/process/pages.c src/bench/random.c */
/*
 * The page allocator: no page has two owners, all come back, and the end is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/pages.h"
#include "el1bench/random.h"

#define PAGES 50
#define OWNERS 7

static void test_owners(void **state)
{
	uint8_t *memory = malloc(PAGES_MEMORY_BYTES(PAGES));
	struct page_chain owners[OWNERS] = {0};
	struct random_state random;
	uint32_t taken = 0;

	(void)state;
	pages_start(memory, PAGES);
	random_seed(&random, 3);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t owner = random_below(&random, OWNERS);

		if (random_below(&random, 30) == 0) {
			taken -= owners[owner].count;
			pages_give_back(&owners[owner]);
			assert_int_equal(owners[owner].count, 0);
		} else {
			uint8_t *page = page_take(&owners[owner]);

			assert_int_equal(page == NULL, taken == PAGES);
			if (page != NULL) {
				taken++;
				assert_int_equal((uintptr_t)page % PAGE_BYTES, 0);
				assert_true(page >= memory &&
					    page + PAGE_BYTES <=
						    memory + PAGES_MEMORY_BYTES(PAGES));
				memset(page, (int)owner, PAGE_BYTES);
			}
		}
		assert_int_equal(pages_free(), PAGES - taken);
	}
	for (uint32_t owner = 0; owner < OWNERS; owner++) {
		pages_give_back(&owners[owner]);
	}
	assert_int_equal(pages_free(), PAGES);
	/* All of them are there, each once. */
	for (uint32_t i = 0; i < PAGES; i++) {
		uint8_t *page = page_take(&owners[0]);

		assert_non_null(page);
		memset(page, 0xaa, PAGE_BYTES);
		page[0] = 0x55;
		*(uint32_t *)(void *)(page + 4) = i;
	}
	assert_null(page_take(&owners[0]));
	free(memory);
}

static void test_none(void **state)
{
	uint8_t memory[PAGES_MEMORY_BYTES(0)];
	struct page_chain owner = {0};

	(void)state;
	pages_start(memory, 0);
	assert_null(page_take(&owner));
	pages_give_back(&owner);
	assert_int_equal(pages_free(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
