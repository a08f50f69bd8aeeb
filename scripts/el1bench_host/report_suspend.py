"""What happened in suspends beside their times: the counts of each core, and what calling first or
last cost.
"""

from typing import Any, Callable, Mapping, Optional, Sequence

from el1bench_host.arrival import FIRST, LAST

Metric = Mapping[str, Any]
Cell = Callable[[Sequence[Metric]], tuple[str, str, str]]
"""Median, spread and count of figures, one of each boot, as text."""
Lines = tuple[list[str], list[list[str]]]
"""Titles of columns, and lines."""

TITLES = {
    "power_state": "state", "calls": "calls", "resumed_at_entry": "at entry",
    "returned_inline": "inline", "early": "early", "stamps_out_of_order": "disorder",
    "slept_us": "slept us", "entered": "entered", "resident_us": "in it us",
    "entered_core": "as core",
}
"""Of the counts, in the order of the columns; those that are unknown follow."""
NOT_OFFERED = "not offered"


def _text(key: str, entries: Sequence[Mapping[str, int]]) -> str:
    """A count over the boots: a state as it is, anything else as their sum."""
    values = [entry[key] for entry in entries if key in entry]
    if not values:
        return NOT_OFFERED if key == "entered" else "-"
    return f"{values[0]:#x}" if key == "power_state" else str(sum(values))


def counts_of(results: Mapping[str, Any], suite: str) -> Optional[Lines]:
    """The counts of a suite's benchmarks, a line for each core; None if there are none."""
    found: dict[tuple[str, int], list[Mapping[str, int]]] = {}
    for one in results.get("counts") or []:
        if one["name"].partition(".")[0] == suite:
            found.setdefault((one["name"], one["cpu"]), []).append(one["counts"])
    keys = {key for entries in found.values() for entry in entries for key in entry}
    if not keys:
        return None
    columns = [*TITLES, *sorted(keys - set(TITLES))]
    lines = [[name.partition(".")[2], str(cpu), *(_text(key, entries) for key in columns)]
             for (name, cpu), entries in sorted(found.items())]
    return ["benchmark", "cpu", *(TITLES.get(key, key) for key in columns)], lines


def splits_of(results: Mapping[str, Any], name: str) -> dict[int, dict[str, list[Metric]]]:
    """By cluster, what the first and the last core to call have of a metric, one of each boot."""
    found: dict[int, dict[str, list[Metric]]] = {}
    for one in results.get("arrival") or []:
        if one["name"] == name:
            both = found.setdefault(one["cluster"], {FIRST: [], LAST: []})
            for which in both:
                both[which].append(one[which])
    return found


def arrival_of(results: Mapping[str, Any], suite: str, cell: Cell) -> Optional[Lines]:
    """Each metric of a suite by order of arrival; None if none is known by it."""
    names = list(dict.fromkeys(one["name"] for one in results.get("arrival") or []
                               if one["name"].partition(".")[0] == suite))
    lines = []
    for name in names:
        for cluster, both in sorted(splits_of(results, name).items()):
            line = [name.partition(".")[2], str(cluster)]
            for which in (FIRST, LAST):
                middle, spread, count = cell(both[which])
                line += [count, middle, spread]
            lines.append(line)
    titles = ["metric", "cluster", "n", "first core", "95 %", "n", "last core", "95 %"]
    return (titles, lines) if lines else None
