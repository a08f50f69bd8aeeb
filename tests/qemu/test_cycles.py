"""The cycle counter: beside the physical one, recognised as virtual, and not needed."""

import unittest

from tests.qemu.support import QemuTest, setup_of, words_of

COUNTER_HZ = 62_500_000
QEMU_CYCLES_HZ = 1_000_000_000


class Cycles(QemuTest):
    """Under icount QEMU's cycle counter counts instructions, in sleep too."""

    def test_beside_ticks(self) -> None:
        boot = self.boot(setup_of("qemu-virt", accel="icount", counter_hz=COUNTER_HZ),
                         words_of("icount", suite="clock,ipi", samples=400, batch=64))
        self.assert_passed(boot, 2)
        found = boot.results["machine"]["cycle_counter"]
        self.note(f"cycle counter {found}")
        ratio = QEMU_CYCLES_HZ / COUNTER_HZ
        self.assertAlmostEqual(found["busy"], ratio, delta=0.01 * ratio)
        self.assertAlmostEqual(found["asleep"], ratio, delta=0.01 * ratio)
        self.assertTrue(found["virtual"])
        for name in ("ipi.normal.total", "ipi.self.total", "ipi.dry-run.total"):
            cycles, batched = boot.row(f"{name}.cycles"), boot.row(f"{name}.batched")
            self.assertEqual((cycles["unit"], cycles["ops"]), ("cycle", 64))
            self.note(f"{name}: {cycles['mean']} cycles, {batched['mean']} ticks")
            # To the two reads and the counter's own step, over a batch.
            self.assertAlmostEqual(cycles["mean"], batched["mean"] * ratio, delta=0.25)
            self.assertEqual(batched["cycles"], cycles["headline"])
        rows = boot.rows("clock.cycles.busy")
        self.assertEqual([row["cpu"] for row in rows], [0, 1])
        self.assertEqual({row["n"] for row in rows}, {32})

    def test_without(self) -> None:
        boot = self.boot(setup_of("qemu-virt", cpu="cortex-a53,pmu=off"),
                         words_of(suite="clock,ipi", samples=50))
        self.assert_passed(boot, 2)
        self.assertIsNone(boot.results["machine"]["cycle_counter"])
        self.assertEqual([row["name"] for row in boot.results["metrics"]
                          if row["unit"] != "tick" or "cycles" in row["name"]], [])
        self.assertIn(("clock.cycles", "no core has a cycle counter that counts"),
                      [(one["name"], one["reason"]) for one in boot.results["skipped"]])


if __name__ == "__main__":
    unittest.main()
