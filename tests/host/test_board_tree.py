"""The Odroid-C4's fallback tree against the one that Debian's kernel package ships for the board."""

import subprocess
import unittest

from tests.host import flat_tree
from tests.host.flat_tree import Node
from el1bench_host import debian_archive, paths


def compatible(root: Node, *names: str) -> Node:
    """The only node that is compatible with one of the names and not switched off."""
    found = [node for node in root.walk() if set(node.texts("compatible")) & set(names)
             and node.texts("status") in ([""], ["okay"])]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} nodes are compatible with {names}")
    return found[0]


def console(root: Node) -> Node:
    """The node that stdout-path names."""
    alias = root.at("chosen").texts("stdout-path")[0].split(":")[0]
    return root.at(root.at("aliases").texts(alias)[0])


class OdroidC4(unittest.TestCase):
    """What the image takes from the tree is as Linux has it."""

    @classmethod
    def setUpClass(cls) -> None:
        source = paths.BOARDS / "odroid-c4" / "board.dts"
        cls.ours = flat_tree.parse(subprocess.run(
            ["dtc", "-q", "-I", "dts", "-O", "dtb", str(source)], capture_output=True,
            check=True).stdout)
        folder = debian_archive.ensure_kernel(quiet=True)
        path = next(folder.glob("usr/lib/linux-image-*/amlogic/meson-sm1-odroid-c4.dtb"))
        cls.theirs = flat_tree.parse(path.read_bytes())

    def same(self, name: str, ours: Node, theirs: Node) -> None:
        """A property is the same in both."""
        self.assertEqual(ours.properties[name], theirs.properties[name], (theirs.name, name))

    def test_board(self) -> None:
        self.same("compatible", self.ours, self.theirs)
        self.same("model", self.ours, self.theirs)

    def test_console(self) -> None:
        ours, theirs = console(self.ours), console(self.theirs)
        self.assertEqual(ours.registers(), [(0xff803000, 0x18)])
        self.assertEqual(ours.registers(), theirs.registers())
        self.same("interrupts", ours, theirs)
        self.assertTrue(set(ours.texts("compatible")) & set(theirs.texts("compatible")))
        self.assertEqual(self.ours.at("chosen").texts("stdout-path"),
                         self.theirs.at("chosen").texts("stdout-path"))

    def test_interrupt_controller(self) -> None:
        ours, theirs = (compatible(root, "arm,gic-400") for root in (self.ours, self.theirs))
        self.assertEqual(ours.registers(), theirs.registers())
        for name in ("interrupts", "#interrupt-cells", "#address-cells"):
            self.same(name, ours, theirs)

    def test_timer(self) -> None:
        ours, theirs = (compatible(root, "arm,armv8-timer") for root in (self.ours, self.theirs))
        self.same("interrupts", ours, theirs)
        self.assertIn("arm,no-tick-in-suspend", theirs.properties)
        self.assertIn("arm,no-tick-in-suspend", ours.properties)

    def test_crystal(self) -> None:
        self.same("clock-frequency", self.ours.at("xtal-clk"), self.theirs.at("xtal-clk"))
        self.assertEqual(self.ours.at("xtal-clk").cells("clock-frequency"), [24_000_000])

    def test_firmware(self) -> None:
        self.same("method", self.ours.at("psci"), self.theirs.at("psci"))
        self.same("compatible", self.ours.at("psci"), self.theirs.at("psci"))

    def test_cores(self) -> None:
        def cores(root: Node) -> list[tuple[str, bytes, bytes, bytes]]:
            return [(node.name, *(node.properties[name] for name in
                                  ("reg", "compatible", "enable-method")))
                    for node in root.at("cpus").children if node.name.startswith("cpu@")]

        self.assertEqual(len(cores(self.ours)), 4)
        self.assertEqual(cores(self.ours), cores(self.theirs))

    def test_power_states_are_of_the_firmware(self) -> None:
        """Linux' tree has none: what the vendor's has is what the firmware takes."""
        state = self.ours.at("cpus/idle-states").children[0]
        self.assertEqual(state.cells("arm,psci-suspend-param"), [0x0010000])
        self.assertIn("local-timer-stop", state.properties)

    def test_memory(self) -> None:
        self.assertEqual(self.ours.at("memory@0").registers(),
                         self.theirs.at("memory@0").registers())

    def test_memory_holes(self) -> None:
        """Whatever Linux keeps out of at a fixed place, we keep out of."""
        def holes(root: Node) -> set[tuple[int, int]]:
            return {one for node in root.at("reserved-memory").children
                    if "reg" in node.properties for one in node.registers()}

        self.assertGreaterEqual(len(holes(self.theirs)), 2)
        self.assertLessEqual(holes(self.theirs), holes(self.ours))

    def test_watchdog(self) -> None:
        ours, theirs = (compatible(root, "amlogic,meson-gxbb-wdt")
                        for root in (self.ours, self.theirs))
        self.assertEqual(ours.registers(), theirs.registers())


if __name__ == "__main__":
    unittest.main()
