/*
 * TF-A's figures: powerdown is from the entry at EL3 to the low-power state, wakeup from there to
 * the exit, and the cache flush a part of powerdown.
 */
#include "stamps.h"

#include <stddef.h>

TIMED_BETWEEN void stamps_read(struct stamps *stamps)
{
	stamps->complete = true;
	for (uint32_t stamp = 0; stamp < PMF_STAMPS && stamps->complete; stamp++) {
		stamps->complete = pmf_read((enum pmf_stamp)stamp, &stamps->at[stamp]);
	}
}

bool stamps_open(struct benchmark_run *run, struct sample_row *rows[STAMP_METRICS], int32_t cpu,
		 bool flushes)
{
	static const char *const names[STAMP_METRICS] = {"powerdown", "wakeup", "cache-flush"};

	for (uint32_t metric = 0; metric < STAMP_METRICS; metric++) {
		rows[metric] = NULL;
		if (!pmf_available() || (metric == STAMP_CACHE_FLUSH && !flushes)) {
			continue;
		}
		rows[metric] = benchmark_row(run, names[metric], cpu, SAMPLE_NO_CPU, NULL);
		if (rows[metric] == NULL) {
			return false;
		}
	}
	return true;
}

TIMED_BETWEEN static bool in_order(uint64_t first, uint64_t second)
{
	return (int64_t)(second - first) >= 0;
}

TIMED_BETWEEN bool stamps_record(struct sample_row *const rows[STAMP_METRICS],
				 const struct stamps *stamps, uint64_t begin, uint64_t end)
{
	const uint64_t *at = stamps->at;
	bool good = stamps->complete && in_order(begin, at[PMF_ENTER_PSCI]) &&
		    in_order(at[PMF_ENTER_PSCI], at[PMF_ENTER_LOW_POWER]) &&
		    in_order(at[PMF_ENTER_LOW_POWER], at[PMF_EXIT_LOW_POWER]) &&
		    in_order(at[PMF_EXIT_LOW_POWER], at[PMF_EXIT_PSCI]) &&
		    in_order(at[PMF_EXIT_PSCI], end);

	if (rows[STAMP_CACHE_FLUSH] != NULL) {
		good = good && in_order(at[PMF_ENTER_PSCI], at[PMF_ENTER_CACHE_FLUSH]) &&
		       in_order(at[PMF_EXIT_CACHE_FLUSH], at[PMF_ENTER_LOW_POWER]);
	}
	for (uint32_t metric = 0; metric < STAMP_METRICS; metric++) {
		static const struct {
			enum pmf_stamp from, to;
		} ends[STAMP_METRICS] = {
			[STAMP_POWERDOWN] = {PMF_ENTER_PSCI, PMF_ENTER_LOW_POWER},
			[STAMP_WAKEUP] = {PMF_EXIT_LOW_POWER, PMF_EXIT_PSCI},
			[STAMP_CACHE_FLUSH] = {PMF_ENTER_CACHE_FLUSH, PMF_EXIT_CACHE_FLUSH},
		};

		if (rows[metric] == NULL) {
			continue;
		}
		if (good) {
			sample_record(rows[metric],
				      (int64_t)(at[ends[metric].to] - at[ends[metric].from]));
		} else {
			sample_exclude(rows[metric], SAMPLE_STALE);
		}
	}
	return good || rows[STAMP_POWERDOWN] == NULL;
}
