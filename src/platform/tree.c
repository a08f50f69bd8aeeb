/*
 * Reading a flattened device tree: what libfdt leaves to its caller. Walks are linear in the size
 * of the tree, nothing recurses, and no string is used before its end has been seen.
 */
#include "el1bench/tree.h"

#include <libfdt.h>
#include <string.h>

/* Nodes nested deeper than this do not exist for us; real trees stay below 8. */
#define DEPTH_MAX 16

/* Addresses and sizes of more than 64 bits (PCI's three cells) are never those of our devices. */
#define CELLS_MAX 2

/* Trees with more nodes are walked with libfdt for every search; boards have a few hundred. */
#define LISTED_MAX 1024

/* The nodes of one tree in their order, from one walk: libfdt takes 150,000 instructions for it. */
static struct {
	const void *tree; /* NULL: none */
	int count;
	struct listed_node {
		int offset;
		int depth; /* 0: the root */
		const char *name;
		const char *compatible; /* the property's value, NULL if absent ... */
		int compatible_bytes;   /* ... and its length */
	} nodes[LISTED_MAX];
} list;

/* The nodes from the root down to one node. */
struct path {
	int nodes[DEPTH_MAX];
	int count; /* 0 if the node was not found or lies too deep */
};

static void list_nodes(const void *tree)
{
	int depth = 0;

	list.tree = NULL;
	list.count = 0;
	for (int node = 0; node >= 0 && depth >= 0; node = fdt_next_node(tree, node, &depth)) {
		struct listed_node *listed = &list.nodes[list.count];

		if (list.count == LISTED_MAX) {
			return;
		}
		listed->offset = node;
		listed->depth = depth;
		listed->name = fdt_get_name(tree, node, NULL);
		listed->compatible =
			fdt_getprop(tree, node, "compatible", &listed->compatible_bytes);
		list.count++;
	}
	list.tree = tree;
}

bool tree_valid(const void *blob, size_t readable)
{
	if (list.tree == blob) {
		list.tree = NULL;
	}
	if ((uintptr_t)blob % 8 != 0 || readable < sizeof(struct fdt_header) ||
	    readable < tree_claimed_bytes(blob) || fdt_check_header(blob) != 0) {
		return false;
	}
	/* Version 17 is the first that says how long the structure block is. */
	if (fdt_totalsize(blob) > TREE_MAX_BYTES || fdt_version(blob) < 17 ||
	    fdt_off_dt_struct(blob) % 4 != 0 || fdt_off_mem_rsvmap(blob) % 8 != 0) {
		return false;
	}
	if (fdt_check_full(blob, fdt_totalsize(blob)) != 0) {
		return false;
	}
	list_nodes(blob);
	return true;
}

/* A walk over all nodes of a tree, in order. */
struct walk {
	const void *tree;
	int position; /* in the list */
	int node;
	int depth;
};

static struct walk walk_begin(const void *tree)
{
	return (struct walk){.tree = tree, .position = -1, .node = -1};
}

static bool walk_next(struct walk *walk)
{
	walk->position++;
	if (walk->tree == list.tree) {
		if (walk->position >= list.count) {
			return false;
		}
		walk->node = list.nodes[walk->position].offset;
		walk->depth = list.nodes[walk->position].depth;
		return true;
	}
	walk->node = walk->position == 0 ? 0 : fdt_next_node(walk->tree, walk->node, &walk->depth);
	return walk->node >= 0 && walk->depth >= 0;
}

static bool walk_compatible(const struct walk *walk, const char *compatible)
{
	const struct listed_node *listed;

	if (walk->tree != list.tree) {
		return fdt_node_check_compatible(walk->tree, walk->node, compatible) == 0;
	}
	listed = &list.nodes[walk->position];
	return listed->compatible != NULL &&
	       fdt_stringlist_contains(listed->compatible, listed->compatible_bytes, compatible) !=
		       0;
}

struct tree_children tree_children(const void *tree, int parent)
{
	struct tree_children children = {.tree = tree, .node = parent, .position = -1};
	int first = 0;
	int end = tree == list.tree ? list.count : 0;

	while (first < end) {
		int middle = first + (end - first) / 2;

		if (list.nodes[middle].offset == parent) {
			children.position = middle;
			break;
		}
		if (list.nodes[middle].offset < parent) {
			first = middle + 1;
		} else {
			end = middle;
		}
	}
	return children;
}

bool tree_next_child(struct tree_children *children)
{
	while (children->node >= 0) {
		if (children->position < 0) {
			children->node =
				fdt_next_node(children->tree, children->node, &children->depth);
			children->name = fdt_get_name(children->tree, children->node, NULL);
		} else if (++children->position < list.count) {
			const struct listed_node *now = &list.nodes[children->position];

			children->depth += now->depth - now[-1].depth;
			children->node = now->offset;
			children->name = now->name;
		} else {
			children->node = -FDT_ERR_NOTFOUND;
		}
		if (children->node < 0 || children->depth <= 0 || children->name == NULL) {
			children->node = -FDT_ERR_NOTFOUND;
		} else if (children->depth == 1) {
			return true;
		}
	}
	return false;
}

static int child_of_length(const void *tree, int parent, const char *name, size_t length)
{
	for (struct tree_children c = tree_children(tree, parent); tree_next_child(&c);) {
		if (strncmp(c.name, name, length) == 0 &&
		    (c.name[length] == '\0' ||
		     (c.name[length] == '@' && memchr(name, '@', length) == NULL))) {
			return c.node;
		}
	}
	return -FDT_ERR_NOTFOUND;
}

int tree_child(const void *tree, int parent, const char *name)
{
	return child_of_length(tree, parent, name, strlen(name));
}

size_t tree_claimed_bytes(const void *blob)
{
	return fdt_magic(blob) == FDT_MAGIC ? fdt_totalsize(blob) : 0;
}

bool tree_status_okay(const void *tree, int node)
{
	int length;
	const char *status = fdt_getprop(tree, node, "status", &length);

	if (status == NULL) {
		return length == -FDT_ERR_NOTFOUND;
	}
	return (length == sizeof("okay") && memcmp(status, "okay", sizeof("okay")) == 0) ||
	       (length == sizeof("ok") && memcmp(status, "ok", sizeof("ok")) == 0);
}

static bool path_okay(const void *tree, const struct path *path)
{
	for (int i = 0; i < path->count; i++) {
		if (!tree_status_okay(tree, path->nodes[i])) {
			return false;
		}
	}
	return path->count > 0;
}

static struct path path_to(const void *tree, int node)
{
	struct path path = {.count = 0};

	for (struct walk walk = walk_begin(tree); walk_next(&walk) && walk.node <= node;) {
		if (walk.depth >= DEPTH_MAX) {
			continue;
		}
		path.nodes[walk.depth] = walk.node;
		if (walk.node == node) {
			path.count = walk.depth + 1;
			break;
		}
	}
	return path;
}

bool tree_node_okay(const void *tree, int node)
{
	struct path path = path_to(tree, node);

	return path_okay(tree, &path);
}

/* Value of `count` cells, 0 to CELLS_MAX; the data need not be aligned. */
static uint64_t cells_value(const uint8_t *data, int count)
{
	uint64_t value = 0;

	for (int i = 0; i < count; i++) {
		value = value << 32 | fdt32_ld((const fdt32_t *)(const void *)(data + 4 * i));
	}
	return value;
}

/* The number of cells in a bus property, or its default; false where they do not fit 64 bits. */
static bool read_cells(const void *tree, int bus, const char *property, int absent, int *cells)
{
	int length;
	const uint8_t *data = fdt_getprop(tree, bus, property, &length);
	uint64_t value;

	*cells = absent;
	if (data == NULL) {
		return length == -FDT_ERR_NOTFOUND;
	}
	if (length != 4) {
		return false;
	}
	value = cells_value(data, 1);
	*cells = (int)value;
	return value <= CELLS_MAX;
}

/*
 * Cell counts for the children of `bus`. libfdt's own functions for this would do, but drag its
 * whole writing half into the image.
 */
static bool bus_cells(const void *tree, int bus, int *address_cells, int *size_cells)
{
	return read_cells(tree, bus, "#address-cells", 2, address_cells) &&
	       read_cells(tree, bus, "#size-cells", 1, size_cells) && *address_cells >= 1;
}

bool tree_reg_of_child(const void *tree, int parent, int node, unsigned int index,
		       uint64_t *address, uint64_t *bytes)
{
	int address_cells;
	int size_cells;
	int length;
	const uint8_t *reg = fdt_getprop(tree, node, "reg", &length);
	uint64_t entry_bytes;

	if (reg == NULL || !bus_cells(tree, parent, &address_cells, &size_cells)) {
		return false;
	}
	entry_bytes = 4U * (unsigned int)(address_cells + size_cells);
	if ((index + UINT64_C(1)) * entry_bytes > (unsigned int)length) {
		return false;
	}
	reg += index * entry_bytes;
	*address = cells_value(reg, address_cells);
	*bytes = cells_value(reg + 4 * address_cells, size_cells);
	return true;
}

/* Takes an address on `bus` to the bus that `bus` itself hangs on. */
static bool translate(const void *tree, int bus, int parent, uint64_t *address, uint64_t bytes)
{
	int child_cells;
	int size_cells;
	int parent_cells;
	int unused;
	int length;
	const uint8_t *ranges = fdt_getprop(tree, bus, "ranges", &length);
	int entry_bytes;

	if (ranges == NULL) {
		return false; /* by the specification: no way through */
	}
	if (length == 0) {
		return true;
	}
	if (!bus_cells(tree, bus, &child_cells, &size_cells) ||
	    !bus_cells(tree, parent, &parent_cells, &unused)) {
		return false;
	}
	entry_bytes = 4 * (child_cells + parent_cells + size_cells);
	for (; length >= entry_bytes; length -= entry_bytes, ranges += entry_bytes) {
		uint64_t from = cells_value(ranges, child_cells);
		uint64_t to = cells_value(ranges + 4 * child_cells, parent_cells);
		uint64_t size = cells_value(ranges + 4 * (child_cells + parent_cells), size_cells);

		if (*address >= from && *address - from < size &&
		    bytes <= size - (*address - from)) {
			*address = to + (*address - from);
			return *address >= to;
		}
	}
	return false;
}

bool tree_reg(const void *tree, int node, unsigned int index, uint64_t *address, uint64_t *bytes)
{
	struct path path = path_to(tree, node);

	if (path.count < 2 ||
	    !tree_reg_of_child(tree, path.nodes[path.count - 2], node, index, address, bytes)) {
		return false;
	}
	for (int bus = path.count - 2; bus > 0; bus--) {
		if (!translate(tree, path.nodes[bus], path.nodes[bus - 1], address, *bytes)) {
			return false;
		}
	}
	return *address + *bytes >= *address;
}

int tree_find_compatible(const void *tree, int start, const char *compatible)
{
	struct path path = {.count = 0};

	for (struct walk walk = walk_begin(tree); walk_next(&walk);) {
		if (walk.depth >= DEPTH_MAX) {
			continue;
		}
		path.nodes[walk.depth] = walk.node;
		path.count = walk.depth + 1;
		if (walk.node >= start && walk_compatible(&walk, compatible) &&
		    path_okay(tree, &path)) {
			return walk.node;
		}
	}
	return -FDT_ERR_NOTFOUND;
}

/* The node at an absolute path of that length. */
static int node_at_path(const void *tree, const char *path, size_t length)
{
	const char *end = path + length;
	int node = 0;

	while (node >= 0 && path < end) {
		const char *slash;

		if (*path == '/') {
			path++;
			continue;
		}
		slash = memchr(path, '/', (size_t)(end - path));
		length = slash == NULL ? (size_t)(end - path) : (size_t)(slash - path);
		node = child_of_length(tree, node, path, length);
		path += length;
	}
	return node;
}

/*
 * Aliases are resolved here and once only: libfdt's own resolution takes an alias of an alias, and
 * one that names itself never ends.
 */
int tree_stdout(const void *tree)
{
	int chosen = tree_child(tree, 0, "chosen");
	const char *path;
	int node;

	if (chosen < 0) {
		return chosen;
	}
	path = tree_string(tree, chosen, "stdout-path");
	if (path == NULL) {
		path = tree_string(tree, chosen, "linux,stdout-path");
	}
	if (path == NULL) {
		return -FDT_ERR_NOTFOUND;
	}
	if (path[0] != '/') {
		int aliases = tree_child(tree, 0, "aliases");
		int length;
		const char *target =
			fdt_getprop_namelen(tree, aliases, path, (int)strcspn(path, ":"), &length);

		if (target == NULL || length <= 0 || target[length - 1] != '\0') {
			return -FDT_ERR_NOTFOUND;
		}
		path = target;
	}
	if (path[0] != '/') {
		return -FDT_ERR_BADPATH;
	}
	node = node_at_path(tree, path, strcspn(path, ":"));
	return node >= 0 && !tree_node_okay(tree, node) ? -FDT_ERR_NOTFOUND : node;
}

const char *tree_string(const void *tree, int node, const char *property)
{
	int length;
	const char *value = fdt_getprop(tree, node, property, &length);

	return value != NULL && memchr(value, '\0', (size_t)length) != NULL ? value : NULL;
}

bool tree_number(const void *tree, int node, const char *property, uint64_t *value)
{
	int length;
	const uint8_t *data = fdt_getprop(tree, node, property, &length);

	if (data == NULL || (length != 4 && length != 8)) {
		return false;
	}
	*value = cells_value(data, length / 4);
	return true;
}
