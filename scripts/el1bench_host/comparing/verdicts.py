"""A verdict for each row of two sides. docs/compare.md defines the words and the method."""

import math
from dataclasses import dataclass, field
from typing import Mapping, Optional, Sequence

from el1bench_host.comparing import inference
from el1bench_host.comparing.conditions import Mode, nanoseconds_needed
from el1bench_host.comparing.estimate import Estimate
from el1bench_host.comparing.inputs import BootKey, Key, Side
from el1bench_host.errors import UserError
from el1bench_host.statistics import INTERVAL_MIN, median

SLOWER, FASTER, CHANGED, SAME = "slower", "faster", "changed", "same"
TOO_FEW, NOT_COMPARABLE = "too few", "not comparable"
WORDS = (SLOWER, FASTER, CHANGED, SAME, TOO_FEW, NOT_COMPARABLE)
"""Every verdict there is."""

RATE = 0.05
"""The share of false ones among the changes that are called, in expectation; the chance that an
interval misses."""
RELATIVE_TOLERANCE = 0.02
"""Emulated ratios hold within this share from one run to the next; less is no change."""
RELATIVE_BOOTS = 2
"""Boots a side that an emulated ratio needs: one does not show how far it moves."""

_Boots = Mapping[BootKey, Estimate]


@dataclass(frozen=True)
class Value:
    """A row in one boot, in the unit of the comparison."""

    value: float
    error: Optional[float]
    step: float
    constant: bool
    n: int


@dataclass
class Comparison:
    """A row, what both sides have, and the verdict. Numbers are in `unit`."""

    key: Key
    unit: str
    boots: tuple[int, int] = (0, 0)
    n: tuple[int, int] = (0, 0)
    """Good samples a side, over all boots."""
    base: Optional[float] = None
    new: Optional[float] = None
    mean: bool = False
    """True if the values are means without far outliers, not medians."""
    low: Optional[float] = None
    high: Optional[float] = None
    """The interval of the change."""
    chance: Optional[float] = None
    """How likely so large a change is by chance (two-sided p)."""
    step: float = 0.0
    word: str = NOT_COMPARABLE
    reason: str = ""

    @property
    def change(self) -> Optional[float]:
        """New minus base."""
        return None if self.base is None or self.new is None else self.new - self.base

    @property
    def bound(self) -> Optional[float]:
        """Of a row that is the same: no change is larger than this, to either side."""
        if self.word != SAME or self.low is None or self.high is None:
            return None
        return max(abs(self.low), abs(self.high))

    @property
    def percent(self) -> Optional[tuple[float, float, float]]:
        """The change and its interval as shares of base; None where that says more than is known:
        a change that is none, or is smaller than a counter step."""
        change = self.change
        if (self.word not in (SLOWER, FASTER) or change is None or self.low is None
                or self.high is None or abs(change) < self.step or self.base < self.step
                or self.base <= 0):
            return None
        return tuple(100 * one / self.base for one in (change, self.low, self.high))


@dataclass
class Verdicts:
    """Everything that `compare` found."""

    mode: Mode
    rows: list[Comparison] = field(default_factory=list)
    only_base: list[Key] = field(default_factory=list)
    only_new: list[Key] = field(default_factory=list)
    tested: int = 0
    called: int = 0

    def count(self, word: str) -> int:
        """How many rows got a verdict."""
        return sum(row.word == word for row in self.rows)


@dataclass
class _Test:
    """A row that waits for the others before it is judged."""

    row: Comparison
    error: float
    freedom: int
    slack: float

    def interval(self, chance: float) -> None:
        """Set the row's interval."""
        half = inference.critical(chance, self.freedom) * self.error + self.slack
        self.row.low, self.row.high = self.row.change - half, self.row.change + half


def _error(base: Sequence[Value], new: Sequence[Value]) -> Optional[tuple[float, int]]:
    """The standard error of the difference of the two means over boots, and its degrees of freedom;
    None if there is nothing to tell it from."""
    sides = (base, new)
    errors = [one.error for side in sides for one in side]
    freedom = len(base) + len(new) - 2
    within = [error * error for error in errors if error is not None]
    if not freedom:
        if None in errors or min(base[0].n, new[0].n) < INTERVAL_MIN:
            return None
        return math.sqrt(sum(within)), min(base[0].n, new[0].n) - 1
    squares = 0.0
    for side in sides:
        middle = sum(one.value for one in side) / len(side)
        squares += sum((one.value - middle) ** 2 for one in side)
    # A few boots can agree by luck; they are no surer than their samples are.
    variance = max(squares / freedom, sum(within) / len(within) if within else 0.0)
    return math.sqrt(variance * (1 / len(base) + 1 / len(new))), freedom


def _test(row: Comparison, base: Sequence[Value], new: Sequence[Value],
          share: float) -> Optional[_Test]:
    """Fill in a row's values; None, with a verdict, if they are too few."""
    row.boots = len(base), len(new)
    row.n = sum(one.n for one in base), sum(one.n for one in new)
    row.base = sum(one.value for one in base) / len(base)
    row.new = sum(one.value for one in new) / len(new)
    row.step = max(one.step for one in (*base, *new))
    found = _error(base, new)
    if found is None:
        row.word = TOO_FEW
        row.reason = f"fewer than {INTERVAL_MIN} samples, or none of them left, from one boot"
        return None
    # Where all samples are equal nothing shows where in a step they lie.
    hidden = row.step if any(one.constant for one in (*base, *new)) else 0.0
    slack = max(hidden, share * abs(row.base))
    test = _Test(row, *found, slack)
    beyond = abs(row.change) - slack
    if test.error > 0:
        row.chance = inference.two_sided(max(beyond, 0.0) / test.error, test.freedom)
    else:
        # Beyond what the arithmetic rounds.
        row.chance = 0.0 if beyond > 1e-9 * (abs(row.base) + abs(row.new)) else 1.0
    return test


def _judge(tests: Sequence[_Test]) -> int:
    """The verdicts of rows that wait; returns how many changes were called."""
    chances = [test.row.chance for test in tests]
    called = inference.discoveries(chances, RATE)
    limit = RATE * called / len(tests) if tests else 0.0
    for test in tests:
        if called and test.row.chance <= limit:
            # At this level an interval of a change that is called excludes none (Benjamini and
            # Yekutieli), and at most the share RATE of these intervals misses.
            test.interval(limit)
            test.row.word = SLOWER if test.row.change > 0 else FASTER
        else:
            test.interval(RATE)
            test.row.word = SAME
    return called


def _scales(side: Side, needed: bool) -> list[float]:
    """For each file: how many units of the comparison a tick is."""
    if not needed:
        return [1.0] * len(side.results)
    rates = [results["machine"]["counter_hz"] for results in side.results]
    if not all(rate and rate > 0 for rate in rates):
        raise UserError("the counter frequencies differ, and one of them is not known")
    return [1e9 / rate for rate in rates]


def _values(boots: _Boots, mean: bool, scales: Sequence[float]) -> dict[BootKey, Value]:
    found = {}
    for boot, one in boots.items():
        scale = scales[boot.file]
        value, error = (one.mean, one.mean_error) if mean else (one.median, one.median_error)
        found[boot] = Value(value * scale, None if error is None else error * scale,
                            one.step * scale, one.constant, one.n)
    return found


def _coarse(*sides: _Boots) -> bool:
    return any(one.coarse for boots in sides for one in boots.values())


def _exact(row: Comparison, base: _Boots, new: _Boots, tolerance: float) -> None:
    """The verdict where a run repeats itself to the instruction."""
    row.boots = len(base), len(new)
    row.n = sum(one.n for one in base.values()), sum(one.n for one in new.values())
    row.step = max(one.step for one in (*base.values(), *new.values()))
    coarse = _coarse(base, new)
    for row.mean, pick in ((coarse, lambda one: one.mean if coarse else one.median),
                           (True, lambda one: one.plain_mean)):
        row.base, row.new = (sum(pick(one) for one in boots.values()) / len(boots)
                             for boots in (base, new))
        # A change that moves few samples shows in the mean of all of them only.
        if row.change:
            break
    # Of equal samples mean and median are one.
    row.mean = row.mean and not all(one.constant for one in (*base.values(), *new.values()))
    figures, digests = ([sorted({text(one) for one in boots.values()}) for boots in (base, new)]
                        for text in (lambda one: one.figures, lambda one: one.digest or b""))
    equal = figures[0] == figures[1] and (digests[0] == digests[1] or [b""] in digests)
    row.low = row.high = row.change
    if equal or (tolerance and abs(row.change) <= tolerance * abs(row.base)):
        row.word = SAME
    elif row.change:
        row.word = SLOWER if row.change > 0 else FASTER
    else:
        row.word, row.reason = CHANGED, "the same mean, other samples"


def _control(side: Side, key: Key) -> Optional[Key]:
    """The row that a row was sampled alternately with, as its control; None if there is none."""
    benchmark = key.name
    while benchmark and benchmark not in side.controls:
        benchmark = benchmark.rpartition(".")[0]
    name = side.controls.get(benchmark)
    candidates = [other for other in side.named.get(name, ()) if other.unit == key.unit]
    same = [other for other in candidates if other[1:] == key[1:]]
    if same:
        return same[0]
    return candidates[0] if len(candidates) == 1 else None


def _ratios(values: Mapping[BootKey, Value], controls: Mapping[BootKey, Value]) -> list[Value]:
    """A row's values over those of its control in the same boot."""
    found = []
    for boot, one in values.items():
        other = controls.get(boot)
        if other is None or other.value <= 0:
            continue
        ratio, error = one.value / other.value, None
        if one.error is not None and other.error is not None:
            error = math.hypot(one.error, ratio * other.error) / other.value
        found.append(Value(ratio, error, one.step / other.value, one.constant, one.n))
    return found


def _relative(row: Comparison, base: Side, new: Side, tolerance: float) -> Optional[_Test]:
    """A row of emulated time."""
    control = _control(base, row.key)
    if control is None or control != _control(new, row.key):
        row.reason = "emulated, and no control was sampled alternately with it"
        return None
    if control == row.key:
        row.reason = "emulated, and the control of others itself"
        return None
    row.unit = f"x {control.name}"
    sides = []
    row.mean, of_control = (_coarse(base.rows[key], new.rows[key]) for key in (row.key, control))
    for side in (base, new):
        ones = _scales(side, False)
        sides.append(_ratios(_values(side.rows[row.key], row.mean, ones),
                             _values(side.rows[control], of_control, ones)))
        if len(sides[-1]) < RELATIVE_BOOTS:
            row.word = TOO_FEW
            row.reason = (f"emulated times need {RELATIVE_BOOTS} boots a side: see --boots of run, "
                          "or use --accel icount")
            return None
    return _test(row, *sides, max(tolerance, RELATIVE_TOLERANCE))


def judge(base: Side, new: Side, mode: Mode, tolerance: float = 0.0) -> Verdicts:
    """Compare all rows of two sides. A change up to the share `tolerance` of base is none."""
    made = Verdicts(mode)
    made.only_base = [key for key in base.rows if key not in new.rows]
    made.only_new = [key for key in new.rows if key not in base.rows]
    nanoseconds = nanoseconds_needed(base, new)
    scales = {unit: [_scales(side, nanoseconds and unit == "tick") for side in (base, new)]
              for unit in {key.unit for key in base.rows}}
    tests: list[_Test] = []
    for key, boots in base.rows.items():
        if key not in new.rows:
            continue
        others = new.rows[key]
        row = Comparison(key, "ns" if nanoseconds and key.unit == "tick" else key.unit)
        made.rows.append(row)
        test = None
        if mode is Mode.EXACT:
            _exact(row, boots, others, tolerance)
        elif mode is Mode.RELATIVE:
            test = _relative(row, base, new, tolerance)
        else:
            row.mean = _coarse(boots, others)
            one, other = (list(_values(rows, row.mean, scales[key.unit][at]).values())
                          for at, rows in enumerate((boots, others)))
            test = _test(row, one, other, tolerance)
        if test is not None:
            tests.append(test)
    made.tested, made.called = len(tests), _judge(tests)
    return made


def middle(values: Sequence[Optional[float]]) -> Optional[float]:
    """The median of what is known."""
    known = [value for value in values if value is not None]
    return median(known) if known else None
