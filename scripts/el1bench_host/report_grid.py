"""Grids of pairs of cores: a line for each sender, a column for each receiver."""

from typing import Any, Mapping, Optional, Sequence

from el1bench_host.statistics import median

CORES_MAX = 16
"""More do not fit a page; the rows are in results.json and in the CSV."""
PAIRS_MIN = 5
GRIDS_MAX = 12

Metric = Mapping[str, Any]
Pair = tuple[int, int]


def cell(value: Optional[float]) -> str:
    """A number of ticks in four characters; from 10 G on it takes more."""
    if value is None:
        return "."
    if value == int(value) and abs(value) < 9999.5:
        return str(int(value))
    for below, scale, form in ((99.95, 1, ".1f"), (9999.5, 1, ".0f"), (999.5e3, 1e3, ".0f"),
                               (9.95e6, 1e6, ".1f"), (999.5e6, 1e6, ".0f"), (9.95e9, 1e9, ".1f")):
        if abs(value) < below:
            return f"{value / scale:{form}}" + {1: "", 1e3: "k", 1e6: "M", 1e9: "G"}[scale]
    return f"{value / 1e9:.0f}G"


def pairs_of(rows: Sequence[Metric]) -> dict[Pair, float]:
    """The headline of each pair, the median over the boots; empty if the rows are no grid."""
    found: dict[Pair, list[float]] = {}
    for row in rows:
        if row["cpu"] is None or row["peer"] is None:
            return {}
        if row["headline"] is not None:
            found.setdefault((row["cpu"], row["peer"]), []).append(row["headline"])
    cores = {core for pair in found for core in pair}
    if (len(found) < PAIRS_MIN or len(cores) > CORES_MAX
            or len({sender for sender, _ in found}) < 2):
        return {}
    return {pair: median(values) for pair, values in found.items()}


def lines_of(pairs: Mapping[Pair, float]) -> tuple[list[str], list[list[str]]]:
    """Column titles and lines."""
    cores = sorted({core for pair in pairs for core in pair})
    lines = [[f"{sender}>"] + [cell(pairs.get((sender, receiver))) for receiver in cores]
             for sender in cores]
    return ["from>to"] + [str(core) for core in cores], lines
