"""Each warning fires on samples that deserve it, and not on those that do not.

The samples are synthetic: distributions as coarse and as heavy-tailed as those of a real counter.
All generators are seeded, so the rates measured here are the same in every run.
"""

import math
import random
import unittest
from fractions import Fraction
from math import comb
from typing import Callable, Sequence

from tests.host.synthetic_log import Boot, Row
from el1bench_host import statistics
from el1bench_host.decoder import decode_log
from el1bench_host.quantile_ranks import quantile_ranks
from el1bench_host.results import WARNINGS, make_results
from el1bench_host.series import order_of

FALSE_ALARMS = 0.01


def warnings_of(samples: Sequence[int | str], step: int = 1, floor: int = 1,
                cut: bool = False, ci: int = 0) -> list[str]:
    """The warnings of a row of these samples."""
    rows = [Row("clock.floor.pair", [floor] * 10), Row("ipi.normal.total", samples, peer=1)]
    boot = Boot().head(step=step).plan(["ipi.normal"], 2, ci).results(rows, limit=100).end()
    text = boot.text()
    if cut:
        lines = text.splitlines(keepends=True)
        last = max(at for at, line in enumerate(lines) if line.startswith(b"@el1b raw"))
        text = b"".join(lines[:last] + lines[last + 1:])
    return make_results(decode_log(text))["metrics"][1]["warnings"]


def normal(n: int, deviation: float = 40.0, seed: int = 1) -> list[int]:
    """Independent samples around 1,000 ticks."""
    generator = random.Random(seed)
    return [round(generator.gauss(1000, deviation)) for _ in range(n)]


def drifting(n: int, shift: float, seed: int = 1) -> list[int]:
    """The same, with a mean that moves by so many standard deviations in the course of the run."""
    return [value + round(40 * shift * at / n) for at, value in enumerate(normal(n, 40.0, seed))]


def dependent(n: int, correlation: float, seed: int = 1) -> list[int]:
    """Each sample remembers the one before it."""
    generator = random.Random(seed)
    state, samples = 0.0, []
    for _ in range(n):
        state = correlation * state + math.sqrt(1 - correlation ** 2) * generator.gauss(0, 1)
        samples.append(round(1000 + 40 * state))
    return samples


class Keywords(unittest.TestCase):
    """One after the other."""

    # Samples that must bear the warning, and samples, as near as sensible, that must not.
    CASES = {
        "coarse": (lambda: warnings_of(normal(400, 2.0)), lambda: warnings_of(normal(400, 5.0))),
        "quantised": (lambda: warnings_of([7] * 300 + [8] * 100 + [9000]),
                      lambda: warnings_of([7] * 150 + [8] * 150 + [9] * 150)),
        "constant": (lambda: warnings_of([7] * 40), lambda: warnings_of([7] * 39 + [8])),
        "few": (lambda: warnings_of(normal(29)), lambda: warnings_of(normal(30))),
        "excluded": (lambda: warnings_of(normal(40) + ["spurious"]),
                     lambda: warnings_of(normal(40))),
        "drift": (lambda: warnings_of(drifting(1000, 1.0)), lambda: warnings_of(normal(1000))),
        "correlated": (lambda: warnings_of(dependent(1000, 0.3)),
                       lambda: warnings_of(normal(1000))),
        "wide": (lambda: warnings_of(normal(400), ci=2500),
                 lambda: warnings_of(normal(400), ci=10000)),
        "near-floor": (lambda: warnings_of(normal(40), floor=520),
                       lambda: warnings_of(normal(40), floor=450)),
        "samples-lost": (lambda: warnings_of(normal(400), cut=True),
                         lambda: warnings_of(normal(400))),
    }

    def test_all_are_here(self) -> None:
        self.assertEqual(list(self.CASES), list(WARNINGS))

    def test_fires(self) -> None:
        for keyword, (fires, _) in self.CASES.items():
            with self.subTest(keyword):
                self.assertIn(keyword, fires())

    def test_does_not_fire(self) -> None:
        for keyword, (_, silent) in self.CASES.items():
            with self.subTest(keyword):
                self.assertNotIn(keyword, silent())

    def test_the_step_counts(self) -> None:
        """A counter that moves 40 ticks at a time quantises what a finer one would show."""
        samples = [40 * (value // 40) for value in normal(400, 10.0)]
        self.assertIn("quantised", warnings_of(samples, step=40))
        self.assertNotIn("quantised", warnings_of(samples, step=1))

    def test_wide_goes_by_the_headline(self) -> None:
        """Half 7, half 8: 1.96 standard errors of 0.0503 are 1.31 % of 7.5, and 0.098 ticks."""
        samples = [7, 8] * 50
        self.assertIn("wide", warnings_of(samples, ci=13000))
        self.assertNotIn("wide", warnings_of(samples, ci=13300))
        self.assertNotIn("wide", warnings_of(samples + [10**6], ci=13300))
        self.assertNotIn("wide", warnings_of(samples))
        # To a 32nd of a step, whatever the share: 1 % of this one would be 0.0005 ticks.
        self.assertNotIn("wide", warnings_of(([0] * 19 + [1]) * 20, ci=10000))
        self.assertIn("wide", warnings_of(([0] * 19 + [1]) * 5, ci=10000))

    def test_a_step_in_the_middle_is_a_drift(self) -> None:
        self.assertIn("drift", warnings_of([value + 30 * (at >= 250)
                                            for at, value in enumerate(normal(500))]))

    def test_outliers_neither_cause_nor_hide_it(self) -> None:
        generator = random.Random(8)
        quiet, moving = normal(1000), drifting(1000, 1.0)
        for at in generator.sample(range(500, 1000), 10):
            quiet[at] = moving[999 - at] = 10**9
        self.assertNotIn("drift", warnings_of(quiet))
        self.assertIn("drift", warnings_of(moving))


class Rates(unittest.TestCase):
    """How often the tests of order fire."""

    DISTRIBUTIONS: dict[str, Callable[[random.Random], int]] = {
        "normal": lambda generator: round(generator.gauss(1000, 40)),
        "two ticks": lambda generator: 7 + (generator.random() < 0.27),
        "one in 50": lambda generator: 7 + (generator.random() < 0.02),
        "one in 200": lambda generator: 7 + (generator.random() < 0.005),
        "heavy tail": lambda generator: int(100 * generator.paretovariate(1.1)),
    }

    def test_false_alarms(self) -> None:
        for name, draw in self.DISTRIBUTIONS.items():
            for n, rows in ((30, 3000), (100, 2000), (300, 1500), (1000, 600)):
                generator = random.Random(f"{name} {n}")
                drifts = correlated = 0
                for _ in range(rows):
                    order = order_of([draw(generator) for _ in range(n)])
                    if order is not None:
                        drifts += order.drifts
                        correlated += order.correlated
                print(f"{name}, n = {n}: false alarms in {rows} rows: drift {drifts}, "
                      f"correlated {correlated}")
                with self.subTest(name, n=n):
                    self.assertLessEqual(drifts, FALSE_ALARMS * rows)
                    self.assertLessEqual(correlated, FALSE_ALARMS * rows)

    def test_power(self) -> None:
        """At n = 1,000 a drift of a standard deviation, and a correlation of 0.3, are found."""
        for seed in range(40):
            self.assertTrue(order_of(drifting(1000, 1.0, seed)).drifts)
            self.assertTrue(order_of(drifting(1000, -1.0, seed)).drifts)
            self.assertTrue(order_of(dependent(1000, 0.3, seed)).correlated)
            self.assertTrue(order_of(dependent(1000, -0.3, seed)).correlated)

    def test_known_values(self) -> None:
        """A ramp, a falling ramp, and an alternation."""
        self.assertAlmostEqual(order_of(range(100)).trend, 1.0)
        self.assertAlmostEqual(order_of(range(100, 0, -1)).trend, -1.0)
        self.assertAlmostEqual(order_of([1, 2] * 50).lag1, -0.99)
        self.assertIsNone(order_of([5] * 100))
        self.assertIsNone(order_of(range(29)))


class TailIntervals(unittest.TestCase):
    """The intervals of p99 and p99.9."""

    def test_exact_coverage(self) -> None:
        """Against the binomial distribution in exact fractions."""
        for n, over in ((300, 100), (301, 100), (459, 100), (1000, 100), (3000, 1000),
                        (5000, 1000)):
            low, high = quantile_ranks(n, over - 1, over)
            above = Fraction(1, over)
            chance = [comb(n, count) * above ** count * (1 - above) ** (n - count)
                      for count in range(n - low + 1)]

            def missed(low: int, high: int) -> Fraction:
                """So few above that the upper rank is below the quantile, or too many."""
                return sum(chance[:n - high]) + 1 - sum(chance[:n - low])

            with self.subTest(n):
                self.assertLessEqual(missed(low, high), Fraction(5, 100))
                # One rank further in, on either side, would be too far.
                self.assertGreater(missed(low + 1, high), Fraction(5, 100))
                if high < n - 1:
                    self.assertGreater(sum(chance[:n - high + 1]), Fraction(25, 1000))

    def test_covers(self) -> None:
        generator = random.Random(6)
        covered = 0
        for _ in range(400):
            found = statistics.compute([generator.randrange(10**6) for _ in range(400)])
            self.assertLessEqual(found.p99_low, found.p99)
            self.assertLessEqual(found.p99, found.p99_high)
            covered += found.p99_low <= 990_000 <= found.p99_high
        print(f"p99 of n = 400 is covered in {covered} of 400 rows")
        self.assertGreaterEqual(covered, 400 * 0.93)

    def test_only_where_n_carries_it(self) -> None:
        for n, p99, p999 in ((299, False, False), (300, True, False), (2999, True, False),
                             (3000, True, True)):
            found = statistics.compute(list(range(n)))
            for key, there in (("p99", p99), ("p99_low", p99), ("p99_high", p99),
                               ("p999", p999), ("p999_low", p999), ("p999_high", p999)):
                self.assertEqual(getattr(found, key) is not None, there, (n, key))

    def test_large_n(self) -> None:
        for n in (10**6, 10**8):
            low, high = quantile_ranks(n, 99, 100)
            deviation = math.sqrt(n * 0.0099)
            self.assertAlmostEqual(low, 0.99 * n - 1.96 * deviation, delta=0.05 * deviation)
            self.assertAlmostEqual(high, 0.99 * n + 1.96 * deviation, delta=0.05 * deviation)


if __name__ == "__main__":
    unittest.main()
