"""Images that leave out one thing of what a core has to restore after a power-down.

Each must be named, in bounded time. What QEMU cannot show is a stack that was not cleaned to
memory: it has no caches to lose.
"""

import re
import struct
import subprocess
import unittest
from pathlib import Path

from tests.qemu.el3 import SUSPENDS, SWEEPS, MonitorTest
from tests.qemu.support import build_folder, plain_image_of
from tests.qemu.test_faults import IMAGE_ADDRESS, symbols

NOP = 0xD503201F
MOV_W0_1 = 0x52800020
REGISTER_0 = ~31  # in the place of an instruction's Rt: x0, which holds an address

# The entry code restores these, too; a wrong one of the first kind lets the core live on.
SET_TWICE = ("mair_el1", "ttbr0_el1", "vbar_el1", "mdscr_el1", "tpidr_el0", "cntkctl_el1")
SET_TWICE_AND_VITAL = ("sctlr_el1", "ttbr1_el1")
SET_ONCE = ("contextidr_el1", "csselr_el1", "tpidrro_el0", "sp_el0", "fpcr", "fpsr",
            "cntp_cval_el0", "cntv_cval_el0", "tcr_el1")


def code_of(start: int, words: int) -> list[tuple[int, int, str]]:
    """Address, instruction and its text, from an address of the image on."""
    text = subprocess.run(
        ["aarch64-linux-gnu-objdump", "-d", f"--start-address={start:#x}",
         f"--stop-address={start + 4 * words:#x}", str(build_folder("qemu-virt") / "image.elf")],
        check=True, capture_output=True, text=True, timeout=60).stdout
    return [(int(at, 16), int(word, 16), what) for at, word, what in
            re.findall(r"^ *([0-9a-f]+):\t([0-9a-f]{8}) \t(.*)$", text, re.M)]


class Restores(MonitorTest):
    """A power-down of two cores, core after core; core 1 first."""

    SUITE = "clock.floor,psci.suspend.core.serial"

    def setUp(self) -> None:
        super().setUp()
        self.symbols = symbols()

    def image_with(self, at: int, word: int) -> Path:
        """The image with one instruction replaced."""
        image = bytearray(plain_image_of("qemu-virt").read_bytes())
        image[at - IMAGE_ADDRESS:at - IMAGE_ADDRESS + 4] = struct.pack("<I", word)
        path = self.folder / "image"
        path.write_bytes(image)
        return path

    def restore_of(self, register: str) -> tuple[int, int]:
        """Where suspend.c restores a system register, and the instruction that does it."""
        found = [(at, word) for at, word, what in
                 code_of(self.symbols["suspend.c", "restore"], 40)
                 if re.match(rf"msr\s{register},", what)]
        self.assertEqual(len(found), 1, register)
        return found[0]

    def why(self, at: int, word: int, *words: str, **options: int) -> str:
        """What is said of the suspend with an image changed so; all else is delivered."""
        boot = self.at_el3(*words, suite=self.SUITE, samples=3, cpus=2, accel="single",
                           kernel=self.image_with(at, word), **options)
        self.assertEqual(boot.outcome.status, "failed", boot.outcome.problem)
        self.assertEqual(len(boot.rows("clock.floor.pair")), 2)
        return self.reason(boot, "psci.suspend.core.serial")

    def test_the_whole_image(self) -> None:
        self.assert_passed(self.at_el3(suite=self.SUITE, samples=3, cpus=2,
                                       kernel=plain_image_of("qemu-virt")), 2)

    def test_registers_not_restored(self) -> None:
        for register in SET_ONCE:
            with self.subTest(register=register):
                at, _ = self.restore_of(register)
                self.assertRegex(self.why(at, NOP), f"core [01] came back.*: {register}$")

    def test_registers_restored_wrong(self) -> None:
        for register in SET_TWICE:
            with self.subTest(register=register):
                at, word = self.restore_of(register)
                self.assertRegex(self.why(at, word & REGISTER_0),
                                 f"core 1 came back, but not as it was: {register}$")

    def test_what_a_core_cannot_go_on_without(self) -> None:
        for register in SET_TWICE_AND_VITAL:
            with self.subTest(register=register):
                at, word = self.restore_of(register)
                self.assertIn("core 1 did not come back", self.why(at, word & REGISTER_0))

    def test_floating_point(self) -> None:
        """Restoring FPCR traps; formatting the report must not."""
        at, word = self.restore_of("cpacr_el1")
        self.assertIn("stopped on core 1", self.why(at, word & REGISTER_0))
        self.assertIn("trapped floating point", self.reason(self.boots[-1], "exception"))

    def test_what_the_entry_restores(self) -> None:
        """The core's own data, its stack pointer, the registers that a call keeps."""
        entry = code_of(self.symbols["", "resume_entry"], 42)
        for text in (r"msr\stpidr_el1,", r"mov\ssp,", r"ldp\sx19,", r"ldp\sx29,"):
            with self.subTest(text=text):
                at = next(at for at, _, what in entry[18:] if re.match(text, what))
                self.assertRegex(self.why(at, NOP),
                                 "did not come back|the run was stopped on core 1")

    def interrupts(self) -> int:
        """Where the interrupt controller's share is restored: a call through a pointer."""
        found = [at for at, _, what in code_of(self.symbols["", "suspend_core"], 80)
                 if what.startswith("blr")]
        self.assertEqual(len(found), 1)
        return found[0]

    def test_interrupts(self) -> None:
        """All of it, what is banked for a core alone, and its interface alone."""
        at = self.interrupts()
        for gic in (2, 3):
            for words in ((), ("keep-interface",), ("keep-banked",)):
                with self.subTest(gic=gic, words=words):
                    self.assertEqual(self.why(at, MOV_W0_1, *words, gic=gic),
                                     "core 1 came back, but not as it was: "
                                     "its timer does not interrupt it")

    def test_interrupts_of_the_booting_core_alone(self) -> None:
        """It polls from then on, and guards the sleep of the other one."""
        for gic in (2, 3):
            boot = self.at_el3("keep-banked=1", "keep-interface=1", cpus=2, gic=gic, samples=5,
                               kernel=self.image_with(self.interrupts(), MOV_W0_1))
            failed = {failure["reason"]: failure["name"] for failure in boot.results["failures"]}
            self.assertEqual(failed.pop("core 0 gets no interrupts any more"),
                             "psci.cpu-off.deepest")
            self.assertEqual(list(failed), ["core 0 came back, but not as it was: "
                                            "its timer does not interrupt it"])
            for name in SUSPENDS + SWEEPS:
                if name not in failed.values():
                    self.assertIn(1, [row["cpu"] for row in boot.rows(f"{name}.wake-latency")])

    def test_the_last_core(self) -> None:
        """Each benchmark costs a core; the last one says that there is none left."""
        boot = self.at_el3(cpus=3, accel="single", suite="psci",
                           kernel=self.image_with(self.interrupts(), MOV_W0_1))
        self.assertIn("no core is left that could wake another one",
                      {failure["reason"] for failure in boot.results["failures"]})


if __name__ == "__main__":
    unittest.main()
