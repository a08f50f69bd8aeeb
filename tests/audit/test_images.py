"""The audit of real images: nothing in those of the boards, and every planted fault."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from el1bench_host import build, paths
from el1bench_host.auditing import image_audit
from el1bench_host.auditing.finding import Finding
from el1bench_host.testing import images

PLANTS = paths.SOURCE_TREE / "tests" / "plants"
CLI = paths.SOURCE_TREE / "scripts" / "el1bench"


class Boards(unittest.TestCase):
    """Images as they are built for everybody."""

    def test_no_findings(self) -> None:
        for board in paths.board_names():
            with self.subTest(board):
                report = image_audit.audit_image(paths.BUILD / board / "image.elf")
                self.assertEqual([list(one.lines()) for one in report.findings], [])
                # It has looked at something: the handlers, the benchmarks, the way to them.
                self.assertGreater(report.timed, 50)
                self.assertGreater(report.reached, report.timed)
                self.assertGreater(report.counter_reads, 20)
                self.assertIn("boot_primary", report.stack.steps[0])
                self.assertIn("exception_vectors+0x280", "\n".join(report.stack.steps))
                # The compiler's call graphs were there to compare with.
                self.assertGreater(report.compared, 300)
                # The engine moves the stack by up to a page; samples lie below that.
                self.assertGreater(report.stack.bytes, 4096)

    def test_command(self) -> None:
        elf = paths.BUILD / "qemu-virt" / "image.elf"
        done = subprocess.run([CLI, "audit", "--elf", elf], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertRegex(done.stderr, r"^el1bench: audit: 0 findings; \d+ timed functions ")


class InBuild(unittest.TestCase):
    """Every build is audited."""

    def test_no_image_with_findings(self) -> None:
        with tempfile.TemporaryDirectory(prefix="el1bench-audit-") as name:
            tree = images.copy_sources(paths.SOURCE_TREE, Path(name) / "sources")
            header = tree / "include" / "el1bench" / "counter.h"
            text = header.read_text("utf-8")
            self.assertIn('"isb\\n\\tmrs %0, cntpct_el0"', text)
            header.write_text(text.replace("isb\\n\\tmrs", "mrs"), "utf-8")
            built = Path(name) / "build"
            done = subprocess.run([tree / "scripts" / "el1bench", "build", "--quiet",
                                   "--build-dir", built], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("unordered counter read", done.stderr)
            self.assertTrue((built / "image.elf").exists())
            self.assertFalse((built / "image").exists())


class Plants(unittest.TestCase):
    """One image with every fault of tests/plants."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="el1bench-plants-")
        cls.addClassCleanup(folder.cleanup)
        cls.names = sorted(path.stem for path in PLANTS.glob("*.c"))
        built = build.build_board("qemu-virt", quiet=True, folder=Path(folder.name),
                                  plants=cls.names)
        cls.elf = built / "image.elf"
        cls.findings = image_audit.audit_image(cls.elf).findings

    def find(self, plant: str, text: str, code: str) -> Finding:
        """The finding with that text at the line of that code, or right below (a brace)."""
        lines = (PLANTS / f"{plant}.c").read_text("utf-8").splitlines()
        wanted = [number for number, line in enumerate(lines, 1) if code in line]
        file = f"tests/plants/{plant}.c"
        found = [one for one in self.findings
                 if one.file == file and {one.line, one.line - 1} & set(wanted)
                 and re.search(text, one.text)]
        self.assertEqual(len(found), 1, "\n".join(
            line for one in self.findings for line in one.lines()))
        return found[0]

    def test_each_plant_is_found(self) -> None:
        self.assertEqual({Path(one.file).stem for one in self.findings
                          if one.file.startswith("tests/plants/")}, set(self.names))

    def test_nothing_else_is_found(self) -> None:
        others = [one for one in self.findings if not one.file.startswith("tests/plants/")]
        # The planted frame is too much for the whole stack as well.
        self.assertEqual([one.text.split(" takes ")[0] for one in others],
                         ["the deepest way through timed code from boot_primary"])
        self.assertTrue(any("12288 sample (tests/plants/frame.c:" in step
                            for step in others[0].path), others[0].path)

    def test_print(self) -> None:
        found = self.find("print", "^the console can be reached from timed code: console_write$",
                          "console_write(text")
        self.assertRegex(found.path[0], r"^tests/plants/print.c:\d+: sample_print calls ")
        self.find("print", "^the console can .*: console_force_unlock$", "console_force_unlock()")
        # Inlined into timed code, it calls the UART's driver through a pointer.
        self.find("print", "^print_to_uart makes an indirect call", "platform.uart->put(")

    def test_print_behind_calls(self) -> None:
        found = self.find("helper", "^the console can be reached from timed code: console_write$",
                          "describe(run->index)")
        steps = [re.sub(r":\d+:", ":", step) for step in found.path]
        self.assertEqual(steps, ["tests/plants/helper.c: sample calls describe",
                                 "tests/plants/helper.c: describe calls print",
                                 "tests/plants/helper.c: print calls console_write",
                                 "src/runtime/console.c: console_write"])
        self.find("helper", "describe, which is not TIMED and not listed", "describe(run->index)")

    def test_malloc(self) -> None:
        found = self.find("malloc", "^malloc can be reached from timed code: malloc$", "malloc(run")
        self.assertEqual(found.path[-1], "a library: malloc")
        self.find("malloc", "^malloc can be reached from timed code: free$", "free(memory)")

    def test_unordered_counter_read(self) -> None:
        found = self.find("counter", "^unordered counter read: mrs x[0-9]+, cntpct_el0 ", "mrs %0")
        self.assertRegex(found.path[0], r"^tests/plants/counter.c:\d+: in sample, at sample\+0x")

    def test_undeclared_indirect_call(self) -> None:
        self.find("indirect", r"^sample makes an indirect call \(blr? x\d+\) that is not declared",
                  "pointer()")

    def test_frame(self) -> None:
        self.find("frame", "^sample uses 12288 bytes of stack, its budget is 256 ",
                  "sizeof(bytes)] = 1")

    def test_lock(self) -> None:
        self.find("lock", "^a lock can be reached from timed code: ldaxrb in sample, ",
                  "__atomic_test_and_set")

    def test_command(self) -> None:
        done = subprocess.run([CLI, "audit", "--elf", self.elf], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^tests/plants/helper\.c:\d+: the console can be ")
        self.assertRegex(done.stdout, r"(?m)^    tests/plants/helper\.c:\d+: print calls ")


if __name__ == "__main__":
    unittest.main()
