"""The PSCI suite with the firmware that QEMU itself plays."""

import unittest

from tests.qemu.support import QemuTest, setup_of, words_of

CALLS = ("psci.version.serial", "psci.version.parallel", "psci.features", "psci.affinity-info")
FINE_HZ = 1_000_000_000


class BuiltIn(QemuTest):
    """QEMU answers itself: no firmware executes anything."""

    def suite(self, **options: object) -> list[dict[str, object]]:
        """The metrics of the suite, on four cores, in instructions."""
        boot = self.boot(setup_of("qemu-virt", accel="icount", counter_hz=FINE_HZ, cpus=4,
                                  **options), words_of("icount", suite="psci", samples=200))
        self.assert_passed(boot, 4)
        for name in CALLS:
            rows = boot.rows(f"{name}.round-trip")
            self.assertEqual([row["cpu"] for row in rows], [0, 1, 2, 3], name)
            for row in rows:
                self.assertEqual((row["n"], row["min"]), (200, row["max"]), name)
                self.assertLess(row["p50"], 40, name)
        for metric, low, high in (("psci.cpu-on.call-to-entry", 10, 40),
                                  ("psci.cpu-on.call-to-ready", 100, 400)):
            rows = boot.rows(metric)
            self.assertEqual([row["peer"] for row in rows], [1, 2, 3])
            for row in rows:
                self.assertEqual(row["n"], 200)
                self.assertTrue(low <= row["p50"] <= high, (metric, row["p50"]))
        self.assertEqual([row["cpu"] for row in boot.rows("psci.cpu-off.call-to-off")], [1, 2, 3])
        self.assertEqual([skip["name"] for skip in boot.results["skipped"]],
                         ["psci.smccc-version"])
        self.assertIn("NOT_SUPPORTED", boot.results["skipped"][0]["reason"])
        return boot.results["metrics"]

    def test_repeated_runs_agree_to_the_instruction(self) -> None:
        self.assertEqual(self.suite(), self.suite())

    def test_gicv3_and_el2(self) -> None:
        self.suite(gic=3, level=2)

    def test_cores_are_whole_afterwards(self) -> None:
        """Cores that were off take interrupts and work as before."""
        boot = self.boot(setup_of("qemu-virt", cpus=3),
                         words_of(suite="psci.cpu-off,ipi.broadcast,smoke", samples=20))
        self.assert_passed(boot, 3)
        self.assertEqual(boot.row("psci.cpu-off.call-to-off")["n"], 20)

    def test_what_can_cost_a_core_comes_last(self) -> None:
        for seed in range(1, 5):
            boot = self.boot(setup_of("qemu-virt"),
                             words_of(suite="clock.floor,psci", samples=2, warmup=0, seed=seed))
            order = boot.results["boots"][0]["order"]
            self.assertEqual(set(order[-2:]), {"psci.cpu-off", "psci.cpu-on"})

    def test_one_core(self) -> None:
        boot = self.boot(setup_of("qemu-virt", cpus=1), words_of(suite="psci", samples=10))
        self.assertEqual(boot.outcome.status, "passed")
        self.assertEqual({skip["name"] for skip in boot.results["skipped"]},
                         {"psci.smccc-version", "psci.version.parallel", "psci.cpu-off",
                          "psci.cpu-on"})


if __name__ == "__main__":
    unittest.main()
