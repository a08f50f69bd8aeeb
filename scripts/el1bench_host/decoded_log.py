"""What a console log holds once it is decoded: boots, rows and their samples, what is wrong.

How it is made out of a log's bytes: decoder.py.
"""

from array import array
from dataclasses import dataclass, field
from typing import Optional

from el1bench_host import counter_check, statistics
from el1bench_host import log_records as records
from el1bench_host.errors import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_OK, EXIT_USAGE
from el1bench_host.log import Line, Problem
from el1bench_host.log_records import Malformed, Metric

_UNEMULATED = ("", "-", "0", "no", "none", "false")


@dataclass
class Row:
    """One row of a boot: what the image says of it, and its samples as far as they arrived."""

    metric: Metric
    line: Line
    values: Optional[array] = None
    """Ticks by index, 0 where excluded or lost; None if there are no raw samples at all. Shorter
    than the row if its last samples are lost."""
    excluded: dict[int, str] = field(default_factory=dict)
    lost: list[tuple[int, int]] = field(default_factory=list)
    """Runs of samples that did not arrive, each as first and last index."""
    figures: Optional[statistics.Statistics] = None
    """From the samples, if all of them are there; None without them or without a good one."""

    @property
    def complete(self) -> bool:
        """True if every sample is there."""
        return self.values is not None and not self.lost

    def good(self) -> list[int]:
        """The good samples; only of a complete row."""
        assert self.values is not None
        if not self.excluded:
            return self.values.tolist()
        return [value for index, value in enumerate(self.values) if index not in self.excluded]

    def title(self) -> str:
        """The row's name with its cores, for a message."""
        ends = [str(end) for end in (self.metric.cpu, self.metric.peer) if end is not None]
        return self.metric.name + (f" (cpu {' to '.join(ends)})" if ends else "")


@dataclass
class Boot:
    """One boot of a log."""

    position: int
    begin: Optional[records.Begin] = None
    info: dict[str, str] = field(default_factory=dict)
    cpus: list[records.Cpu] = field(default_factory=list)
    caches: list[records.Cache] = field(default_factory=list)
    idle_states: list[records.IdleState] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    plan: Optional[records.Plan] = None
    rows: dict[int, Row] = field(default_factory=dict)
    outcomes: list[records.Outcome] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    counts: list[records.Counts] = field(default_factory=list)
    fails: list[tuple[str, str]] = field(default_factory=list)
    checks: Optional[dict[str, int]] = None
    marks: list[counter_check.Mark] = field(default_factory=list)
    counter: Optional[counter_check.Verdict] = None
    """The counter against the host's clock; None if the boot has no marks at all."""
    noise: Optional[bytes] = None
    """What arrived between the plan line and the end of timing; None if they are not known."""
    end: Optional[records.End] = None
    survivors: Optional[records.Survivors] = None
    """What this boot found of an earlier one."""
    survived: Optional[records.Survivors] = None
    """That this boot's rows and outcomes were found by a later one; None if they were not."""
    unknown_lines: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """True if the boot has its trailer and nothing is wrong with its lines."""
        return self.end is not None and not self.problems

    @property
    def failed(self) -> bool:
        """True if the image says so, or if something reached the console while it measured."""
        return ((self.end is not None and self.end.status == "failed") or bool(self.fails)
                or any(outcome.result == "failed" for outcome in self.outcomes)
                or any((self.checks or {}).get(key, 0)
                       for key in ("uart_bytes_in_timed", "console_refused_bytes"))
                or bool(self.noise)
                or (self.counter is not None and self.counter.failed)
                or self.odd_frequency is not None)

    @property
    def odd_frequency(self) -> Optional[str]:
        """What is said of the first core whose CNTFRQ_EL0 is not that of core 0; None if none."""
        first = next((cpu for cpu in self.cpus if cpu.index == 0), None)
        for cpu in self.cpus:
            if first is not None and cpu.counter_hz != first.counter_hz:
                return (f"core {cpu.index} says CNTFRQ {cpu.counter_hz} Hz, core 0 "
                        f"{first.counter_hz}")
        return None


@dataclass
class DecodedLog:
    """All boots of a log, and everything that is wrong with it."""

    boots: list[Boot]
    stray: list[Problem]

    @property
    def problems(self) -> list[Problem]:
        """Every problem, in the order of the boots and, in a boot, of the file."""
        found = list(self.stray)
        for boot in self.boots:
            found += sorted(boot.problems, key=lambda one: (one.line or 0, one.sequence or 0))
        return found

    @property
    def empty(self) -> bool:
        """True if the log holds nothing that even looks like a machine line."""
        return not self.boots and not self.stray

    @property
    def complete(self) -> bool:
        """True if there is a boot and all of it, and of any others, is there."""
        return bool(self.boots) and not self.problems and all(boot.complete for boot in self.boots)

    def status(self) -> str:
        """passed, failed, refused or incomplete: the worst of the boots."""
        if not self.complete:
            return "incomplete"
        if any(boot.end is not None and boot.end.status == "refused" for boot in self.boots):
            return "refused"
        return "failed" if any(boot.failed for boot in self.boots) else "passed"

    def exit_code(self) -> int:
        """The exit code that goes with `status`."""
        return {"incomplete": EXIT_INCOMPLETE, "refused": EXIT_USAGE, "failed": EXIT_FAILED,
                "passed": EXIT_OK}[self.status()]


def count_reasons(excluded: dict[int, str]) -> dict[str, int]:
    """How many samples are excluded for each reason, by name."""
    found: dict[str, int] = {}
    for reason in sorted(excluded.values()):
        found[reason] = found.get(reason, 0) + 1
    return found


def counter_step(boot: Boot) -> int:
    """The counter's real step in ticks, 1 if the boot does not say."""
    try:
        return max(records.natural(boot.info.get("counter-step", "1"), 1 << 40), 1)
    except Malformed:
        return 1


def unit_step(metric: Metric, step: int) -> int:
    """The step of what a row counts: of the counter, `step` ticks; of cycles, one."""
    return step if metric.unit == "tick" else 1


def is_emulated(boot: Boot) -> bool:
    """True if the host told the image that it runs under an emulator."""
    return boot.info.get("emulated", "").lower() not in _UNEMULATED


def problem_text(problem: Problem) -> str:
    """A problem as one line: the place, then what is wrong."""
    place = [f"line {problem.line}"] if problem.line is not None else []
    if problem.boot is not None:
        place.append(f"boot {problem.boot}")
    return f"{', '.join(place)}: {problem.text}" if place else problem.text
