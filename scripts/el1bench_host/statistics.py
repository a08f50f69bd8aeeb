"""Statistics of one row's samples, in ticks per sample. docs/results-format.md defines each figure.

Quantiles are order statistics by the same rule as on the target, so that the two can be compared
for equality. All sums are of integers; the one square root is IEEE's, so results are reproducible.
"""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Optional, Sequence

P99_MIN = 300
"""Samples from which p99 is bracketed by the maximum with 95 % confidence."""
P999_MIN = 3000
INTERVAL_MIN = 6
"""Samples from which minimum and maximum enclose the median with 95 % confidence."""
COARSE_STEPS = 4
"""An interquartile range below this many counter steps makes the median stick to a step."""
FENCE = 3
"""Samples further than this many interquartile ranges from the quartiles are far outliers."""
_Z95 = 1.959964


@dataclass(frozen=True)
class Statistics:
    """Figures of n >= 1 samples. Means are exact; `se` is the standard error of `mean`."""

    n: int
    min: int
    mean: Fraction
    trimmed_mean: Fraction
    trimmed: int
    se: float
    p25: int
    p50: int
    p50_low: Optional[int]
    p50_high: Optional[int]
    p75: int
    p90: int
    p99: Optional[int]
    p999: Optional[int]
    max: int

    @property
    def mean_1024(self) -> int:
        """The mean in 1/1024 tick, rounded to nearest, as the target prints it."""
        return math.floor(self.mean * 1024 + Fraction(1, 2))

    def coarse(self, step: int) -> bool:
        """True if the spread is too small for the median to show a change below a counter step."""
        return self.p75 - self.p25 < COARSE_STEPS * step


def quantile_rank(n: int, numerator: int, denominator: int) -> int:
    """The 0-based rank floor(q * (n - 1) + 1/2) of the quantile q = numerator / denominator."""
    return (2 * numerator * (n - 1) + denominator) // (2 * denominator)


def median_ranks(n: int) -> tuple[int, int]:
    """0-based ranks that enclose the median with 95 % confidence, whatever the distribution."""
    half = _Z95 * math.sqrt(n)
    return max(math.floor((n - half) / 2), 1) - 1, min(math.ceil(1 + (n + half) / 2), n) - 1


def compute(samples: Sequence[int], step: int = 1) -> Statistics:
    """The figures of the good samples of a row; `step` is the counter's, in ticks."""
    ordered = sorted(samples)
    n = len(ordered)
    total = sum(ordered)
    mean = Fraction(total, n)
    se = 0.0
    if n > 1:
        # n * sum(x^2) - sum(x)^2 is exact in integers, where a floating-point sum would cancel.
        spread = n * sum(value * value for value in ordered) - total * total
        se = math.sqrt(Fraction(spread, n * n * (n - 1)))

    def at(numerator: int, denominator: int) -> int:
        return ordered[quantile_rank(n, numerator, denominator)]

    p25, p75 = at(1, 4), at(3, 4)
    reach = FENCE * max(p75 - p25, step)
    first = bisect_left(ordered, p25 - reach)
    last = bisect_right(ordered, p75 + reach)
    kept = last - first
    trimmed_total = total - sum(ordered[:first]) - sum(ordered[last:])
    low, high = median_ranks(n)
    return Statistics(
        n=n, min=ordered[0], mean=mean, trimmed_mean=Fraction(trimmed_total, kept),
        trimmed=n - kept, se=se, p25=p25, p50=at(1, 2),
        p50_low=ordered[low] if n >= INTERVAL_MIN else None,
        p50_high=ordered[high] if n >= INTERVAL_MIN else None,
        p75=p75, p90=at(9, 10), p99=at(99, 100) if n >= P99_MIN else None,
        p999=at(999, 1000) if n >= P999_MIN else None, max=ordered[-1])


def median(values: Sequence[float]) -> float:
    """The middle of a few figures (over boots or cores), the mean of the middle two if even."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
