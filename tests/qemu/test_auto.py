"""samples=auto: as many samples as `ci=` takes, the same ones each time, and an end in any case."""

import unittest
from typing import Any

from tests.qemu.support import Boot, QemuTest, setup_of, words_of

COARSE_HZ = 25_000_000
FIRST_LOOK = 128
CAP = 10000


class Auto(QemuTest):
    """Under icount, where the same seed gives the same run."""

    def auto(self, counter_hz: int = COARSE_HZ, **values: Any) -> Boot:
        """A boot that chooses its number of samples."""
        boot = self.boot(setup_of("qemu-virt", accel="icount", counter_hz=counter_hz),
                         words_of("icount", **{"samples": "auto", "suite": "ipi", **values}))
        self.assert_passed(boot, 2)
        return boot

    def test_precise_enough_and_repeatable(self) -> None:
        first, second = self.auto(ci="1%"), self.auto(ci="1%")
        self.assertEqual(first.results["metrics"], second.results["metrics"])
        counts = {row["name"]: row["n"] for row in first.results["metrics"]}
        self.note(f"samples {counts}")
        for row in first.results["metrics"]:
            self.assertIn(row["n"], [FIRST_LOOK << looks for looks in range(7)], row["name"])
            self.assertNotIn("wide", row["warnings"], row["name"])
        # All of a group stop together, so that they stay paired.
        self.assertEqual(counts["ipi.normal.total"], counts["ipi.dry-run.total"])
        self.assertEqual(counts["ipi.normal.net"], counts["ipi.normal.total"])
        # A batch is precise at once, a single interrupt of about a tick is not.
        self.assertEqual(counts["ipi.normal.total.batched"], FIRST_LOOK)
        self.assertGreater(counts["ipi.normal.total"], FIRST_LOOK)
        self.assertEqual(first.results["run"]["ci"], 0.01)

    def test_sharper_takes_more(self) -> None:
        rough, sharp = self.auto(ci="20%"), self.auto(ci="1%")
        self.assertLess(rough.row("ipi.normal.total")["n"], sharp.row("ipi.normal.total")["n"])

    def test_the_cap_is_reported(self) -> None:
        """Reads are spaced at random here: how far they are apart is not to be known to 0.01 %."""
        boot = self.auto(counter_hz=10**9, suite="clock.step", ci="0.01%")
        row = boot.row("clock.step.ticks")
        self.assertEqual(row["n"], CAP)
        self.assertIn("wide", row["warnings"])
        self.assertIn(f"name=clock.step : the cap of {CAP} samples came before ci= in 1 of 1 rows",
                      boot.lines("note"))

    def test_ci_alone_is_refused(self) -> None:
        boot = self.boot(setup_of("qemu-virt"), words_of(ci="1%", samples=10))
        self.assertEqual(boot.outcome.status, "refused")
        self.assertIn("ci= needs samples=auto", boot.text)


if __name__ == "__main__":
    unittest.main()
