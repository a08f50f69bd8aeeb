"""What a boot sends of an earlier one: whose it is, what is missing of it, and that it stays apart."""

import random
import unittest
from typing import Optional, Sequence

from el1bench_host.decoder import decode_log
from el1bench_host.follow import LogFollower
from el1bench_host.results import make_results
from tests.host.synthetic_log import Boot, Row
from tests.host.test_decode import example_rows, kinds

NAMES = ["clock.floor", "ipi.dry-run", "ipi.normal", "ipi.self"]
STAMP = 12345  # the entry-stamp of every synthetic boot


class Finder(Boot):
    """A boot that found samples."""

    prefix = ""

    def line(self, kind: str, body: str) -> None:
        """As before, with the prefix."""
        super().line(self.prefix + kind, body)

    def survivors(self, rows: Sequence[Row], boot: int = 0, seed: int = 7,
                  stamp: int = STAMP) -> "Finder":
        """All that is sent of the earlier boot."""
        self.line("survivors", f"state=whole boot={boot} seed={seed} entry-stamp={stamp} "
                               "benchmarks=4 finished=2 bound-ms=4000 : el1bench.watchdog=on")
        self.prefix = "was-"
        for index, row in enumerate(rows):
            self.metric(index, row)
        for outcome in ("clock.floor passed", "ipi.dry-run passed",
                        "ipi.normal failed : reset while it ran",
                        "ipi.self skipped : reset before its turn"):
            self.line("outcome", outcome)
        for index, row in enumerate(rows):
            if row.minuend is None:
                self.dump(index, row, 25)
        self.line("end", f"metrics={self.metrics} raw={self.raw}")
        self.prefix = ""
        self.metrics = self.raw = 0
        return self


def cut_off(boot: int = 0) -> bytes:
    """A boot that ends with its plan line."""
    return Boot(boot=boot, seed=7).head().plan(NAMES).text()


def finder(rows: Optional[Sequence[Row]] = None, **whose: int) -> Finder:
    """A whole boot that found another's rows."""
    made = Finder(boot=1, seed=7)
    made.head()
    made.survivors(example_rows() if rows is None else rows, **whose)
    made.plan(NAMES)
    made.results([Row("clock.floor.pair", [5] * 30)], outcomes=["clock.floor passed : "])
    made.end()
    return made


class Whose(unittest.TestCase):
    """The boot that rows are given to."""

    def test_the_boot_that_was_cut_off(self) -> None:
        decoded = decode_log(cut_off() + finder().text())
        first, second = decoded.boots
        self.assertEqual({index: row.metric.name for index, row in first.rows.items()},
                         {index: row.name for index, row in enumerate(example_rows())})
        for index, row in enumerate(example_rows()):
            if row.minuend is None:
                self.assertEqual(first.rows[index].good(),
                                 [one for one in row.samples if isinstance(one, int)])
        self.assertEqual((first.survived.finished, first.survived.benchmarks), (2, 4))
        self.assertEqual([one.name for one in first.outcomes], NAMES)
        self.assertEqual([row.metric.name for row in second.rows.values()], ["clock.floor.pair"])
        self.assertTrue(second.complete)
        self.assertEqual(sorted(one.kind for one in decoded.problems), ["no-trailer", "survived"])
        self.assertEqual({one.boot for one in decoded.problems}, {0})
        self.assertEqual(decoded.exit_code(), 3)
        made = make_results(decoded)
        self.assertEqual([boot["survived"] for boot in made["boots"]],
                         [{"finished": 2, "benchmarks": 4}, None])
        self.assertEqual([boot["complete"] for boot in made["boots"]], [False, True])
        self.assertEqual(made["failures"], [
            {"name": "ipi.normal", "boot": 0, "reason": "reset while it ran"}])
        self.assertEqual({metric["boot"] for metric in made["metrics"]
                          if metric["name"] == "ipi.normal.total"}, {0})

    def test_a_boot_of_its_own(self) -> None:
        for log, why in ((finder().text(), "alone in the log"),
                         (cut_off() + finder(boot=5).text(), "another number"),
                         (cut_off() + finder(seed=8).text(), "another seed"),
                         (cut_off() + finder(stamp=9).text(), "another start")):
            with self.subTest(why):
                decoded = decode_log(log)
                last = decoded.boots[-1]
                self.assertEqual(len(decoded.boots), 2 + log.startswith(cut_off()))
                self.assertIsNotNone(last.survived)
                self.assertEqual(len(last.rows), len(example_rows()))
                self.assertFalse(last.complete)
                self.assertEqual(last.info["arguments"], "el1bench.watchdog=on")
                self.assertIn("survived", kinds(log))
                made = make_results(decoded)
                self.assertEqual(len({boot["index"] for boot in made["boots"]}),
                                 len(decoded.boots))
                self.assertEqual({one["boot"] for one in made["problems"]
                                  if one["kind"] == "survived"}, {made["boots"][-1]["index"]})

    def test_a_boot_that_ended_is_none(self) -> None:
        ended = Boot(boot=0, seed=7).head().plan(NAMES).results([]).end().text()
        decoded = decode_log(ended + finder().text())
        self.assertEqual(len(decoded.boots), 3)
        self.assertTrue(decoded.boots[0].complete)

    def test_spoilt_ones_are_a_note(self) -> None:
        made = Boot().head()
        made.line("survivors", "state=spoilt : they fail their checksum")
        decoded = decode_log(made.plan(NAMES).results([]).end().text())
        self.assertTrue(decoded.complete)
        self.assertEqual(decoded.boots[0].notes, [("survivors", "they fail their checksum")])


class Damaged(unittest.TestCase):
    """What is lost of it is named, and nothing else suffers."""

    def test_a_lost_line(self) -> None:
        lines = finder().text().split(b"\n")
        lost = next(index for index, line in enumerate(lines) if b"@el1b was-raw " in line)
        decoded = decode_log(cut_off() + b"\n".join(lines[:lost] + lines[lost + 1:]))
        self.assertRegex([one.text for one in decoded.problems if one.kind == "samples-lost"][0],
                         "^samples 0 to 24 of .* are lost with machine line")
        self.assertEqual(decoded.boots[0].rows[0].lost, [(0, 24)])
        self.assertIn("missing", [one.kind for one in decoded.problems if one.boot == 1])

    def test_cut_in_the_middle(self) -> None:
        text = finder().text()
        decoded = decode_log(cut_off() + text[:text.rindex(b"@el1b was-raw ") + 20])
        self.assertIn("what a later boot found of this one breaks off",
                      [one.text for one in decoded.problems if one.boot == 0])
        self.assertGreater(len(decoded.boots[0].rows), 3)

    def test_without_its_head_it_is_nobodys(self) -> None:
        lines = [line for line in finder().text().split(b"\n") if b" survivors " not in line]
        decoded = decode_log(cut_off() + b"\n".join(lines))
        self.assertEqual(len(decoded.boots), 2)
        self.assertEqual(decoded.boots[0].rows, {})
        self.assertEqual(len(decoded.boots[1].rows), 1)

    def test_wrong_sums(self) -> None:
        made = Finder(boot=1, seed=7)
        made.head()
        made.metrics = 1
        made.survivors(example_rows())
        decoded = decode_log(made.plan(NAMES).results([]).end().text())
        self.assertIn("trailer", [one.kind for one in decoded.problems])

    def test_noise(self) -> None:
        generator = random.Random(3)
        text = cut_off() + finder().text()
        for _ in range(300):
            noisy = bytearray(text)
            for _ in range(generator.randrange(1, 8)):
                noisy[generator.randrange(len(noisy))] = generator.randrange(256)
            make_results(decode_log(bytes(noisy)))


class Following(unittest.TestCase):
    """While it comes."""

    def test_the_time_that_it_may_take(self) -> None:
        follower = LogFollower()
        text = cut_off() + finder().text()
        at = text.index(b"@el1b was-")
        follower.feed(text[:at])
        self.assertEqual((follower.boots, follower.survivors_ms), (2, 4000))
        self.assertIsNone(follower.plan)
        follower.feed(text[at:])
        self.assertEqual(follower.status, "passed")
        self.assertEqual(follower.samples_received, 30)


if __name__ == "__main__":
    unittest.main()
