"""Firmware's view of PSCI calls in tables of the shape of TF-A's page on run-time instrumentation:
one for each test, a line for each core, its cluster and core number as MPIDR has them.
"""

import csv
import io
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from el1bench_host.report_suspend import Cell, Metric, splits_of

SUSPEND = (("powerdown", "powerdown"), ("wakeup", "wakeup"), ("cache-flush", "cache flush"))
"""Metric and title, in the order of the columns."""
VERSION = (("el3", "latency"),)
TESTS = (
    ("psci.suspend.deepest.parallel", "CPU_SUSPEND to the deepest level, in parallel", SUSPEND),
    ("psci.suspend.deepest.serial", "CPU_SUSPEND to the deepest level, serial", SUSPEND),
    ("psci.suspend.core.parallel", "CPU_SUSPEND, power-down of the core, in parallel", SUSPEND),
    ("psci.suspend.core.serial", "CPU_SUSPEND, power-down of the core, serial", SUSPEND),
    ("psci.suspend.standby.parallel", "CPU_SUSPEND to standby, in parallel", SUSPEND),
    ("psci.suspend.standby.serial", "CPU_SUSPEND to standby, serial", SUSPEND),
    ("psci.cpu-off.deepest", "CPU_OFF of all others in turn, then CPU_SUSPEND of the booting core "
     "to the deepest level", SUSPEND),
    ("psci.cpu-off.parallel", "CPU_OFF of all others in parallel; the booting core stays on",
     SUSPEND),
    ("psci.cpu-off", "CPU_OFF, serial; the booting core stays on", SUSPEND),
    ("psci.version.parallel", "PSCI_VERSION, in parallel", VERSION),
    ("psci.version.serial", "PSCI_VERSION, serial", VERSION),
)
CSV_FIGURES = ("n", "p50", "p50_low", "p50_high")

_MULTITHREADED = 1 << 24
_ICOUNT_HZ = 10**9


@dataclass(frozen=True)
class TestTable:
    """The figures of one test: by core, the rows of each metric."""

    name: str
    title: str
    figures: Sequence[tuple[str, str]]
    cores: Sequence[tuple[int, str, Mapping[str, Sequence[Metric]]]]
    arrivals: Sequence[tuple[int, str, Mapping[str, Sequence[Metric]]]] = ()
    """By cluster: of the core that called first in a sample, and of the one that called last."""

    def columns(self) -> list[str]:
        """Their titles."""
        titles = ["cluster", "core", "n"]
        for _, title in self.figures:
            titles += [title, "95 %"]
        return titles

    def lines(self, cell: Cell) -> list[list[str]]:
        """The cells of each line. Where figures differ in n, all of them are given."""
        lines = []
        for cluster, core, rows in (*self.cores, *self.arrivals):
            cells, counts = [], []
            for metric, _ in self.figures:
                middle, spread, count = cell(rows[metric]) if metric in rows else ("-", "-", "-")
                cells += [middle, spread]
                counts.append(count)
            known = counts if len(set(counts)) > 1 else counts[:1]
            lines.append([str(cluster), core, "/".join(known), *cells])
        return lines


def decode_mpidr(mpidr: int) -> tuple[int, int, Optional[int]]:
    """Cluster, core and, where the lowest level of affinity is that of threads (MT), thread."""
    affinity = [mpidr >> shift & 0xff for shift in (0, 8, 16, 32)]
    if mpidr & _MULTITHREADED:
        return affinity[3] << 8 | affinity[2], affinity[1], affinity[0]
    return affinity[3] << 16 | affinity[2] << 8 | affinity[1], affinity[0], None


def _places(results: Mapping[str, Any]) -> dict[int, tuple[int, int, int]]:
    """Cluster, core and thread of each core that is known; the thread is 0 if there are none."""
    found = {}
    for cpu in results["machine"]["cpus"]:
        try:
            cluster, core, thread = decode_mpidr(int(str(cpu["mpidr"]), 0))
        except ValueError:
            continue
        found[cpu["index"]] = (cluster, core, thread or 0)
    return found


def unit(results: Mapping[str, Any]) -> str:
    """What a tick is: an instruction, if QEMU counts them as nanoseconds and the counter does."""
    icount = counts_instructions(results)
    return ("instructions" if icount and results["machine"]["counter_hz"] == _ICOUNT_HZ
            else "ticks")


def counts_instructions(results: Mapping[str, Any]) -> bool:
    """True if an instruction takes a nanosecond, by QEMU's icount."""
    return str(results["machine"]["emulator"] or "").endswith("-icount")


def tables_of(results: Mapping[str, Any]) -> list[TestTable]:
    """A table for each test that firmware has taken stamps in."""
    places = _places(results)
    threads = any(thread for _, _, thread in places.values())
    by_name: dict[str, list[Metric]] = {}
    for row in results["metrics"]:
        if row["unit"] == "tick" and row["cpu"] in places:
            by_name.setdefault(row["name"], []).append(row)
    tables = []
    for name, title, figures in TESTS:
        cores: dict[int, dict[str, list[Metric]]] = {}
        there = [figure for figure in figures if f"{name}.{figure[0]}" in by_name]
        for metric, _ in there:
            for row in by_name[f"{name}.{metric}"]:
                cores.setdefault(row["cpu"], {}).setdefault(metric, []).append(row)
        if cores:
            tables.append(TestTable(name, title, there, [
                (places[cpu][0],
                 f"{places[cpu][1]}.{places[cpu][2]}" if threads else str(places[cpu][1]),
                 cores[cpu]) for cpu in sorted(cores, key=lambda cpu: places[cpu])],
                _arrivals(results, name, [metric for metric, _ in there])))
    return tables


def _arrivals(results: Mapping[str, Any], test: str, metrics: Sequence[str]
              ) -> list[tuple[int, str, dict[str, list[Metric]]]]:
    """What the first and the last core have, wherever the order is known."""
    found: dict[tuple[int, str], dict[str, list[Metric]]] = {}
    for metric in metrics:
        for cluster, both in splits_of(results, f"{test}.{metric}").items():
            for which, rows in both.items():
                found.setdefault((cluster, which), {})[metric] = rows
    return [(cluster, which, rows) for (cluster, which), rows in sorted(found.items())]


def to_csv(results: Mapping[str, Any]) -> str:
    """The tables as one: a line for each test, core and boot, with a line of column names first."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [metric for metric, _ in (*SUSPEND, *VERSION)]
    writer.writerow(["test", "boot", "cluster", "core", "unit", "emulated", "counter_hz"]
                    + [f"{name}_{figure}" for name in names for figure in CSV_FIGURES])
    machine = results["machine"]
    for table in tables_of(results):
        for cluster, core, rows in table.cores:
            boots = sorted({row["boot"] for metric in rows.values() for row in metric})
            for boot in boots:
                cells: list[Any] = []
                for name in names:
                    found = [row for row in rows.get(name, ()) if row["boot"] == boot]
                    cells += [found[0][figure] if found else "" for figure in CSV_FIGURES]
                writer.writerow([table.name, boot, cluster, core, unit(results),
                                 str(machine["emulated"]).lower(), machine["counter_hz"] or "",
                                 *("" if one is None else one for one in cells)])
    return stream.getvalue()
