"""The figures, against plain definitions and known values."""

import random
import statistics as reference
import unittest
from fractions import Fraction

from el1bench_host import statistics


class Statistics(unittest.TestCase):
    """Figures of one row."""

    def test_small(self) -> None:
        found = statistics.compute([5])
        self.assertEqual((found.n, found.min, found.p50, found.max, found.se), (1, 5, 5, 5, 0.0))
        self.assertIsNone(found.p50_low)
        found = statistics.compute([4, 1, 3, 2])
        self.assertEqual((found.p50, found.p90, found.mean), (3, 4, Fraction(5, 2)))
        self.assertEqual(found.mean_1024, 2560)

    def test_against_the_library(self) -> None:
        generator = random.Random(1)
        for n in (2, 7, 299, 300, 3000):
            values = [generator.randrange(-50, 10**6) for _ in range(n)]
            found = statistics.compute(values)
            self.assertEqual(found.mean, Fraction(sum(values), n))
            self.assertAlmostEqual(found.se, reference.stdev(values) / n ** 0.5, places=6)
            self.assertEqual(found.p50, sorted(values)[n // 2])
            self.assertEqual(found.p99 is None, n < 300)
            self.assertEqual(found.p999 is None, n < 3000)

    def test_ranks(self) -> None:
        """The formula's example: n = 2,000 gives ranks 956 and 1,045, counted from 1."""
        self.assertEqual(statistics.median_ranks(2000), (955, 1044))
        self.assertEqual(statistics.median_ranks(6), (0, 5))
        for n in range(1, 2000):
            self.assertEqual(statistics.quantile_rank(n, 1, 2), n // 2)
            self.assertEqual(statistics.quantile_rank(n, 99, 100),
                             Fraction(99 * (n - 1), 100).__add__(Fraction(1, 2)).__floor__())

    def test_interval_covers_the_median(self) -> None:
        generator = random.Random(2)
        covered = 0
        for _ in range(400):
            found = statistics.compute([generator.randrange(10**9) for _ in range(100)])
            covered += found.p50_low <= 5 * 10**8 <= found.p50_high
        self.assertGreater(covered, 400 * 0.92)

    def test_trimmed_mean(self) -> None:
        """Far outliers go; a mixture of two neighbouring ticks keeps its exact mean."""
        two = [7] * 730 + [8] * 270
        self.assertEqual(statistics.compute(two).trimmed_mean, Fraction(727, 100).__add__(0))
        found = statistics.compute(two + [5000, 90000])
        self.assertEqual((found.trimmed_mean, found.trimmed), (Fraction(7270, 1000), 2))
        self.assertTrue(found.coarse(1))
        wide = statistics.compute(list(range(100, 200)))
        self.assertEqual((wide.trimmed_mean, wide.trimmed), (wide.mean, 0))
        self.assertFalse(wide.coarse(1))
        self.assertTrue(wide.coarse(50))

    def test_large_values_are_exact(self) -> None:
        found = statistics.compute([2**60, 2**60 + 1, 2**60 + 2])
        self.assertEqual(found.mean, 2**60 + 1)
        self.assertAlmostEqual(found.se, 3 ** -0.5)


if __name__ == "__main__":
    unittest.main()
