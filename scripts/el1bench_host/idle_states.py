"""What an operating system needs to know of a power state, from samples: entry, exit and wake-up
latency in the sense of the devicetree binding of idle states (docs/idle-states.md).

A sample is a point: how long after the call its wake-up came, and how long it took from there to
the first instruction back. Sweeps (`psci.wake`) and sleeps (`psci.suspend`) make points alike.
"""

from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence

from el1bench_host.decoded_log import Boot, Row
from el1bench_host.log_records import IdleState

HOWS = ("serial", "parallel")
SAMPLES_MIN = 30
"""A sweep with fewer samples on some core tells too little of the worst case."""
CLAIMS = ("entry_latency_us", "exit_latency_us", "wakeup_latency_us", "min_residency_us")

Point = tuple[int, int]
"""Delay after the call and latency, in ticks."""


@dataclass(frozen=True)
class Latencies:
    """The least that may be claimed, in ticks."""

    entry: int
    exit: int
    wakeup: int


def exit_latency(sweeps: Iterable[Point], points: Sequence[Point]) -> int:
    """The longest latency after a wake-up that came when the state had surely been entered: in the
    second half of the sweep, which reaches twice as far as the entry, or later."""
    late = max(delay for delay, _ in sweeps) / 2
    return max(latency for delay, latency in points if delay >= late)


def latencies(exit_ticks: int, points: Iterable[Point], at_least: int = 0) -> Latencies:
    """The least entry latency, of `at_least` at least, with which no point breaks the promise that
    Linux relies on: latency <= exit + max(entry - delay, 0)."""
    entry, wakeup = at_least, 0
    for delay, latency in points:
        wakeup = max(wakeup, latency)
        if latency > exit_ticks:
            entry = max(entry, delay + latency - exit_ticks)
    return Latencies(entry, exit_ticks, wakeup)


def _entries(row: Row) -> Iterator[Optional[int]]:
    """A row's samples, None where excluded; without power-downs that came back to their caller,
    which have no place in the row of the latencies."""
    assert row.values is not None
    for index, value in enumerate(row.values):
        reason = row.excluded.get(index)
        if reason != "inline":
            yield value if reason is None else None


def _points(rows: Mapping[tuple[str, Optional[int]], Row], case: str) -> dict[int, list[Point]]:
    """The points of each core; those of a core whose samples are not all there are left out."""
    found = {}
    for (name, cpu), latencies_row in rows.items():
        resumes = rows.get((f"{case}.call-to-resume", cpu))
        if (name != f"{case}.wake-latency" or cpu is None or resumes is None
                or not resumes.complete or not latencies_row.complete):
            continue
        found[cpu] = [(resume - latency, latency) for resume, latency
                      in zip(_entries(resumes), _entries(latencies_row))
                      if resume is not None and latency is not None]
    return found


def _entered(rows: Mapping[tuple[str, Optional[int]], Row], kind: str) -> bool:
    """Whether a power-down ever came back at its entry point."""
    def count(name: str) -> int:
        return sum(row.metric.n for (known, _), row in rows.items() if known == name)

    return any(count(f"psci.suspend.{kind}.{how}.call-to-resume")
               or count(f"psci.wake.{kind}.{how}.call-to-resume")
               > count(f"psci.wake.{kind}.{how}.inline-return") for how in HOWS)


def _measure(boot: Boot, kind: str) -> dict[str, Any]:
    """What the samples of a boot say of one kind of state; `why` if they say nothing."""
    rows = {(row.metric.name, row.metric.cpu): row for row in boot.rows.values()}
    made: dict[str, Any] = {"how": [], "n": 0, "n_least": 0, "cores": 0, "entry": None,
                            "exit": None, "wakeup": None, "why": None}
    points: list[Point] = []
    exits: list[int] = []
    fewest: list[int] = []
    cores: set[int] = set()
    down = 0
    for how in HOWS:
        sweeps = _points(rows, f"psci.wake.{kind}.{how}")
        swept = [point for core in sweeps.values() for point in core]
        if not swept:
            continue
        sleeps = _points(rows, f"psci.suspend.{kind}.{how}")
        here = swept + [point for core in sleeps.values() for point in core]
        exits.append(exit_latency(swept, here))
        points += here
        fewest += [len(core) for core in sweeps.values()]
        cores |= set(sweeps)
        made["how"].append(how)
        down = max([down] + [row.metric.max or 0 for (name, _), row in rows.items()
                             if name == f"psci.suspend.{kind}.{how}.powerdown"])
    if not points:
        made["why"] = f"the log has no samples of psci.wake.{kind}"
        return made
    made.update(n=len(points), n_least=min(fewest), cores=len(cores))
    if kind != "standby" and not _entered(rows, kind):
        made["why"] = "it always returns to its caller: nothing is powered down"
    elif made["n_least"] < SAMPLES_MIN:
        made["why"] = (f"{made['n_least']} samples on some core are too few for a worst case; "
                       f"it takes {SAMPLES_MIN}")
    else:
        found = latencies(max(exits), points, down)
        made.update(entry=found.entry, exit=found.exit, wakeup=found.wakeup)
    return made


def _record(boot: Boot, index: int, state: IdleState) -> dict[str, Any]:
    return {"boot": index, "kind": state.kind, "power_state": f"{state.power_state:#x}",
            "timer_stops": state.timer_stops, "tree": None if state.tree == "-" else state.tree,
            "node": None if state.tree == "-" else state.node,
            "claims": {key: getattr(state, key) for key in CLAIMS}, **_measure(boot, state.kind)}


def records(boot: Boot, index: int) -> list[dict[str, Any]]:
    """For results.json: the states of a boot with what is claimed and what was measured."""
    return [_record(boot, index, state) for state in boot.idle_states]


def check(record: Mapping[str, Any]) -> None:
    """Raises ValueError if a record of a results.json, its types being right, makes no sense."""
    if not 0 <= int(record["power_state"], 0) < 1 << 32:
        raise ValueError("an idle state's power_state is out of range")
    if record["why"] is None and None in (record["entry"], record["exit"], record["wakeup"]):
        raise ValueError("an idle state lacks a latency and does not say why")
