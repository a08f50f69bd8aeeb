/*
 * Free RAM: what the memory nodes give, minus what is reserved. Every range that is kept lies whole
 * within RAM and clear of every reservation, however many of those there are; if the list of
 * ranges runs full, memory is given up, never a reservation.
 */
#include "el1bench/memory.h"

#include <libfdt.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "el1bench/tree.h"

#define RANGES_MAX 64

/* Disjoint ranges [start, start + bytes), none empty, in no order. */
struct range_list {
	struct memory_range ranges[RANGES_MAX];
	uint32_t count;
};

static void list_add(struct range_list *list, uint64_t start, uint64_t end)
{
	if (start < end && list->count < RANGES_MAX) {
		list->ranges[list->count++] =
			(struct memory_range){.start = start, .bytes = end - start};
	}
}

static void list_cut(struct range_list *list, uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes;
	uint32_t i = 0;

	if (bytes == 0) {
		return;
	}
	if (end < start) {
		end = UINT64_MAX; /* a reservation that wraps keeps everything above its start */
	}
	while (i < list->count) {
		uint64_t range_start = list->ranges[i].start;
		uint64_t range_end = range_start + list->ranges[i].bytes;

		if (end <= range_start || start >= range_end) {
			i++;
			continue;
		}
		/* What is left of it goes to the end of the list, where it is found clear. */
		list->ranges[i] = list->ranges[--list->count];
		list_add(list, range_start, start);
		list_add(list, end, range_end);
	}
}

/* RAM described twice counts once: what is there already is cut out first. */
static void list_add_memory(struct range_list *list, uint64_t start, uint64_t bytes)
{
	if (bytes == 0 || start + bytes < start) {
		return;
	}
	list_cut(list, start, bytes);
	list_add(list, start, start + bytes);
}

static void read_memory_nodes(const void *tree, struct range_list *list)
{
	for (struct tree_children c = tree_children(tree, 0); tree_next_child(&c);) {
		const char *type;
		uint64_t start;
		uint64_t bytes;

		if (strncmp(c.name, "memory", strlen("memory")) != 0) {
			continue; /* the name is prescribed, and quicker to look at */
		}
		type = tree_string(tree, c.node, "device_type");
		if (type == NULL || strcmp(type, "memory") != 0 ||
		    !tree_status_okay(tree, c.node)) {
			continue;
		}
		for (unsigned int i = 0; tree_reg_of_child(tree, 0, c.node, i, &start, &bytes);
		     i++) {
			list_add_memory(list, start, bytes);
		}
	}
}

static void cut_memreserve(const void *tree, struct range_list *list)
{
	int count = fdt_num_mem_rsv(tree);

	for (int i = 0; i < count; i++) {
		uint64_t start;
		uint64_t bytes;

		if (fdt_get_mem_rsv(tree, i, &start, &bytes) == 0) {
			list_cut(list, start, bytes);
		}
	}
}

/*
 * Children without `reg` are wishes for an allocation: nobody has allocated, so nothing is taken.
 */
static void cut_reserved_memory(const void *tree, struct range_list *list)
{
	int parent = tree_child(tree, 0, "reserved-memory");

	if (parent < 0 || !tree_status_okay(tree, parent)) {
		return;
	}
	for (struct tree_children c = tree_children(tree, parent); tree_next_child(&c);) {
		uint64_t start;
		uint64_t bytes;

		if (!tree_status_okay(tree, c.node)) {
			continue;
		}
		for (unsigned int i = 0; tree_reg_of_child(tree, parent, c.node, i, &start, &bytes);
		     i++) {
			list_cut(list, start, bytes);
		}
	}
}

bool memory_initrd(const void *tree, struct memory_range *range)
{
	int chosen = tree_child(tree, 0, "chosen");
	uint64_t start;
	uint64_t end;

	*range = (struct memory_range){.bytes = 0};
	if (chosen < 0 || !tree_number(tree, chosen, "linux,initrd-start", &start) ||
	    !tree_number(tree, chosen, "linux,initrd-end", &end) || end <= start) {
		return false;
	}
	*range = (struct memory_range){.start = start, .bytes = end - start};
	return true;
}

/* Whole pages only; the top page of the address space is given up to keep ends from wrapping. */
static void keep_whole_pages(struct range_list *list)
{
	const uint64_t mask = MEMORY_PAGE_BYTES - 1;
	struct range_list pages = {.count = 0};

	for (uint32_t i = 0; i < list->count; i++) {
		uint64_t start = list->ranges[i].start;
		uint64_t end = (start + list->ranges[i].bytes) & ~mask;

		if (start <= UINT64_MAX - mask) {
			list_add(&pages, (start + mask) & ~mask, end);
		}
	}
	*list = pages;
}

static void sort_largest_first(struct range_list *list)
{
	for (uint32_t i = 1; i < list->count; i++) {
		struct memory_range range = list->ranges[i];
		uint32_t at = i;

		for (; at > 0 && list->ranges[at - 1].bytes < range.bytes; at--) {
			list->ranges[at] = list->ranges[at - 1];
		}
		list->ranges[at] = range;
	}
}

uint32_t memory_free_ranges(const void *tree, const struct memory_range *taken,
			    uint32_t taken_count, struct memory_range *ranges, uint32_t capacity)
{
	struct range_list list = {.count = 0};
	struct memory_range initrd;
	uint32_t count;

	read_memory_nodes(tree, &list);
	cut_memreserve(tree, &list);
	cut_reserved_memory(tree, &list);
	if (memory_initrd(tree, &initrd)) {
		list_cut(&list, initrd.start, initrd.bytes);
	}
	for (uint32_t i = 0; i < taken_count; i++) {
		list_cut(&list, taken[i].start, taken[i].bytes);
	}
	keep_whole_pages(&list);
	sort_largest_first(&list);

	count = list.count < capacity ? list.count : capacity;
	memcpy(ranges, list.ranges, count * sizeof(ranges[0]));
	return count;
}
