"""The counter against the host's clock: right verdicts, and none where nothing can be told."""

import random
import unittest
import zlib
from typing import Callable, Optional, Sequence

from el1bench_host import counter_check, decoder, report, results, run
from el1bench_host.decoded_log import DecodedLog
from el1bench_host.counter_check import Mark
from tests.host.synthetic_log import Boot, Row

GAP_SECONDS = 0.015
MARKS = 8
EPOCH = 7000.0


def marks_of(seconds: float, hz: float, delay: Callable[[int], float], first: int = 12345,
             ) -> list[Mark]:
    """Marks around an interval, by a counter that runs at `hz`; `delay` of each by its index."""
    starts = [index * GAP_SECONDS for index in range(MARKS)]
    times = starts + [seconds + start for start in starts]
    return [Mark("begin" if index < MARKS else "end", first + round(time * hz),
                 EPOCH + time + delay(index)) for index, time in enumerate(times)]


def check(seconds: float, hz: float, claimed: int, delay: Callable[[int], float],
          emulator: str = "") -> counter_check.Verdict:
    """The verdict on a counter at `hz` whose CNTFRQ says `claimed`."""
    return counter_check.check(marks_of(seconds, hz, delay), claimed, emulator)


def prompt(_: int) -> float:
    """Every line arrives at once."""
    return 0.005


def jittery(seed: int, least: float, most: float) -> Callable[[int], float]:
    """Delays as of an adapter that sends on a timer."""
    draw = random.Random(seed)
    return lambda _: draw.uniform(least, most)


class Verdicts(unittest.TestCase):
    """check()."""

    def test_right(self) -> None:
        for hz in (24_000_000, 62_500_000, 1_000_000_000):
            verdict = check(0.7, hz, hz, prompt)
            self.assertEqual(verdict.verdict, "right", verdict)
            self.assertRegex(verdict.text, r"^counter runs at CNTFRQ within 0\.\d+ %, over 0\.")
            self.assertFalse(verdict.failed)

    def test_fast_and_slow(self) -> None:
        # 24 MHz in whole nanoseconds: a tick every 41.
        verdict = check(0.7, 1e9 / 41, 24_000_000, prompt)
        self.assertEqual(verdict.verdict, "fast")
        self.assertRegex(verdict.text, r"fast by 1\.6 % .*24000000 Hz.*2\.439e\+07$")
        self.assertTrue(verdict.failed)
        verdict = check(0.7, 24_000_000, 25_165_824, prompt)
        self.assertEqual(verdict.verdict, "slow")
        self.assertRegex(verdict.text, r"slow by 4\.6 %")

    def test_far_off(self) -> None:
        for hz, word in ((1e9, "fast"), (1e6, "slow")):
            self.assertEqual(check(5, hz, 24_000_000, prompt).verdict, word)

    def test_two_percent_in_ten_seconds_by_any_adapter(self) -> None:
        """A latency timer of 16 ms, as USB adapters have."""
        for seed in range(200):
            delay = jittery(seed, 0.005, 0.021)
            self.assertIn(check(10, 24_480_000, 24_000_000, delay).verdict, ("fast", "not-known"))
            self.assertIn(check(10, 24_000_000, 24_000_000, delay).verdict, ("right", "not-known"))
        known = sum(check(10, 24_480_000, 24_000_000, jittery(seed, 0.005, 0.021)).failed
                    for seed in range(200))
        self.assertGreater(known, 120)
        for seed in range(200):
            delay = jittery(seed, 0.001, 0.004)
            self.assertEqual(check(10, 24_480_000, 24_000_000, delay).verdict, "fast")
            self.assertEqual(check(10, 23_520_000, 24_000_000, delay).verdict, "slow")
            self.assertEqual(check(10, 24_000_000, 24_000_000, delay).verdict, "right")

    def test_never_a_false_verdict(self) -> None:
        """Whatever the delays are: right counters are never called wrong, nor wrong ones right."""
        for seed in range(3000):
            draw = random.Random(seed)
            most = draw.choice((0.002, 0.01, 0.03))
            seconds = draw.choice((0.2, 0.7, 3.0))
            delay = jittery(seed, 0, most)
            self.assertNotIn(check(seconds, 24e6, 24_000_000, delay).verdict, ("fast", "slow"),
                             (seed, most, seconds))
            self.assertNotIn(check(seconds, 24.8e6, 24_000_000, delay).verdict, ("right", "slow"),
                             (seed, most, seconds))

    def test_too_short(self) -> None:
        verdict = check(0.1, 24e6, 24_000_000, jittery(1, 0, 0.004))
        self.assertEqual(verdict.verdict, "not-known")
        self.assertRegex(verdict.text, "too short|too unevenly")

    def test_held_up_together(self) -> None:
        """A host that looked away for the whole of one end: all of it arrives at once."""
        marks = marks_of(0.7, 24e6, prompt)
        late = [Mark(mark.name, mark.counter, EPOCH + 1.5) if mark.name == "end" else mark
                for mark in marks]
        verdict = counter_check.check(late, 24_000_000)
        self.assertEqual(verdict.verdict, "not-known")
        self.assertIn("too unevenly", verdict.text)

    def test_one_straggler_does_not_matter(self) -> None:
        verdict = check(0.7, 24e6, 24_000_000, lambda index: 0.2 if index == 9 else 0.001)
        self.assertEqual(verdict.verdict, "right")

    def test_nothing_to_go_by(self) -> None:
        marks = marks_of(0.7, 24e6, prompt)
        cases: list[tuple[Sequence[Mark], Optional[int], str]] = [
            (marks, 0, "CNTFRQ_EL0 is 0"), (marks, None, "CNTFRQ_EL0 is 0"),
            (marks[:MARKS], 24_000_000, "lacks marks"), (marks[:1] + marks[-1:], 24_000_000,
                                                         "lacks marks"),
            ([Mark(mark.name, mark.counter) for mark in marks], 24_000_000, "when its lines"),
            ([Mark(mark.name, mark.counter, EPOCH) for mark in marks], 24_000_000, "order"),
            ([Mark(mark.name, 0, mark.arrived) for mark in marks], 24_000_000, "order"),
            ([Mark(mark.name, -mark.counter, mark.arrived) for mark in marks], 24_000_000, "order"),
        ]
        for given, hz, words in cases:
            verdict = counter_check.check(given, hz)
            self.assertEqual(verdict.verdict, "not-known", words)
            self.assertIn(words, verdict.text)

    def test_icount(self) -> None:
        self.assertEqual(check(0.7, 1e9, 24_000_000, prompt, "qemu-7.2.22-icount").verdict,
                         "not-applicable")

    def test_worst(self) -> None:
        right = check(0.7, 24e6, 24_000_000, prompt)
        fast = check(0.7, 25e6, 24_000_000, prompt)
        unknown = counter_check.check([], 24_000_000)
        self.assertIs(counter_check.worst([right, unknown, fast]), fast)
        self.assertIs(counter_check.worst([right, unknown]), unknown)
        self.assertIsNone(counter_check.worst([]))


def clock_boot(seconds: float, hz: float, claimed: int = 62_500_000, noise: str = "",
               cpus: int = 2) -> tuple[Boot, list[Mark]]:
    """A boot with marks, and the marks."""
    marks = marks_of(seconds, hz, prompt)
    boot = Boot().head(emulated=None, hz=claimed, cpus=cpus)
    for mark in marks[:MARKS]:
        boot.line("clock", f"mark=begin counter={mark.counter}")
    boot.plan(["clock.floor"])
    boot.chatter[len(boot.lines)] = noise
    boot.line("clock", f"mark=timed counter={marks[MARKS - 1].counter + 1}")
    boot.results([Row("clock.floor.pair", [2] * 40)], outcomes=["clock.floor passed"])
    for mark in marks[MARKS:]:
        boot.line("clock", f"mark=end counter={mark.counter}")
    return boot.end(), marks


def stamped(boot: Boot, marks: Sequence[Mark]) -> bytes:
    """The log with each line's time of arrival before it."""
    times = {f"mark={mark.name} counter={mark.counter} ": mark.arrived for mark in marks}
    now = EPOCH
    lines = []
    for line in boot.text().decode().splitlines(keepends=True):
        now = max(now, next((time for text, time in times.items() if text in line), now))
        lines.append(f"{now:.6f}\t{line}")
    return "".join(lines).encode()


def arrivals_of(data: bytes) -> tuple[bytes, list[tuple[int, float]]]:
    """A stamped log as plain bytes and the times of their arrival."""
    plain, found = b"", []
    for line in data.splitlines(keepends=True):
        stamp, _, text = line.partition(b"\t")
        plain += text
        found.append((len(plain), float(stamp)))
    return plain, found


class Logs(unittest.TestCase):
    """From a log with times of arrival to the report."""

    def decode(self, data: bytes, arrivals: Sequence[tuple[int, float]] = ()
               ) -> tuple[DecodedLog, dict]:
        """The decoded log and its results."""
        decoded = decoder.decode_log(data, arrivals)
        self.assertEqual(decoded.problems, [])
        return decoded, results.make_results(decoded)

    def test_stamped_lines_and_arrivals_say_the_same(self) -> None:
        data = stamped(*clock_boot(0.7, 62.5e6))
        decoded, made = self.decode(data)
        self.assertEqual(decoded.status(), "passed")
        self.assertEqual(made["boots"][0]["counter"]["verdict"], "right")
        self.assertEqual(made["run"]["host"]["counter"], made["boots"][0]["counter"]["text"])
        self.assertIn("counter runs at CNTFRQ within", report.render(made, "md"))
        again = self.decode(*arrivals_of(data))[1]
        self.assertEqual(made, again)

    def test_several_boots(self) -> None:
        logs, outcomes = b"", []
        for number, hz in enumerate((62.5e6, 63.8e6)):
            boot, marks = clock_boot(0.7, hz)
            plain, arrivals = arrivals_of(stamped(boot, marks))
            logs += plain.replace(b"boot=0", b"boot=%d" % number) + run.BOOT_SEPARATOR
            outcomes.append(run.Outcome("passed", True, arrivals=arrivals))
        logs = b"\n".join(_mend(line) if b" begin " in line else line
                          for line in logs.split(b"\n"))
        made = self.decode(logs, run.log_arrivals(outcomes))[1]
        self.assertEqual([boot["counter"]["verdict"] for boot in made["boots"]],
                         ["right", "fast"])
        self.assertIn("fast by 2.1 %", made["run"]["host"]["counter"])

    def test_a_wrong_counter_fails_the_run(self) -> None:
        decoded, made = self.decode(stamped(*clock_boot(0.7, 63.8e6)))
        self.assertEqual((decoded.status(), decoded.exit_code()), ("failed", 1))
        self.assertEqual([one["name"] for one in made["failures"]], ["counter"])
        self.assertIn("fast by 2.1 %", made["failures"][0]["reason"])
        self.assertIn("fast by 2.1 %", report.render(made, "term"))

    def test_without_times(self) -> None:
        decoded, made = self.decode(clock_boot(0.7, 63.8e6)[0].text())
        self.assertEqual(decoded.status(), "passed")
        self.assertEqual(made["boots"][0]["counter"]["verdict"], "not-known")

    def test_without_marks(self) -> None:
        boot = Boot().head().plan(["clock.floor"]).results([Row("clock.floor.pair", [2] * 40)])
        made = self.decode(boot.end().text())[1]
        self.assertIsNone(made["boots"][0]["counter"])
        self.assertIn("not held against the host's clock", report.render(made, "term"))

    def test_silence_while_measuring(self) -> None:
        for stamps in (False, True):
            for noise in ("", "NOTICE:  el3 speaks\r\n", "cut in"):
                boot, marks = clock_boot(0.7, 62.5e6, noise=noise)
                decoded, made = self.decode(stamped(boot, marks) if stamps else boot.text())
                self.assertEqual(made["run"]["checks"]["wire_bytes_in_timed"], len(noise))
                self.assertEqual(decoded.status(), "failed" if noise else "passed")
                reasons = {one["name"]: one["reason"] for one in made["failures"]}
                self.assertEqual(set(reasons), {"wire_bytes_in_timed"} if noise else set())
                if noise:
                    self.assertIn(noise.strip(), reasons["wire_bytes_in_timed"])

    def test_remarks_of_capture_are_no_noise(self) -> None:
        data = stamped(*clock_boot(0.7, 62.5e6))
        at = data.index(b"\n", data.index(b"@el1b plan")) + 1
        data = data[:at] + b"7001.000000\t--- disconnected ---\n" + data[at:]
        self.assertEqual(self.decode(data)[1]["run"]["checks"]["wire_bytes_in_timed"], 0)

    def test_cost_of_output_on_the_line(self) -> None:
        boot = Boot().head()
        boot.plan(["x"]).results([], uart_bytes_in_timed=1152)
        made = self.decode(boot.end("failed").text())[1]
        self.assertIn("100.0 ms of a line at 115200 baud", made["failures"][0]["reason"])
        text = boot.text().replace(b"arguments : el1bench.seed=1", b"arguments : el1bench.pace=9600")
        made = results.make_results(decoder.decode_log(
            b"\n".join(_mend(line) for line in text.split(b"\r\n"))))
        self.assertIn("1200.0 ms of a line at 9600 baud", made["failures"][0]["reason"])

    def test_cores_that_disagree_on_the_frequency(self) -> None:
        boot = Boot().head(cpus=1)
        boot.line("cpu", "index=1 mpidr=0x80000001 midr=0x410fd034 cluster=0 core=1 "
                         "counter-hz=24000000 entry-el=1")
        boot.plan(["x"]).results([])
        decoded, made = self.decode(boot.end().text())
        self.assertEqual(decoded.status(), "failed")
        self.assertEqual(made["failures"][0]["name"], "counter")
        self.assertIn("core 1 says CNTFRQ 24000000 Hz, core 0 62500000",
                      made["failures"][0]["reason"])

    def test_no_frequency_no_nanoseconds(self) -> None:
        boot = Boot().head(hz=0).plan(["clock.floor"]).results(
            [Row("clock.floor.pair", [2000] * 20 + [2001] * 20)])
        made = self.decode(boot.end().text())[1]
        self.assertEqual(made["machine"]["counter_hz"], 0)
        for kind in ("term", "md", "csv"):
            text = report.render(made, kind)
            self.assertIn("2000", text)
        row = next(line for line in report.render(made, "term").splitlines() if "floor" in line)
        self.assertEqual(row.split()[-1], "-")


def _mend(line: bytes) -> bytes:
    """A machine line with the checksum that it should have."""
    body, mark, rest = line.rpartition(b" *")
    return body + b" *%08x" % zlib.crc32(body) + rest[8:] if mark else line


if __name__ == "__main__":
    unittest.main()
