"""The way of an interrupt and of an SGI that unit tests cannot reach, since it is assembly.

What cannot be provoked from outside is made to happen by overwriting instructions of the image.
"""

import re
import subprocess
import unittest

from tests.qemu.support import QemuTest, build_folder, setup_of, words_of
from tests.qemu.test_faults import patched_image, symbols

CMP_W0_31, CMP_W0_0 = 0x71007C1F, 0x7100001F
AND_W0_W3_1023, MOV_W0_1023 = 0x12002460, 0x52807FE0
CMP_X3_31, CMP_X3_0 = 0xF1007C7F, 0xF100007F
SUB_X0_X3_1020, MOV_X0_0 = 0xD10FF060, 0xD2800000

NOP = 0xD503201F
LDP_X3_X4_SP_32 = 0xA94213E3
LDP_X7_X8_SP_32 = 0xA94223E7


class Registers(QemuTest):
    """smoke.registers notices a register that is not put back."""

    def test_what_is_not_restored(self) -> None:
        for function, missing, register in (("interrupt_v2", LDP_X3_X4_SP_32, 3),
                                            ("interrupt_call", LDP_X7_X8_SP_32, 7)):
            image = patched_image(self.folder, symbols()["", function], {missing: NOP})
            boot = self.boot(setup_of("qemu-virt", kernel=image), words_of(suite="smoke.registers"))
            self.assert_failed(boot, rf"smoke\.registers: an interrupt left \d+ in register {register}$")


class Odd(QemuTest):
    """Interrupts that have no handler, and the lack of one."""

    def spurious(self, gic: int, **changes: int) -> int:
        """Spurious interrupts counted in a run of two benchmarks that each send core 0 one."""
        self.assertTrue(changes)
        image = patched_image(self.folder, symbols()["", f"interrupt_v{gic}"],
                              {globals()[old]: new for old, new in changes.items()})
        boot = self.boot(setup_of("qemu-virt", gic=gic, kernel=image),
                         words_of(suite="ipi.self,ipi.self.total", samples=1, warmup=0))
        self.assert_failed(boot, "core 0 did not acknowledge")
        self.assertEqual(len(boot.results["failures"]), 2)
        return boot.decoded.boots[0].checks["spurious_interrupts"]

    def test_no_handler_possible(self) -> None:
        # An INTID beyond the table: counted and ended, so that the next one comes as well.
        self.assertEqual(self.spurious(2, CMP_W0_31=CMP_W0_0), 2)
        self.assertEqual(self.spurious(3, CMP_X3_31=CMP_X3_0), 2)

    def test_nothing_pending(self) -> None:
        # A special INTID must not be ended: the one that is really active blocks the next one.
        self.assertEqual(self.spurious(2, AND_W0_W3_1023=MOV_W0_1023), 1)
        self.assertEqual(self.spurious(3, CMP_X3_31=CMP_X3_0, SUB_X0_X3_1020=MOV_X0_0), 1)


class Code(unittest.TestCase):
    """What only the instructions tell: QEMU does not reorder anything."""

    def functions(self) -> dict[str, list[str]]:
        """Every function's instructions."""
        text = subprocess.run(["aarch64-linux-gnu-objdump", "--disassemble", "--no-show-raw-insn",
                               str(build_folder("qemu-virt") / "image.elf")],
                              check=True, capture_output=True, text=True, timeout=60).stdout
        return {name: re.findall(r"^ *[0-9a-f]+:\t(.*?)(?:\s*//.*)?$", body, re.MULTILINE)
                for name, body in re.findall(r"^[0-9a-f]+ <(\S+)>:\n((?:.+\n)+)", text,
                                             re.MULTILINE)}

    def test_a_barrier_stands_before_every_sgi(self) -> None:
        writes = {"v2": r"str\tw\d+, \[x\d+, #3840\]", "v3": r"msr\ticc_sgi1r_el1, "}
        seen = {driver: 0 for driver in writes}
        for name, body in self.functions().items():
            driver = name[:2]
            if driver not in writes or not name[2:].startswith("_send") or "none" in name:
                continue
            at = [index for index, one in enumerate(body) if re.match(writes[driver], one)]
            self.assertTrue(at, f"{name} sends nothing")
            before = [index for index, one in enumerate(body[:at[0]])
                      if re.match(r"dsb\t(ishst|sy)$", one)]
            self.assertTrue(before, f"no store barrier before the SGI in {name}")
            between = [one for one in body[before[-1]:at[0]] if re.match(r"st|bl", one)]
            self.assertEqual(between, [], f"stores behind the barrier in {name}")
            seen[driver] += 1
        self.assertGreaterEqual(min(seen.values()), 2, seen)

    def test_acknowledge_and_dispatch_are_ordered(self) -> None:
        functions = self.functions()
        for name, acknowledge, barrier in (
                ("interrupt_v2", r"ldr\tw3, \[x4, #12\]", r"dmb\tishld"),
                ("interrupt_v3", r"mrs\tx3, icc_iar1_el1", r"dsb\tsy")):
            text = "\n".join(functions[name])
            self.assertRegex(text, rf"(?s){acknowledge}.*\n{barrier}\n.*\nblr\tx30\n", name)


if __name__ == "__main__":
    unittest.main()
