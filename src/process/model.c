/*
 * The model: two arrays with lists of their free entries, and lists of edges through the edges. An
 * operation checks everything before it changes anything.
 */
#include "el1bench/model.h"

#include "el1bench/timed.h"

#define CREATE_EDGES 2U /* holds, requested from */

void model_start(struct model *model)
{
	model->free_node = 1;
	model->free_edge = 1;
	model->node_count = 0;
	model->edge_count = 0;
	for (uint32_t i = 0; i < MODEL_NODES; i++) {
		model->nodes[i].kind = 0;
		model->nodes[i].out = (uint16_t)((i + 1) % MODEL_NODES);
	}
	for (uint32_t i = 0; i < MODEL_EDGES; i++) {
		model->edges[i].relation = 0;
		model->edges[i].out.next = (uint16_t)((i + 1) % MODEL_EDGES);
	}
}

TIMED_INLINE bool is_node(const struct model *model, uint64_t handle)
{
	return handle < MODEL_NODES && model->nodes[handle].kind != 0;
}

/* Both are nodes, and an edge is free. */
TIMED static void add_edge(struct model *model, uint64_t relation, uint64_t from, uint64_t to)
{
	uint16_t index = model->free_edge;
	struct model_edge *edge = &model->edges[index];
	uint16_t *out = &model->nodes[from].out;
	uint16_t *in = &model->nodes[to].in;

	model->free_edge = edge->out.next;
	model->edge_count++;
	edge->relation = (uint16_t)relation;
	edge->from = (uint16_t)from;
	edge->to = (uint16_t)to;
	edge->out.next = *out;
	edge->out.previous = 0;
	edge->in.next = *in;
	edge->in.previous = 0;
	/* Edge 0 is none: what is written there is never read. */
	model->edges[*out].out.previous = index;
	model->edges[*in].in.previous = index;
	*out = index;
	*in = index;
	model->nodes[from].degree++;
	model->nodes[to].degree++;
}

TIMED static void remove_edge(struct model *model, uint16_t index)
{
	struct model_edge *edge = &model->edges[index];
	struct model_node *from = &model->nodes[edge->from];
	struct model_node *to = &model->nodes[edge->to];

	if (edge->out.previous == 0) {
		from->out = edge->out.next;
	} else {
		model->edges[edge->out.previous].out.next = edge->out.next;
	}
	model->edges[edge->out.next].out.previous = edge->out.previous;
	if (edge->in.previous == 0) {
		to->in = edge->in.next;
	} else {
		model->edges[edge->in.previous].in.next = edge->in.next;
	}
	model->edges[edge->in.next].in.previous = edge->in.previous;
	from->degree--;
	to->degree--;
	edge->relation = 0;
	edge->out.next = model->free_edge;
	model->free_edge = index;
	model->edge_count--;
}

TIMED static uint64_t create(struct model *model, uint64_t kind, uint64_t number, uint64_t holder,
			     uint64_t grantor)
{
	uint16_t index = model->free_node;
	struct model_node *node = &model->nodes[index];

	if (kind == 0 || kind >= MODEL_KINDS || index == 0 ||
	    model->edge_count + CREATE_EDGES >= MODEL_EDGES ||
	    (holder != 0 && !is_node(model, holder)) ||
	    (grantor != 0 && !is_node(model, grantor))) {
		return 0;
	}
	model->free_node = node->out;
	model->node_count++;
	node->number = (uint32_t)number;
	node->kind = (uint8_t)kind;
	node->degree = 0;
	node->out = 0;
	node->in = 0;
	if (holder != 0) {
		add_edge(model, MODEL_HOLDS, holder, index);
	}
	if (grantor != 0) {
		add_edge(model, MODEL_REQUESTED_FROM, index, grantor);
	}
	return index;
}

TIMED static uint64_t relate(struct model *model, uint64_t relation, uint64_t from, uint64_t to)
{
	if (relation == 0 || relation >= MODEL_RELATIONS || model->free_edge == 0 ||
	    !is_node(model, from) || !is_node(model, to)) {
		return 0;
	}
	add_edge(model, relation, from, to);
	return 1;
}

TIMED static uint64_t release(struct model *model, uint64_t handle)
{
	struct model_node *node;

	if (!is_node(model, handle) || model->nodes[handle].degree > MODEL_RELEASE_EDGES) {
		return 0;
	}
	node = &model->nodes[handle];
	while (node->out != 0) {
		remove_edge(model, node->out);
	}
	while (node->in != 0) {
		remove_edge(model, node->in);
	}
	node->kind = 0;
	node->out = model->free_node;
	model->free_node = (uint16_t)handle;
	model->node_count--;
	return 1;
}

TIMED uint64_t model_request(struct model *model, uint64_t operation, uint64_t a, uint64_t b,
			     uint64_t c, uint64_t d)
{
	switch (operation) {
	case MODEL_CREATE:
		return create(model, a, b, c, d);
	case MODEL_RELATE:
		return relate(model, a, b, c);
	case MODEL_RELEASE:
		return release(model, a);
	case MODEL_COUNT:
		return (uint64_t)model->node_count << 32 | model->edge_count;
	default:
		return 0;
	}
}

TIMED bool model_related(const struct model *model, enum model_relation relation, uint32_t from,
			 uint32_t to)
{
	for (uint32_t i = model->nodes[from].out; i != 0; i = model->edges[i].out.next) {
		if (model->edges[i].relation == relation && model->edges[i].to == to) {
			return true;
		}
	}
	return false;
}
