"""Decoding of whole logs: intact ones, ones with every kind of damage, and noise."""

import argparse
import contextlib
import gzip
import io
import json
import random
import tempfile
import unittest
from pathlib import Path
from typing import Optional, Sequence

from tests.folder import temporary_folder
from tests.host.synthetic_log import Boot, Row, machine_line
from el1bench_host import decode
from el1bench_host.decoder import decode_log
from el1bench_host.errors import UserError
from el1bench_host.follow import LogFollower
from el1bench_host.results import make_results
from el1bench_host.results_file import write_results


def example_rows(count: int = 120, seed: int = 5) -> list[Row]:
    """Rows of many kinds, one derived."""
    generator = random.Random(seed)
    dry = [generator.choice((3, 4)) for _ in range(count)]
    total: list[int | str] = [generator.choice((11, 12, 13)) for _ in range(count)]
    total[7], total[8], total[50] = "backwards", "spurious", 4000
    net = [one - other if isinstance(one, int) else one for one, other in zip(total, dry)]
    return [
        Row("clock.floor.pair", [2] * count, cpu=0),
        Row("ipi.dry-run.total", dry, cpu=0),
        Row("ipi.normal.total", total, cpu=0, peer=1, cold=900),
        Row("ipi.normal.net", net, cpu=0, peer=1, minuend=2, subtrahend=1),
        Row("ipi.normal.batched.total", [generator.randrange(760, 800) for _ in range(count)],
            cpu=0, peer=1, ops=64, factors="k:64"),
        Row("ipi.self.total", ["lost"] * count, cpu=1),
    ]


def example_boot(boot: int = 0, limit: Optional[int] = 25, status: str = "passed",
                 count: int = 120, more: Sequence[Row] = (), **keys) -> Boot:
    """One whole boot."""
    rows = example_rows(count, 5 + boot) + list(more)
    made = Boot(boot=boot, seed=7, samples=120).head()
    made.plan(["clock.floor", "ipi.dry-run", "ipi.normal", "ipi.self"], len(rows))
    made.results(rows, limit=limit, outcomes=["clock.floor passed : ", "ipi.normal passed : ",
                                              "ipi.self skipped : no target"], **keys)
    return made.end(status)


def kinds(data: bytes) -> list[str]:
    """The kinds of problems of a log."""
    return [problem.kind for problem in decode_log(data).problems]


class Intact(unittest.TestCase):
    """Logs without damage."""

    def test_whole_boot(self) -> None:
        decoded = decode_log(example_boot().text())
        self.assertEqual([decode.problem_text(one) for one in decoded.problems], [])
        self.assertEqual(decoded.exit_code(), 0)
        rows = decoded.boots[0].rows
        expected = example_rows()
        self.assertEqual(list(rows), list(range(len(expected))))
        for index, row in rows.items():
            self.assertTrue(row.complete)
            samples = [row.excluded.get(place, value) for place, value in enumerate(row.values)]
            self.assertEqual(samples, list(expected[index].samples))

    def test_chatter_stamps_and_line_ends(self) -> None:
        text = example_boot().text()
        for name, changed in {
            "lf": text.replace(b"\r\n", b"\n"),
            "double cr": text.replace(b"\r\n", b"\r\r\n"),
            "stamps": b"".join(b"%.6f\t%s\n" % (at / 7, line)
                               for at, line in enumerate(text.split(b"\n"))),
            "firmware": b"U-Boot 2025.01\r\n\0\xff=> go 0x20000000\r\n" + text + b"NOTICE: bye\n",
            "same line": text.replace(b"@el1b ", b"[\0\x1b[0mchatter *0123abcd] @el1b "),
            "between": text.replace(b"\r\n", b"\r\nINFO: power domain\r\n\r\n"),
            "no last line end": text[:-2],
        }.items():
            with self.subTest(name):
                decoded = decode_log(changed)
                self.assertEqual(decoded.exit_code(), 0, decoded.problems)

    def test_boots(self) -> None:
        decoded = decode_log(b"".join(example_boot(boot).text() for boot in range(3)))
        self.assertEqual((len(decoded.boots), decoded.exit_code()), (3, 0))
        made = make_results(decoded)
        self.assertEqual([boot["index"] for boot in made["boots"]], [0, 1, 2])
        self.assertEqual({metric["boot"] for metric in made["metrics"]}, {0, 1, 2})
        same = decode_log(example_boot(4).text() * 2)
        self.assertEqual([boot["index"] for boot in make_results(same)["boots"]], [0, 1])

    def test_exit_codes(self) -> None:
        self.assertEqual(decode_log(example_boot(status="failed").text()).exit_code(), 1)
        self.assertEqual(decode_log(example_boot(uart_bytes_in_timed=1).text()).exit_code(), 1)
        refused = Boot().head()
        refused.line("fail", "name=arguments : el1bench.smaples is not known")
        self.assertEqual(decode_log(refused.end("refused").text()).exit_code(), 2)
        self.assertEqual(decode_log(example_boot(status="failed").text() + refused.text())
                         .exit_code(), 2)
        # Damage comes before failure.
        self.assertEqual(decode_log(example_boot(status="failed").text()
                                    .replace(b"warmup=4", b"warmup=5")).exit_code(), 3)
        self.assertEqual(decode_log(b"").exit_code(), 3)

    def test_summary_only(self) -> None:
        rows = example_rows()
        boot = Boot().head().plan(["ipi.normal"], len(rows)).results(rows, raw=False).end()
        decoded = decode_log(boot.text())
        self.assertEqual(decoded.exit_code(), 0, decoded.problems)
        made = make_results(decoded)
        self.assertIsNone(made["samples"])
        for metric in made["metrics"]:
            self.assertEqual(metric["from"], "summary")
        self.assertEqual(made["metrics"][2]["p50"], 12)

    def test_unknown_types_and_fields_are_no_error(self) -> None:
        boot = Boot().head()
        boot.line("weather", "sun=1 : fine")
        boot.line("info", "key=shoe-size : 43")
        decoded = decode_log(boot.end().text())
        self.assertEqual(decoded.exit_code(), 0)
        self.assertEqual(decoded.boots[0].unknown_lines, 1)


class Damage(unittest.TestCase):
    """One thing wrong: it is named, exit 3, and the rest is there."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.text = example_boot().text()
        cls.lines = cls.text.splitlines(keepends=True)
        cls.machine = [at for at, line in enumerate(cls.lines) if line.startswith(b"@el1b ")]

    def check(self, data: bytes, kind: str, sequence: int | None = None,
              line: int | None = None) -> None:
        """`data` is incomplete, with a problem of that kind in that place."""
        decoded = decode_log(data)
        self.assertEqual(decoded.exit_code(), 3)
        self.assertTrue(
            any(one.kind == kind and sequence in (None, one.sequence) and line in (None, one.line)
                for one in decoded.problems),
            f"no {kind} at {sequence} (line {line}) in {decoded.problems}")
        make_results(decoded)

    def test_flipped_bytes(self) -> None:
        generator = random.Random(11)
        for sequence, at in enumerate(self.machine):
            line = self.lines[at]
            for place in sorted(set(generator.sample(range(len(line)), 6))
                                | {0, 1, 6, len(line) - 12, len(line) - 3}):
                flipped = bytearray(line)
                flipped[place] ^= 1 << generator.randrange(8)
                if flipped[place] in b"\r\n" or line[place] in b"\r\n":
                    continue
                data = b"".join(self.lines[:at]) + bytes(flipped) + b"".join(self.lines[at + 1:])
                with self.subTest(sequence=sequence, place=place, line=bytes(flipped)):
                    self.check(data, "damaged", line=at + 1)

    def test_flipped_line_ends(self) -> None:
        for at in self.machine:
            for line_end in (b"x\n", b"\rx"):
                data = b"".join(self.lines[:at]) + self.lines[at][:-2] + line_end \
                    + b"".join(self.lines[at + 1:])
                with self.subTest(at=at, line_end=line_end):
                    self.check(data, "damaged")

    def test_removed_line(self) -> None:
        for sequence, at in enumerate(self.machine):
            data = b"".join(self.lines[:at] + self.lines[at + 1:])
            with self.subTest(sequence=sequence):
                if sequence == len(self.machine) - 1:
                    self.check(data, "no-trailer", sequence - 1)
                else:
                    next_line = at + 1 if at + 1 in self.machine else None
                    self.check(data, "missing", sequence, next_line)

    def test_removed_raw_line_names_its_samples(self) -> None:
        for sequence, at in enumerate(self.machine):
            if not self.lines[at].startswith(b"@el1b raw"):
                continue
            row, first, count = (int(word) for word in self.lines[at].split()[3:6])
            decoded = decode_log(b"".join(self.lines[:at] + self.lines[at + 1:]))
            texts = [one.text for one in decoded.problems]
            name = decoded.boots[0].rows[row].title()
            run = f"samples {first} to {first + count - 1} of {name} are lost"
            self.assertIn(f"{run} with machine line {sequence}", texts)

    def test_doubled_line(self) -> None:
        for sequence, at in enumerate(self.machine):
            data = b"".join(self.lines[:at + 1] + self.lines[at:])
            with self.subTest(sequence=sequence):
                self.check(data, "repeated", sequence, at + 2)
                self.assertEqual(len(decode_log(data).boots), 1)
                self.assertEqual(kinds(data), ["repeated"])

    def test_swapped_lines(self) -> None:
        for sequence in range(len(self.machine) - 1):
            lines = list(self.lines)
            one, other = self.machine[sequence:sequence + 2]
            lines[one], lines[other] = lines[other], lines[one]
            with self.subTest(sequence=sequence):
                self.assertEqual(kinds(b"".join(lines)), ["out-of-order"])
                self.check(b"".join(lines), "out-of-order", sequence, other + 1)

    def test_cut(self) -> None:
        generator = random.Random(12)
        end = len(self.text) - 2
        start = len(b"@el1b")
        for at in sorted(generator.sample(range(start, end), 300)) + [start, end - 1]:
            with self.subTest(at=at):
                self.assertEqual(decode_log(self.text[:at]).exit_code(), 3)
        half = decode_log(self.text[:len(self.text) * 3 // 4])
        self.assertIn("no-trailer", [one.kind for one in half.problems])
        self.assertTrue(half.boots[0].rows[0].complete)

    def test_cut_out(self) -> None:
        """A hole in the middle, and two boots run into each other."""
        generator = random.Random(13)
        two = self.text + example_boot(1).text()
        for _ in range(200):
            low, high = sorted(generator.sample(range(100, len(two) - 2), 2))
            with self.subTest(low=low, high=high):
                data = two[:low] + two[high:]
                lines = data.split(b"\n")
                decoded = decode_log(data)
                make_results(decoded)
                # A hole of exactly one text line for a person is none.
                if len(lines) < two.count(b"\n") - 2:
                    self.assertEqual(decoded.exit_code(), 3)

    def test_second_boot_without_its_begin(self) -> None:
        second = example_boot(1).text().split(b"\r\n", 1)[1]
        decoded = decode_log(self.text + second)
        self.assertEqual(len(decoded.boots), 2)
        self.assertEqual([one.kind for one in decoded.problems], ["missing"])
        self.assertEqual(decoded.boots[1].end.status, "passed")

    def test_table_copies(self) -> None:
        tables = [at for at in self.machine if self.lines[at].startswith(b"@el1b table")]
        decoded = decode_log(b"".join(self.lines[:tables[0]] + self.lines[tables[0] + 1:]))
        self.assertTrue(all(row.complete for row in decoded.boots[0].rows.values()))
        row = self.lines[tables[0]].split()[3]
        kept = [line for line in self.lines
                if not (line.startswith(b"@el1b table") and line.split()[3] == row)]
        self.check(b"".join(kept), "samples-lost")

    def test_forged_lines(self) -> None:
        """The checksum holds, the content does not: named with its line."""
        for kind, body in (
            ("metric", "0 x"), ("metric", "0 a.b.c pass 1.000 tick cpu=0"),
            ("metric", "0 a.b.c pass 1.000 tick cpu=0 peer=- n=5 warmup=0 min=- mean=-/1024 p50=- "
                       "p90=- p99=- p999=- max=- cold=- ops=0 factors=- excluded=- samples=5"),
            ("raw", "0 0 99999999999 -"), ("raw", "0"), ("raw", "-1 0 5 -"),
            ("table", "0 1/0 a"), ("table", "0 5/4 aaaaa"), ("table", "0 1 a"),
            ("cpu", "index=0"), ("cache", "cpu=x"), ("outcome", "a.b done : "),
            ("check", "uart_bytes_in_timed=1"), ("plan", "benchmarks=1"), ("begin", "format=x"),
            ("info", "compiler=gcc"), ("end", "status=great lines=1 metrics=0 raw=0"),
            ("fail", "reason"),
        ):
            boot = Boot().head()
            boot.line(kind, body)
            with self.subTest(kind=kind, body=body):
                self.check(boot.text(), "malformed", len(boot.lines) - 1)

    def test_trailer_counts(self) -> None:
        boot = example_boot()
        boot.lines.pop()
        boot.line("end", f"status=passed lines={len(boot.lines) + 1} metrics=6 raw=1")
        self.check(boot.text(), "trailer")

    def test_disagreement(self) -> None:
        lines = example_boot().lines
        at = next(at for at, line in enumerate(lines) if "ipi.normal.total" in line
                  and line.startswith("@el1b metric"))
        for old, new in (("p50=12", "p50=11"), ("max=4000", "max=4001"), ("n=118", "n=117"),
                         ("pass 12.000", "pass 12.500"), ("spurious:1", "spurious:2")):
            changed = list(lines)
            body = changed[at].rsplit(" *", 1)[0].split(" ", 3)[3]
            self.assertIn(old, body)
            changed[at] = machine_line("metric", at, body.replace(old, new))
            with self.subTest(new):
                self.assertEqual(kinds("\r\n".join(changed).encode()), ["disagreement"])


class Noise(unittest.TestCase):
    """Any bytes: no exception, and a bounded time."""

    def test_random_bytes(self) -> None:
        generator = random.Random(21)
        for _ in range(300):
            decode_log(generator.randbytes(generator.randrange(2000)))

    def test_mutated_logs(self) -> None:
        generator = random.Random(22)
        text = example_boot().text() + example_boot(1).text()
        lines = text.split(b"\r\n")
        for _ in range(150):
            data = bytearray(text)
            for _ in range(generator.randrange(1, 60)):
                data[generator.randrange(len(data))] = generator.randrange(256)
            make_results(decode_log(bytes(data)))
            shuffled = list(lines)
            for _ in range(generator.randrange(1, 20)):
                one, other = (generator.randrange(len(lines)) for _ in range(2))
                shuffled[one] = shuffled[other]
            make_results(decode_log(b"\r\n".join(shuffled)))

    def test_mutated_bodies_with_right_checksums(self) -> None:
        generator = random.Random(23)
        lines = example_boot().lines
        words = sorted({word for line in lines for word in line.split()[3:-1]})
        for _ in range(400):
            changed = list(lines)
            for _ in range(generator.randrange(1, 5)):
                at = generator.randrange(len(changed))
                _, kind, sequence, body = changed[at].rsplit(" *", 1)[0].split(" ", 3)
                parts = body.split(" ")
                place = generator.randrange(len(parts))
                choice = generator.randrange(5)
                if choice == 0:
                    parts[place] = generator.choice(words)
                elif choice == 1:
                    del parts[place]
                elif choice == 2:
                    parts[place] = parts[place].replace("1", str(generator.getrandbits(70)))
                elif choice == 3:
                    parts[place] = "".join(generator.sample(parts[place], len(parts[place])))
                else:
                    kind = generator.choice(("raw", "metric", "table", "derived", "end", "plan"))
                changed[at] = machine_line(kind, int(sequence), " ".join(parts))
            decoded = decode_log("\n".join(changed).encode())
            make_results(decoded)

    def test_many_gaps_take_linear_time(self) -> None:
        lines = [machine_line("info", number * 3 % 4_000_000_000, f"key=k{number} : x")
                 for number in range(20000)]
        lines += [machine_line("end", 4294967295, "status=passed lines=1 metrics=0 raw=0")]
        data = "\n@el1b broken\n".join(lines).encode()
        self.assertEqual(decode_log(data).exit_code(), 3)


class Command(unittest.TestCase):
    """The subcommand and what it writes."""

    def run_decode(self, data: bytes) -> tuple[int, dict, str, str, Path]:
        """Exit code, results, standard output and error."""
        folder = temporary_folder(self, "decode")
        (folder / "console.log").write_bytes(data)
        args = argparse.Namespace(log=str(folder / "console.log"), out=str(folder / "out"),
                                  quiet=False)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = decode.main(args)
        results = json.loads((folder / "out" / "results.json").read_text())
        return code, results, out.getvalue(), err.getvalue(), folder / "out"

    def test_whole(self) -> None:
        code, results, out, err, folder = self.run_decode(example_boot().text())
        self.assertEqual((code, err), (0, ""))
        self.assertIn("1 boot, 6 metrics, passed", out)
        self.assertEqual(results["samples"], "results.samples.jsonl.gz")
        with gzip.open(folder / results["samples"], "rt") as stream:
            records = [json.loads(line) for line in stream]
        self.assertEqual(len(records), 6)
        self.assertEqual(records[2]["excluded"], {"7": "backwards", "8": "spurious"})
        self.assertIsNone(records[2]["values"][7])
        self.assertEqual(records[2]["values"][50], 4000)
        self.assertEqual(records[4]["ops"], 64)

    def test_same_bytes_twice(self) -> None:
        first = self.run_decode(example_boot().text())[4]
        second = self.run_decode(example_boot().text())[4]
        for name in ("results.json", "results.samples.jsonl.gz"):
            self.assertEqual((first / name).read_bytes(), (second / name).read_bytes())

    def test_damaged(self) -> None:
        lines = example_boot().text().splitlines(keepends=True)
        at = next(at for at, line in enumerate(lines)
                  if line.startswith(b"@el1b raw") and line.split()[3:5] == [b"4", b"50"])
        code, results, _, err, folder = self.run_decode(b"".join(lines[:at] + lines[at + 1:]))
        self.assertEqual(code, 3)
        self.assertIn("is missing, between lines", err)
        self.assertFalse(results["run"]["complete"])
        self.assertEqual([one["kind"] for one in results["problems"]].count("missing"), 1)
        with gzip.open(folder / results["samples"], "rt") as stream:
            self.assertEqual(sum("lost" in json.loads(line) for line in stream), 1)

    def test_unreadable(self) -> None:
        with self.assertRaisesRegex(UserError, "no el1bench line") as caught:
            self.run_decode(b"U-Boot 2025.01\r\nhello\r\n")
        self.assertEqual(caught.exception.exit_code, 2)
        with self.assertRaises(UserError):
            decode_log(Path("/nonexistent/console.log"))
        with self.assertRaises(UserError):
            decode_log(Path("/"))
        with tempfile.NamedTemporaryFile() as blocker, self.assertRaises(UserError):
            write_results(decode_log(example_boot().text()), Path(blocker.name) / "out")


class Follower(unittest.TestCase):
    """Progress while the console still talks."""

    def test_bytewise(self) -> None:
        text = b"boot chatter\n" + example_boot().text()
        follower = LogFollower()
        planned_at = ended_at = None
        for at in range(len(text)):
            follower.feed(text[at:at + 1])
            if follower.plan and planned_at is None:
                planned_at = at
                self.assertEqual(follower.bound_ms, 1500)
                self.assertFalse(follower.timing_over)
            if follower.ended and ended_at is None:
                ended_at = at
        self.assertLess(text.index(b"@el1b plan"), planned_at)
        self.assertEqual((ended_at, follower.status), (len(text) - 1, "passed"))
        self.assertTrue(follower.timing_over)
        self.assertEqual(follower.samples_received, 5 * 120)
        follower.feed(example_boot(1).text()[:300])
        self.assertEqual((follower.boots, follower.status, follower.plan), (2, None, None))

    def test_noise(self) -> None:
        generator = random.Random(31)
        follower = LogFollower()
        for _ in range(300):
            follower.feed(generator.randbytes(300))
        follower.feed(b"x" * 200000)
        self.assertFalse(follower.began)


if __name__ == "__main__":
    unittest.main()
