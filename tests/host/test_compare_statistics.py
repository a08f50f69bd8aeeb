"""The statistics of `compare`: known values, false alarms where nothing changed, changes found."""

import math
import random
import statistics as reference
import unittest
from typing import Callable

from el1bench_host.comparing import inference, verdicts
from el1bench_host.comparing.conditions import Mode
from el1bench_host.comparing.estimate import from_samples
from el1bench_host.comparing.inputs import BootKey, Key, Side

Draw = Callable[[random.Random, float], int]

METRIC = {"n": 0, "min": 0}
DRAWS: dict[str, Draw] = {
    # Seven ticks of a slow counter, read at any place within a tick.
    "coarse": lambda draw, factor: math.floor(
        7.3 * factor + draw.gauss(0, 0.15) + draw.random()),
    "skewed": lambda draw, factor: round(200 * factor + draw.gammavariate(2, 6)),
    "outliers": lambda draw, factor: round(
        draw.gauss(300 * factor, 9) + (draw.random() < 0.02) * draw.expovariate(1 / 3000)),
    "two paths": lambda draw, factor: round(
        draw.choice((240, 240, 260)) * factor + draw.gauss(0, 3)),
}


def key(name: str) -> Key:
    """A row's key."""
    return Key(name, 0, None, (), "tick")


def side(draw: random.Random, kind: str, rows: int, boots: int, spread: float,
         factor: float = 1.0, samples: int = 200) -> Side:
    """A side whose boots differ by the relative standard deviation `spread`."""
    made = Side([], [{"machine": {"counter_hz": 24000000, "counter_step": 1}}])
    for row in range(rows):
        made.rows[key(f"row.{row}")] = {
            BootKey(0, boot): from_samples(
                METRIC, [DRAWS[kind](draw, scale) for _ in range(samples)], 1, 1)
            for boot in range(boots)
            for scale in [factor * (1 + draw.gauss(0, spread))]}
    return made


def judged(draw: random.Random, kind: str, rows: int, boots: int, spread: float,
           factor: float = 1.0, **keys: float) -> verdicts.Verdicts:
    """The verdicts on a planted change."""
    return verdicts.judge(side(draw, kind, rows, boots, spread),
                          side(draw, kind, rows, boots, spread, factor), Mode.TIME, **keys)


class Inference(unittest.TestCase):
    """Against tables."""

    def test_student(self) -> None:
        for freedom, limit in ((1, 12.7062), (2, 4.30265), (4, 2.77645), (8, 2.30600),
                               (30, 2.04227), (10 ** 6, 1.95997)):
            self.assertAlmostEqual(inference.critical(0.05, freedom), limit, 4)
            self.assertAlmostEqual(inference.two_sided(limit, freedom), 0.05, 5)
        self.assertAlmostEqual(inference.critical(0.001, 4), 8.6103, 3)
        self.assertEqual(inference.two_sided(0.0, 3), 1.0)
        self.assertEqual(inference.two_sided(math.inf, 3), 0.0)
        self.assertLess(inference.two_sided(1e9, 2), 1e-17)
        self.assertAlmostEqual(inference.two_sided(inference.critical(1e-9, 3), 3), 1e-9, 15)

    def test_discoveries(self) -> None:
        self.assertEqual(inference.discoveries([], 0.05), 0)
        self.assertEqual(inference.discoveries([0.5, 0.03, 0.01, 0.02], 0.05), 3)
        # The third is above its own limit, the fourth is not: all four count.
        self.assertEqual(inference.discoveries([0.001, 0.01, 0.039, 0.04], 0.05), 4)
        self.assertEqual(inference.discoveries([0.04] + [0.5] * 9, 0.05), 0)

    def test_error_is_that_of_resampled_boots(self) -> None:
        """Drawing one boot less than there are, time and again, has the same spread."""
        draw = random.Random(11)
        sides = [[verdicts.Value(draw.gauss(100, 3), 0.1, 1, False, 200) for _ in range(boots)]
                 for boots in (5, 5)]
        error, freedom = verdicts._error(*sides)
        self.assertEqual(freedom, 8)
        means = [[sum(draw.choices([one.value for one in values], k=4)) / 4 for values in sides]
                 for _ in range(20000)]
        self.assertAlmostEqual(
            reference.stdev(new - base for base, new in means) / error, 1, delta=0.03)


class FalseAlarms(unittest.TestCase):
    """The same thing on both sides."""

    def test_share_of_intervals_that_miss(self) -> None:
        for kind in DRAWS:
            for boots, spread in ((1, 0.0), (3, 0.01)):
                with self.subTest(kind=kind, boots=boots):
                    made = judged(random.Random(f"{kind} {boots}"), kind, 300, boots, spread)
                    small = sum(row.chance < 0.05 for row in made.rows)
                    # 15 are expected, and 29 are exceeded once in 3,000 times.
                    self.assertLessEqual(small, 29)
                    self.assertLessEqual(made.called, 1)
                    self.assertEqual(made.count(verdicts.SAME) + made.called, 300)

    def test_boots_that_differ_are_no_change(self) -> None:
        """What within a boot looks sure: the spread from boot to boot is what counts."""
        draw = random.Random(5)
        alarms = sum(judged(draw, "skewed", 1, 3, 0.05).called for _ in range(100))
        self.assertLessEqual(alarms, 13)
        single = sum(judged(draw, "skewed", 1, 1, 0.05).called for _ in range(100))
        self.assertGreater(single, 50)  # what one boot cannot know, and the report says so

    def test_families(self) -> None:
        """Of comparisons of 40 rows that are all the same, few call any change."""
        draw = random.Random(6)
        alarms = sum(judged(draw, "coarse", 40, 1, 0.0).called > 0 for _ in range(30))
        self.assertLessEqual(alarms, 6)  # 1.5 are expected

    def test_neighbours_that_resemble_each_other(self) -> None:
        draw = random.Random(8)

        def series() -> list[int]:
            state, values = 0.0, []
            for _ in range(200):
                state = 0.7 * state + draw.gauss(0, 6)
                values.append(round(250 + state))
            return values

        sides = [Side([], [{"machine": {"counter_hz": 1, "counter_step": 1}}]) for _ in "ab"]
        for made in sides:
            for row in range(200):
                made.rows[key(str(row))] = {BootKey(0, 0): from_samples(METRIC, series(), 1, 1)}
        made = verdicts.judge(*sides, Mode.TIME)
        self.assertLessEqual(sum(row.chance < 0.05 for row in made.rows), 21)


class Power(unittest.TestCase):
    """Planted changes."""

    def test_three_percent(self) -> None:
        draw = random.Random(9)
        for kind in DRAWS:
            for boots, spread, least in ((1, 0.0, 58), (5, 0.01, 48)):
                with self.subTest(kind=kind, boots=boots):
                    made = judged(draw, kind, 60, boots, spread, 1.03)
                    self.assertGreaterEqual(made.count(verdicts.SLOWER), least)
                    self.assertEqual(made.count(verdicts.FASTER), 0)
                    truth = 0.03 * {"coarse": 7.3, "skewed": 200, "outliers": 300,
                                    "two paths": 240}[kind]
                    for row in made.rows:
                        if row.word == verdicts.SLOWER:
                            self.assertGreater(row.low, 0)
                            self.assertAlmostEqual(row.change, truth, delta=truth * 1.5)
                            # 0.2 ticks are less than a step: no percentage.
                            self.assertEqual(row.percent is None, abs(row.change) < 1)

    def test_mixture(self) -> None:
        """Some rows change, most do not: few of the calls are false, and faster is faster."""
        draw = random.Random(10)
        base = side(draw, "outliers", 200, 1, 0.0)
        new = side(draw, "outliers", 200, 1, 0.0)
        new.rows |= side(draw, "outliers", 40, 1, 0.0, 0.98).rows
        made = verdicts.judge(base, new, Mode.TIME)
        words = [row.word for row in made.rows]
        self.assertGreaterEqual(words[:40].count(verdicts.FASTER), 38)
        self.assertLessEqual(160 - words[40:].count(verdicts.SAME), 6)
        self.assertEqual(made.called, made.count(verdicts.FASTER) + made.count(verdicts.SLOWER))

    def test_tolerance(self) -> None:
        draw = random.Random(12)
        self.assertEqual(judged(draw, "outliers", 20, 1, 0.0, 1.03, tolerance=0.05).called, 0)
        self.assertEqual(judged(draw, "outliers", 20, 1, 0.0, 1.10, tolerance=0.05).called, 20)


class Limits(unittest.TestCase):
    """What the counter cannot tell."""

    def compare(self, base: list[int], new: list[int], ops: int = 1,
                step: int = 1) -> verdicts.Comparison:
        """One row, one boot a side."""
        sides = []
        for values in (base, new):
            sides.append(Side([], [{"machine": {"counter_hz": 1, "counter_step": step}}]))
            sides[-1].rows[key("a.b")] = {BootKey(0, 0): from_samples(METRIC, values, ops, step)}
        return verdicts.judge(*sides, Mode.TIME).rows[0]

    def test_constant_samples_hide_a_step(self) -> None:
        row = self.compare([7] * 200, [8] * 200)
        self.assertEqual((row.word, row.bound, row.percent), (verdicts.SAME, 2, None))
        row = self.compare([7] * 200, [9] * 200)
        self.assertEqual((row.word, row.low, row.high), (verdicts.SLOWER, 1, 3))
        row = self.compare([700] * 200, [701] * 200, ops=100)
        self.assertEqual(row.word, verdicts.SAME)
        self.assertAlmostEqual(row.bound, 0.02)
        row = self.compare([40] * 200, [80] * 200, step=40)
        self.assertEqual((row.word, row.bound), (verdicts.SAME, 80))

    def test_too_few(self) -> None:
        self.assertEqual(self.compare([7, 8, 9, 7, 8], [17, 18, 19, 17, 18]).word,
                         verdicts.TOO_FEW)
        self.assertEqual(self.compare([7, 8, 9, 7, 8, 7], [17, 18, 19, 17, 18, 17]).word,
                         verdicts.SLOWER)

    def test_median_moves_within_a_step(self) -> None:
        """A change of a quarter tick, where the median of whole ticks sticks."""
        draw = random.Random(13)
        base, new = ([round(draw.gauss(middle, 4)) for _ in range(8000)]
                     for middle in (100, 100.25))
        self.assertEqual(sorted(base)[4000], sorted(new)[4000])
        row = self.compare(base, new)
        self.assertFalse(row.mean)
        self.assertEqual((row.word, row.percent), (verdicts.SLOWER, None))
        self.assertAlmostEqual(row.change, 0.25, delta=0.15)

    def test_boots_that_agree_by_luck(self) -> None:
        """Equal estimates in all boots are no surer than the samples."""
        draw = random.Random(14)
        values = [round(draw.gauss(100, 20)) for _ in range(50)]
        sides = []
        for shift in (0, 2):
            sides.append(Side([], [{"machine": {"counter_hz": 1, "counter_step": 1}}]))
            one = from_samples(METRIC, [value + shift for value in values], 1, 1)
            sides[-1].rows[key("a.b")] = {BootKey(0, boot): one for boot in range(2)}
        self.assertEqual(verdicts.judge(*sides, Mode.TIME).rows[0].word, verdicts.SAME)


if __name__ == "__main__":
    unittest.main()
