"""Counts of suspends and the order of arrival, from lines to the report."""

import unittest
from typing import Sequence

from tests.host.synthetic_log import Boot, Row
from tests.host.test_report_firmware import lines_of
from el1bench_host import report, report_suspend
from el1bench_host.decoder import decode_log
from el1bench_host.results import make_results

TEST = "psci.suspend.deepest.parallel"
COUNTS = ("calls=20 power_state=65538 resumed_at_entry=18 returned_inline=2 early=1 "
          "stamps_out_of_order=0 slept_us=19000")
STAT = " entered=18 resident_us=18500"


def results_of(rows: Sequence[Row], *counts: str, boots: int = 1) -> dict:
    """The results of boots with these rows and the bodies of these `counts` lines."""
    text = b""
    for index in range(boots):
        boot = Boot(index).head(cpus=2, emulated="qemu-7.2-icount", hz=10**9)
        boot.plan([TEST], len(rows))
        for body in counts:
            boot.line("counts", body)
        text += boot.results(rows).end().text()
    return make_results(decode_log(text))


def placed(place: Sequence, values: Sequence, cpu: int = 0, metric: str = "powerdown") -> list[Row]:
    """A row of a metric and the row of its places."""
    return [Row(f"{TEST}.{metric}", values, cpu=cpu),
            Row(f"{TEST}.arrival", place, cpu=cpu, unit="place")]


class Arrival(unittest.TestCase):
    """The samples of whichever core called first, or last."""

    def test_samples_are_told_apart(self) -> None:
        rows = (placed([0, 1, 0, 1] * 10, [100, 900, 110, 910] * 10)
                + placed([1, 0, 1, 0] * 10, [920, 120, 930, "backwards"] * 10, cpu=1))
        results = results_of(rows)
        self.assertEqual(results["problems"], [])
        self.assertEqual([row["name"] for row in results["metrics"]], [f"{TEST}.powerdown"] * 2)
        [split] = results["arrival"]
        self.assertEqual((split["name"], split["boot"], split["cluster"]),
                         (f"{TEST}.powerdown", 0, 0))
        self.assertEqual((split["first"]["n"], split["first"]["p50"]), (30, 110))
        self.assertEqual((split["last"]["n"], split["last"]["p50"]), (40, 920))
        text = report.render(results, "md")
        lines = lines_of(text, "CPU_SUSPEND to the deepest level, in parallel")
        self.assertEqual([line[:4] for line in lines[2:]],
                         [["0", "first", "30", "110"], ["0", "last", "40", "920"]])
        lines = lines_of(text, "by order of arrival in the cluster, in ticks")
        self.assertEqual(lines[0][:4] + lines[0][5:7],
                         ["suspend.deepest.parallel.powerdown", "0", "30", "110", "40", "920"])

    def test_what_has_no_place(self) -> None:
        """A row that also holds what came back inline; a core alone; a metric without places."""
        rows = (placed([0] * 40, [100] * 40) + [Row(f"{TEST}.call-to-resume", [5] * 41)]
                + [Row(f"{TEST}.wakeup", [7] * 40, cpu=1)])
        self.assertEqual(results_of(rows)["arrival"], [])

    def test_a_core_that_is_never_first(self) -> None:
        rows = placed([1] * 40, [100] * 40)
        [split] = results_of(rows)["arrival"]
        self.assertEqual(split["first"], {"n": 0, "p50": None, "p50_low": None, "p50_high": None})
        for output_format in report.FORMATS:
            self.assertTrue(report.render(results_of(rows, boots=2), output_format))


class Counts(unittest.TestCase):
    """Lines of type `counts`."""

    def cells(self, results: dict) -> list[list[str]]:
        """The lines of the report's table."""
        return lines_of(report.render(results, "md"),
                        "suspends: how they came back, and firmware's count of them")

    def test_in_results_and_report(self) -> None:
        rows = [Row(f"{TEST}.call-to-resume", [9] * 40)]
        results = results_of(rows, f"{TEST} cpu=1 {COUNTS}{STAT} entered_core=3",
                             f"{TEST} cpu=0 {COUNTS}", boots=2)
        self.assertEqual([(one["boot"], one["cpu"]) for one in results["counts"]],
                         [(0, 0), (0, 1), (1, 0), (1, 1)])
        self.assertEqual(results["counts"][1]["counts"]["resumed_at_entry"], 18)
        name = TEST.partition(".")[2]
        self.assertEqual(self.cells(results), [
            [name, "0", "0x10002", "40", "36", "4", "2", "0", "38000",
             report_suspend.NOT_OFFERED, "-", "-"],
            [name, "1", "0x10002", "40", "36", "4", "2", "0", "38000", "36", "37000", "6"]])

    def test_keys_of_a_later_image(self) -> None:
        results = results_of([Row("psci.x.y", [9] * 40)], "psci.x cpu=0 calls=3 naps=4")
        self.assertEqual(results["problems"], [])
        self.assertEqual(self.cells(results)[0][-1], "4")

    def test_lines_that_are_none(self) -> None:
        for body in ("", "psci.x", "psci.x cpu=-1 calls=3", "psci.x cpu=0 calls=-3",
                     "psci.x cpu=0 calls=3 calls=4", "psci.x cpu=0 calls", "a/b cpu=0 calls=3"):
            with self.subTest(body):
                results = results_of([Row("psci.x.y", [9] * 40)], body)
                self.assertEqual([one["kind"] for one in results["problems"]], ["malformed"])

    def test_lines_fit_a_terminal(self) -> None:
        body = " ".join(f"{key}={10**8 if '_us' in key or '_state' in key else 99999}"
                        for key in report_suspend.TITLES)
        text = report.render(results_of([Row(f"{TEST}.y", [9] * 40)], f"{TEST} cpu=63 {body}",
                                        f"psci.suspend.core.serial cpu=1 {COUNTS}"), "term")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)


if __name__ == "__main__":
    unittest.main()
