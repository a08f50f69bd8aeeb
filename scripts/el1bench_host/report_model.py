"""What a report says, whatever it looks like: a list of headings, facts, tables and remarks.

Many rows of one metric (one for each core, pair or boot) are folded into a line that gives the
median over the rows and the range of their medians.
"""

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence, Union

from el1bench_host import (report_firmware, report_grid, report_idle_states,
                           report_suspend)
from el1bench_host.results import WARNINGS
from el1bench_host.statistics import median

FOLD_ABOVE = 4
"""More cores or pairs than this are folded into one line."""
REASONS_SHOWN = 20
NAMES_SHOWN = 6
PROBLEMS_SHOWN = 20

_CORES = {0xd03: "Cortex-A53", 0xd04: "Cortex-A35", 0xd05: "Cortex-A55", 0xd07: "Cortex-A57",
          0xd08: "Cortex-A72", 0xd09: "Cortex-A73", 0xd0a: "Cortex-A75", 0xd0b: "Cortex-A76",
          0xd0c: "Neoverse-N1", 0xd40: "Neoverse-V1", 0xd41: "Cortex-A78", 0xd49: "Neoverse-N2"}
_ARM = 0x41

Metric = Mapping[str, Any]


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the report's title."""

    level: int
    text: str


@dataclass(frozen=True)
class Facts:
    """Named facts, one a line."""

    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Remark:
    """One sentence; `loud` if it must not be overlooked."""

    text: str
    loud: bool = False


@dataclass(frozen=True)
class Table:
    """A table. The columns that `left` counts hold text; the others numbers, set to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Source:
    """Lines of a program or of data, to be kept as they are."""

    lines: Sequence[str]


Block = Union[Heading, Facts, Remark, Table, Source]


@dataclass
class Entry:
    """One line of a table: rows of one metric, taken together if there are several."""

    name: str
    where: str
    rows: list[Metric] = field(default_factory=list)
    folded: bool = False

    def middle(self, key: str) -> Optional[float]:
        """The median over the rows of a figure; None if none of them has it."""
        values = [row[key] for row in self.rows if row.get(key) is not None]
        return median(values) if values else None

    def spread(self) -> str:
        """The confidence interval of the median; over several rows the range of their medians."""
        if len(self.rows) == 1:
            low, high, mark = self.rows[0]["p50_low"], self.rows[0]["p50_high"], ""
        else:
            values = [row["p50"] for row in self.rows if row["p50"] is not None]
            low, high, mark = min(values, default=None), max(values, default=None), "~"
        return "-" if low is None or high is None else f"{mark}{ticks(low)}..{ticks(high)}"

    def count(self) -> str:
        """Good samples of a row, and how many rows."""
        n = min(row["n"] for row in self.rows)
        return str(n) if len(self.rows) == 1 else f"{len(self.rows)}x{n}"

    def extreme(self, key: str, pick: Any) -> Optional[float]:
        """The smallest or largest of a figure."""
        return pick((row[key] for row in self.rows if row[key] is not None), default=None)

    def mean_mark(self) -> str:
        """`m` if the headline is a mean of some kind."""
        return "" if all(row.get("headline_is") in (None, "median") for row in self.rows) else "m"

    def remark(self) -> Optional[str]:
        """Where the smallest and the largest headline of a folded line are."""
        rows = [row for row in self.rows if row["headline"] is not None]
        if not self.folded or len(rows) < 2:
            return None
        low = min(rows, key=lambda row: row["headline"])
        high = max(rows, key=lambda row: row["headline"])
        if low["headline"] == high["headline"]:
            return None
        return (f"{self.name}: lowest {ticks(low['headline'])} at {place(low)}, highest "
                f"{ticks(high['headline'])} at {place(high)}")


def clean(text: Any) -> str:
    """A text from a log or file, in printable ASCII."""
    return "".join(char if " " <= char <= "~" else "?" for char in str(text))


def _large(value: float) -> str:
    """Four digits and a unit of a million or more; beyond all units, a power of ten."""
    for above, unit in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if above <= abs(value) < 1e4 * above:
            return f"{value / above:.4g}{unit}"
    return f"{value:.1e}"


def ticks(value: Optional[float]) -> str:
    """A number of ticks in few characters."""
    if value is None:
        return "-"
    if abs(value) >= 1e6:
        return _large(value)
    if value == int(value):
        return str(int(value))
    return f"{value:.0f}" if abs(value) >= 10000 else f"{value:.2f}"


def nanoseconds(value: Optional[float], counter_hz: Optional[int]) -> str:
    """Ticks as nanoseconds."""
    if value is None or not counter_hz:
        return "-"
    converted = value * 1e9 / counter_hz
    if abs(converted) >= 1e9:
        return _large(converted)
    return f"{converted:.1f}" if abs(converted) < 100 else f"{converted:.0f}"


def hertz(value: int) -> str:
    """A frequency with its unit."""
    for above, unit in ((10**9, "GHz"), (10**6, "MHz"), (10**3, "kHz")):
        if value >= above:
            return f"{value / above:.6g} {unit}"
    return f"{value} Hz"


def place(row: Metric) -> str:
    """The cores of a row: `0`, `0>1`, `-`."""
    if row["cpu"] is None:
        return "-"
    return str(row["cpu"]) if row["peer"] is None else f"{row['cpu']}>{row['peer']}"


def _label(row: Metric) -> str:
    """A row's name without its suite, with what sets it apart."""
    name = clean(row["name"].partition(".")[2] or row["name"])
    if row["factors"]:
        name += " " + ",".join(f"{clean(key)}={clean(value)}"
                               for key, value in sorted(row["factors"].items()))
    return name


def make_entries(rows: Sequence[Metric]) -> list[Entry]:
    """Lines for rows of one suite: one for each metric and place, or one for each folded metric."""
    groups: dict[str, dict[tuple[int, int], list[Metric]]] = {}
    for row in rows:
        where = tuple(-1 if end is None else end for end in (row["cpu"], row["peer"]))
        groups.setdefault(_label(row), {}).setdefault(where, []).append(row)
    entries = []
    for label in sorted(groups):
        places = groups[label]
        if len(places) > FOLD_ABOVE:
            what = "cores" if all(peer < 0 for _, peer in places) else "pairs"
            entries.append(Entry(label, f"{len(places)} {what}",
                                 [row for where in sorted(places) for row in places[where]], True))
            continue
        entries += [Entry(label, place(places[where][0]), places[where])
                    for where in sorted(places)]
    return entries


def _step(results: Mapping[str, Any]) -> tuple[int, Optional[float]]:
    """The counter's step in ticks and, if its frequency is known, in nanoseconds."""
    step = results["machine"]["counter_step"] or 1
    counter_hz = results["machine"]["counter_hz"]
    return step, step * 1e9 / counter_hz if counter_hz else None


def _nanosecond_title(results: Mapping[str, Any]) -> str:
    step = _step(results)[1]
    return "ns" if step is None else f"ns +-{step:.4g}"


def suite_table(results: Mapping[str, Any], rows: Sequence[Metric]) -> Table:
    """The table of a suite's measured rows, with core cycles beside them where there are any."""
    counter_hz = results["machine"]["counter_hz"]
    entries = make_entries(rows)
    with_cycles = any(row.get("cycles") is not None for row in rows)
    lines = []
    for entry in entries:
        headline = entry.middle("headline")
        lines.append([
            entry.name, entry.where, entry.count(), ticks(entry.extreme("min", min)),
            ticks(entry.middle("p50")), entry.spread(), ticks(entry.middle("p90")),
            ticks(entry.middle("p99")), ticks(entry.extreme("max", max)),
            ticks(headline) + entry.mean_mark(), nanoseconds(headline, counter_hz)])
        if with_cycles:
            lines[-1].append(ticks(entry.middle("cycles")))
    columns = ["metric", "cpu", "n", "min", "p50", "95 %", "p90", "p99", "max", "ticks",
               _nanosecond_title(results)] + with_cycles * ["cycles"]
    return Table(columns, lines, 2,
                 [remark for remark in (entry.remark() for entry in entries) if remark])


def relative_table(results: Mapping[str, Any], rows: Sequence[Metric],
                   all_rows: Sequence[Metric]) -> Table:
    """The table of differences: what was measured, its base line, the paired difference."""
    counter_hz = results["machine"]["counter_hz"]
    step = _step(results)[0]
    known: dict[tuple[str, int], list[Metric]] = {}
    for row in all_rows:
        known.setdefault((row["name"], row["boot"]), []).append(row)

    def headline(names: Sequence[tuple[Any, Any, int]]) -> Optional[float]:
        """The median headline of the named rows; one of a place is preferred to all of a name."""
        found = []
        for name, where, boot in dict.fromkeys(names):
            there = known.get((name, boot), [])
            there = [row for row in there if place(row) == where] or there
            found += [row["headline"] for row in there if row["headline"] is not None]
        return median(found) if found else None

    lines = []
    entries = make_entries(rows)
    for entry in entries:
        measured = headline([(row["minuend"], place(row), row["boot"]) for row in entry.rows])
        base = headline([(row["subtrahend"], place(row), row["boot"]) for row in entry.rows])
        difference = entry.middle("headline")
        ratio = "-"
        if measured is not None and base is not None and base >= step:
            ratio = f"{measured / base:.2f}"
        lines.append([entry.name, entry.where, entry.count(), ticks(measured), ticks(base),
                      ticks(difference) + entry.mean_mark(), entry.spread(),
                      nanoseconds(difference, counter_hz), ratio])
    return Table(("difference", "cpu", "n", "measured", "base", "ticks", "95 %",
                  _nanosecond_title(results), "ratio"), lines, 2,
                 [remark for remark in (entry.remark() for entry in entries) if remark])


def _core_names(cpus: Sequence[Mapping[str, Any]]) -> str:
    """Which cores there are: `4 cores: Cortex-A53`."""
    names: dict[str, int] = {}
    for cpu in cpus:
        try:
            midr = int(str(cpu["midr"]), 0)
        except ValueError:
            midr = 0
        name = _CORES.get(midr >> 4 & 0xfff) if midr >> 24 == _ARM else None
        name = name or f"MIDR {clean(cpu['midr'])}"
        names[name] = names.get(name, 0) + 1
    kinds = ", ".join(name if len(names) == 1 else f"{count} {name}"
                      for name, count in names.items())
    return f"{len(cpus)} core{'' if len(cpus) == 1 else 's'}" + (f": {kinds}" if kinds else "")


def _known(value: Any) -> str:
    return "unknown" if value is None else clean(value)


def _cycle_fact(found: Mapping[str, Any]) -> str:
    """What is known of the cores' cycle counter."""
    text = f"{ticks(found['busy'])} a tick while a core computes"
    if found["asleep"] is not None:
        text += f", {ticks(found['asleep'])} while it sleeps in WFI"
    return text + ("; VIRTUAL: time, not cycles of a core" if found["virtual"] else "")


def head(results: Mapping[str, Any]) -> list[Block]:
    """Title and facts of image, machine and run."""
    image, machine, run = results["image"], results["machine"], results["run"]
    boots = results["boots"]
    blocks: list[Block] = [Heading(1, f"el1bench {_known(image['version'])} on "
                                      f"{_known(machine['model'] or image['board'])}")]
    if machine["emulated"]:
        blocks.append(Remark(f"EMULATED by {_known(machine['emulator'])}: ratios within this run "
                             "hold, times do not", True))
    if not run["complete"]:
        blocks.append(Remark("INCOMPLETE: this run did not come whole; see the problems below",
                             True))
    step, step_ns = _step(results)
    counter = "unknown"
    if machine["counter_hz"]:
        counter = (f"{hertz(machine['counter_hz'])}; it advances by {step} tick"
                   f"{'' if step == 1 else 's'}, {step_ns:.4g} ns")
    psci = machine["psci"]
    version = psci["version"]
    often = f"{_known(run['samples'])} samples a row"
    if run.get("ci"):
        often = f"up to {often}, until each headline is known to {run['ci'] * 100:g} %"
    facts = [
        ("image", f"board {_known(image['board'])}, build {_known(image['build_id'])}, "
                  f"{_known(image['compiler'])}"),
        ("machine", f"{_core_names(machine['cpus'])}; GICv{_known(machine['gic'])}; "
                    + ("no PSCI" if version is None
                       else f"PSCI {clean(version)} by {_known(psci['conduit'])}")),
        ("counter", counter),
        ("run", f"{len(boots)} boot{'' if len(boots) == 1 else 's'}, {often} "
                f"after {_known(run['warmup'])} for warm-up, entered at EL"
                + ", ".join(sorted({_known(boot['entry_el']) for boot in boots}))),
    ]
    if machine.get("cycle_counter"):
        facts.append(("cycles", _cycle_fact(machine["cycle_counter"])))
    if machine["firmware"]:
        facts.append(("firmware", clean(machine["firmware"])))
    if run["args"]:
        facts.append(("arguments", clean(run["args"])))
    blocks.append(Facts(facts))
    return blocks


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(clean(name) for name in names[:NAMES_SHOWN])
    return shown + (f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else "")


def _reasons(entries: Sequence[Mapping[str, Any]], verb: str) -> list[Block]:
    """Skipped or failed benchmarks, one line for each name and reason."""
    groups: dict[tuple[str, str], list[int]] = {}
    for entry in entries:
        groups.setdefault((clean(entry["name"]), clean(entry["reason"])), []).append(entry["boot"])
    blocks: list[Block] = []
    for (name, reason), boots in list(groups.items())[:REASONS_SHOWN]:
        often = f" (in {len(boots)} boots)" if len(boots) > 1 else ""
        blocks.append(Remark(f"{name} {verb}{often}: {reason or 'no reason given'}"))
    if len(groups) > REASONS_SHOWN:
        blocks.append(Remark(f"and {len(groups) - REASONS_SHOWN} more {verb}"))
    return blocks


def _warnings(metrics: Sequence[Metric]) -> list[Block]:
    blocks: list[Block] = []
    for keyword, meaning in WARNINGS.items():
        names = sorted({row["name"] for row in metrics if keyword in row["warnings"]})
        if names:
            blocks.append(Remark(f"{keyword}: {meaning} ({_names(names)})"))
    reasons: dict[str, int] = {}
    for row in metrics:
        for reason, count in row["excluded"].items():
            reasons[reason] = reasons.get(reason, 0) + count
    if reasons:
        counts = ", ".join(f"{count} {clean(reason)}" for reason, count in sorted(reasons.items()))
        blocks.append(Remark(f"excluded samples in all: {counts}"))
    outliers = [row["outliers"] for row in metrics if row.get("outliers")]
    if outliers:
        mild, far = (sum(one.get(kind, 0) for one in outliers) for kind in ("mild", "far"))
        blocks.append(Remark(f"outliers in all, kept: {mild} mild, {far} far"))
    return blocks


def tail(results: Mapping[str, Any]) -> list[Block]:
    """What did not run, what to beware of, and whether the run can be trusted."""
    run = results["run"]
    blocks: list[Block] = []
    failed, skipped = results["failures"], results["skipped"]
    if failed or skipped:
        blocks.append(Heading(2, "failed and skipped"))
        blocks += _reasons(failed, "failed") + _reasons(skipped, "skipped")
    warnings = _warnings(results["metrics"])
    if warnings:
        blocks.append(Heading(2, "warnings"))
        blocks += warnings
    problems = results.get("problems") or []
    if problems:
        blocks.append(Heading(2, "problems of the log"))
        for problem in problems[:PROBLEMS_SHOWN]:
            where = "" if problem.get("line") is None else f"line {clean(problem['line'])}: "
            blocks.append(Remark(where + clean(problem.get("text"))))
        if len(problems) > PROBLEMS_SHOWN:
            blocks.append(Remark(f"and {len(problems) - PROBLEMS_SHOWN} more"))
    blocks.append(Heading(2, "integrity"))
    checks = ", ".join(f"{clean(key)} {count}" for key, count in run["checks"].items())
    blocks.append(Facts([
        ("checks", checks or "none arrived"),
        ("clock", clean(run["host"].get("counter") or "not held against the host's clock")),
        ("log", "complete, every line checked" if run["complete"] else "incomplete"),
        ("result", clean(run.get("status") or ("failed" if failed else "passed")).upper()),
    ]))
    return blocks


def make_document(results: Mapping[str, Any]) -> list[Block]:
    """The whole report of one results.json."""
    metrics = results["metrics"]
    blocks = head(results)
    names = sorted({row["name"].partition(".")[0] for row in metrics}
                   | {one["name"].partition(".")[0] for one in results.get("outcomes") or []})
    for suite in names:
        rows = [row for row in metrics if row["name"].partition(".")[0] == suite]
        blocks.append(Heading(2, clean(suite)))
        measured = [row for row in rows if not row.get("minuend") and row["unit"] == "tick"]
        differences = [row for row in rows if row.get("minuend")]
        if measured:
            blocks.append(suite_table(results, measured))
            blocks += _grids(measured)
        if differences:
            bases = sorted({clean(row["subtrahend"]) for row in differences})
            blocks.append(Heading(3, f"relative to {', '.join(bases)}, sample by sample"))
            blocks.append(relative_table(results, differences, rows))
        if suite == "psci":
            blocks += firmware_tables(results) + idle_states(results)
        blocks += _beside_times(results, suite)
        blocks += _passed_checks(results, suite, rows) + _notes(results, suite)
    if metrics:
        blocks.append(Heading(2, "how to read it"))
        blocks.append(Remark(
            "Figures are ticks an operation. ticks: the headline, the median or (m) a mean where "
            "the median is too coarse. 95 %: confidence interval of p50; ~ the range of p50 over "
            "cores, pairs or boots, where p50, p90, p99 and ticks are medians over them."))
    return blocks + tail(results)


def _cell(rows: Sequence[Metric]) -> tuple[str, str, str]:
    """Median, spread and count of rows that are taken together."""
    entry = Entry("", "", list(rows))
    return ticks(entry.middle("p50")), entry.spread(), entry.count()


def _beside_times(results: Mapping[str, Any], suite: str) -> list[Block]:
    """Counts of the suite's benchmarks, and what the order of arrival did to its metrics."""
    blocks: list[Block] = []
    for title, found in (
            ("suspends: how they came back, and firmware's count of them", report_suspend.counts_of(results, suite)),
            ("by order of arrival in the cluster, in ticks",
             report_suspend.arrival_of(results, suite, _cell))):
        if found is not None:
            blocks += [Heading(3, title), Table(*found, 1)]
    return blocks


def firmware_tables(results: Mapping[str, Any]) -> list[Block]:
    """Firmware's view of PSCI calls, a table for each test; nothing without its stamps."""
    label = report_firmware.unit(results)
    if results["machine"]["emulated"]:
        label += ", EMULATED"
    blocks: list[Block] = []
    for table in report_firmware.tables_of(results):
        blocks += [Heading(3, f"{table.title} ({label})"),
                   Table(table.columns(), table.lines(_cell), 0)]
    return blocks


def idle_states(results: Mapping[str, Any]) -> list[Block]:
    """What Linux is to be told of power states; nothing without a sweep."""
    states = report_idle_states.states_of(results)
    if not states:
        return []
    label = ", EMULATED" if results["machine"]["emulated"] else ""
    blocks: list[Block] = [
        Heading(3, f"idle states for Linux (microseconds, rounded up{label})"),
        Table(report_idle_states.COLUMNS, report_idle_states.lines(states), 1)]
    blocks += [Remark(f"{clean(state.title)}: {clean(state.why)}")
               for state in states if state.why]
    blocks += [Remark(f"CLAIMS TOO LITTLE: {clean(text)}", True)
               for text in report_idle_states.shortfalls(results)]
    if not all(report_idle_states.is_judged(results, state) for state in states):
        blocks.append(Remark("what an emulator takes is not held against the claims"))
    node = report_idle_states.node_lines(results)
    return blocks + ([Source(node)] if node else [])


def _grids(rows: Sequence[Metric]) -> list[Block]:
    """A grid for each metric that was measured between many pairs of cores."""
    groups: dict[str, list[Metric]] = {}
    for row in rows:
        if row["unit"] == "tick":
            groups.setdefault(_label(row), []).append(row)
    blocks: list[Block] = []
    for label in sorted(groups):
        pairs = report_grid.pairs_of(groups[label])
        if pairs and len(blocks) < 2 * report_grid.GRIDS_MAX:
            titles, lines = report_grid.lines_of(pairs)
            blocks += [Heading(3, f"{label}: ticks from core to core"), Table(titles, lines, 1)]
    return blocks


def _notes(results: Mapping[str, Any], suite: str) -> list[Block]:
    """Facts that benchmarks left and that are no samples."""
    notes: dict[str, list[str]] = {}
    for one in results.get("notes") or []:
        if one["name"].partition(".")[0] == suite:
            texts = notes.setdefault(clean(one["name"]), [])
            if clean(one["text"]) not in texts:
                texts.append(clean(one["text"]))
    shown: list[Block] = [Remark(f"{name}: {'; '.join(texts[:REASONS_SHOWN])}")
                          for name, texts in list(notes.items())[:REASONS_SHOWN]]
    if len(notes) > REASONS_SHOWN:
        shown.append(Remark(f"and notes of {len(notes) - REASONS_SHOWN} more"))
    return shown


def _passed_checks(results: Mapping[str, Any], suite: str, rows: Sequence[Metric]) -> list[Block]:
    """Benchmarks of a suite that passed and have no rows: checks."""
    with_rows = {row["name"].rpartition(".")[0] for row in rows}
    passed: dict[str, int] = {}
    for one in results.get("outcomes") or []:
        if (one["name"].partition(".")[0] == suite and one["result"] == "passed"
                and one["name"] not in with_rows):
            passed[clean(one["name"])] = passed.get(clean(one["name"]), 0) + 1
    return [Remark(f"passed: {', '.join(sorted(passed))}")] if passed else []
