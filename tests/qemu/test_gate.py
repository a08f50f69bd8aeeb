"""The instruction-exact gate on real images: an instruction more or less does not pass."""

import shutil
import unittest
from pathlib import Path

from el1bench_host.testing import gate, timed_code
from tests.qemu.support import QemuTest, build_folder
from tests.qemu.test_faults import patched_image, symbols

CMP_W0_31 = 0x71007C1F
BRANCH_OVER_NEXT = 0x14000002
WHERE = gate.MACHINES[0]


class Gate(QemuTest):
    """Measures images whose interrupt path has been changed."""

    def measured(self, changes: dict[int, int]) -> gate.Measured:
        """The ipi suite of an image with other instructions in the interrupt's way."""
        patched_image(self.folder, symbols()["", "interrupt_v2"], changes)
        for name in ("board.json", "board.dtb"):
            shutil.copy2(Path(build_folder("qemu-virt")) / name, self.folder / name)
        return gate.measure(self.folder, WHERE, ["ipi"], gate.SEEDS[0])

    def wrong(self, changes: dict[int, int]) -> dict[str, str]:
        """What is wrong with such an image's numbers."""
        expected = {row: numbers for row, numbers in self.measured({}).metrics.items()}
        return dict(gate.compare(expected, self.measured(changes).metrics))

    def test_the_same_image_twice(self) -> None:
        self.assertEqual(self.wrong({}), {})

    def test_one_instruction_less(self) -> None:
        # The branch takes the place of a comparison and of a conditional branch that is not taken.
        wrong = self.wrong({CMP_W0_31: BRANCH_OVER_NEXT})
        self.assertRegex(wrong["ipi.normal.total 0>1"], r"^\d+ instead of \d+, -1 instructions$")
        self.assertIn("ipi.self.total 0>0", wrong)
        self.assertNotIn("ipi.normal.delivery 0>1", wrong)
        self.assertNotIn("ipi.dry-run.total 0", wrong)

    def test_the_code_on_a_path(self) -> None:
        code = timed_code.read(build_folder("qemu-virt"))
        for gic in (2, 3):
            path = code.path("ipi.normal", gic)
            for name in ("unicast.c:sample", "ipi_send_to_one",
                         "ipi_acknowledge", f"interrupt_v{gic}", f"v{gic}.c:v{gic}_send",
                         timed_code.IRQ_VECTOR):
                self.assertIn(name, path)
        self.assertNotIn("interrupt_v3", code.path("ipi.normal", 2))
        self.assertIn("ipi", gate.suites_of(code))


if __name__ == "__main__":
    unittest.main()
