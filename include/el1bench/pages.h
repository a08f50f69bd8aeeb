/*
 * Pages for processes: one run of memory, cut into pages of 4 KiB that are taken one by one and
 * given back by the chain. Everything is constant work. Core 0; no hardware access.
 */
#pragma once

#include <stdint.h>

#define PAGE_BYTES 4096U

/* The pages of one owner; all zero: none. */
struct page_chain {
	uint32_t first; /* page number + 1 */
	uint32_t last;
	uint32_t count;
};

/* Bytes that `pages_start` needs for `count` pages. */
#define PAGES_MEMORY_BYTES(count) ((uint64_t)(count) * (PAGE_BYTES + sizeof(uint32_t)) + PAGE_BYTES)

/* Takes `memory`, PAGES_MEMORY_BYTES(count) in size, into use; all pages are free. */
void pages_start(void *memory, uint32_t count);

/* A page with any content, added to the owner's chain; NULL if none is free. Timed code. */
void *page_take(struct page_chain *owner);

/* Gives all pages of the chain back and empties it. Timed code. */
void pages_give_back(struct page_chain *chain);

/* Pages that are free. Timed code. */
uint32_t pages_free(void);
