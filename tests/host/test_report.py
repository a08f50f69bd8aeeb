"""The report, in each of its formats."""

import argparse
import contextlib
import copy
import csv
import io
import json
import random
import unittest
from pathlib import Path

from tests.folder import temporary_folder
from tests.host.synthetic_log import Boot, Row
from tests.host.test_decode import example_boot
from el1bench_host import report, report_grid
from el1bench_host.decoder import decode_log
from el1bench_host.errors import UserError
from el1bench_host.results import make_results
from el1bench_host.results_file import load_results, to_text, write_results


def results_of(*boots: Boot) -> dict:
    """The results of some boots."""
    return make_results(decode_log(b"".join(boot.text() for boot in boots)))


def matrix_boot(cpus: int = 6) -> Boot:
    """Every ordered pair of cores."""
    rows = [Row("ipi.matrix.total", [1000 + 10 * cpu + peer + at % 9 for at in range(400)],
                cpu=cpu, peer=peer) for cpu in range(cpus) for peer in range(cpus) if cpu != peer]
    return Boot().head(cpus=cpus).plan(["ipi.matrix"], len(rows)).results(rows).end()


class Terminal(unittest.TestCase):
    """Plain text."""

    def test_figures(self) -> None:
        text = report.render(results_of(example_boot()), "term")
        self.assertRegex(
            text, r"normal\.total +0>1 +118 +11 +12 +12\.\.12 +13 +- +4000 +12\.17m +195")
        self.assertRegex(text, r"normal\.net +0>1 +118 +12\.17 +3\.48 +8\.69m .* 3\.49\n")
        self.assertIn("EMULATED by qemu-7.2", text)
        self.assertIn("62.5 MHz; it advances by 1 tick, 16 ns", text)
        self.assertIn("ipi.self skipped: no target", text)
        self.assertIn("result  PASSED", text)
        self.assertIn("uart_bytes_in_timed 0", text)

    def test_clean(self) -> None:
        for boots in ([example_boot()], [example_boot(boot) for boot in range(3)],
                      [matrix_boot()]):
            text = report.render(results_of(*boots), "term")
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
            self.assertTrue(all(char == "\n" or " " <= char <= "~" for char in text))
            self.assertFalse(any(line.endswith(" ") for line in text.splitlines()))

    def test_wide_names_and_numbers_fit(self) -> None:
        rows = [Row("psci.suspend.deepest.parallel.call-to-resume",
                    [10**15 + at * 10**11 for at in range(3000)], cpu=11, peer=63,
                    factors="state:0x01010000,depth:deep")]
        boot = Boot().head().plan(["psci.suspend"], 1).results(rows).end()
        text = report.render(results_of(boot), "term")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_hardware_is_not_called_emulated(self) -> None:
        text = report.render(results_of(Boot().head(emulated=None).end()), "term")
        self.assertNotIn("EMULATED", text)

    def test_fold(self) -> None:
        text = report.render(results_of(matrix_boot()), "term")
        self.assertEqual(text.count("matrix.total  "), 1)
        self.assertRegex(text, r"matrix\.total +30 pairs +30x400 +1001 ")
        self.assertIn("lowest 1005 at 0>1, highest 1058 at 5>4", text)

    def test_grid(self) -> None:
        text = report.render(results_of(matrix_boot()), "term")
        grid = text.partition("matrix.total: ticks from core to core\n")[2].splitlines()
        self.assertEqual(grid[0].split(), ["from>to", "0", "1", "2", "3", "4", "5"])
        self.assertEqual(grid[1].split(), ["0>", ".", "1005", "1006", "1007", "1008", "1009"])
        self.assertEqual(grid[6].split(), ["5>", "1054", "1055", "1056", "1057", "1058", "."])
        # The largest that fits a page, in its widest numbers; one more core is folded alone.
        for cpus, there in ((16, True), (17, False)):
            rows = [Row("ipi.matrix.total", [999_000 + at % 9 for at in range(20)], cpu=cpu,
                        peer=peer) for cpu in range(cpus) for peer in range(cpus) if cpu != peer]
            boot = Boot().head(cpus=cpus).plan(["ipi.matrix"], len(rows)).results(rows).end()
            text = report.render(results_of(boot), "term")
            self.assertEqual("from core to core" in text, there)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
            if there:
                self.assertRegex(text, r"(?m)^0> +\.( +999k){15}$")

    def test_cells(self) -> None:
        self.assertEqual([report_grid.cell(value) for value in
                          (None, 0, 12, 12.5, 99.94, 99.96, 9999, 9999.6, 999_499, 999_501,
                           9_949_999, 9_960_000, 1e9, 2.5e10)],
                         [".", "0", "12", "12.5", "99.9", "100", "9999", "10k", "999k", "1.0M",
                          "9.9M", "10M", "1.0G", "25G"])

    def test_a_grid_for_each_combination_of_factors(self) -> None:
        rows = [Row("ipi.matrix.total", [100 * (1 + state) + cpu] * 20, cpu=cpu, peer=peer,
                    factors=f"receiver:{name}")
                for state, name in enumerate(("spin", "wfi"))
                for cpu in range(3) for peer in range(3) if cpu != peer]
        boot = Boot().head(cpus=3).plan(["ipi.matrix"], len(rows)).results(rows).end()
        text = report.render(results_of(boot), "term")
        for name, first in (("spin", "100"), ("wfi", "200")):
            grid = text.partition(f"receiver={name}: ticks from core to core\n")[2].splitlines()
            self.assertEqual(grid[1].split(), ["0>", ".", first, first])

    def test_boots(self) -> None:
        text = report.render(results_of(*(example_boot(boot) for boot in range(3))), "term")
        self.assertIn("3 boots", text)
        self.assertRegex(text, r"dry-run\.total +0 +3x120 .* ~3\.\.4 ")

    def test_incomplete_and_failed(self) -> None:
        text = example_boot().text()
        made = make_results(decode_log(text[:len(text) * 2 // 3]))
        shown = report.render(made, "term")
        self.assertIn("INCOMPLETE", shown)
        self.assertIn("without its trailer", shown)
        failed = example_boot(status="failed", uart_bytes_in_timed=3)
        self.assertIn("uart_bytes_in_timed failed: 3 bytes",
                      report.render(results_of(failed), "term"))

    def test_nothing_at_all(self) -> None:
        for output_format in report.FORMATS:
            self.assertTrue(report.render(make_results(decode_log(b"")), output_format))


class Markdown(unittest.TestCase):
    """Tables with the same number of cells in every line."""

    def test_tables(self) -> None:
        text = report.render(results_of(example_boot()), "md")
        rows = [line for line in text.splitlines() if line.startswith("|")]
        self.assertEqual({line.count("|") for line in rows}, {12, 10})
        self.assertIn("| normal.total | 0>1 | 118 |", text)
        self.assertIn("**EMULATED", text)

    def test_markup_from_a_log_is_escaped(self) -> None:
        made = results_of(example_boot())
        made["skipped"][0]["reason"] = "<b>|*x*|</b>\n# no"
        made["machine"]["model"] = "a|b"
        text = report.render(made, "md")
        self.assertIn(r"\<b>\|\*x\*\|\</b>?\# no", text)
        self.assertIn(r"# el1bench 0.1.0 on a\|b", text)


class Csv(unittest.TestCase):
    """Every row, nothing folded."""

    def test_rows(self) -> None:
        rows = list(csv.DictReader(io.StringIO(report.render(results_of(matrix_boot()), "csv"))))
        self.assertEqual(len(rows), 30)
        self.assertEqual((rows[0]["name"], rows[0]["cpu"], rows[0]["peer"], rows[0]["p50"]),
                         ("ipi.matrix.total", "0", "1", "1005"))
        self.assertEqual(float(rows[0]["headline_ns"]), 1005 * 16)


class Command(unittest.TestCase):
    """Files in, files out."""

    def run_report(self, *results: Path, output_format: str = "term",
                   output: str | None = None) -> str:
        """Standard output of the command."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = report.main(argparse.Namespace(results=[str(one) for one in results],
                                                  tables="all", format=output_format, output=output))
        self.assertEqual(code, 0)
        return out.getvalue()

    def test_files(self) -> None:
        folder = temporary_folder(self, "report")
        path = write_results(decode_log(example_boot().text()), folder)
        once = self.run_report(folder)
        self.assertEqual(once, report.render(load_results(path), "term"))
        self.assertEqual(self.run_report(folder, path), f"{once}\n{once}")
        self.assertEqual(self.run_report(folder, output=str(folder / "r.txt")), "")
        self.assertEqual((folder / "r.txt").read_text(), once)
        lines = self.run_report(folder, path, output_format="csv").splitlines()
        self.assertEqual(len(lines), 13)
        with self.assertRaises(UserError):
            self.run_report(folder, output=str(folder))

    def test_mutated_results_are_refused_or_shown(self) -> None:
        generator = random.Random(41)
        folder = temporary_folder(self, "report")
        made = json.loads(to_text(results_of(example_boot(), example_boot(1))))
        strange = (None, True, -1, 0, 1e70, "", "x\ud800\n|", [], {}, [[]], {"a": None}, [1], "0>1")

        def mutate(node: object) -> None:
            while True:
                keys = list(node) if isinstance(node, dict) else list(range(len(node)))
                key = generator.choice(keys)
                child = node[key]
                if not isinstance(child, (dict, list)) or not child or generator.random() < 0.2:
                    if generator.random() < 0.2 and isinstance(node, dict):
                        del node[key]
                    else:
                        node[key] = copy.deepcopy(generator.choice(strange))
                    return
                node = child

        shown = 0
        for _ in range(600):
            changed = copy.deepcopy(made)
            for _ in range(generator.randrange(1, 4)):
                mutate(changed)
            (folder / "results.json").write_text(json.dumps(changed))
            for output_format in report.FORMATS:
                try:
                    loaded = load_results(folder)
                except UserError:
                    break
                report.render(loaded, output_format)
                shown += 1
        self.assertGreater(shown, 100)


if __name__ == "__main__":
    unittest.main()
