"""Student's t distribution and the control of the false discovery rate, in plain Python."""

import functools
import math
from typing import Sequence

_TINY = 1e-300
_EXACT = 3e-16
_TERMS = 10000


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _TERMS):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 + step * d
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = 1 + step / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < _EXACT:
            break
    return value


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
                     + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def two_sided(t: float, freedom: int) -> float:
    """The chance that Student's t with `freedom` >= 1 degrees is further from 0 than `t`."""
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


@functools.lru_cache(maxsize=4096)
def critical(chance: float, freedom: int) -> float:
    """The t that is exceeded, to either side, with `chance` (0 < chance <= 1)."""
    high = 1.0
    while two_sided(high, freedom) > chance and high < 1e300:
        high *= 2
    low = 0.0
    for _ in range(80):
        middle = (low + high) / 2
        if two_sided(middle, freedom) > chance:
            low = middle
        else:
            high = middle
    return high


def discoveries(chances: Sequence[float], rate: float) -> int:
    """How many of the smallest p values may be called real, so that among those called so at most
    the share `rate` is false, in expectation (Benjamini and Hochberg)."""
    count = len(chances)
    found = 0
    for rank, chance in enumerate(sorted(chances), 1):
        if chance <= rate * rank / count:
            found = rank
    return found
