/*
 * Address spaces of EL0 processes: TTBR0, an ASID and pages, all from bounded pools. Addresses
 * below 1 GiB; 4 KiB pages. Core 0 but for `address_space_switch`. Timed code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/pages.h"

/* ASIDs in use: 8 bits, which every core has; 0 belongs to the empty address space. */
#define ADDRESS_SPACE_ASIDS 255U

struct address_space {
	uint64_t *root;
	uint64_t ttbr;           /* TTBR0_EL1: physical address of the root, ASID */
	struct page_chain pages; /* tables and memory */
};

/* Before any other: fills the pool of ASIDs and takes a page for the empty address space. */
bool address_space_start(void);

/* An empty address space. False if pages or ASIDs are used up; nothing is taken then. */
bool address_space_create(struct address_space *space);

/*
 * Maps a fresh page, its content arbitrary, at `address` with ELF_READ, ELF_WRITE or ELF_EXECUTE in
 * `flags`. Returns where the kernel reaches it; NULL if pages are used up. The address must not be
 * mapped yet, nor ever have been.
 */
void *address_space_map(struct address_space *space, uint64_t address, uint32_t flags);

/* Makes the calling core use it from now on; NULL: the empty one. Any core. */
void address_space_switch(const struct address_space *space);

/*
 * Drops its translations from all TLBs and gives pages and ASID back. No core uses it any more.
 */
void address_space_destroy(struct address_space *space);

/* ASIDs that are free. */
uint32_t address_space_asids_free(void);

/* Drops all translations of an address space from the TLBs of all cores; ends with DSB. */
void address_space_invalidate(const struct address_space *space);

/* Fills a page with zeros. */
void page_clear(void *page);

/* Copies `bytes`, any number; aligned to 16 or not. */
void page_copy(void *page, const void *source, uint64_t bytes);

/* Makes instructions that were written to a page visible to instruction fetches of all cores. */
void page_sync_code(void *page);
