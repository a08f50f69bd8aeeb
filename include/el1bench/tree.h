/*
 * Reading a flattened device tree with libfdt, beyond what libfdt itself offers: addresses through
 * `ranges`, `status`, stdout-path. A tree is hostile input: every function copes with any content
 * of a blob that passed `tree_valid`. No hardware access; runs on a host too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* QEMU pads what -dtb gives it to more than the 2 MiB that others allow. */
#define TREE_MAX_BYTES (16U * 1024 * 1024)

/*
 * True if `blob`, of which `readable` bytes may be read, holds a whole and well-formed tree. The
 * nodes of the last tree that passed are listed, so that the searches below need not walk it anew:
 * a tree that has changed has to pass again.
 */
bool tree_valid(const void *blob, size_t readable);

/*
 * The size that a header at `blob` (at least 8 readable bytes) claims; 0 if there is no tree magic.
 */
size_t tree_claimed_bytes(const void *blob);

/* The children of a node, one after the other; see tree_children. */
struct tree_children {
	const void *tree;
	int node;         /* the child, once tree_next_child has returned true ... */
	const char *name; /* ... and its name */
	int position;     /* in the list of nodes; -1 for a tree that is not the one listed */
	int depth;        /* below the parent */
};

/*
 * Use: `for (struct tree_children c = tree_children(tree, parent); tree_next_child(&c);)`. A
 * negative parent has none. Okay or not: the caller looks.
 */
struct tree_children tree_children(const void *tree, int parent);
bool tree_next_child(struct tree_children *children);

/* The child with that name, with or without its unit address; negative if there is none. */
int tree_child(const void *tree, int parent, const char *name);

/* Node `okay`: no `status`, or "okay" or "ok", on it and on all its parents. */
bool tree_node_okay(const void *tree, int node);

/* The same for the node alone, where its parents are known to be okay. */
bool tree_status_okay(const void *tree, int node);

/*
 * Address and size of entry `index` of a node's `reg`, translated through the `ranges` of all
 * parents to a CPU physical address. False if absent, malformed, or not translatable.
 */
bool tree_reg(const void *tree, int node, unsigned int index, uint64_t *address, uint64_t *bytes);

/*
 * The same for a child of `parent`, without any translation: for the root's children and those of
 * /cpus and /reserved-memory, whose addresses are the CPU's. It may wrap around: the caller looks.
 */
bool tree_reg_of_child(const void *tree, int parent, int node, unsigned int index,
		       uint64_t *address, uint64_t *bytes);

/*
 * First okay node at or after `start` (-1: from the root) with the `compatible`; negative if none.
 */
int tree_find_compatible(const void *tree, int start, const char *compatible);

/*
 * The okay node that /chosen/stdout-path (or linux,stdout-path) names, options cut; negative if
 * none.
 */
int tree_stdout(const void *tree);

/* The first string of a property that is there and terminated; NULL otherwise. */
const char *tree_string(const void *tree, int node, const char *property);

/* A property of one cell (u32) or, where it has eight bytes, two; false if absent or malformed. */
bool tree_number(const void *tree, int node, const char *property, uint64_t *value);
