"""Tables of firmware's view, from synthetic logs."""

import csv
import io
import unittest
from typing import Optional, Sequence

from tests.host.synthetic_log import Boot, Row
from tests.host.test_decode import example_boot
from el1bench_host import report, report_firmware
from el1bench_host.decoder import decode_log
from el1bench_host.errors import UserError
from el1bench_host.results import make_results

MT = 0x81000000
FIGURES = {"powerdown": 3000, "wakeup": 600, "cache-flush": 2000}


def suspend_rows(test: str, cpus: Sequence[int], offset: int = 0) -> list[Row]:
    """Rows whose medians are the figure plus the core's index."""
    return [Row(f"{test}.{metric}", [value + cpu + offset + at - 49 for at in range(99)],
                cpu=cpu)
            for cpu in cpus for metric, value in FIGURES.items()
            if metric != "cache-flush" or "standby" not in test]


def results_of(rows: Sequence[Row], mpidrs: Sequence[int] = (0x80000000, 0x80000001),
               emulated: Optional[str] = "qemu-7.2", hz: int = 62500000, boots: int = 1) -> dict:
    """The results of boots with these rows, on cores with these MPIDRs."""
    text = b""
    for boot in range(boots):
        text += (Boot(boot).head(cpus=len(mpidrs), emulated=emulated, hz=hz)
                 .plan(["psci"], len(rows)).results(rows).end().text())
    made = make_results(decode_log(text))
    for cpu, mpidr in zip(made["machine"]["cpus"], mpidrs):
        cpu["mpidr"] = f"0x{mpidr:x}"
    return made


def lines_of(text: str, title: str) -> list[list[str]]:
    """The cells of a Markdown table, without its titles."""
    table = text.partition(f"### {title}")[2].split("\n\n")[1].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


class Tables(unittest.TestCase):
    """In the report, and alone."""

    def test_a_table_for_each_test(self) -> None:
        rows = [row for name, _, _ in report_firmware.TESTS if "version" not in name
                for row in suspend_rows(name, (0, 1))]
        rows += [Row(f"psci.version.{how}.el3", [190] * 50, cpu=cpu)
                 for how in ("parallel", "serial") for cpu in (0, 1)]
        text = report.render(results_of(rows), "md", "firmware")
        for name, title, _ in report_firmware.TESTS:
            lines = lines_of(text, f"{title} (ticks, EMULATED)")
            if "version" in name:
                self.assertEqual(lines, [["0", str(core), "50", "190", "190..190"]
                                         for core in (0, 1)])
                continue
            self.assertEqual([line[:4] for line in lines],
                             [["0", "0", "99", "3000"], ["0", "1", "99", "3001"]])
            low, high = map(int, lines[1][4].split(".."))
            self.assertTrue(2980 < low < 3001 < high < 3022, (low, high))
            self.assertEqual(lines[1][5], "601")
            self.assertEqual(len(lines[0]), 7 if "standby" in name else 9)
            self.assertEqual(lines[0][7:8], [] if "standby" in name else ["2000"])

    def test_in_the_whole_report(self) -> None:
        results = results_of(suspend_rows("psci.cpu-off", (1,)))
        for output_format in ("term", "md"):
            alone = report.render(results, output_format, "firmware")
            whole = report.render(results, output_format)
            self.assertIn(alone.strip(), whole)
            self.assertIn("CPU_OFF, serial; the booting core stays on (ticks, EMULATED)", whole)
        self.assertNotIn("(ticks", report.render(make_results(decode_log(example_boot().text())),
                                                 "md"))

    def test_labels(self) -> None:
        rows = suspend_rows("psci.cpu-off", (1,))
        for emulated, hz, label in ((None, 24000000, "(ticks)"), (None, 10**9, "(ticks)"),
                                    ("qemu-7.2-icount", 10**9, "(instructions, EMULATED)"),
                                    ("qemu-7.2-icount", 62500000, "(ticks, EMULATED)")):
            text = report.render(results_of(rows, emulated=emulated, hz=hz), "md", "firmware")
            self.assertIn(f"stays on {label}\n", text)

    def test_clusters_by_mpidr(self) -> None:
        self.assertEqual(report_firmware.decode_mpidr(0x80000103), (1, 3, None))
        self.assertEqual(report_firmware.decode_mpidr(0x80020103), (0x201, 3, None))
        self.assertEqual(report_firmware.decode_mpidr(MT | 0x20301), (2, 3, 1))
        self.assertEqual(report_firmware.decode_mpidr(MT | 0x1_0000_0100), (0x100, 1, 0))
        rows = suspend_rows("psci.suspend.core.serial", range(4))
        # As the cores of an Odroid-C4, and two clusters of two with cores in another order.
        for mpidrs, places in (([MT, MT | 0x100, MT | 0x200, MT | 0x300],
                                [("0", str(core), 3000 + core) for core in range(4)]),
                               ([MT | 0x10000, MT | 0x10100, MT, MT | 0x100],
                                [("0", "0", 3002), ("0", "1", 3003), ("1", "0", 3000),
                                 ("1", "1", 3001)]),
                               ([MT, MT | 1, MT | 0x100, MT | 0x101],
                                [("0", f"{core}.{thread}", 3000 + 2 * core + thread)
                                 for core in (0, 1) for thread in (0, 1)])):
            text = report.render(results_of(rows, mpidrs), "md", "firmware")
            found = [(line[0], line[1], int(line[3]))
                     for line in lines_of(text, "CPU_SUSPEND, power-down of the core, serial")]
            self.assertEqual(found, places)

    def test_boots_and_different_counts(self) -> None:
        rows = suspend_rows("psci.cpu-off", (1,))
        rows[1].samples = [*rows[1].samples[:-9], *["backwards"] * 9]
        lines = lines_of(report.render(results_of(rows, boots=3), "md", "firmware"), "CPU_OFF")
        self.assertEqual(lines[0][:5], ["0", "1", "3x99/3x90/3x99", "3001", "~3001..3001"])

    def test_a_core_without_good_samples(self) -> None:
        rows = suspend_rows("psci.cpu-off", (0, 1))
        rows[0].samples = ["backwards"] * 9
        for output_format in report.FORMATS:
            self.assertTrue(report.render(results_of(rows), output_format, "firmware"))
        lines = lines_of(report.render(results_of(rows), "md", "firmware"), "CPU_OFF")
        self.assertEqual(lines[0][2:5], ["0/99/99", "-", "-"])

    def test_wide_numbers_fit_a_terminal(self) -> None:
        rows = suspend_rows("psci.suspend.deepest.parallel", (0, 1), 123_400_000)
        text = report.render(results_of(rows, boots=3), "term", "firmware")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_csv(self) -> None:
        rows = suspend_rows("psci.suspend.standby.serial", (0, 1)) + suspend_rows(
            "psci.cpu-off", (1,)) + [Row("psci.version.serial.el3", [9] * 50, cpu=1)]
        text = report.render(results_of(rows, (MT | 0x10000, MT | 0x10100), boots=2), "csv",
                             "firmware")
        found = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(row["test"], row["boot"], row["cluster"], row["core"])
                          for row in found[:4]],
                         [("psci.suspend.standby.serial", boot, "1", core)
                          for core in "01" for boot in "01"])
        self.assertEqual((found[4]["powerdown_p50"], found[4]["cache-flush_p50"],
                          found[4]["wakeup_n"], found[4]["el3_n"]), ("3001", "2001", "99", ""))
        self.assertLess(int(found[4]["powerdown_p50_low"]), 3001)
        self.assertEqual((found[0]["cache-flush_n"], found[-1]["el3_p50"], found[0]["emulated"]),
                         ("", "9", "true"))

    def test_results_without_stamps_are_refused(self) -> None:
        results = make_results(decode_log(example_boot().text()))
        for output_format in report.FORMATS:
            with self.assertRaisesRegex(UserError, "no firmware's time stamps"):
                report.render(results, output_format, "firmware")


if __name__ == "__main__":
    unittest.main()
