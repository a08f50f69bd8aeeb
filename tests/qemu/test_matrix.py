"""Every combination of GIC, entry level and core count: all passes, every core takes part."""

import itertools
import unittest

from tests.qemu.support import QemuTest, setup_of, words_of

GICS = (2, 3)
LEVELS = (1, 2)
CORES = (1, 2, 4, 8)
SAMPLES = 40


class Matrix(QemuTest):
    """One test for each combination; they are added below."""

    def check(self, gic: int, level: int, cores: int) -> None:
        """Boot one combination with every suite."""
        boot = self.boot(setup_of("qemu-virt", gic=gic, level=level, cpus=cores),
                         words_of(samples=SAMPLES, suite="smoke,clock,ipi"))
        self.assert_passed(boot, cores)
        self.assertEqual(boot.fact("gic"), str(gic))
        self.assertEqual(boot.fact("entry-el"), str(level))
        self.assertEqual(boot.fact("entry-mmu"), "off")
        self.assertEqual(boot.fact("tree"), "x0")
        self.assertEqual(boot.fact("conduit"), {1: "hvc", 2: "smc"}[level])
        self.assertEqual([cpu.entry_el for cpu in boot.decoded.boots[0].cpus], [level] * cores)
        self.assertEqual(boot.results["machine"]["emulated"], True)
        self.assertEqual({outcome["result"] for outcome in boot.results["outcomes"]
                          if outcome["name"].startswith("smoke.")}, {"passed"})
        self.assertEqual(len(boot.rows("clock.floor.pair")), cores)
        for name in ("ipi.dry-run.total", "ipi.self.delivery", "ipi.self.total"):
            self.assertEqual(boot.row(name)["n"], SAMPLES, name)
        if cores == 1:
            skipped = {one["name"]: one["reason"] for one in boot.results["skipped"]}
            self.assertTrue(skipped.get("ipi.normal"), skipped)
            self.assertEqual(boot.rows("ipi.normal.total"), [])
        else:
            for name in ("ipi.normal.delivery", "ipi.normal.total", "ipi.broadcast.first",
                         "ipi.broadcast.last", "ipi.broadcast.total", "ipi.broadcast-lock.total"):
                self.assertEqual(boot.row(name)["n"], SAMPLES, name)
            normal = boot.row("ipi.normal.total")
            self.assertEqual((normal["cpu"], normal["peer"]), (0, 1))
            self.assertLessEqual(boot.row("ipi.normal.delivery")["p50"], normal["p50"])


def _add(gic: int, level: int, cores: int) -> None:
    def test(self: Matrix) -> None:
        self.check(gic, level, cores)

    name = f"test_gicv{gic}_el{level}_{cores}_cores"
    test.__name__ = name
    setattr(Matrix, name, test)


for combination in itertools.product(GICS, LEVELS, CORES):
    _add(*combination)

if __name__ == "__main__":
    unittest.main()
