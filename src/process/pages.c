/*
 * The page allocator: free pages and each owner's pages are chains, linked by page number in an
 * array beside the pages, so that a process's pages go back with one splice.
 */
#include "el1bench/pages.h"

#include <stddef.h>

#include "el1bench/timed.h"

static struct {
	uint8_t *pages;
	uint32_t *next; /* by page number: the next page's number + 1, 0 at a chain's end */
	struct page_chain free;
} pool;

void pages_start(void *memory, uint32_t count)
{
	uintptr_t start = ((uintptr_t)memory + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);

	pool.pages = (uint8_t *)start;
	pool.next = (uint32_t *)(void *)(pool.pages + (uint64_t)count * PAGE_BYTES);
	pool.free = (struct page_chain){.first = count > 0, .last = count, .count = count};
	for (uint32_t i = 0; i < count; i++) {
		pool.next[i] = i + 1 < count ? i + 2 : 0;
	}
}

TIMED void *page_take(struct page_chain *owner)
{
	uint32_t page = pool.free.first;

	if (page == 0) {
		return NULL;
	}
	pool.free.first = pool.next[page - 1];
	pool.free.count--;
	pool.next[page - 1] = owner->first;
	owner->first = page;
	if (owner->count++ == 0) {
		owner->last = page;
	}
	return pool.pages + (uint64_t)(page - 1) * PAGE_BYTES;
}

TIMED void pages_give_back(struct page_chain *chain)
{
	if (chain->count == 0) {
		return;
	}
	pool.next[chain->last - 1] = pool.free.first;
	pool.free.first = chain->first;
	pool.free.count += chain->count;
	chain->first = 0;
	chain->last = 0;
	chain->count = 0;
}

TIMED uint32_t pages_free(void)
{
	return pool.free.count;
}
