"""The build's own scripts: the checks of the image, the build id, the table of symbols."""

import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import lz4.block

from el1bench_host import paths

sys.path.append(str(paths.SOURCE_TREE / "scripts" / "cmake"))
import build_info  # pylint: disable=wrong-import-position,import-error
import check_image  # pylint: disable=wrong-import-position,import-error
import pack  # pylint: disable=wrong-import-position,import-error
import symbols  # pylint: disable=wrong-import-position,import-error

DISASSEMBLY = """
ffff800000001000 <timed_one>:
ffff800000001000:\tstp\tx29, x30, [sp, #-16]!
ffff800000001004:\tbl\tffff800000001010 <timed_two>
ffff800000001008:\tcbz\tx0, ffff80000000100c <timed_one+0xc>
ffff80000000100c:\tret

ffff800000001010 <timed_two>:
ffff800000001010:\tb.ne\tffff800000001000 <timed_one>  // b.any
ffff800000001014:\tret

ffff800000002000 <console_write>:
ffff800000002000:\tmov\tx9, x1
ffff800000002004:\tret
"""
TIMED = range(0xffff800000001000, 0xffff800000001018)


class Pack(unittest.TestCase):
    """The packed image, field by field."""

    def test_what_the_unpacker_reads(self) -> None:
        unpacker = bytes(range(200)) * 2
        image = b"el1bench " * 700 + bytes(range(251))
        packed = pack.pack(unpacker, image, 128, 0x21000, 0x888)
        padded, data, plain, distance, entry, checksum, code = struct.unpack_from("<7Q", packed, 64)
        self.assertEqual((plain, entry, code), (len(image), 0x888, 128))
        self.assertEqual(distance, 4096)
        self.assertEqual(struct.unpack_from("<Q", packed, 16), (distance + 0x21000,))
        self.assertEqual(len(packed), len(unpacker) + padded)
        self.assertEqual(padded % 4, 0)
        body = packed[len(unpacker):]
        self.assertEqual(checksum, pack.checksum(body))
        self.assertEqual(lz4.block.decompress(body[:data], uncompressed_size=plain), image)
        self.assertEqual(packed[:16] + packed[24:64], unpacker[:16] + unpacker[24:64])

    def test_code_that_names_the_same_place_looks_the_same(self) -> None:
        call, address, other = 0x94000000, 0x10000005, 0xf9400021
        code = struct.pack("<7I", call | 2, address | 5 << 5, other, call | 0x3ffffff,
                           address | 0x7ffff << 5 | 3 << 29, other, call | 0x3fffffc)
        self.assertEqual(struct.unpack("<7I", pack.make_absolute(code)),
                         (call | 2, address | 6 << 5, other, call | 2,
                          address | 3 << 5 | 3 << 29, other, call | 2))

    def test_the_sum_depends_on_order(self) -> None:
        self.assertNotEqual(pack.checksum(b"\1\0\0\0\2\0\0\0"),
                            pack.checksum(b"\2\0\0\0\1\0\0\0"))
        self.assertEqual(pack.checksum(b"\1\0\0\0\2\0\0\0"), 0x80000002)


class CheckImage(unittest.TestCase):
    """What must not be in the image's code."""

    def problems(self, replaced: str, by: str) -> list[str]:
        self.assertIn(replaced, DISASSEMBLY)
        return check_image.code_problems(TIMED, range(0), DISASSEMBLY.replace(replaced, by))

    def test_good(self) -> None:
        self.assertEqual(self.problems("ret", "ret"), [])

    def test_timed_code_uses_registers_that_are_not_saved(self) -> None:
        found = self.problems("stp\tx29, x30, [sp, #-16]!", "mov\tw12, w0")
        self.assertEqual(len(found), 1)
        self.assertIn("timed_one uses a register", found[0])

    def test_light_handlers_keep_to_three_registers_and_leave_for_nothing(self) -> None:
        light = range(TIMED.start, TIMED.stop)
        for instruction in ("ldr\tx0, [x0, #56]", "add\tx1, x1, #0x1", "stlr\tx1, [x0]", "ret",
                            "adr\tx2, ffff8000000f0000 <slots>",
                            f"cbz\tx0, {TIMED.start:x} <light>"):
            self.assertEqual(check_image.light_problem(instruction, light), "", instruction)
        for instruction in ("ldr\tx3, [x0]", "mov\tw16, w0", "stp\tx0, x1, [sp, #-16]!",
                            "add\tx0, x1, x20"):
            self.assertIn("register", check_image.light_problem(instruction, light), instruction)
        for instruction in ("bl\tffff8000000f0000 <poll>", "blr\tx1", "br\tx0",
                            "b.ne\tffff8000000f0000 <poll>", "tbz\tw0, #1, ffff8000000f0000 <poll>"):
            self.assertIn("leaves", check_image.light_problem(instruction, light), instruction)

    def test_zeroing_a_cache_line(self) -> None:
        self.assertEqual(self.problems("mov\tx9, x1", "dc\tzva, x3"),
                         ["DC ZVA in console_write"])


class BuildId(unittest.TestCase):
    """The build id depends on what is built, and on nothing else."""

    def run_script(self, folder: Path, content: str, flags: str = "-O2") -> str:
        folder.mkdir()
        (folder / "a.c").write_text(content, encoding="ascii")
        output = folder / "generated" / "build_info.h"
        subprocess.run([sys.executable, build_info.__file__, "--output", output, "--root", folder,
                        "--set", f"FLAGS={flags}", folder / "a.c"], check=True)
        return output.read_text(encoding="ascii")

    def test_same_and_different(self) -> None:
        with tempfile.TemporaryDirectory(prefix="el1bench-build-id-") as name:
            folder = Path(name)
            first = self.run_script(folder / "one", "int a;\n")
            self.assertRegex(first, r'#define EL1BENCH_BUILD_ID "[0-9a-f]{16}"\n')
            self.assertEqual(self.run_script(folder / "two", "int a;\n"), first)
            self.assertNotEqual(self.run_script(folder / "three", "int b;\n"), first)
            self.assertNotEqual(self.run_script(folder / "four", "int a;\n", "-O3"), first)

    def test_values_are_quoted(self) -> None:
        self.assertIn(r'#define EL1BENCH_X "a \"b\" \\c"', build_info.header({"X": r'a "b" \c'}))


class Symbols(unittest.TestCase):
    """The functions of an object, as the exception report will name them."""

    def test_functions_only(self) -> None:
        with tempfile.TemporaryDirectory(prefix="el1bench-symbols-") as name:
            fake = Path(name) / "nm"
            fake.write_text("#!/bin/sh\ncat <<'END'\n"
                            "0000000000001000 T image_start\n"
                            "0000000000001000 t $x\n"
                            "0000000000001040 t local_name\n"
                            "0000000000001040 T global_name\n"
                            "0000000000001080 t only_local\n"
                            "0000000000002000 r table\n"
                            "0000000000000042 A constant\n"
                            "END\n", encoding="ascii")
            fake.chmod(0o755)
            found = symbols.read_symbols(str(fake), Path("unused"))
        self.assertEqual(found, [(0, "image_start"), (0x40, "global_name"), (0x80, "only_local")])


if __name__ == "__main__":
    unittest.main()
