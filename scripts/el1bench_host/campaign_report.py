"""What a campaign found: outcomes, times and phases with confidence intervals, and the results.

The iteration, a boot of its own, is the unit: every interval is over iterations.
"""

import math
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from el1bench_host import report, results, results_file
from el1bench_host.attempt import OUTCOMES, Attempt
from el1bench_host.campaign_file import Campaign, Configuration
from el1bench_host.campaign_store import Store
from el1bench_host.decoder import decode_log

REPORT_NAME = "report.md"
# Student's t, two-sided 95 %, by degrees of freedom.
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
       2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
       2.052, 2.048, 2.045, 2.042)
T95_MANY = 1.96
# A stall that matters, in seconds: far above what a serial line and its stamps can be off by.
STALL_SECONDS = 0.1


@dataclass(frozen=True)
class Figure:
    """A quantity over iterations."""

    n: int
    mean: float
    half: Optional[float]
    """Half of the 95 % confidence interval of the mean; None for fewer than two iterations."""
    low: float
    high: float


def figure(values: Sequence[float]) -> Figure:
    """The figure of at least one value."""
    n = len(values)
    mean = math.fsum(values) / n
    half = None
    if n > 1:
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
        half = (T95[n - 2] if n - 2 < len(T95) else T95_MANY) * deviation / math.sqrt(n)
    return Figure(n, mean, half, min(values), max(values))


def _cells(values: Sequence[float]) -> list[str]:
    if not values:
        return ["0", "", "", ""]
    found = figure(values)
    interval = "" if found.half is None else f" ± {found.half:.3f}"
    return [str(found.n), f"{found.mean:.3f}{interval}", f"{found.low:.3f}", f"{found.high:.3f}"]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up, so that it reads on a terminal as well."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + " |\n"

    return line(head) + line(["-" * width for width in widths]) + "".join(map(line, rows))


def _good(campaign: Campaign, store: Store, configuration: Configuration) -> list[Attempt]:
    found = [store.good(configuration.name, number) for number in range(campaign.iterations)]
    return [attempt for attempt in found if attempt is not None]


def _outcomes(campaign: Campaign, store: Store) -> str:
    rows = []
    for configuration in campaign.configurations:
        made = [attempt for (name, _), attempts in store.attempts.items()
                if name == configuration.name for attempt in attempts]
        counts = [sum(attempt.outcome == outcome for attempt in made) for outcome in OUTCOMES]
        good = len(_good(campaign, store, configuration))
        rows.append([configuration.name, f"{good}/{campaign.iterations}", str(len(made)),
                     *(str(count) if count else "" for count in counts)])
    return _table(["configuration", "good", "attempts", *OUTCOMES], rows)


def _times(campaign: Campaign, store: Store) -> str:
    rows = []
    for configuration in campaign.configurations:
        good = _good(campaign, store, configuration)
        for name in ("first-byte", "prompt", "loaded", "started", "end"):
            values = [attempt.seconds[name] for attempt in good if name in attempt.seconds]
            if values:
                rows.append([configuration.name, name, *_cells(values)])
        counters = [attempt.counter_at_entry for attempt in good
                    if attempt.counter_at_entry is not None]
        if counters:
            rows.append([configuration.name, "boot.counter-at-entry", *_cells(counters)])
    return _table(["configuration", "time", "n", "mean, 95 %", "min", "max"], rows)


def _step(before: dict[str, Any], phase: dict[str, Any], clock: str) -> Optional[float]:
    if phase[clock] is None or before[clock] is None:
        return None
    return phase[clock] - before[clock]


def phase_rows(configuration: Configuration, good: Sequence[Attempt]) -> list[list[str]]:
    """A row for each phase: the host's clock, the guest's, and what the guest did not see.

    The guest's time is compared from phase to phase, since the last one that bears a guest's time:
    where the two clocks are started does not matter.
    """
    rows = []
    for number, phase in enumerate(configuration.phases):
        host, guest, unseen, steps = [], [], [], []
        for attempt in good:
            if number >= len(attempt.phases):
                continue
            this = attempt.phases[number]
            host.append(this["host"])
            if this["guest"] is not None:
                guest.append(this["guest"])
            if number:
                steps.append(this["host"] - attempt.phases[number - 1]["host"])
            # At 0.000000 the guest's clock has not started.
            known = [one for one in attempt.phases[:number] if one["guest"]]
            if known and (seen := _step(known[-1], this, "guest")) is not None:
                unseen.append(this["host"] - known[-1]["host"] - seen)
        stalled = bool(unseen) and figure(unseen).mean > STALL_SECONDS
        rows.append([configuration.name, phase.name, *_cells(host)[:2],
                     _cells(steps)[1], _cells(guest)[1],
                     _cells(unseen)[1] + (" STALL" if stalled else "")])
    return rows


def _phases(campaign: Campaign, store: Store) -> str:
    rows = [row for configuration in campaign.configurations
            for row in phase_rows(configuration, _good(campaign, store, configuration))]
    return _table(["configuration", "phase", "n", "host, since power-on", "host, since last",
                   "guest's printk", "unseen by guest"], rows) if rows else ""


def _troubles(store: Store) -> str:
    lines = [f"- {attempt.configuration} {attempt.iteration}, attempt {attempt.number}: "
             f"{attempt.outcome}: {attempt.reason}\n"
             for _, attempts in sorted(store.attempts.items()) for attempt in attempts
             if not attempt.ok]
    if store.broken_off:
        lines.append(f"- broken off, and made again: {store.broken_off}\n")
    return "".join(lines)


def text(campaign: Campaign, store: Store) -> str:
    """The tables that end a campaign."""
    parts = [("Iterations", _outcomes(campaign, store)),
             ("Seconds since power-on, by the host's clock and by the board's counter", _times(campaign, store)),
             ("Boot phases, in seconds", _phases(campaign, store)),
             ("Attempts that do not count", _troubles(store))]
    return f"# {campaign.name}\n" + "".join(f"\n## {title}\n\n{body}" for title, body in parts
                                            if body)


def write(campaign: Campaign, store: Store) -> str:
    """Write report.md, and results.json of each configuration of ours; the tables."""
    tables = text(campaign, store)
    whole = tables
    for configuration in campaign.configurations:
        good = _good(campaign, store, configuration)
        if configuration.el1bench and good:
            logs = b"".join(store.log_path(attempt).read_bytes() + b"\n" for attempt in good)
            decoded = decode_log(logs)
            folder = store.folder / configuration.name
            results_file.write_results(decoded, folder, {"run": {"host": {"campaign": campaign.name}}})
            whole += (f"\n## {configuration.name}: what the image measured\n\n"
                      + report.render(results.make_results(decoded), "md"))
    (store.folder / REPORT_NAME).write_text(whole, encoding="utf-8")
    return tables


