/*
 * spawn.model: after a tracked spawn the model holds exactly what the process has, and after its
 * teardown exactly what it held before. A check; its notes are the model after the spawn, as CSV:
 * `node,HANDLE,KIND,NUMBER` and `edge,RELATION,FROM,TO`.
 */
#include "spawn.h"

static bool prepare(struct benchmark_run *run)
{
	return spawn_available(run);
}

/* Is it there, with its holder and its grantor? */
TIMED static bool has_node(uint64_t handle, enum model_kind kind, uint64_t number, uint64_t holder)
{
	return handle != 0 && spawn_model.nodes[handle].kind == kind &&
	       spawn_model.nodes[handle].number == number &&
	       (holder == 0 ||
		model_related(&spawn_model, MODEL_HOLDS, (uint32_t)holder, (uint32_t)handle)) &&
	       model_related(&spawn_model, MODEL_REQUESTED_FROM, (uint32_t)handle,
			     (uint32_t)tracker_model.kernel);
}

/* Everything that must be there is, and the counts leave room for nothing else. */
TIMED static bool as_expected(const struct spawn *spawn, uint64_t before)
{
	uint64_t number = spawn->process->number;
	uint64_t memories = spawn->process->program.segment_count + 1;
	uint64_t nodes = 3 + memories;
	uint64_t edges = 1 + 2 + 3 * memories + 3;
	bool good = spawn->memory_count == memories;

	good = good && has_node(spawn->node, MODEL_PROCESS, number, 0) &&
	       has_node(spawn->space, MODEL_ADDRESS_SPACE, number, spawn->node) &&
	       has_node(spawn->thread, MODEL_THREAD, number, spawn->node) &&
	       model_related(&spawn_model, MODEL_RUNS_ON, (uint32_t)spawn->thread,
			     (uint32_t)tracker_model.cpus[spawn->cpu]);
	for (uint32_t i = 0; i < spawn->memory_count; i++) {
		uint64_t last = i + 1 == spawn->memory_count ? 0xff : i;

		good = good &&
		       has_node(spawn->memory[i], MODEL_MEMORY, number << 8 | last, spawn->node) &&
		       model_related(&spawn_model, MODEL_MAPS, (uint32_t)spawn->space,
				     (uint32_t)spawn->memory[i]);
	}
	return good &&
	       tracking_request_model(MODEL_COUNT, 0, 0, 0, 0) == before + (nodes << 32 | edges);
}

/* The model as it is. */
TIMED static void dump(const struct benchmark_run *run)
{
	static const char *const kinds[MODEL_KINDS] = {
		[MODEL_PROCESS] = "node,%lu,process,%lu",
		[MODEL_ADDRESS_SPACE] = "node,%lu,address-space,%lu",
		[MODEL_MEMORY] = "node,%lu,memory,%lu",
		[MODEL_THREAD] = "node,%lu,thread,%lu",
		[MODEL_CPU] = "node,%lu,cpu,%lu",
	};
	static const char *const relations[MODEL_RELATIONS] = {
		[MODEL_HOLDS] = "edge,holds,%lu,%lu",
		[MODEL_MAPS] = "edge,maps,%lu,%lu",
		[MODEL_RUNS_ON] = "edge,runs-on,%lu,%lu",
		[MODEL_REQUESTED_FROM] = "edge,requested-from,%lu,%lu",
	};

	for (uint32_t i = 1; i < MODEL_NODES; i++) {
		const struct model_node *node = &spawn_model.nodes[i];

		if (node->kind != 0) {
			benchmark_note(run, kinds[node->kind], i, node->number, 0);
		}
	}
	for (uint32_t i = 1; i < MODEL_EDGES; i++) {
		const struct model_edge *edge = &spawn_model.edges[i];

		if (edge->relation != 0) {
			benchmark_note(run, relations[edge->relation], edge->from, edge->to, 0);
		}
	}
}

TIMED static bool sample(struct benchmark_run *run)
{
	struct spawn_counts before;
	static struct spawn spawn;
	bool good;

	spawn_count(&before, &tracker_model);
	spawn_set_up(&spawn, TASK_NONE, 0);
	process_watch(SPAWN_LIMIT_MS);
	good = spawn_tracked.make(&spawn) && spawn_start(&spawn);
	if (!good) {
		(void)spawn_failed(run, &spawn);
	} else if (!as_expected(&spawn, before.model)) {
		good = benchmark_fail(run, "the model is not what was spawned: see the notes", 0, 0,
				      0);
	}
	dump(run);
	(void)(good && spawn_finish(&spawn));
	process_unwatch();
	spawn_unmake(&spawn_tracked, &spawn);
	return good && spawn_check_counts(run, &before, &tracker_model, 1);
}

static const struct benchmark spawn_model_check = {
	.name = "spawn.model",
	.summary = "the model holds what was spawned, and nothing after",
	.prepare = prepare,
	.sample = sample,
};

BENCHMARK(spawn_model_check);
