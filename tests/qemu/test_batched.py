"""Accuracy below a tick, with the truth known from icount: a counter at 25 MHz, where a tick is 40
instructions, against the same image with a counter at 1 GHz, where it is one.
"""

import subprocess
import unittest

from el1bench_host import paths
from tests.qemu.support import Boot, QemuTest, setup_of, words_of

COARSE_HZ = 25_000_000
FINE_HZ = 1_000_000_000
BATCHED = ("ipi.normal.total.batched", "ipi.self.total.batched", "ipi.dry-run.total.batched")


class SubTick(QemuTest):
    """What a coarse counter says of operations about as short as its tick."""

    def at(self, counter_hz: int, **values: object) -> Boot:
        """A boot with the counter at that frequency."""
        boot = self.boot(setup_of("qemu-virt", accel="icount", counter_hz=counter_hz),
                         words_of("icount", **{"suite": "ipi", **values}))
        self.assert_passed(boot, 2)
        self.assertEqual(boot.results["machine"]["counter_hz"], counter_hz)
        return boot

    def means(self, boot: Boot, name: str) -> tuple[float, float]:
        """The mean and its standard error, in nanoseconds an operation."""
        row = boot.row(name)
        tick = 1e9 / boot.results["machine"]["counter_hz"]
        self.note(f"{tick:g} ns a tick: {name} n={row['n']} ops={row.get('ops', 1)} mean "
                  f"{row['mean'] * tick:.3f} ns, se {row['se'] * tick:.3f} ns")
        return row["mean"] * tick, row["se"] * tick

    def test_batched_means_agree_within_a_nanosecond(self) -> None:
        coarse, fine = (self.at(hz, samples=1000, batch=64) for hz in (COARSE_HZ, FINE_HZ))
        for name in BATCHED:
            self.assertEqual(coarse.row(name)["ops"], 64)
            self.assertEqual(coarse.row(name)["n"], 125)
            self.assertLess(abs(self.means(coarse, name)[0] - self.means(fine, name)[0]), 1.0, name)

    def test_every_round_trip_is_one(self) -> None:
        """Batches of 1, 2 and 64: one operation costs the plain one and the loop, whatever k."""
        for batch in (1, 2, 64):
            boot = self.at(FINE_HZ, samples=64, batch=batch)
            for name in BATCHED:
                plain = self.means(boot, name.removesuffix(".batched"))[0]
                self.assertEqual(boot.row(name)["ops"] if batch > 1 else 1, batch)
                self.assertGreaterEqual(self.means(boot, name)[0], plain, (name, batch))
                self.assertLessEqual(self.means(boot, name)[0], plain + 8, (name, batch))

    def test_plain_mean_is_within_three_standard_errors(self) -> None:
        """The gaps let samples start anywhere within a tick, whatever came before. (Without them
        this loop walks through a tick in equal strides: the mean may be right, by luck, but
        neighbours depend on each other.)"""
        coarse, fine = (self.at(hz, samples=2000, suite="ipi.normal")
                        for hz in (COARSE_HZ, FINE_HZ))
        truth, error = self.means(fine, "ipi.normal.total")
        self.assertEqual(error, 0.0)
        mean, error = self.means(coarse, "ipi.normal.total")
        self.assertGreater(error, 0.0)
        self.assertLess(error, 1.0)
        self.assertLessEqual(abs(mean - truth), 3 * error)
        warnings = coarse.row("ipi.normal.total")["warnings"]
        self.assertNotIn("correlated", warnings)
        self.assertNotIn("drift", warnings)

    def test_the_length_of_a_batch_comes_from_a_pilot(self) -> None:
        coarse, fine = (self.at(hz, samples=100) for hz in (COARSE_HZ, FINE_HZ))
        for boot in (coarse, fine):
            for name in BATCHED:
                row = boot.row(name)
                self.assertEqual(row["ops"] & (row["ops"] - 1), 0)
                self.assertGreaterEqual(row["min"] * row["ops"], 250)
                self.assertLess(row["min"] * row["ops"], 550)
        self.assertGreater(coarse.row(BATCHED[0])["ops"], fine.row(BATCHED[0])["ops"])
        self.assertEqual(coarse.row("ipi.normal.total")["headline_is"], "batched")

    def test_no_batch_of_nothing(self) -> None:
        done = subprocess.run(
            [str(paths.SOURCE_TREE / "scripts" / "el1bench"), "run", "--suite", "ipi", "--args",
             "batch=0", "--out", str(self.folder)], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("el1bench.batch=0: needs a number from 1 to 65536", done.stderr)


if __name__ == "__main__":
    unittest.main()
