"""Whether a row's samples may be taken as independent draws: their order is tested, not their size.

Both tests work on ranks, so neither the shape of the distribution nor a few outliers matter. Under
the hypothesis that the samples come in random order (every permutation equally likely) both
statistics have, whatever the values and their ties, a mean of about 0 and a variance of about 1/n:
exactly 1/(n - 1) for the first, by Hotelling and Pabst's argument for any two fixed scores.
docs/results-format.md says what the thresholds mean.
"""

import math
from dataclasses import dataclass
from itertools import islice
from operator import mul
from typing import Optional, Sequence

SERIES_MIN = 30
"""Fewer samples than this show no order."""
THRESHOLD_Z = 3.290527
"""Standard errors beyond which random order is one of 1,000 permutations (two-sided, normal)."""
THRESHOLD_R = 0.1
"""A correlation below this is harmless however sure it is: time or the neighbour explains less than
1 % of the variance, and the standard error is off by less than a tenth."""


@dataclass(frozen=True)
class Order:
    """Rank correlations of the samples with their index, and with the sample before them."""

    n: int
    trend: float
    lag1: float
    skewness: float
    """Of the ranks: large where nearly all samples are equal."""

    @property
    def trend_threshold(self) -> float:
        """What the first correlation has to exceed to be told from chance and to matter."""
        return max(THRESHOLD_Z / math.sqrt(self.n - 1), THRESHOLD_R)

    @property
    def lag1_threshold(self) -> float:
        """The same for the second one. Its distribution is as skewed as the ranks are, squared: a
        few rare values side by side are no rare event. First term of Cornish and Fisher's series.
        """
        root = math.sqrt(self.n)
        z = THRESHOLD_Z + (THRESHOLD_Z ** 2 - 1) * self.skewness ** 2 / (6 * root)
        return max(z / root, THRESHOLD_R)

    @property
    def drifts(self) -> bool:
        """The samples rise or fall with time."""
        return abs(self.trend) > self.trend_threshold

    @property
    def correlated(self) -> bool:
        """Neighbouring samples resemble, or repel, each other."""
        return abs(self.lag1 + 1 / self.n) > self.lag1_threshold


def order_of(samples: Sequence[int]) -> Optional[Order]:
    """The order of `samples`, in the order they were taken; None if they are few or all equal."""
    n = len(samples)
    if n < SERIES_MIN:
        return None
    counts: dict[int, int] = {}
    for value in samples:
        counts[value] = counts.get(value, 0) + 1
    if len(counts) == 1:
        return None
    # Twice the rank of a value, the middle one of those that ties would share, minus twice the
    # mean rank: integers that sum to zero.
    score: dict[int, int] = {}
    below = 0
    for value in sorted(counts):
        score[value] = 2 * below + counts[value] - n
        below += counts[value]
    scores = [score[value] for value in samples]
    squares = list(map(mul, scores, scores))
    spread = sum(squares)
    skewness = sum(map(mul, squares, scores)) / n / (spread / n) ** 1.5
    by_index = 2 * sum(map(mul, scores, range(n)))
    by_neighbour = sum(map(mul, scores, islice(scores, 1, None)))
    index_spread = n * (n * n - 1) // 3  # of twice the index minus its mean
    return Order(n, by_index / math.sqrt(spread * index_spread), by_neighbour / spread,
                 skewness)
