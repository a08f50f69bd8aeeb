"""A planted print against each guard alone, the paced line, and the counter against the host."""

import json
import subprocess
import sys
import unittest
from typing import Any

from el1bench_host import build, paths
from tests.qemu.support import Boot, QemuTest, image_of, setup_of, words_of

TEXT = "planted: sixty-four characters in the middle of what is timed..\n"
SAMPLES = 20
WARMUP = 16
PRINTS = SAMPLES + WARMUP
BAUD = 115200
BITS = 10
FIFO_BYTES = 16  # of a PL011; one more byte is on its way
SHARE = 0.02


class Planted(QemuTest):
    """One print in the middle of a timed interval (tests/plants/print.c), three ways."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.image = build.build_board("qemu-virt", quiet=True, plants=["print"],
                                      folder=paths.BUILD / "plant-print") / "image"

    def boot_planted(self, suite: str, accel: str = "single", **values: Any) -> Boot:
        """Boot the image with the plant, one of its benchmarks selected."""
        return self.boot(setup_of("qemu-virt", kernel=self.image, accel=accel),
                         words_of(accel, suite=suite, samples=SAMPLES, **values))

    def checks_of(self, boot: Boot) -> dict[str, int]:
        """The checks that count output, and nothing else wrong with the log."""
        self.assertEqual(boot.decoded.problems, [])
        self.assertEqual(boot.decoded.exit_code(), 1)
        checks = boot.results["boots"][0]["checks"]
        return {key: checks[key] for key in ("uart_bytes_in_timed", "console_refused_bytes",
                                             "wire_bytes_in_timed")}

    def test_the_lock_alone(self) -> None:
        boot = self.boot_planted("plant.print,clock.floor")
        count = PRINTS * len(TEXT)
        self.assertEqual(self.checks_of(boot), {
            "uart_bytes_in_timed": 0, "console_refused_bytes": count, "wire_bytes_in_timed": 0})
        outcomes = {one["name"]: one["result"] for one in boot.results["outcomes"]}
        self.assertEqual(outcomes, {"plant.print": "failed", "clock.floor": "passed"})
        self.assert_failed(boot, rf"plant\.print: wrote {count} bytes while timing, "
                                 r"from sample_print\+0x[0-9a-f]+ < take_sample\+0x")
        # The text is there, after the end of timing, and what there was no room for is counted.
        after = boot.text[boot.text.index("mark=timed"):]
        self.assertEqual(boot.text.count(TEXT.strip()), after.count(f"| {TEXT}"))
        self.assertEqual(after.count(f"| {TEXT}"), 1024 // len(TEXT))
        self.assertIn(f"[cut: {count - 1024} more bytes were not kept]", after)
        # It went on to its end, so that the count is of the whole run.
        self.assertEqual(boot.row("plant.print.total")["n"], SAMPLES)

    def test_pacing_alone(self) -> None:
        free = self.boot_planted("plant.print-unlocked", "icount")
        paced = self.boot_planted("plant.print-unlocked", "icount", pace=BAUD)
        count = PRINTS * (len(TEXT) + 1)  # with the CR of each line end
        for boot in (free, paced):
            checks = self.checks_of(boot)
            self.assertEqual((checks["uart_bytes_in_timed"], checks["console_refused_bytes"]),
                             (count, 0))
            outcomes = {one["name"]: one["result"] for one in boot.results["outcomes"]}
            self.assertEqual(outcomes, {"plant.print-unlocked": "passed"})
        hz = paced.results["machine"]["counter_hz"]
        line = (len(TEXT) + 1) * BITS / BAUD
        cost = [boot.row("plant.print-unlocked.total")["p50"] / hz for boot in (free, paced)]
        self.note(f"a print takes {1000 * cost[0]:.3f} ms, paced {1000 * cost[1]:.3f} ms, the line "
                  f"{1000 * line:.3f} ms")
        # Without pacing an emulated UART hides it.
        self.assertLess(cost[0], line / 50)
        self.assertAlmostEqual(cost[1], line, delta=SHARE * line)
        # The first print of all finds an empty FIFO, and is that much cheaper.
        cold = paced.row("plant.print-unlocked.total")["cold"] / hz
        self.assertAlmostEqual(cold, line - (FIFO_BYTES + 1) * BITS / BAUD, delta=SHARE * line)
        reasons = {one["name"]: one["reason"] for one in paced.results["failures"]}
        self.assertIn(f"{1000 * PRINTS * line:.1f} ms of a line at {BAUD} baud",
                      reasons["uart_bytes_in_timed"])

    def test_the_host_alone(self) -> None:
        boot = self.boot_planted("plant.print-uart")
        self.assertEqual(self.checks_of(boot), {
            "uart_bytes_in_timed": 0, "console_refused_bytes": 0,
            "wire_bytes_in_timed": PRINTS * len(TEXT)})
        # The image knows nothing of it.
        self.assertEqual(boot.outcome.status, "passed")
        self.assertEqual([one["name"] for one in boot.results["failures"]],
                         ["wire_bytes_in_timed"])
        self.assertIn(TEXT[:30], boot.results["failures"][0]["reason"])


class Normal(QemuTest):
    """What is planted for tests cannot be in an ordinary image."""

    def test_no_plant(self) -> None:
        self.assertNotIn(b"plant", image_of("qemu-virt").with_name("image.elf").read_bytes())


class Paced(QemuTest):
    """`pace=`: the time of a real line, and nothing else."""

    def boot_paced(self, accel: str, baud: int, samples: int, cpus: int = 2, **values: Any) -> Boot:
        """Boot with a paced console, or with one that is not."""
        words = dict(values, pace=baud) if baud else values
        boot = self.boot(setup_of("qemu-virt", accel=accel, cpus=cpus),
                         words_of(accel, samples=samples, **words))
        self.assert_passed(boot, cpus)
        return boot

    def line_share(self, boot: Boot, baud: int) -> float:
        """The time from the end of timing to the trailer by the counter, over the line's."""
        hz = boot.results["machine"]["counter_hz"]
        marks = boot.decoded.boots[0].marks
        first = next(mark for mark in marks if mark.name == "timed")
        last = next(mark for mark in marks if mark.name == "end")
        begin = boot.log.index(b"@el1b clock", boot.log.index(b"@el1b plan"))
        end = boot.log.index(b"@el1b clock", boot.log.index(b"mark=timed"))
        share = (last.counter - first.counter) / hz / ((end - begin) * BITS / baud)
        self.note(f"{end - begin} bytes at {baud} baud: {share:.4f} of the line's time")
        return share

    def test_the_dump_takes_the_time_of_the_line(self) -> None:
        for baud in (9600, BAUD):
            boot = self.boot_paced("icount", baud, 1000, clock_ms=1, suite="ipi")
            self.assertAlmostEqual(self.line_share(boot, baud), 1, delta=SHARE)

    def test_the_dump_in_time_of_the_host(self) -> None:
        boot = self.boot_paced("single", BAUD, 2000, clock_ms=1, suite="ipi")
        # How much longer depends on what else the host does.
        self.assertGreater(self.line_share(boot, BAUD), 1 - SHARE)

    def test_no_metric_changes(self) -> None:
        # At less than 1 GHz, where in a tick timing starts would show.
        for hz, cpus in ((10**9, 2), (None, 4), (25 * 10**6, 2)):
            boots = [self.boot(setup_of("qemu-virt", accel="icount", cpus=cpus, counter_hz=hz),
                               words_of("icount", samples=100, suite="clock,ipi", **pace))
                     for pace in ({}, {"pace": BAUD})]
            for boot in boots:
                self.assert_passed(boot, cpus)
            self.assertGreater(len(boots[0].results["metrics"]), 10)
            self.assertEqual(boots[0].results["metrics"], boots[1].results["metrics"])
            values = [[row.values for row in boot.decoded.boots[0].rows.values()]
                      for boot in boots]
            self.assertEqual(*values)


class Counter(QemuTest):
    """`run` against the host's clock. A verdict may be missing on a busy host, but never wrong."""

    serial = True
    TRIES = 5

    def verdict(self, *options: str) -> tuple[dict[str, Any], int]:
        """Run until there is a verdict."""
        out = self.folder / "out"
        for _ in range(self.TRIES):
            done = subprocess.run(
                [sys.executable, "-m", "el1bench_host", "run", "--image",
                 str(image_of("qemu-virt")), "--suite", "clock.floor", "--samples", "50",
                 "--cpus", "2", "--out", str(out), "--quiet", *options],
                cwd=paths.SOURCE_TREE / "scripts", capture_output=True, text=True, check=False,
                timeout=120)
            self.note(done.stderr)
            made = json.loads((out / "results.json").read_text("utf-8"))
            counter = made["boots"][0]["counter"]
            self.note(str(counter))
            if counter["verdict"] != "not-known":
                break
        return counter, done.returncode

    def test_right(self) -> None:
        for hz in (25_000_000, 62_500_000, 1_000_000_000):
            counter, status = self.verdict("--counter-hz", str(hz))
            self.assertEqual((counter["verdict"], status), ("right", 0), hz)
            self.assertRegex(counter["text"], "^counter runs at CNTFRQ within 0?[.0-9]+ %")

    def test_a_tick_of_whole_nanoseconds(self) -> None:
        counter, status = self.verdict("--counter-hz", "24000000")
        self.assertEqual((counter["verdict"], status), ("fast", 1))
        self.assertIn("fast by 1.6 %", counter["text"])
        self.assertIn("24000000 Hz is not a whole number of nanoseconds", self.noted[0])

    def test_two_percent(self) -> None:
        # A tick of 49 instead of 49.98 ns.
        counter, status = self.verdict("--counter-hz", "20008003", "--args", "clock_ms=3000")
        self.assertEqual((counter["verdict"], status), ("fast", 1))
        self.assertAlmostEqual(counter["off_percent"], 2.0, delta=counter["uncertainty_percent"])

    def test_icount(self) -> None:
        counter, status = self.verdict("--accel", "icount", "--counter-hz", "24000000")
        self.assertEqual((counter["verdict"], status), ("not-applicable", 0))

    def test_more_than_a_gigahertz_is_refused(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "el1bench_host", "run", "--counter-hz", "1000000001"],
            cwd=paths.SOURCE_TREE / "scripts", capture_output=True, text=True, check=False,
            timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^el1bench: .*1000000001 is not from 1000 to 1000000000")


if __name__ == "__main__":
    unittest.main()
