"""Images with one function overwritten: what a fault, or a print while timing, must lead to.

The functions are found in the ELF by source file and name, and a few instructions are put over
their first ones in a copy of the raw image.
"""

import struct
import subprocess
import unittest
from pathlib import Path
from typing import Sequence

from tests.qemu.support import (Boot, QemuTest, build_folder, plain_image_of, setup_of,
                                words_of)

IMAGE_ADDRESS = 0xFFFF800000000000
BRK = 0xD4200000
RET = 0xD65F03C0


def symbols() -> dict[tuple[str, str], int]:
    """Addresses by source file ("" for a global symbol) and name."""
    text = subprocess.run(
        ["aarch64-linux-gnu-readelf", "-sW", str(build_folder("qemu-virt") / "image.elf")],
        check=True, capture_output=True, text=True, timeout=60).stdout
    found: dict[tuple[str, str], int] = {}
    file = ""
    for line in text.splitlines():
        fields = line.split()
        if len(fields) != 8 or not fields[0].endswith(":") or fields[0] == "Num:":
            continue
        if fields[3] == "FILE":
            file = fields[7]
        elif fields[4] == "LOCAL":
            found.setdefault((file, fields[7]), int(fields[1], 16))
        else:
            found["", fields[7]] = int(fields[1], 16)
    return found


def call(at: int, target: int) -> int:
    """The instruction at `at` that calls `target`."""
    return 0x94000000 | (target - at >> 2) & 0x3FFFFFF


def patched_image(folder: Path, at: int, changes: dict[int, int]) -> Path:
    """A copy of the image where some instructions of the function at an address are others."""
    image = bytearray(plain_image_of("qemu-virt").read_bytes())
    for old, new in changes.items():
        offset = image.index(struct.pack("<I", old), at - IMAGE_ADDRESS)
        image[offset:offset + 4] = struct.pack("<I", new)
    path = folder / "image"
    path.write_bytes(image)
    return path


class Fault(QemuTest):
    """Boots images whose clock.floor starts with other instructions."""

    SOURCE = "floor.c"
    FUNCTION = "sample"
    BENCHMARK = "clock.floor"

    def setUp(self) -> None:
        super().setUp()
        self.symbols = symbols()
        self.target = self.symbols[self.SOURCE, self.FUNCTION]

    def patched(self, at: int, words: Sequence[int]) -> Path:
        """A copy of the image with instructions of its own at an address."""
        image = bytearray(plain_image_of("qemu-virt").read_bytes())
        code = struct.pack(f"<{len(words)}I", *words)
        offset = at - IMAGE_ADDRESS
        image[offset:offset + len(code)] = code
        path = self.folder / "image"
        path.write_bytes(image)
        return path

    def boot_patched(self, *words: int, **values: object) -> Boot:
        """Boot with the instructions put over the function."""
        values.setdefault("suite", f"{self.BENCHMARK},ipi.self")
        return self.boot(setup_of("qemu-virt", kernel=self.patched(self.target, words)),
                         words_of(samples=20, **values))

    def assert_stopped(self, boot: Boot, what: str) -> None:
        """The exception is described, the benchmark is named, and the trailer still comes."""
        self.assert_failed(boot, f"{self.BENCHMARK}: ")
        self.assertEqual(boot.decoded.problems, [])
        report = boot.text[boot.text.index("@el1b plan"):]
        self.assertRegex(report, what)
        self.assertRegex(report, self.BENCHMARK)
        self.assertRegex(report, rf"elr +0x[0-9a-f]{{16}} {self.FUNCTION}\+0x")
        self.assertRegex(report, r"x27 +0x[0-9a-f]{16}")


class Exceptions(Fault):
    """Exceptions end the run as failed, after a report."""

    def test_a_breakpoint(self) -> None:
        self.assert_stopped(self.boot_patched(BRK), "BRK instruction")

    def test_an_undefined_instruction(self) -> None:
        self.assert_stopped(self.boot_patched(0), "undefined instruction")

    def test_a_read_from_nowhere(self) -> None:
        # mov x0, #64; ldr x0, [x0]
        boot = self.boot_patched(0xD2800800, 0xF9400000)
        self.assert_stopped(boot, "data abort")
        self.assertRegex(boot.text, "far 0x0000000000000040")

    def test_code_cannot_be_written(self) -> None:
        # adr x0, .; str x0, [x0]
        boot = self.boot_patched(0x10000000, 0xF9000000)
        self.assert_stopped(boot, "data abort")
        self.assertRegex(boot.text, rf"far {self.target:#018x}")

    def test_data_cannot_be_executed(self) -> None:
        # ldr x0, .+8; br x0
        data = self.symbols["", "platform"]
        boot = self.boot_patched(0x58000040, 0xD61F0000, data & 0xFFFFFFFF, data >> 32)
        self.assert_failed(boot, f"{self.BENCHMARK}: ")
        self.assertRegex(boot.text, "instruction abort")
        self.assertRegex(boot.text, rf"far {data:#018x}")

    def test_a_stack_that_runs_over(self) -> None:
        # sub sp, sp, #0x400; str xzr, [sp]; b .-8
        boot = self.boot_patched(0xD11003FF, 0xF90003FF, 0x17FFFFFE)
        self.assert_stopped(boot, "data abort")

    def test_what_was_measured_before_is_kept(self) -> None:
        boot = self.boot_patched(BRK)
        order = boot.results["boots"][0]["order"]
        kept = boot.rows("ipi.self.total")
        if order.index("ipi.self") < order.index(self.BENCHMARK):
            self.assertEqual([row["n"] for row in kept], [20])

    def test_on_another_core(self) -> None:
        at = self.symbols["", "smp_secondary_main"]
        boot = self.boot(setup_of("qemu-virt", kernel=self.patched(at, [BRK])),
                         words_of(samples=20))
        self.assertEqual(boot.outcome.status, "failed", boot.outcome.problem)
        self.assertRegex(boot.text, "BRK instruction")
        self.assertRegex(boot.text, r"core 1|cpu 1")
        self.assertRegex(boot.text, r"elr +0x[0-9a-f]{16} smp_secondary_main\+0x0")


class Prints(Fault):
    """A print while timing reaches nobody until timing has ended, and fails the run."""

    def test_a_print_while_timing(self) -> None:
        words = [0xA9BF7BFD,                    # stp x29, x30, [sp, #-16]!
                 0x10000000,                    # adr x0, .
                 0xD2800081,                    # mov x1, #4
                 call(self.target + 12, self.symbols["", "console_write"]),
                 0x52800020,                    # mov w0, #1
                 0xA8C17BFD,                    # ldp x29, x30, [sp], #16
                 RET]
        boot = self.boot_patched(*words)
        self.assert_failed(boot, "console_refused_bytes")
        checks = boot.decoded.boots[0].checks
        self.assertEqual(checks["uart_bytes_in_timed"], 0)
        # Four bytes for each of 20 samples and of 16 to warm up.
        self.assertEqual(checks["console_refused_bytes"], 4 * 36)
        self.assertNotIn(b"\x00\x00\x00\x10", boot.log)


if __name__ == "__main__":
    unittest.main()
