/* sources: src/process/model.c src/bench/random.c */
/*
 * The model against a naive one that keeps plain sets: the same answers, and the same graph after
 * every step, for random and for hostile requests; and what a full model does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/model.h"
#include "el1bench/random.h"

#define STEPS 300000

static struct model model;

static struct {
	bool used[MODEL_NODES];
	struct {
		uint32_t relation;
		uint32_t from;
		uint32_t to;
	} edges[2 * MODEL_EDGES];
	uint32_t node_count;
	uint32_t edge_count;
} naive;

static uint64_t request(uint64_t operation, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return model_request(&model, operation, a, b, c, d);
}

static uint32_t naive_related(uint32_t relation, uint32_t from, uint32_t to)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < naive.edge_count; i++) {
		if (naive.edges[i].relation == relation && naive.edges[i].from == from &&
		    naive.edges[i].to == to) {
			found++;
		}
	}
	return found;
}

static void naive_relate(uint32_t relation, uint32_t from, uint32_t to)
{
	naive.edges[naive.edge_count].relation = relation;
	naive.edges[naive.edge_count].from = from;
	naive.edges[naive.edge_count].to = to;
	naive.edge_count++;
}

static uint32_t naive_degree(uint32_t node)
{
	uint32_t degree = 0;

	for (uint32_t i = 0; i < naive.edge_count; i++) {
		degree += naive.edges[i].from == node ? 1 : 0;
		degree += naive.edges[i].to == node ? 1 : 0;
	}
	return degree;
}

static void naive_release(uint32_t node)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < naive.edge_count; i++) {
		if (naive.edges[i].from != node && naive.edges[i].to != node) {
			naive.edges[kept++] = naive.edges[i];
		}
	}
	naive.edge_count = kept;
	naive.used[node] = false;
	naive.node_count--;
}

/* Every list of the model, in both directions, against the naive edges. */
static void compare(void)
{
	uint32_t seen = 0;

	assert_int_equal(model.node_count, naive.node_count);
	assert_int_equal(model.edge_count, naive.edge_count);
	for (uint32_t node = 1; node < MODEL_NODES; node++) {
		uint32_t out = 0;
		uint32_t in = 0;

		assert_int_equal(model.nodes[node].kind != 0, naive.used[node]);
		if (!naive.used[node]) {
			continue;
		}
		for (uint32_t i = model.nodes[node].out; i != 0; i = model.edges[i].out.next) {
			const struct model_edge *edge = &model.edges[i];

			assert_int_equal(edge->from, node);
			assert_true(naive_related(edge->relation, node, edge->to) > 0);
			assert_true(model_related(&model, edge->relation, node, edge->to));
			out++;
		}
		for (uint32_t i = model.nodes[node].in; i != 0; i = model.edges[i].in.next) {
			assert_int_equal(model.edges[i].to, node);
			in++;
		}
		assert_int_equal(model.nodes[node].degree, out + in);
		assert_int_equal(out + in, naive_degree(node));
		seen += out;
	}
	assert_int_equal(seen, naive.edge_count);
}

static void start(void)
{
	model_start(&model);
	memset(&naive, 0, sizeof(naive));
}

static void random_step(struct random_state *random, uint32_t range)
{
	uint32_t a = random_below(random, range);
	uint32_t b = random_below(random, range);
	uint64_t answer;

	switch (random_below(random, 4)) {
	case 0:
		answer = request(MODEL_CREATE, 1 + a % MODEL_CPU, a, a, b);
		if ((a == 0 || naive.used[a]) && (b == 0 || naive.used[b]) &&
		    naive.node_count < MODEL_NODES - 1 && naive.edge_count + 2 < MODEL_EDGES) {
			assert_true(answer > 0 && answer < MODEL_NODES && !naive.used[answer]);
			naive.used[answer] = true;
			naive.node_count++;
			if (a != 0) {
				naive_relate(MODEL_HOLDS, a, (uint32_t)answer);
			}
			if (b != 0) {
				naive_relate(MODEL_REQUESTED_FROM, (uint32_t)answer, b);
			}
		} else {
			assert_int_equal(answer, 0);
		}
		break;
	case 1:
		answer = request(MODEL_RELATE, MODEL_MAPS, a, b, 0);
		if (naive.used[a] && naive.used[b] && naive.edge_count < MODEL_EDGES - 1) {
			assert_int_equal(answer, 1);
			naive_relate(MODEL_MAPS, a, b);
		} else {
			assert_int_equal(answer, 0);
		}
		break;
	default:
		answer = request(MODEL_RELEASE, a, 0, 0, 0);
		if (naive.used[a] && naive_degree(a) <= MODEL_RELEASE_EDGES) {
			assert_int_equal(answer, 1);
			naive_release(a);
		} else {
			assert_int_equal(answer, 0);
		}
	}
	assert_int_equal(request(MODEL_COUNT, 0, 0, 0, 0),
			 (uint64_t)naive.node_count << 32 | naive.edge_count);
}

static void test_random(void **state)
{
	struct random_state random;

	(void)state;
	random_seed(&random, 7);
	for (uint32_t range = 4; range <= MODEL_NODES; range *= 4) {
		start();
		for (uint32_t i = 0; i < STEPS / 4; i++) {
			random_step(&random, range);
			if (i % 64 == 0) {
				compare();
			}
		}
	}
}

static void test_hostile(void **state)
{
	struct random_state random;
	struct model before;

	(void)state;
	start();
	(void)request(MODEL_CREATE, MODEL_PROCESS, 1, 0, 0);
	(void)request(MODEL_CREATE, MODEL_CPU, 1, 1, 1);
	before = model;
	assert_int_equal(request(MODEL_CREATE, 0, 0, 0, 0), 0);
	assert_int_equal(request(MODEL_CREATE, MODEL_KINDS, 0, 0, 0), 0);
	assert_int_equal(request(MODEL_CREATE, MODEL_CPU, 0, 3, 0), 0);
	assert_int_equal(request(MODEL_CREATE, MODEL_CPU, 0, 1, MODEL_NODES), 0);
	assert_int_equal(request(MODEL_RELATE, 0, 1, 2, 0), 0);
	assert_int_equal(request(MODEL_RELATE, MODEL_RELATIONS, 1, 2, 0), 0);
	assert_int_equal(request(MODEL_RELATE, MODEL_MAPS, 1, 0, 0), 0);
	assert_int_equal(request(MODEL_RELEASE, 0, 0, 0, 0), 0);
	assert_int_equal(request(MODEL_RELEASE, UINT64_MAX, 0, 0, 0), 0);
	random_seed(&random, 9);
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t wild = random_next(&random) | 1ULL << 40;

		(void)request(random_below(&random, 6), wild, wild, wild, wild);
		(void)request(wild, 1, 1, 1, 1);
	}
	assert_memory_equal(&model, &before, sizeof(model));
}

static void test_full(void **state)
{
	uint32_t created = 0;

	(void)state;
	start();
	while (request(MODEL_CREATE, MODEL_MEMORY, created, 0, 0) != 0) {
		created++;
	}
	assert_int_equal(created, MODEL_NODES - 1);
	while (request(MODEL_RELATE, MODEL_MAPS, 1, 2, 0) != 0) {
	}
	assert_int_equal(model.edge_count, MODEL_EDGES - 1);
	/* Too many edges to be released in constant work. */
	assert_int_equal(request(MODEL_RELEASE, 1, 0, 0, 0), 0);
	assert_int_equal(request(MODEL_RELEASE, 3, 0, 0, 0), 1);
	/* A node is free, but not the edges that would go with it. */
	assert_int_equal(request(MODEL_CREATE, MODEL_MEMORY, 0, 1, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
