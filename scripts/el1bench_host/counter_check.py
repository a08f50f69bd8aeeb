"""Holds the image's counter against the host's clock: does it run as fast as CNTFRQ_EL0 says?

The image sends `clock` marks, several at each end of an interval, each with the counter's value;
whoever reads the console notes when each line arrived. Counter and host must agree on how long the
interval was. The arrival of a line is uncertain, by more than one may think where an adapter or a
busy host holds bytes back; how much is taken from how well the marks of one end agree. What cannot
be told for certain is not told.
"""

from dataclasses import dataclass
from typing import Any, Optional, Sequence

THRESHOLD = 0.01
"""A counter whose rate is off by more fails the run."""

RIGHT = "right"
FAST = "fast"
SLOW = "slow"
UNKNOWN = "not-known"
NOT_APPLICABLE = "not-applicable"
VERDICTS = (RIGHT, FAST, SLOW, UNKNOWN, NOT_APPLICABLE)

# Of the time between two marks by the counter. Marks that were held up together arrive together,
# and then disagree by all of it; those that agree much better were not.
_AGREEMENT = 1 / 3
# The least delay of one end lies no further above that of the other than this many times the
# distance from the least to the median, whatever adapters and schedulers have been tried on it.
_CAUTION = 2
# In seconds. What a host's scheduler may add to all marks of one end alike.
_LEAST_JITTER = 0.0005


@dataclass(frozen=True)
class Mark:
    """A `clock` line: which end, the counter in ticks, when it arrived (seconds of any epoch)."""

    name: str
    counter: int
    arrived: Optional[float] = None


@dataclass(frozen=True)
class Verdict:
    """What the marks tell. `off`: the counter's rate over CNTFRQ, less 1; positive is fast."""

    verdict: str
    text: str
    off: Optional[float] = None
    uncertainty: Optional[float] = None
    seconds: Optional[float] = None
    jitter: Optional[float] = None

    @property
    def failed(self) -> bool:
        """True if the counter's rate is known to be wrong."""
        return self.verdict in (FAST, SLOW)

    def record(self) -> dict[str, Any]:
        """For results.json."""

        def rounded(value: Optional[float], factor: float) -> Optional[float]:
            return None if value is None else float(f"{value * factor:.4g}")

        return {"verdict": self.verdict, "text": self.text,
                "off_percent": rounded(self.off, 100),
                "uncertainty_percent": rounded(self.uncertainty, 100),
                "seconds": rounded(self.seconds, 1), "jitter_ms": rounded(self.jitter, 1000)}


def _percent(value: float) -> str:
    """A share with two digits: 1.6 %, 0.012 %."""
    return f"{100 * value:.2g} %"


@dataclass(frozen=True)
class _End:
    """One end of the interval: the mark that was held up least, and how far to trust it.

    The least delay is not none. How far the others lie above it tells what it may be.
    """

    mark: Mark
    jitter: Optional[float]  # seconds; None: the marks do not confirm one another


def _end(marks: Sequence[Mark], hz: float) -> _End:
    """The mark of least delay, as the best of the others confirms it."""

    def delay(mark: Mark) -> float:
        """Up to a constant."""
        assert mark.arrived is not None
        return mark.arrived - (mark.counter - marks[0].counter) / hz

    ordered = sorted(marks, key=delay)
    first, second = ordered[:2]
    apart = abs(first.counter - second.counter) / hz
    if delay(second) - delay(first) > apart * _AGREEMENT:
        return _End(first, None)
    spread = delay(ordered[len(marks) // 2]) - delay(first)
    return _End(first, _CAUTION * spread + _LEAST_JITTER)


def check(marks: Sequence[Mark], counter_hz: Optional[int], emulator: str = "") -> Verdict:
    """The verdict for one boot. `emulator` is what the boot's log says of it, "" on hardware."""
    if "icount" in emulator:
        return Verdict(NOT_APPLICABLE, "not applicable: time under icount is a count of "
                                       "instructions")
    if not counter_hz:
        return Verdict(UNKNOWN, "not known: CNTFRQ_EL0 is 0 or not in the log")
    ends = [[mark for mark in marks if mark.name == name] for name in ("begin", "end")]
    if not all(len(end) > 1 for end in ends):
        return Verdict(UNKNOWN, "not known: the log lacks marks of the interval")
    ends = [[mark for mark in end if mark.arrived is not None] for end in ends]
    if not all(len(end) > 1 for end in ends):
        return Verdict(UNKNOWN, "not known: the log does not say when its lines arrived")
    first, last = ends[0][-1], ends[1][-1]
    assert first.arrived is not None and last.arrived is not None
    if last.arrived <= first.arrived or last.counter <= first.counter:
        return Verdict(UNKNOWN, "not known: the marks are out of order")
    # Between the marks of one end, a first idea of the counter's rate is good enough.
    rate = (last.counter - first.counter) / (last.arrived - first.arrived)
    begin, end = (_end(marks_of_end, rate) for marks_of_end in ends)
    assert begin.mark.arrived is not None and end.mark.arrived is not None
    seconds = end.mark.arrived - begin.mark.arrived
    claimed = (end.mark.counter - begin.mark.counter) / counter_hz
    if seconds <= 0 or claimed <= 0:
        return Verdict(UNKNOWN, "not known: the marks are out of order")
    if begin.jitter is None or end.jitter is None:
        return Verdict(UNKNOWN, "not known: lines arrived too unevenly", seconds=seconds)
    jitter = begin.jitter + end.jitter
    off = claimed / seconds - 1
    uncertainty = jitter / seconds * (1 + abs(off))
    known = {"off": off, "uncertainty": uncertainty, "seconds": seconds, "jitter": jitter}
    margin = f"+-{_percent(uncertainty)}, over {seconds:.3g} s"
    if abs(off) + uncertainty <= THRESHOLD:
        return Verdict(RIGHT, f"counter runs at CNTFRQ within {_percent(abs(off) + uncertainty)}, "
                              f"over {seconds:.3g} s", **known)
    if abs(off) - uncertainty <= THRESHOLD:
        return Verdict(UNKNOWN, f"not known: {seconds:.3g} s are too short for a jitter of "
                                f"{1000 * jitter:.2g} ms", **known)
    verdict = FAST if off > 0 else SLOW
    return Verdict(verdict, f"counter is {verdict} by {_percent(abs(off))} ({margin}): CNTFRQ says "
                            f"{counter_hz} Hz, the host {counter_hz * (1 + off):.5g}", **known)


def worst(verdicts: Sequence[Verdict]) -> Optional[Verdict]:
    """The verdict that speaks for several boots."""
    order = (FAST, SLOW, UNKNOWN, NOT_APPLICABLE, RIGHT)
    return min(verdicts, key=lambda one: order.index(one.verdict), default=None)
