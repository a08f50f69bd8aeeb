"""The instruction-exact gate: what it finds wrong, what it shows, what it writes."""

import json
import unittest
from pathlib import Path
from unittest import mock

from el1bench_host.errors import UserError
from el1bench_host.testing import gate, timed_code
from el1bench_host.testing.pool import FAIL, PASS, SKIP

COMPILER, QEMU = "gcc 12", "7.2"
SEND = ["  dsb ishst", "  str w1, [x0]", "  ret"]
CODE = timed_code.TimedCode(
    {"a.c:sample": ["  bl v2.c:v2_send", "  adr x0, handler", "  ret"], "v2.c:v2_send": SEND,
     "v3.c:v3_send": SEND, "handler": ["  ret"], "other": ["  ret"]}, {"ipi.a": ["a.c:sample"]})
LISTING = timed_code.parse_text(CODE.text(["ipi.a"]))
WHERE = gate.Machine(2, 2)

READELF = """
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FILE    LOCAL  DEFAULT  ABS a.c
     2: ffff800000001000    32 FUNC    LOCAL  DEFAULT    1 sample
     3: ffff800000002000    16 OBJECT  LOCAL  DEFAULT    2 table
     4: ffff800000001040    16 FUNC    GLOBAL DEFAULT    1 sample
"""


def expectations(**metrics: gate.Numbers) -> dict:
    """A file's content; `ipi_a_total` stands for ipi.a.total."""
    return {"format": gate.FORMAT, "compiler": COMPILER, "qemu": QEMU,
            "metrics": {key.replace("_", "."): value for key, value in metrics.items()}}


class Verdict(unittest.TestCase):
    """Numbers against the file."""

    def verdict(self, expected: dict, found: dict, *, compiler: str = COMPILER, qemu: str = QEMU,
                code: timed_code.TimedCode = CODE, in_ci: bool = False) -> tuple[str, str]:
        """The gate's word on measured numbers."""
        measured = gate.Measured(compiler, qemu, expectations(**found)["metrics"])
        return gate.verdict(WHERE, expectations(**expected), measured, code, LISTING, in_ci)

    def test_the_same(self) -> None:
        self.assertEqual(self.verdict({"ipi_a_total": [3, 3, 3]}, {"ipi_a_total": [3, 3, 3]}),
                         (PASS, ""))

    def test_one_instruction_more_is_shown_with_the_code_that_did_it(self) -> None:
        longer = timed_code.TimedCode({**CODE.functions, "v2.c:v2_send": ["  nop", *SEND],
                                       "other": ["  nop"]}, CODE.roots)
        status, words = self.verdict({"ipi_a_total": [3, 3, 3], "ipi_b_total": [1, 1, 1]},
                                     {"ipi_a_total": [4, 4, 4], "ipi_b_total": [1, 1, 1]},
                                     code=longer)
        self.assertEqual(status, FAIL)
        self.assertIn("ipi.a.total: 4 instead of 3, +1 instructions\n", words)
        self.assertIn("+++ v2.c:v2_send\n", words)
        self.assertIn("\n+  nop\n", words)
        self.assertIn(gate.REFRESH, words)
        self.assertNotIn("other", words)
        self.assertNotIn("ipi.b", words)

    def test_one_instruction_less_fails_as_well(self) -> None:
        status, words = self.verdict({"ipi_a_total": [3, 3, 5]}, {"ipi_a_total": [3, 3, 4]})
        self.assertEqual(status, FAIL)
        self.assertIn("ipi.a.total: max 4 instead of 5, -1 instructions\n", words)
        self.assertIn("no instruction on these paths changed", words)

    def test_rows_that_came_and_went(self) -> None:
        status, words = self.verdict({"ipi_a_total": None}, {"ipi_b_total": [1, 1, 1]})
        self.assertEqual(status, FAIL)
        self.assertIn("ipi.a.total: in the file, but not measured\n", words)
        self.assertIn("ipi.b.total: not in the file\n", words)

    def test_a_row_that_depends_on_the_draw_must_only_be_there(self) -> None:
        self.assertEqual(self.verdict({"ipi_a_total": None}, {"ipi_a_total": [1, 7, 9]})[0], PASS)

    def test_another_compiler_or_emulator_says_so_and_fails_only_in_ci(self) -> None:
        for other in ({"compiler": "gcc 13"}, {"qemu": "10.0"}):
            for in_ci, wanted in ((False, SKIP), (True, FAIL)):
                status, words = self.verdict({"ipi_a_total": [3, 3, 3]},
                                             {"ipi_a_total": [5, 5, 5]}, in_ci=in_ci, **other)
                self.assertEqual(status, wanted)
                self.assertRegex(words, "not comparable: .* the expectations are for ")
                self.assertIn("ipi.a.total: 5 instead of 3, +2 instructions\n", words)


class Files(unittest.TestCase):
    """What is written and read."""

    def test_one_sorted_row_a_line(self) -> None:
        text = gate.to_text(gate.Measured(COMPILER, QEMU, {"b": [1, 2, 3], "a": None}))
        self.assertEqual(json.loads(text)["metrics"], {"a": None, "b": [1, 2, 3]})
        lines = text.splitlines()
        self.assertLess(lines.index('  "a": null,'), lines.index('  "b": [1, 2, 3]'))

    def test_a_file_that_is_none(self) -> None:
        with mock.patch.object(Path, "read_text", return_value="[]"):
            self.assertRaises(UserError, gate._load, Path("x"))
        with mock.patch.object(Path, "read_text", return_value="{"):
            self.assertRaises(UserError, gate._load, Path("x"))

    def test_the_files_in_the_tree(self) -> None:
        listing = timed_code.parse_text((gate.FOLDER / gate.CODE_NAME).read_text("utf-8"))
        self.assertIn(timed_code.IRQ_VECTOR, listing)
        for where in gate.MACHINES:
            metrics = gate._load(where.path)["metrics"]
            self.assertEqual(metrics["clock.floor.pair 0"], [2, 2, 2])
            self.assertIsNotNone(metrics["ipi.normal.total 0>1"])

    def test_names(self) -> None:
        row = {"name": "ipi.a.total", "cpu": 0, "peer": 1, "unit": "tick",
               "factors": {"b": 2, "a": 1}}
        self.assertEqual(gate.row_name(row), "ipi.a.total 0>1 a=1 b=2")
        self.assertEqual(gate.row_name({**row, "peer": None, "unit": "cycle", "factors": {}}),
                         "ipi.a.total 0 [cycle]")
        self.assertEqual(gate.benchmark_of("ipi.a.total.batched 0>1"), "ipi.a.total")
        self.assertEqual(gate.short_version("7.2.22"), "7.2")


class Listing(unittest.TestCase):
    """Instructions without addresses."""

    def test_symbols_of_two_files_with_one_name(self) -> None:
        self.assertEqual([symbol.name for symbol in timed_code.read_symbols(READELF)],
                         ["a.c:sample", "sample", "a.c:table"])

    def test_addresses_become_labels_and_names(self) -> None:
        names = timed_code._Names(timed_code.read_symbols(READELF))
        start = 0xffff800000001000
        lines = timed_code.normalised(range(start, start + 32), [
            (start, "adr\tx0, ffff800000002008 <table+0x8>"),
            (start + 4, "b.ne\tffff800000001000 <sample>  // b.any"),
            (start + 8, "bl\tffff800000001040 <sample>"),
            (start + 12, "cbz\tx0, ffff800000001004 <sample+0x4>"),
        ], names)
        self.assertEqual(lines, ["L1:", "  adr x0, a.c:table+0x8", "L2:", "  b.ne L1",
                                 "  bl sample", "  cbz x0, L2"])

    def test_a_path_follows_calls_and_references(self) -> None:
        self.assertEqual(CODE.path("ipi.a", 2), ["a.c:sample", "handler", "v2.c:v2_send"])
        self.assertEqual(CODE.path("ipi.a", 3),
                         ["a.c:sample", "handler", "v2.c:v2_send", "v3.c:v3_send"])
        self.assertEqual(CODE.path("ipi.unknown", 3), ["v3.c:v3_send"])

    def test_a_listing_survives_being_written(self) -> None:
        self.assertEqual(LISTING, {name: lines for name, lines in CODE.functions.items()
                                   if name != "other"})


if __name__ == "__main__":
    unittest.main()
