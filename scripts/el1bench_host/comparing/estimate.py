"""One row of one boot as `compare` sees it: two estimates of where its samples lie, how sure they
are, and what tells equal samples from others.

The median is interpolated within its counter step (as of grouped data), so that it can move by less
than a step; where the samples span only a few steps, the mean without far outliers takes its place.
"""

import hashlib
import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from el1bench_host import statistics

_Z95 = 1.959964
_CORRELATION_MOST = 0.95
_FIGURES = ("n", "min", "mean", "p50", "p90", "p99", "p999", "max", "excluded", "ops")


@dataclass(frozen=True)
class Estimate:
    """All figures are ticks (or cycles) an operation. Standard errors are None if not known."""

    n: int
    median: float
    median_error: Optional[float]
    mean: float
    mean_error: Optional[float]
    coarse: bool
    constant: bool
    """True if all samples are equal: what they hide may be as large as a step."""
    step: float
    """What the counter can tell apart, an operation."""
    plain_mean: float
    """Of all samples; `mean` is without far outliers."""
    figures: str
    """The row's figures as text: equal if, and only if, they are."""
    digest: Optional[bytes]
    """The same of all samples in their order; None if they are not there, or nobody asked."""


def _interpolated(ordered: Sequence[int], rank: int, place: float, step: int) -> float:
    """The value at `place` (samples from the lowest) among those equal to the one at `rank`, which
    are spread evenly over one step."""
    value = ordered[rank]
    below = bisect_left(ordered, value)
    equal = bisect_right(ordered, value) - below
    return value + step * ((place - below) / equal - 0.5)


def _widening(order: Optional[statistics.Order]) -> float:
    """By how much neighbours that resemble each other widen a standard error (first order)."""
    if order is None or order.n == 0:
        return 1.0
    correlation = min(max(order.lag1 + 1 / order.n, 0.0), _CORRELATION_MOST)
    return math.sqrt((1 + correlation) / (1 - correlation))


def figures_of(metric: Mapping[str, Any]) -> str:
    """What must be equal where every instruction counts."""
    return repr([metric.get(key) if not isinstance(metric.get(key), dict)
                 else sorted(metric[key].items()) for key in _FIGURES])


def from_samples(metric: Mapping[str, Any], values: Sequence[Optional[int]], ops: int,
                 step: int, exact: bool = False) -> Optional[Estimate]:
    """From a row's samples as the sidecar has them; None if none is good. `step` in ticks; with
    `exact` their order counts, too."""
    good = [value for value in values if value is not None]
    if not good:
        return None
    found = statistics.compute(good, step)
    ordered = sorted(good)
    n = found.n
    median_error = None
    if n >= statistics.INTERVAL_MIN:
        low, high = statistics.median_ranks(n)
        median_error = (_interpolated(ordered, high, high + 0.5, step)
                        - _interpolated(ordered, low, low + 0.5, step)) / (2 * _Z95)
        median_error *= _widening(found.order) / ops
    kept = n - found.trimmed
    mean_error = None
    if kept > 1:
        mean_error = found.deviation / math.sqrt(kept) * _widening(found.order) / ops
    return Estimate(
        n, _interpolated(ordered, statistics.quantile_rank(n, 1, 2), n / 2, step) / ops,
        median_error, float(found.trimmed_mean) / ops, mean_error, found.coarse(step),
        found.min == found.max, step / ops, float(found.mean) / ops,
        figures_of(metric), hashlib.blake2b(repr(values).encode()).digest() if exact else None)


def from_figures(metric: Mapping[str, Any], step: int) -> Optional[Estimate]:
    """From a row's figures in results.json, where its samples are not there."""
    if metric["n"] < 1 or metric["p50"] is None:
        return None
    ops = metric.get("ops") or 1
    mean = metric["p50"] if metric["mean"] is None else metric["mean"]
    trimmed = mean if metric["trimmed_mean"] is None else metric["trimmed_mean"]
    error = None
    if metric["p50_low"] is not None and metric["p50_high"] is not None:
        # The ranks' values stick to a step: one is added for what they hide.
        error = (metric["p50_high"] - metric["p50_low"] + step / ops) / (2 * _Z95)
    return Estimate(metric["n"], metric["p50"], error, trimmed, metric["se"],
                    "coarse" in metric["warnings"], metric["min"] == metric["max"], step / ops,
                    mean, figures_of(metric), None)
