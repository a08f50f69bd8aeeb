/*
 * A model of who holds what: nodes are resources, edges are how they relate. It lives in bounded
 * memory, and each operation is constant work. It is the same code in the kernel and in the EL0
 * program that tracks for others; a request is hostile input. No hardware access; runs on a host.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MODEL_NODES 256U /* with the one that stands for no node */
#define MODEL_EDGES 512U
#define MODEL_RELEASE_EDGES 8U /* a node with more cannot be released: work stays constant */

enum model_kind {
	MODEL_PROCESS = 1,
	MODEL_ADDRESS_SPACE,
	MODEL_MEMORY,
	MODEL_THREAD,
	MODEL_CPU,
	MODEL_KINDS
};

enum model_relation {
	MODEL_HOLDS = 1,      /* a process, a resource */
	MODEL_MAPS,           /* an address space, memory */
	MODEL_RUNS_ON,        /* a thread, a CPU */
	MODEL_REQUESTED_FROM, /* a resource, the process that granted it */
	MODEL_RELATIONS
};

enum model_operation {
	MODEL_CREATE = 1, /* kind, number, holder, grantor: the new node's handle */
	MODEL_RELATE,     /* relation, from, to: 1 */
	MODEL_RELEASE,    /* node: 1; it goes with all its edges */
	MODEL_COUNT,      /* nodes << 32 | edges in use */
};

/* Edges form two lists, one of all that leave a node and one of all that reach it; 0 ends them. */
struct model_node {
	uint32_t number; /* the caller's own, of its kind */
	uint8_t kind;    /* enum model_kind; 0: not in use */
	uint8_t unused;
	uint16_t degree; /* edges that leave or reach it */
	uint16_t out;    /* first edge that leaves it; for a free node: the next free one */
	uint16_t in;
};

struct model_link {
	uint16_t next;
	uint16_t previous;
};

struct model_edge {
	uint16_t relation; /* enum model_relation; 0: not in use */
	uint16_t from;
	uint16_t to;
	struct model_link out; /* for a free edge: out.next is the next free one */
	struct model_link in;
};

struct model {
	struct model_node nodes[MODEL_NODES]; /* a handle is an index; 0 is none */
	struct model_edge edges[MODEL_EDGES];
	uint16_t free_node;
	uint16_t free_edge;
	uint32_t node_count;
	uint32_t edge_count;
};

/* Empties the model. */
void model_start(struct model *model);

/*
 * Carries a request out; what it takes and returns stands at enum model_operation. For MODEL_CREATE
 * `holder` and `grantor` are handles, or 0 for none. Returns 0, and has changed nothing, if the
 * request is malformed, names a node that is not there, or if memory is used up. Timed code.
 */
uint64_t model_request(struct model *model, uint64_t operation, uint64_t a, uint64_t b, uint64_t c,
		       uint64_t d);

/* True if that edge is there. Work: the edges that leave `from`. */
bool model_related(const struct model *model, enum model_relation relation, uint32_t from,
		   uint32_t to);
