"""What the numbers promise: icount repeats, ratios hold, samples arrive in few bytes."""

import collections
import json
import math
import re
import subprocess
import unittest
from dataclasses import dataclass
from statistics import median
from typing import Any

from el1bench_host import paths
from el1bench_host.log_records import parse_raw, parse_table
from tests.qemu.support import Boot, QemuTest, build_folder, setup_of, words_of

BITS_PER_CHARACTER = math.log2(85)
SAMPLES = 20000
FEW_BITS = 4.0
SECONDS = 300


def entropy_bits(values: list[Any]) -> float:
    """The order-0 entropy of the samples, in bits a sample."""
    n = len(values)
    return -sum(count / n * math.log2(count / n) for count in collections.Counter(values).values())


@dataclass
class Coded:
    """What one row's samples took on the wire."""

    payload_bits: float = 0.0
    section_characters: int = 0


def coded_rows(boot: Boot) -> dict[int, Coded]:
    """Each row's payload and its share of the raw section, tables and line ends included."""
    rows: dict[int, Coded] = collections.defaultdict(Coded)
    for line in boot.text.splitlines():
        match = re.search(r"@el1b (raw|table) [0-9]+ (.*) \*[0-9a-f]{8}$", line)
        if match:
            record = (parse_raw if match.group(1) == "raw" else parse_table)(match.group(2))
            rows[record.row].payload_bits += len(record.payload) * BITS_PER_CHARACTER
            rows[record.row].section_characters += len(match.group(0)) + 2
    return rows


class Size(QemuTest):
    """The raw dump against the entropy of what it carries."""

    def test_every_sample_arrives_in_few_bytes(self) -> None:
        boot = self.boot(setup_of("qemu-virt", cpus=4),
                         words_of(suite="clock,ipi", samples=SAMPLES))
        self.assert_passed(boot, 4)
        coded = coded_rows(boot)
        raw_rows = {number: row for number, row in boot.decoded.boots[0].rows.items()
                    if not row.metric.derived}
        self.assertGreater(len(raw_rows), 10)
        self.assertEqual(set(coded), set(raw_rows))
        too_long = []
        characters = entropy = 0.0
        for number, row in sorted(raw_rows.items()):
            self.assertTrue(row.complete, row.title())
            self.assertEqual(len(row.values), row.metric.samples)
            values = [row.excluded.get(index, value) for index, value in enumerate(row.values)]
            bits = len(values) * entropy_bits(values)
            mine = coded[number]
            limit = 1.3 * bits + 1024
            self.note(f"{row.title()}: n={len(values)} H={bits / len(values):.3f} "
                      f"payload={mine.payload_bits:.0f} bits, limit {limit:.0f}, "
                      f"{mine.section_characters} characters")
            if mine.payload_bits > limit:
                too_long.append(row.title())
            if bits / len(values) >= FEW_BITS:
                characters += mine.section_characters
                entropy += bits
        self.assertEqual(too_long, [])
        for name in ("ipi.normal.total", "ipi.dry-run.total", "ipi.broadcast.total"):
            self.assertEqual(boot.row(name)["n"] + sum(boot.row(name)["excluded"].values()),
                             SAMPLES)
        self.assertGreater(entropy, 0, "no row has 4 bits of entropy to try the limit on")
        self.note(f"rows of 4 bits and more: {characters:.0f} characters for {entropy:.0f} bits")
        self.assertLessEqual(characters, 1.7 * entropy / 8)

    def test_the_image_is_small(self) -> None:
        size = (build_folder("qemu-virt") / "image").stat().st_size
        self.assertLessEqual(size, 96 * 1024)


class Icount(QemuTest):
    """One instruction, one nanosecond: the same numbers in every run."""

    def results(self, name: str) -> dict[str, Any]:
        """The command of the documentation, to a folder of its own."""
        out = self.folder / name
        done = subprocess.run(
            [str(paths.SOURCE_TREE / "scripts" / "el1bench"), "run", "--accel", "icount",
             "--counter-hz", "1000000000", "--cpus", "2", "--suite", "ipi", "--samples", "1000",
             "--quiet", "--out", str(out)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads((out / "results.json").read_text("utf-8"))

    def test_twice_the_same_and_within_the_limits(self) -> None:
        first, second = self.results("first"), self.results("second")
        self.assertEqual(first["metrics"], second["metrics"])
        medians = {row["name"]: row["p50"] for row in first["metrics"]}
        self.note(f"medians {medians}")
        self.assertEqual(first["machine"]["gic"], 2)
        self.assertEqual(first["machine"]["counter_hz"], 1_000_000_000)
        self.assertLessEqual(medians["ipi.normal.total"], 45)
        self.assertLessEqual(medians["ipi.normal.delivery"], 20)
        self.assertGreater(medians["ipi.normal.delivery"], 0)
        self.assertLess(medians["ipi.dry-run.total"], medians["ipi.normal.total"])

    def test_gicv3_within_its_limit(self) -> None:
        boot = self.boot(setup_of("qemu-virt", accel="icount", counter_hz=10**9, gic=3),
                         words_of("icount", suite="ipi.normal,ipi.dry-run", samples=100))
        self.assert_passed(boot, 2)
        self.assertLessEqual(boot.row("ipi.normal.total")["max"], 60)

    def test_stages_are_consecutive_and_cost_others_nothing(self) -> None:
        inner = ("entry", "acknowledge", "handler", "end-of-interrupt", "return")
        for gic in (2, 3):
            qemu = setup_of("qemu-virt", accel="icount", counter_hz=10**9, gic=gic)
            alone = self.boot(qemu, words_of("icount", suite="ipi.normal", samples=100))
            both = self.boot(qemu, words_of("icount", suite="ipi.normal,ipi.stages", samples=100))
            self.assert_passed(both, 2)
            plain = both.row("ipi.normal.total")
            self.assertEqual(alone.row("ipi.normal.total")["p50"], plain["p50"])
            self.assertEqual(plain["min"], plain["max"])
            medians = {name: both.row(f"ipi.stages.{name}")["p50"]
                       for name in (*inner, "send", "total", "net")}
            self.note(f"GICv{gic}: {medians}")
            self.assertGreater(min(medians.values()), 0)
            self.assertEqual(medians["net"], medians["total"] - plain["p50"])
            self.assertLess(sum(medians[name] for name in inner), medians["total"])
            self.assertEqual({(both.row(f"ipi.stages.{name}")["cpu"],
                               both.row(f"ipi.stages.{name}")["peer"]) for name in inner[1:]},
                             {(1, None)})

    def test_no_stage_runs_backwards_where_cores_run_at_once(self) -> None:
        boot = self.boot(setup_of("qemu-virt", accel="multi"),
                         words_of("multi", suite="ipi.stages", samples=20, warmup=0))
        self.assert_passed(boot, 2)
        for row in boot.results["metrics"]:
            self.assertEqual((row["n"], row["excluded"]), (20, {}), row["name"])

    def test_a_read_pair_is_two_instructions(self) -> None:
        boot = self.boot(setup_of("qemu-virt", accel="icount", counter_hz=10**9),
                         words_of("icount", suite="clock", samples=100))
        self.assertEqual(boot.outcome.status, "passed", boot.outcome.problem)
        self.assertEqual({row["p50"] for row in boot.rows("clock.floor.pair")}, {2})


class Ratio(QemuTest):
    """Times drift with the host, and its pace may change within a run; the ratio of two that were
    taken in the same samples does not."""

    serial = True

    def ratio(self) -> float:
        """Delivery to total in one run: the median over its samples, not the ratio of medians,
        which may belong to different paces."""
        boot = self.boot(setup_of("qemu-virt", cpus=4), words_of(suite="ipi", samples=2000))
        self.assert_passed(boot, 4)
        rows = {row.metric.name: row for row in boot.decoded.boots[0].rows.values()}
        deliveries, totals = (rows[f"ipi.normal.{name}"].good() for name in ("delivery", "total"))
        self.assertEqual((len(deliveries), len(totals)), (2000, 2000))
        found = median(one / other for one, other in zip(deliveries, totals))
        self.note(f"delivery {median(deliveries)}, total {median(totals)}, ratio {found:.4f}")
        return found

    def test_delivery_to_total(self) -> None:
        ratios = [self.ratio() for _ in range(3)]
        spread = max(ratios) / min(ratios) - 1
        self.note(f"the largest is {spread:.1%} above the smallest")
        self.assertLessEqual(spread, 0.05)


class Silence(QemuTest):
    """Nothing goes to the console between the plan line and the end of timing."""

    def test_the_table_follows_the_plan(self) -> None:
        boot = self.boot(setup_of("qemu-virt", cpus=4), words_of(samples=200))
        self.assert_passed(boot, 4)
        lines = boot.text.splitlines()
        plan = next(index for index, line in enumerate(lines) if line.startswith("@el1b plan "))
        self.assertRegex(lines[plan + 1], "^@el1b clock [0-9]+ mark=timed ")
        first = next(index for index, line in enumerate(lines[plan + 2:], plan + 2)
                     if line.startswith("@el1b "))
        table = [line for line in lines[plan + 2:first] if line]
        self.assertTrue(table, "no table for a person")
        self.assertTrue(any("ipi.normal.total" in line for line in table), table[:5])
        self.assertIn("uart_bytes_in_timed=0 console_refused_bytes=0", boot.lines("check")[0])

    def test_every_line_is_printable(self) -> None:
        boot = self.boot(setup_of("qemu-virt", cpus=2), words_of(samples=2000))
        self.assert_passed(boot, 2)
        self.assertEqual(re.sub(rb"[\x20-\x7e]|\r\n", b"", boot.log), b"")
        self.assertLessEqual(max(map(len, boot.text.splitlines())), 2048)
        for word in ("Oops", "Kernel panic", "WARNING:", "Unable to handle"):
            self.assertNotIn(word, boot.text)


if __name__ == "__main__":
    unittest.main()
