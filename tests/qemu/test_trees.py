"""Trees that lack something or promise too much: one clear line, and the rest goes on."""

import unittest
from dataclasses import replace
from pathlib import Path
from typing import Sequence

from el1bench_host import machine, run
from tests.qemu.support import (Boot, QemuTest, dump_tree, image_of, loaded, nodes_of,
                                put_property, remove_node, remove_property, setup_of, words_of)

LOAD_ADDRESS = 0x40200000
TREE_ADDRESS = 0x4A000000
SECONDS = 60.0


def node_named(tree: Path, prefix: str) -> str:
    """The path of the node at the root whose name starts with `prefix`."""
    return next("/" + name for name in nodes_of(tree) if name.startswith(prefix))


class TreeTest(QemuTest):
    """Boots the image with a tree of the test's own, put into memory as it is, address in x0."""

    def setUp(self) -> None:
        super().setUp()
        self.qemu = setup_of("qemu-virt", kernel=None, cpus=2)
        self.tree = self.make_tree(self.qemu)

    def make_tree(self, qemu: machine.Setup) -> Path:
        """QEMU's own tree for a machine, as a file to edit."""
        tree = self.folder / "tree.dtb"
        dump_tree(qemu, tree)
        return tree

    def boot_tree(self, words: Sequence[str] = (), semihosting: bool = False) -> Boot:
        """Boot with the tree as it is now."""
        put_property(self.tree, "/chosen", "bootargs",
                     " ".join(words or words_of(samples=20)))
        qemu = replace(self.qemu, semihosting=semihosting,
                       options=loaded(self.folder, image_of("qemu-virt"), LOAD_ADDRESS,
                                      TREE_ADDRESS, self.tree, TREE_ADDRESS))
        return self.boot(qemu, limits=run.Limits(total=SECONDS))


class Whole(TreeTest):
    """The unedited tree passes: what fails below fails for what was taken away."""

    def test_it_passes(self) -> None:
        boot = self.boot_tree()
        self.assert_passed(boot, 2)
        self.assertEqual(boot.fact("tree"), "x0")


class Missing(TreeTest):
    """Parts of the machine that the tree does not describe."""

    def test_no_psci(self) -> None:
        remove_node(self.tree, "/psci")
        boot = self.boot_tree()
        self.assert_failed(boot, "psci: no firmware to start cores with")
        self.assertEqual(boot.fact("psci"), "none")
        self.assertEqual(boot.row("ipi.self.total")["n"], 20, "the boot core goes on alone")

    def test_no_psci_but_many_cores_named_once(self) -> None:
        remove_node(self.tree, "/psci")
        self.assertEqual(len(self.boot_tree().lines("fail")), 1)

    def test_no_psci_to_suspend_with(self) -> None:
        remove_node(self.tree, "/psci")
        boot = self.boot_tree(words_of(suite="psci", samples=20))
        self.assertEqual(len(boot.results["skipped"]), len(boot.results["outcomes"]))
        self.assertEqual({one["reason"] for one in boot.results["skipped"]},
                         {"there is no PSCI firmware"})

    def test_no_gic(self) -> None:
        remove_node(self.tree, node_named(self.tree, "intc"))
        boot = self.boot_tree()
        self.assert_failed(boot, "gic: no interrupt controller")
        skipped = {one["name"]: one["reason"] for one in boot.results["skipped"]}
        self.assertRegex(skipped.get("ipi.self", ""), "interrupt controller")
        self.assertEqual(boot.row("clock.floor.pair")["n"], 20, "what needs no interrupt goes on")

    def test_no_memory(self) -> None:
        remove_node(self.tree, node_named(self.tree, "memory"))
        boot = self.boot_tree()
        self.assert_failed(boot, "memory: the device tree .* no memory")

    def test_memory_of_no_size(self) -> None:
        put_property(self.tree, node_named(self.tree, "memory"), "reg", "0", "40000000", "0", "0",
                     kind="x")
        self.assert_failed(self.boot_tree(), "memory: the device tree .* no memory")

    def test_no_uart(self) -> None:
        remove_node(self.tree, node_named(self.tree, "pl011"))
        boot = self.boot_tree(semihosting=True)
        self.assertEqual(boot.log, b"")
        self.assertRegex(boot.outcome.problem, "status 1 before .*no console UART")

    def test_no_stdout_path(self) -> None:
        # There is a UART, but nothing says that it is the console.
        remove_property(self.tree, "/chosen", "stdout-path")
        boot = self.boot_tree(semihosting=True)
        self.assertEqual(boot.log, b"")
        self.assertRegex(boot.outcome.problem, "status 1 before .*no console UART")

    def test_a_uart_that_nobody_drives(self) -> None:
        put_property(self.tree, node_named(self.tree, "pl011"), "compatible", "acme,uart")
        boot = self.boot_tree(semihosting=True)
        self.assertEqual(boot.log, b"")
        self.assertRegex(boot.outcome.problem, "no console UART.*acme,uart")

    def test_no_timer(self) -> None:
        remove_node(self.tree, node_named(self.tree, "timer"))
        boot = self.boot_tree()
        self.assertEqual(boot.outcome.status, "passed", boot.outcome.problem)


class NotOkay(TreeTest):
    """Nodes whose status is not okay do not exist."""

    def test_a_disabled_gic(self) -> None:
        put_property(self.tree, node_named(self.tree, "intc"), "status", "disabled")
        self.assert_failed(self.boot_tree(), "gic: no interrupt controller")

    def test_a_disabled_psci(self) -> None:
        put_property(self.tree, "/psci", "status", "disabled")
        self.assert_failed(self.boot_tree(), "psci: no firmware to start cores with")

    def test_a_disabled_core(self) -> None:
        put_property(self.tree, "/cpus/cpu@1", "status", "disabled")
        boot = self.boot_tree()
        self.assert_passed(boot, 1)
        self.assertEqual(boot.rows("ipi.normal.total"), [])

    def test_a_disabled_console(self) -> None:
        put_property(self.tree, node_named(self.tree, "pl011"), "status", "disabled")
        boot = self.boot_tree(semihosting=True)
        self.assertEqual(boot.log, b"")
        self.assertRegex(boot.outcome.problem, "no console UART")

    def test_a_core_that_fails(self) -> None:
        put_property(self.tree, "/cpus/cpu@1", "status", "fail")
        self.assert_passed(self.boot_tree(), 1)

    def test_okay_is_okay(self) -> None:
        put_property(self.tree, "/cpus/cpu@1", "status", "okay")
        put_property(self.tree, node_named(self.tree, "intc"), "status", "ok")
        self.assert_passed(self.boot_tree(), 2)


class AbsentCore(TreeTest):
    """The tree lists cores that the machine does not have."""

    def test_the_others_go_on(self) -> None:
        self.tree = self.make_tree(replace(self.qemu, cpus=4))
        self.qemu = replace(self.qemu, cpus=3)
        boot = self.boot_tree()
        self.assert_failed(boot, r"cpu\.3: ", "smoke.cores: 3 of 4 cores are up")
        self.assertEqual(boot.fact("cores"), "3/4")
        self.assertEqual(boot.row("ipi.broadcast.total")["n"], 20)
        self.assertEqual(len(boot.rows("clock.floor.pair")), 3)

    def test_one_in_the_middle(self) -> None:
        self.tree = self.make_tree(replace(self.qemu, cpus=4))
        put_property(self.tree, "/cpus/cpu@1", "reg", "77", kind="x")
        self.qemu = replace(self.qemu, cpus=4)
        boot = self.boot_tree()
        self.assertEqual(boot.outcome.status, "failed", boot.outcome.problem)
        self.assertEqual(boot.fact("cores"), "3/4")
        self.assertEqual(boot.row("ipi.normal.total")["n"], 20)


class Hostile(TreeTest):
    """Trees that are damaged."""

    def test_cut_in_the_middle(self) -> None:
        # x0 is refused; QEMU's own tree at the start of RAM is taken instead.
        put_property(self.tree, "/chosen", "bootargs", " ".join(words_of(samples=20)))
        data = self.tree.read_bytes()
        self.tree.write_bytes(data[:200] + bytes(len(data) - 200))
        qemu = replace(self.qemu, options=loaded(self.folder, image_of("qemu-virt"), LOAD_ADDRESS,
                                                 TREE_ADDRESS, self.tree, TREE_ADDRESS))
        boot = self.boot(qemu, limits=run.Limits(total=SECONDS))
        self.assert_passed(boot, 2)
        self.assertEqual(boot.fact("tree"), "load address")

    def test_a_size_of_4_gib(self) -> None:
        put_property(self.tree, "/chosen", "bootargs", " ".join(words_of(samples=20)))
        data = bytearray(self.tree.read_bytes())
        data[4:8] = b"\xff\xff\xff\xff"
        self.tree.write_bytes(data)
        qemu = replace(self.qemu, options=loaded(self.folder, image_of("qemu-virt"), LOAD_ADDRESS,
                                                 TREE_ADDRESS, self.tree, TREE_ADDRESS))
        boot = self.boot(qemu, limits=run.Limits(total=SECONDS))
        self.assert_passed(boot, 2)
        self.assertEqual(boot.fact("tree"), "load address")


if __name__ == "__main__":
    unittest.main()
