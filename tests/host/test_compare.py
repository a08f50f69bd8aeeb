"""`compare`: which results may be compared, how, the verdicts, the exit codes."""

import contextlib
import copy
import csv
import gzip
import io
import json
import random
import re
import unittest
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from tests.folder import temporary_folder
from tests.host.synthetic_log import Boot, Row
from el1bench_host import cli, compare
from el1bench_host.comparing import tables, verdicts
from el1bench_host.decoder import decode_log
from el1bench_host.results import SAMPLES_NAME
from el1bench_host.results_file import RESULTS_NAME, write_results

SOURCE_TREE = Path(__file__).resolve().parents[2]
PAGE = (SOURCE_TREE / "docs" / "compare.md").read_text("utf-8")
ICOUNT, SINGLE = "qemu-7.2.22-icount", "qemu-7.2.22-single"


def noisy(middle: float, seed: int, count: int = 200, spread: float = 0.02) -> list[int]:
    """Samples around a value."""
    draw = random.Random(seed)
    return [round(draw.gauss(middle, middle * spread)) for _ in range(count)]


def boot_of(rows: Sequence[Row], boot: int = 0, seed: int = 1, status: str = "passed",
            outcomes: Sequence[str] = (), **head: Any) -> bytes:
    """The log of one boot."""
    made = Boot(boot=boot, seed=seed).head(**({"emulated": None, "hz": 24000000} | head))
    made.plan(["ipi"], len(rows)).results(rows, outcomes=outcomes)
    return made.end(status).text()


def ipi_rows(factor: float = 1.0, host: float = 1.0, seed: int = 0) -> list[Row]:
    """A measured row, its control, their difference, a row without control: times the host's."""
    total, control = noisy(240 * factor * host, seed + 1), noisy(60 * host, seed + 2)
    return [Row("ipi.normal.total", total, cpu=0, peer=1),
            Row("ipi.dry-run.total", control, cpu=0),
            Row("ipi.normal.net", [one - other for one, other in zip(total, control)], cpu=0,
                peer=1, minuend=0, subtrahend=1),
            Row("psci.version.round-trip", noisy(90 * host, seed + 3), cpu=0)]


class Case(unittest.TestCase):
    """Writes results and runs the command."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "compare")
        self.made = 0

    def results(self, *logs: bytes) -> str:
        """The folder of the results of some boots."""
        self.made += 1
        folder = self.folder / f"run-{self.made}"
        write_results(decode_log(b"".join(logs)), folder)
        return str(folder)

    def changed(self, folder: str, change: Callable[[dict], None]) -> str:
        """A copy of results with something else in results.json."""
        self.made += 1
        copied = self.folder / f"run-{self.made}"
        copied.mkdir()
        content = json.loads((Path(folder) / RESULTS_NAME).read_text())
        change(content)
        (copied / RESULTS_NAME).write_text(json.dumps(content))
        sidecar = Path(folder) / SAMPLES_NAME
        if sidecar.is_file():
            (copied / SAMPLES_NAME).write_bytes(sidecar.read_bytes())
        return str(copied)

    def compare(self, *words: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of the command."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                code = cli.main(["compare", *words])
            except SystemExit as stop:
                code = stop.code
        return code, out.getvalue(), errors.getvalue()

    def verdict_words(self, *words: str) -> dict[str, str]:
        """Verdicts by the names of rows."""
        text = self.compare(*words, "--format", "csv")[1]
        return {row["name"]: row["verdict"] for row in csv.DictReader(io.StringIO(text))}


class Hardware(Case):
    """Results of a board."""

    def test_slower_faster_same(self) -> None:
        base = self.results(boot_of(ipi_rows()))
        code, out, errors = self.compare(base, self.results(boot_of(ipi_rows(1.05, seed=50))))
        self.assertEqual((code, errors), (1, ""))
        self.assertRegex(out, r"ipi\.normal\.total +0>1 .* \+1[0-9.]+ +\+[0-9.]+\.\.\+[0-9.]+ +"
                              r"\+[45]\.[0-9] \(\+[0-9.]+\.\.\+[0-9.]+\)\n")
        self.assertRegex(out, r"psci\.version\.round-trip +0 +8\S+ +8\S+ +0\.[0-9]+\n")
        self.assertIn("One boot a side", out)
        self.assertNotIn("EMULATED", out)
        code, out, _ = self.compare(base, self.results(boot_of(ipi_rows(0.9, seed=50))))
        self.assertEqual(code, 0)
        self.assertIn("faster (2)", out)
        code, out, _ = self.compare(base, self.results(boot_of(ipi_rows(seed=50))))
        self.assertEqual(code, 0)
        self.assertIn("verdicts  4 same", out)
        self.assertNotIn("%)", out)

    def test_fail_on_and_tolerate(self) -> None:
        base, slow = (self.results(boot_of(ipi_rows(factor, seed=seed)))
                      for factor, seed in ((1, 0), (1.05, 50)))
        for words, expected in (((base, slow), 1), ((base, slow, "--fail-on", "none"), 0),
                                ((slow, base), 0), ((slow, base, "--fail-on", "any"), 1),
                                ((base, slow, "--tolerate", "20"), 0),
                                ((base, slow, "--tolerate", "1%"), 1)):
            self.assertEqual(self.compare(*words)[0], expected, words)
        for text in ("-1", "nan", "x", "101"):
            code, _, errors = self.compare(base, slow, f"--tolerate={text}")
            self.assertEqual((code, errors.count("\n")), (2, 1))

    def test_boots_are_what_is_repeated(self) -> None:
        """Boots that differ by more than the change, then by less."""
        def logs(factor: float, spread: float, seed: int) -> list[bytes]:
            draw = random.Random(seed)
            return [boot_of(ipi_rows(factor, 1 + draw.gauss(0, spread), seed + 10 * boot), boot)
                    for boot in range(4)]

        wide = self.compare("--base", self.results(*logs(1, 0.05, 1)),
                            "--new", self.results(*logs(1.03, 0.05, 2)))
        self.assertEqual(wide[0], 0)
        self.assertIn("over boots", wide[1])
        self.assertNotIn("One boot", wide[1])
        tight = [self.results(*logs(1, 0.004, 1)), self.results(*logs(1.03, 0.004, 2))]
        self.assertEqual(self.compare(*tight)[0], 1)
        # Several files make a side, too.
        split = [self.results(log) for log in logs(1, 0.004, 1)]
        code, out, _ = self.compare("--base", *split, "--new", tight[1])
        self.assertEqual(code, 1)
        self.assertIn("base      4 boots", out)
        code, _, errors = self.compare("--base", split[0], split[0], "--new", tight[1])
        self.assertEqual(code, 2)
        self.assertIn("twice", errors)

    def test_one_side_only(self) -> None:
        base = self.results(boot_of(ipi_rows()))
        new = self.results(boot_of(ipi_rows()[:1] + [Row("ipi.new.total", [5] * 40, cpu=0)]))
        code, out, _ = self.compare(base, new)
        self.assertEqual(code, 0)
        self.assertRegex(out, r"only in base \(3\)\n-+\nipi\.dry-run\.total, ")
        self.assertRegex(out, r"only in new \(1\)\n-+\nipi\.new\.total\n")
        other = self.results(boot_of([Row("a.b", [1] * 9)]))
        code, _, errors = self.compare(base, other)
        self.assertEqual((code, errors), (2, "el1bench: no row is on both sides: nothing to "
                                             "compare\n"))

    def test_rows_match_by_place_and_factors(self) -> None:
        rows = [Row("ipi.a.total", noisy(100, 1), cpu=0, peer=1, factors="k:1"),
                Row("ipi.a.total", noisy(200, 2), cpu=0, peer=1, factors="k:2"),
                Row("ipi.a.total", noisy(300, 3), cpu=1, peer=0, factors="k:1")]
        base, new = (self.results(boot_of(order)) for order in (rows, rows[::-1]))
        code, out, _ = self.compare(base, new)
        self.assertEqual(code, 0)
        self.assertIn("verdicts  3 same", out)

    def test_other_conditions_are_named(self) -> None:
        base = self.results(boot_of(ipi_rows()))
        new = self.results(boot_of(ipi_rows(), board="odroid-c4", cpus=3, step=2))
        out = " ".join(self.compare(base, new)[1].split())
        for text in ("boards differ: qemu-virt in base, odroid-c4 in new",
                     "counter steps differ: 1 in base, 2 in new", "cores differ: 0x410fd034 "):
            self.assertIn(text, out)

        def recompile(content: dict) -> None:
            content["image"].update(compiler="gcc 13", build_id="other\n*")
            content["machine"].update(firmware="x", psci={"version": "1.0", "conduit": "smc"})

        out = " ".join(self.compare(base, self.changed(base, recompile))[1].split())
        self.assertIn("compilers differ: gcc 12.2.0 in base, gcc 13 in new", out)
        self.assertIn("PSCI versions differ: 1.1 in base, 1.0 in new", out)
        self.assertIn("firmwares differ: None in base, x in new", out)
        self.assertIn("build other?*:", out)

    def test_other_frequency_is_compared_in_time(self) -> None:
        rows = ipi_rows()
        twice = [Row(row.name, [2 * value for value in row.samples], row.cpu, row.peer,
                     minuend=row.minuend, subtrahend=row.subtrahend) for row in rows]
        base = self.results(boot_of(rows, hz=25000000))
        code, out, _ = self.compare(base, self.results(boot_of(twice, hz=50000000, step=2)))
        self.assertEqual(code, 0)
        self.assertIn("nanoseconds an operation", out)
        self.assertIn("counter frequencies differ: 25000000 in base, 50000000 in new",
                      " ".join(out.split()))
        self.assertIn("verdicts  4 same", out)

        def forget(content: dict) -> None:
            content["machine"]["counter_hz"] = None

        self.assertEqual(self.compare(base, self.changed(base, forget))[0], 2)

    def test_batches_of_other_sizes(self) -> None:
        sides = [self.results(boot_of([Row("ipi.a.total.batched", noisy(10 * ops, 1), ops=ops)]))
                 for ops in (64, 128)]
        out = self.compare(*sides)[1]
        self.assertIn("a sample of 1 row has another number of operations", out)

    def test_summary_only(self) -> None:
        """Without samples the image's figures have to do; one boot of means is not enough."""
        base = self.results(boot_of(ipi_rows()))
        (Path(base) / SAMPLES_NAME).unlink()
        code, out, _ = self.compare(base, self.results(boot_of(ipi_rows(1.1, seed=50))))
        self.assertEqual(code, 1)
        self.assertIn("samples of 4 rows of base are not there", out)
        self.assertIn("ipi.normal.total", out.split("slower (2)")[1].split("same (")[0])

    def test_incomplete_and_failed(self) -> None:
        base = self.results(boot_of(ipi_rows()))
        cut = self.results(boot_of(ipi_rows(1.1)).rpartition(b"@el1b end")[0])
        for words in ((base, cut), (cut, base)):
            code, out, _ = self.compare(*words)
            self.assertEqual(code, 3)
            self.assertIn("INCOMPLETE", out)
        broken = self.results(boot_of(ipi_rows(), outcomes=["ipi.self failed : lost"],
                                      status="failed"))
        code, out, _ = self.compare(base, broken)
        self.assertEqual(code, 1)
        self.assertIn("*** ipi.self: lost ***", out)
        self.assertEqual(self.compare(broken, broken)[0], 0)
        self.assertEqual(self.compare(base, broken, "--fail-on", "none")[0], 0)
        few = self.results(boot_of([Row("a.b", [5, 6, 7])]))
        code, out, _ = self.compare(few, few)
        self.assertEqual(code, 3)
        self.assertIn("1 too few", out)


class Emulated(Case):
    """Results of an emulator."""

    def test_refused(self) -> None:
        real, single, icount, multi = (
            self.results(boot_of(ipi_rows(), emulated=emulated))
            for emulated in (None, SINGLE, ICOUNT, "qemu-7.2.22-multi"))
        for words, text in (((real, single), "real board"), ((icount, real), "real board"),
                            ((single, icount), "icount"), ((multi, multi), "multi-threaded")):
            code, out, errors = self.compare(*words)
            self.assertEqual((code, out, errors.count("\n")), (2, "", 1), words)
            self.assertIn(text, errors)

    def test_exact(self) -> None:
        rows = [Row("ipi.normal.total", [44] * 50, cpu=0, peer=1),
                Row("ipi.self.total", [30, 31] * 25, cpu=0), Row("ipi.c.total", [3, 4] * 25)]
        base = self.results(boot_of(rows, emulated=ICOUNT, hz=10 ** 9))
        code, out, _ = self.compare(base, self.results(boot_of(rows, emulated=ICOUNT, hz=10 ** 9)))
        self.assertEqual(code, 0)
        self.assertIn("instructions an operation", out)
        self.assertIn("verdicts  3 same", out)
        more = [Row("ipi.normal.total", [45] * 50, cpu=0, peer=1),
                Row("ipi.self.total", [30, 31] * 24 + [30, 30], cpu=0),
                Row("ipi.c.total", [4, 3] * 25)]
        new = self.results(boot_of(more, emulated=ICOUNT, hz=10 ** 9))
        code, out, _ = self.compare(base, new)
        self.assertEqual(code, 1)
        self.assertRegex(out, r"ipi\.normal\.total +0>1 +44 +45 +\+1 +\+2\.3\n")
        # A fiftieth of an instruction in the mean is one, if no percentage.
        self.assertRegex(out, r"faster \(1\)\n-+\n.*\nipi\.self\.total +0 +30\.5m +30\.48m +-0\.02 "
                              r"+-\n")
        self.assertIn("1 row: the same mean, other samples (ipi.c.total)", out)
        self.assertEqual(self.compare(new, base, "--tolerate", "5")[0], 0)
        self.assertEqual(self.verdict_words(base, new, "--tolerate", "5")["ipi.normal.total"],
                         "same")
        self.assertEqual(self.compare(base, new, "--fail-on", "none")[0], 0)

    def test_icount_of_other_seeds(self) -> None:
        """What the seed draws may cost an instruction; samples are compared."""
        sides = [self.results(boot_of(ipi_rows(seed=seed), emulated=ICOUNT, hz=10 ** 9, seed=seed))
                 for seed in (1, 50)]
        code, out, _ = self.compare(*sides)
        self.assertEqual(code, 0)
        self.assertIn("rows are compared as samples", " ".join(out.split()))
        self.assertIn("verdicts  4 same", out)

    def test_times_are_ratios(self) -> None:
        """The host was half as fast the second time: no change. A real one shows all the same."""
        def logs(factor: float, host: float, seed: int) -> str:
            return self.results(*(boot_of(ipi_rows(factor, host * (1 + boot / 50), seed + boot * 9),
                                          boot, emulated=SINGLE, hz=62500000) for boot in range(3)))

        base = logs(1, 1, 1)
        code, out, _ = self.compare(base, logs(1, 2, 50))
        self.assertEqual(code, 0)
        self.assertIn("*** EMULATED", out)
        self.assertIn("verdicts  2 same, 2 not comparable", out)
        self.assertIn("the control of others itself (ipi.dry-run.total)", out)
        self.assertIn("no control was sampled alternately with it (psci.version.round-trip)",
                      " ".join(out.split()))
        code, out, _ = self.compare(base, logs(1.1, 2, 50))
        self.assertEqual(code, 1)
        self.assertRegex(out, r"ipi\.normal\.total +0>1 +[34]\.\d+ +4\.\d+ +\+0\.\d+ ")
        # Less than ratios hold.
        self.assertEqual(self.compare(base, logs(1.015, 2, 50))[0], 0)

    def test_one_emulated_boot_is_too_few(self) -> None:
        sides = [self.results(boot_of(ipi_rows(factor), emulated=SINGLE)) for factor in (1, 1.5)]
        code, out, _ = self.compare(*sides)
        self.assertEqual(code, 3)
        self.assertIn("emulated times need 2 boots a side", out)
        self.assertNotIn("slower", out)


class Output(Case):
    """Formats."""

    def test_formats(self) -> None:
        rows = [Row("ipi.matrix.total", noisy(1000 + 10 * cpu + peer, cpu * 8 + peer), cpu=cpu,
                    peer=peer) for cpu in range(4) for peer in range(4) if cpu != peer]
        slow = [Row(row.name, [value + 60 * (row.cpu < 2) for value in row.samples], row.cpu,
                    row.peer) for row in rows]
        rows.append(Row("psci.suspend.deepest.parallel.call-to-resume", noisy(1e15, 3), cpu=11,
                        peer=63, factors="state:0x01010000,depth:deep"))
        slow.append(rows[-1])
        sides = [self.results(boot_of(some)) for some in (rows, slow)]
        text = self.compare(*sides)[1]
        self.assertRegex(text, r"ipi\.matrix\.total +6 pairs +1006 +1066 +\+60 +~\+5")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertTrue(all(char == "\n" or " " <= char <= "~" for char in text))
        self.assertFalse(any(line.endswith(" ") for line in text.splitlines()))
        page = self.compare(*sides, "--format", "md")[1]
        self.assertIn("# el1bench: new against base", page)
        self.assertRegex(page, r"\| ipi\.matrix\.total \| 6 pairs \|")
        code, out, _ = self.compare(*sides, "--format", "csv", "--output",
                                    str(self.folder / "c.csv"))
        self.assertEqual((code, out), (1, ""))
        table = list(csv.DictReader(io.StringIO((self.folder / "c.csv").read_text())))
        self.assertEqual(len(table), 13)
        self.assertEqual(tuple(table[0]), tables.COLUMNS)
        for row in table:
            self.assertEqual(row["verdict"] == "slower", bool(row["percent"]))
            self.assertEqual(row["verdict"] == "same", bool(row["bound"]))
        self.assertEqual(self.compare(*sides, "--output", str(self.folder))[0], 2)

    def test_usage(self) -> None:
        base = self.results(boot_of(ipi_rows()))
        for words in ((), (base,), (base, base, base), ("--base", base), ("--new", base),
                      (base, "--base", base, "--new", base), (base, "/nowhere"),
                      (base, base, "--format", "html")):
            code, out, errors = self.compare(*words)
            self.assertEqual((code, out, errors.count("\n")), (2, "", 1), words)
            self.assertTrue(errors.startswith("el1bench: "))

    def test_page(self) -> None:
        """docs/compare.md has every verdict, column and threshold."""
        for word in verdicts.WORDS:
            self.assertIn(f"| `{word}` |", PAGE)
        columns = re.search(r"^\| column \|.*", PAGE, re.M | re.S).group()
        named = [name for cell in re.findall(r"^\| (`[^|]+) \|", columns, re.M)
                 for name in re.findall(r"`(\w+)`", cell)]
        self.assertEqual(tuple(named), tables.COLUMNS)
        self.assertIn(f"more than {100 * verdicts.RATE:g} %", PAGE)
        self.assertIn(f"within {100 * verdicts.RELATIVE_TOLERANCE:g} %", PAGE)
        for choice in compare.FAIL_ON:
            self.assertIn(f"`{choice}`", PAGE)


class Hostile(Case):
    """Files that are not what they should be."""

    def test_sidecars(self) -> None:
        base = self.results(boot_of(ipi_rows()))
        good = gzip.decompress((Path(base) / SAMPLES_NAME).read_bytes())
        first = json.loads(good.splitlines()[0])
        bad: list[bytes] = [b"", b"\x1f\x8b", gzip.compress(good)[:200],
                            gzip.compress(good)[:-4] + b"abcd", b"not gzip",
                            gzip.compress(b"[" * 100000), gzip.compress(b"{}"),
                            gzip.compress(b"\xff\n")]
        for name, value in (("values", [1, "2"]), ("values", [True]), ("values", [1.5]),
                            ("values", [1 << 70]), ("values", None), ("ops", 0), ("boot", None),
                            ("cpu", "x"), ("factors", 3), ("name", None)):
            bad.append(gzip.compress(json.dumps(first | {name: value}).encode()))
        for data in bad:
            other = self.changed(base, lambda content: None)
            (Path(other) / SAMPLES_NAME).write_bytes(data)
            code, _, errors = self.compare(base, other)
            if data:
                self.assertEqual((code, errors.count("\n")), (2, 1), data[:60])
        for name in ("../run-1/" + SAMPLES_NAME, "/etc/passwd", 7, ["a"], ""):
            other = self.changed(base, lambda content, name=name: content.update(samples=name))
            code, out, _ = self.compare(base, other)
            self.assertEqual(code, 0)
            self.assertIn("are not there; their figures", out)

    def test_row_twice(self) -> None:
        base = self.results(boot_of(ipi_rows()))
        other = self.changed(base, lambda content: content["metrics"].append(content["metrics"][0]))
        code, _, errors = self.compare(base, other)
        self.assertEqual((code, errors.count("\n")), (2, 1))

    def test_mutated_results_are_refused_or_compared(self) -> None:
        draw = random.Random(43)
        for emulated in (None, ICOUNT, SINGLE):
            base = self.results(*(boot_of(ipi_rows(seed=boot), boot, emulated=emulated)
                                  for boot in range(2)))
            content = json.loads((Path(base) / RESULTS_NAME).read_text())
            other = Path(self.changed(base, lambda content: None))
            shown = 0
            for _ in range(120):
                mutated = copy.deepcopy(content)
                for _ in range(draw.randrange(1, 4)):
                    _mutate(draw, mutated)
                (other / RESULTS_NAME).write_text(json.dumps(mutated))
                for output_format in compare.FORMATS:
                    code, _, errors = self.compare(base, str(other), "--format", output_format)
                    self.assertIn(code, (0, 1, 2, 3))
                    self.assertEqual(errors.count("\n"), int(code == 2))
                    shown += code != 2
            self.assertGreater(shown, 15)


def _mutate(draw: random.Random, node: Any) -> Optional[Any]:
    """Put something strange into a place of a JSON value."""
    strange = (None, True, -1, 0, 1e70, "", "x\ud800\n|", [], {}, [[]], {"a": None}, [1], "0>1")
    while True:
        place = draw.choice(list(node) if isinstance(node, dict) else range(len(node)))
        child = node[place]
        if not isinstance(child, (dict, list)) or not child or draw.random() < 0.2:
            node[place] = copy.deepcopy(draw.choice(strange))
            return None
        node = child


if __name__ == "__main__":
    unittest.main()
