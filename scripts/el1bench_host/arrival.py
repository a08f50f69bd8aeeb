"""Order of arrival: which cores called first and which last, and what that cost them.

A row of unit `place` has, at each index, the place of its core among those of its cluster in the
sample that the other rows of the benchmark and the core have there. So the samples of a metric can
be told apart by it: the last core of a cluster pays for what they share.
"""

from typing import Any, Iterator

from el1bench_host import statistics
from el1bench_host.decoded_log import Boot, Row

UNIT = "place"
FIRST, LAST = "first", "last"


def _key(row: Row) -> tuple[str, Any]:
    """Benchmark and core of a row."""
    return row.metric.name.rpartition(".")[0], row.metric.cpu


def _places(boot: Boot) -> dict[tuple[str, Any], tuple[Row, int, int]]:
    """The rows of places by benchmark and core, each with its cluster and the last place there."""
    clusters = {cpu.index: cpu.cluster for cpu in boot.cpus}
    rows = {_key(row): row for row in boot.rows.values()
            if row.metric.unit == UNIT and row.complete and row.figures is not None
            and row.metric.cpu in clusters}
    last: dict[tuple[str, int], int] = {}
    for (benchmark, cpu), row in rows.items():
        at = (benchmark, clusters[cpu])
        last[at] = max(last.get(at, 0), row.figures.max)
    return {key: (row, clusters[key[1]], last[key[0], clusters[key[1]]])
            for key, row in rows.items()}


def _figures(samples: list[int]) -> dict[str, Any]:
    if not samples:
        return {"n": 0, "p50": None, "p50_low": None, "p50_high": None}
    found = statistics.compute(samples, 1)
    return {"n": found.n, "p50": found.p50, "p50_low": found.p50_low, "p50_high": found.p50_high}


def splits(boot: Boot, index: int) -> Iterator[dict[str, Any]]:
    """For each metric and cluster: the samples of the core that called first, and of the last."""
    places = _places(boot)
    pools: dict[tuple[str, int], dict[str, list[int]]] = {}
    for number in sorted(boot.rows):
        row = boot.rows[number]
        known = places.get(_key(row))
        if known is None or row.metric.unit == UNIT or not row.complete:
            continue
        place, cluster, last = known
        if len(row.values) != len(place.values) or last == 0:
            continue  # samples that came back inline are in other rows only, or there is no order
        pool = pools.setdefault((row.metric.name, cluster), {FIRST: [], LAST: []})
        for at, value in enumerate(row.values):
            if at in row.excluded or at in place.excluded:
                continue
            if place.values[at] == 0:
                pool[FIRST].append(value)
            if place.values[at] == last:
                pool[LAST].append(value)
    for (name, cluster), pool in pools.items():
        yield {"name": name, "boot": index, "cluster": cluster,
               **{which: _figures(samples) for which, samples in pool.items()}}
