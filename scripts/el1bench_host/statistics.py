"""Statistics of one row's samples, in ticks per sample. docs/results-format.md defines each figure.

Quantiles are order statistics by the same rule as on the target, so that the two can be compared
for equality. All sums are of integers; the one square root is IEEE's, so results are reproducible.
"""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Optional, Sequence

from el1bench_host.quantile_ranks import quantile_ranks
from el1bench_host.series import Order, order_of

P99_MIN = 300
"""Samples from which p99 is bracketed by the maximum with 95 % confidence."""
P999_MIN = 3000
INTERVAL_MIN = 6
"""Samples from which minimum and maximum enclose the median with 95 % confidence."""
COARSE_STEPS = 4
"""An interquartile range below this many counter steps makes the median stick to a step."""
FENCE = 3
"""Samples further than this many interquartile ranges from the quartiles are far outliers (Tukey's
outer fences); those beyond half of it (the inner fences) are mild ones."""
QUANTISED_STEPS = Fraction(1, 2)
"""A standard deviation below this many counter steps is that of the counter, not of the samples."""
PRECISE_STEPS = 32
"""An interval's half-width of one so-manieth of a counter step is as good as any."""
_Z95 = 1.959964


@dataclass(frozen=True)
class Statistics:
    """Figures of n >= 1 samples. Means are exact; `se` is the standard error of `mean`."""

    n: int
    min: int
    mean: Fraction
    trimmed_mean: Fraction
    trimmed: int
    """Far outliers: what the trimmed mean leaves out."""
    mild: int
    """Outliers between the inner and the outer fences."""
    far_below: int
    far_above: int
    """The outer fences: far outliers lie below the one or above the other."""
    deviation: float
    """The standard deviation without far outliers."""
    se: float
    p25: int
    p50: int
    p50_low: Optional[int]
    p50_high: Optional[int]
    p75: int
    p90: int
    p99: Optional[int]
    p99_low: Optional[int]
    p99_high: Optional[int]
    p999: Optional[int]
    p999_low: Optional[int]
    p999_high: Optional[int]
    max: int
    order: Optional[Order]
    """Of the samples as they were taken; None if they are few or all equal."""

    @property
    def mean_1024(self) -> int:
        """The mean in 1/1024 tick, rounded to nearest, as the target prints it."""
        return math.floor(self.mean * 1024 + Fraction(1, 2))

    def coarse(self, step: int) -> bool:
        """True if the spread is too small for the median to show a change below a counter step."""
        return self.p75 - self.p25 < COARSE_STEPS * step

    def quantised(self, step: int) -> bool:
        """True if the samples spread less than the counter's step can show."""
        return self.deviation < QUANTISED_STEPS * step

    def precise(self, step: int, share: Fraction) -> bool:
        """True if the 95 % interval of the headline (the median; where that is coarse, the mean
        without far outliers) is at most `share` of it, or a 32nd of a step, to either side."""
        if self.n < INTERVAL_MIN:
            return False
        if self.coarse(step):
            kept = self.n - self.trimmed
            middle, half = abs(self.trimmed_mean), _Z95 * self.deviation / math.sqrt(kept)
        else:
            middle, half = abs(self.p50), Fraction(self.p50_high - self.p50_low, 2)
        return half <= max(share * middle, Fraction(step, PRECISE_STEPS))


def quantile_rank(n: int, numerator: int, denominator: int) -> int:
    """The 0-based rank floor(q * (n - 1) + 1/2) of the quantile q = numerator / denominator."""
    return (2 * numerator * (n - 1) + denominator) // (2 * denominator)


def median_ranks(n: int) -> tuple[int, int]:
    """0-based ranks that enclose the median with 95 % confidence, whatever the distribution."""
    half = _Z95 * math.sqrt(n)
    return max(math.floor((n - half) / 2), 1) - 1, min(math.ceil(1 + (n + half) / 2), n) - 1


def _deviation(n: int, total: int, squares: int) -> float:
    """The standard deviation of n samples from their sum and their sum of squares."""
    # n * sum(x^2) - sum(x)^2 is exact in integers, where a floating-point sum would cancel.
    return math.sqrt(Fraction(n * squares - total * total, n * (n - 1))) if n > 1 else 0.0


def compute(samples: Sequence[int], step: int = 1) -> Statistics:
    """The figures of the good samples of a row, in the order they were taken; `step` is the
    counter's, in ticks."""
    ordered = sorted(samples)
    n = len(ordered)
    total = sum(ordered)
    squares = sum(map(mul, ordered, ordered))

    def at(numerator: int, denominator: int) -> int:
        return ordered[quantile_rank(n, numerator, denominator)]

    def enclosed(least: int, numerator: int,
                 denominator: int) -> tuple[Optional[int], Optional[int], Optional[int]]:
        """A high quantile and its interval, if n carries them."""
        if n < least:
            return None, None, None
        lower, upper = quantile_ranks(n, numerator, denominator)
        return at(numerator, denominator), ordered[lower], ordered[upper]

    p25, p75 = at(1, 4), at(3, 4)
    reach = FENCE * max(p75 - p25, step)
    first = bisect_left(ordered, p25 - reach)
    last = bisect_right(ordered, p75 + reach)
    cut = ordered[:first] + ordered[last:]
    kept = n - len(cut)
    kept_total = total - sum(cut)
    inner = (bisect_right(ordered, p75 + Fraction(reach, 2))
             - bisect_left(ordered, p25 - Fraction(reach, 2)))
    low, high = median_ranks(n)
    p99, p99_low, p99_high = enclosed(P99_MIN, 99, 100)
    p999, p999_low, p999_high = enclosed(P999_MIN, 999, 1000)
    return Statistics(
        n=n, min=ordered[0], mean=Fraction(total, n), trimmed_mean=Fraction(kept_total, kept),
        trimmed=n - kept, mild=kept - inner, far_below=p25 - reach, far_above=p75 + reach,
        deviation=_deviation(kept, kept_total, squares - sum(map(mul, cut, cut))),
        se=_deviation(n, total, squares) / math.sqrt(n), p25=p25, p50=at(1, 2),
        p50_low=ordered[low] if n >= INTERVAL_MIN else None,
        p50_high=ordered[high] if n >= INTERVAL_MIN else None,
        p75=p75, p90=at(9, 10), p99=p99, p99_low=p99_low, p99_high=p99_high,
        p999=p999, p999_low=p999_low, p999_high=p999_high, max=ordered[-1],
        order=order_of(samples))


def median(values: Sequence[float]) -> float:
    """The middle of a few figures (over boots or cores), the mean of the middle two if even."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
