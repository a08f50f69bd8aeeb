"""Ranks that enclose a high quantile with 95 % confidence, whatever the distribution.

How many of n independent samples lie above the quantile q is binomial(n, 1 - q). The upper rank
fails if too few lie above, the lower one if too many do; each gets half of the 5 %, or what the
upper one, where it is the maximum already, leaves of them.
"""

import functools
import math

_MISS = 0.05
_DEVIATIONS = 10  # beyond so many standard deviations nothing is left of a binomial distribution


@functools.lru_cache(maxsize=256)
def quantile_ranks(n: int, numerator: int, denominator: int) -> tuple[int, int]:
    """0-based ranks for q = numerator / denominator; n is at least where the maximum encloses it
    with 95 % confidence (P99_MIN, P999_MIN)."""
    above = 1 - numerator / denominator
    mean = n * above
    count = max(math.floor(mean - _DEVIATIONS * math.sqrt(mean)), 0)
    chance = math.exp(math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
                      + count * math.log(above) + (n - count) * math.log1p(-above))
    few, miss = 0, chance  # so few above, or fewer, are taken for a rare event
    total = chance         # P(at most `count` above)
    while 1 - total > _MISS - miss:
        if total <= _MISS / 2:
            few, miss = count, total
        chance *= (n - count) / (count + 1) * above / (1 - above)
        count += 1
        total += chance
    # count + 1 above, or more, are the other rare event.
    return max(n - 1 - count, 0), n - 1 - few
