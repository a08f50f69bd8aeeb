"""Boards other than `virt` with a tree of QEMU's own, and many cores."""

import re
import struct
import unittest
from dataclasses import replace

from tests.qemu.support import (QemuTest, dump_tree, image_of, loaded, plain_image_of,
                                put_property, setup_of, words_of)

SAMPLES = 40


class Zcu102(QemuTest):
    """QEMU's ZCU102: Cadence UART, GIC-400 at its own addresses, RAM at 0, garbage in x0."""

    def test_with_its_tree_and_arguments(self) -> None:
        boot = self.boot(setup_of("zcu102"), words_of(samples=SAMPLES))
        self.assert_passed(boot, 4)
        self.assertEqual(boot.fact("model"), "Xilinx ZCU102")
        self.assertIn(boot.fact("tree"), ("x0", "load address"))
        self.assertEqual(boot.row("ipi.normal.total")["n"], SAMPLES)

    def test_without_either(self) -> None:
        qemu = setup_of("zcu102")
        boot = self.boot(replace(qemu, board=replace(qemu.board, tree=None)))
        self.assert_passed(boot, 4)
        self.assertEqual(boot.fact("tree"), "embedded")
        self.assertEqual(boot.fact("emulated"), None)
        self.assertEqual(boot.row("ipi.normal.total")["n"], 1000)


class OdroidC4(QemuTest):
    """The very bytes that go to an Odroid-C4, on `virt`."""

    def test_at_its_text_offset(self) -> None:
        boot = self.boot(setup_of("odroid-c4", cpus=4), words_of(samples=SAMPLES))
        self.assert_passed(boot, 4)
        self.assertEqual(boot.fact("load-address"), "0x60000000")
        self.assertEqual(boot.fact("model"), "linux,dummy-virt")

    def test_neither_u_boot_moves_it(self) -> None:
        for path in (image_of("odroid-c4"), plain_image_of("odroid-c4")):
            image = path.read_bytes()
            text_offset, size, flags = struct.unpack_from("<QQQ", image, 8)
            self.assertEqual(image[56:60], b"ARM\x64")
            self.assertEqual(text_offset, 0x20000000)
            # 4 KiB pages, little-endian, anywhere in memory.
            self.assertEqual(flags, 0xA)
            self.assertGreater(size, 1 << 20)

    def test_a_suspend_of_the_whole_machine_is_refused(self) -> None:
        boot = self.boot(setup_of("odroid-c4"), words_of(suite="psci", power_state="0x2010000"))
        self.assertEqual(boot.outcome.status, "refused")
        self.assertEqual(boot.lines("fail"), [
            "name=arguments : power_state=0x2010000 suspends the whole machine; nothing wakes it"])
        self.assertEqual(boot.lines("plan"), [])

    def test_no_state_of_a_tree_suspends_the_whole_machine(self) -> None:
        qemu = setup_of("odroid-c4")
        tree = self.folder / "tree"
        dump_tree(qemu, tree)
        for name, state in (("core", "0x10000"), ("system", "0x2010000")):
            put_property(tree, f"/cpus/idle-states/{name}", "arm,psci-suspend-param", state,
                         kind="x")
        boot = self.boot(replace(qemu, tree=tree), words_of(suite="psci.suspend.deepest.serial",
                                                            samples=5))
        self.assertEqual([re.search("power-state=[0-9a-fx]+", line)[0]
                          for line in boot.lines("idle")], ["power-state=0x10000"])
        self.assertRegex(str(boot.results["skipped"]), "neither the device tree nor power_state=")

    def test_the_fallback_tree_is_not_taken_for_the_machine(self) -> None:
        # Loaded with no tree in x0: the start of its GiB holds QEMU's, which must win.
        qemu = setup_of("odroid-c4", cpus=2, kernel=None)
        boot = self.boot(replace(qemu, options=loaded(self.folder, image_of("odroid-c4"),
                                                      0x50000000, 0xDEADBEEFDEADBEEF)))
        self.assert_passed(boot, 2)
        self.assertEqual(boot.fact("tree"), "load address")
        self.assertEqual(boot.fact("load-address"), "0x50000000")


class OtherCores(QemuTest):
    """Core models other than the default, up to everything that QEMU has."""

    def test_each(self) -> None:
        for cpu in ("cortex-a35", "cortex-a57", "cortex-a72", "cortex-a76", "neoverse-n1", "max"):
            for level, gic in ((1, 2), (2, 3)):
                with self.subTest(cpu=cpu, level=level, gic=gic):
                    self.assert_passed(self.boot(setup_of("qemu-virt", cpu=cpu, level=level,
                                                          gic=gic), words_of(samples=SAMPLES)), 2)

    def test_threads_of_the_host(self) -> None:
        # Few: with fewer idle processors than cores each interrupt costs a time slice.
        boot = self.boot(setup_of("qemu-virt", cpus=2, accel="multi"),
                         words_of("multi", samples=10))
        self.assert_passed(boot, 2)
        self.assertEqual(boot.fact("emulated").rpartition("-")[2], "multi")


class ManyCores(QemuTest):
    """64 cores, which takes GICv3 and two levels of affinity."""

    def test_64_cores(self) -> None:
        boot = self.boot(setup_of("qemu-virt", gic=3, cpus=64), words_of(samples=20))
        self.assert_passed(boot, 64)
        cpus = boot.decoded.boots[0].cpus
        self.assertEqual(len({cpu.mpidr for cpu in cpus}), 64)
        self.assertIn(1, {cpu.mpidr >> 8 & 0xFF for cpu in cpus}, "no core beyond affinity 0")
        self.assertEqual(len(boot.rows("clock.floor.pair")), 64)
        self.assertEqual(boot.row("ipi.broadcast.total")["n"], 20)


if __name__ == "__main__":
    unittest.main()
