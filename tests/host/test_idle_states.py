"""Latencies of power states from synthetic logs: how they follow from samples, and what is shown."""

import csv
import io
import json
import subprocess
import unittest
from typing import Any, Optional, Sequence

from tests.folder import temporary_folder
from tests.host.synthetic_log import Boot, Row
from el1bench_host import (cli, idle_states, log_records, report, report_idle_states, results,
                           results_file)
from el1bench_host.decoder import decode_log
from el1bench_host.errors import UserError

HZ = 10_000_000  # a tick is a tenth of a microsecond
ENTRY, EXIT = 400, 95
IDLE = ("kind=core power-state=0x10002 timer-stops=0 tree=used entry-latency-us=40 "
        "exit-latency-us=10 wakeup-latency-us=- min-residency-us=900 : cpu-sleep")


def sweep(entry: int = ENTRY, out: int = EXIT, count: int = 100,
          look: int = 0) -> list[tuple[int, int, bool]]:
    """Delay, latency and whether firmware gave up, of wake-ups spread over a window twice as wide
    as a way in and out."""
    points = []
    for index in range(count):
        delay = index * 2 * (entry + out) // count
        gave_up = delay < look
        back = look if gave_up else max(entry, delay) + out
        points.append((delay, back - delay, gave_up))
    return points


def sweep_rows(points: Sequence[tuple[int, int, bool]], cpu: int = 0,
               case: str = "core.serial") -> list[Row]:
    """The rows of a sweep."""
    rows = [Row(f"psci.wake.{case}.call-to-resume", [one + other for one, other, _ in points], cpu),
            Row(f"psci.wake.{case}.wake-latency", [latency for _, latency, _ in points], cpu)]
    inline = [one + other for one, other, gave_up in points if gave_up]
    return rows + [Row(f"psci.wake.{case}.inline-return", inline, cpu)] * bool(inline)


def sleep_rows(points: Sequence[Optional[tuple[int, int]]], case: str = "core.serial",
               cpu: int = 0) -> list[Row]:
    """The rows of sleeps; None for one that returned to its caller."""
    return [Row(f"psci.suspend.{case}.call-to-resume",
                ["inline" if one is None else sum(one) for one in points], cpu),
            Row(f"psci.suspend.{case}.wake-latency",
                [one[1] for one in points if one is not None], cpu)]


def results_of(rows: Sequence[Row], *idle: str, boots: int = 1, emulated: Optional[str] = None,
               raw: bool = True) -> dict[str, Any]:
    """The results of boots with these rows and `idle` lines, as they are read back."""
    text = b""
    for index in range(boots):
        boot = Boot(index).head(emulated=emulated, hz=HZ)
        for line in idle or (IDLE,):
            boot.line("idle", line)
        text += boot.plan(["psci"], len(rows)).results(rows, raw=raw).end().text()
    decoded = decode_log(text)
    assert [problem.text for problem in decoded.problems] == []
    return json.loads(results_file.to_text(results.make_results(decoded)))


def state_of(made: dict[str, Any]) -> report_idle_states.State:
    """The only state."""
    state, = report_idle_states.states_of(made)
    return state


class Latencies(unittest.TestCase):
    """From points to entry, exit and wake-up latency."""

    def measured(self, rows: Sequence[Row]) -> tuple[int, int, int]:
        """In ticks."""
        record, = results_of(rows)["idle_states"]
        self.assertIsNone(record["why"])
        return record["entry"], record["exit"], record["wakeup"]

    def test_a_way_without_a_look(self) -> None:
        self.assertEqual(self.measured(sweep_rows(sweep())), (ENTRY, EXIT, ENTRY + EXIT))

    def test_a_way_that_can_be_given_up(self) -> None:
        points = sweep(look=150)
        worst = max(latency for delay, latency, _ in points if delay >= 150)
        self.assertEqual(self.measured(sweep_rows(points)), (ENTRY, EXIT, worst))
        self.assertLess(worst, ENTRY + EXIT - 140)

    def test_the_worst_core_and_the_worst_case(self) -> None:
        rows = (sweep_rows(sweep(), 0) + sweep_rows(sweep(entry=600), 1)
                + sweep_rows(sweep(out=200), 0, "core.parallel"))
        # The exit of the one hides some of the entry of the other: 600 + 95 = 495 + 200.
        self.assertEqual(self.measured(rows), (495, 200, 695))

    def test_long_sleeps_have_a_say_in_the_exit(self) -> None:
        sleeps = sleep_rows([(5000, 90), None, (6000, 300), None, (7000, 80)])
        self.assertEqual(self.measured(sweep_rows(sweep()) + sleeps), (195, 300, 495))
        # One that was due in the middle of the entry is no long sleep.
        sleeps = sleep_rows([(5000, 90), None, (100, ENTRY + EXIT - 100)])
        self.assertEqual(self.measured(sweep_rows(sweep()) + sleeps), (ENTRY, EXIT, ENTRY + EXIT))

    def test_firmware_knows_better(self) -> None:
        rows = sweep_rows(sweep()) + [Row("psci.suspend.core.serial.powerdown", [390, 450, 430])]
        self.assertEqual(self.measured(rows), (450, EXIT, ENTRY + EXIT))

    def test_the_promise_holds_for_every_point(self) -> None:
        points = [(delay, latency) for look in (0, 90, 390) for out in (95, 40)
                  for delay, latency, _ in sweep(out=out, look=look)]
        found = idle_states.latencies(idle_states.exit_latency(points, points), points)
        for delay, latency in points:
            self.assertLessEqual(latency, found.exit + max(found.entry - delay, 0))
            self.assertLessEqual(latency, found.wakeup)
        self.assertLessEqual(found.wakeup, found.entry + found.exit)

    def why(self, rows: Sequence[Row], raw: bool = True) -> str:
        """Why there are no latencies."""
        record, = results_of(rows, raw=raw)["idle_states"]
        self.assertEqual((record["entry"], record["exit"], record["wakeup"]), (None, None, None))
        return record["why"]

    def test_too_few_samples(self) -> None:
        rows = sweep_rows(sweep()) + sweep_rows(sweep(count=29), 1)
        self.assertIn("29 samples on some core are too few", self.why(rows))
        self.measured(sweep_rows(sweep()) + sweep_rows(sweep(count=30), 1))

    def test_what_always_returns_is_no_power_down(self) -> None:
        rows = sweep_rows(sweep(look=10**6)) + sleep_rows([None] * 50)
        self.assertIn("nothing is powered down", self.why(rows))
        self.measured(rows + sleep_rows([None] * 49 + [(9000, 90)], cpu=1))

    def test_without_a_sweep_or_its_samples(self) -> None:
        self.assertIn("no samples", self.why(sleep_rows([(5000, 90)] * 50)))
        self.assertIn("no samples", self.why(sweep_rows(sweep()), raw=False))
        self.assertEqual(report_idle_states.states_of(results_of(sweep_rows(sweep()), raw=False)),
                         [])
        self.assertNotIn("idle states", report.render(results_of(sleep_rows([(5000, 90)] * 50)),
                                                      "md"))


class Report(unittest.TestCase):
    """Tables, the node, and where the tree claims too little."""

    def test_rounded_up_to_the_microsecond(self) -> None:
        state = state_of(results_of(sweep_rows(sweep())))
        self.assertEqual(state.measured, {"entry": 40, "exit": 10, "wakeup": 50})
        state = state_of(results_of(sweep_rows(sweep(entry=401, out=101))))
        self.assertEqual(state.measured, {"entry": 41, "exit": 11, "wakeup": 51})

    def check(self, entry: int, out: int, expected: Sequence[str], idle: str = IDLE,
              **how: Any) -> None:
        """A report on such a state: its lines about claims."""
        made = results_of(sweep_rows(sweep(entry, out)), idle, **how)
        self.assertEqual(report_idle_states.shortfalls(made), [
            f"cpu-sleep (core, power state 0x10002): {text}" for text in expected])
        folder = temporary_folder(self, "report")
        (folder / "results.json").write_text(results_file.to_text(made), "ascii")
        done = cli.main(["report", str(folder), "--output", str(folder / "page"), "--format", "md"])
        self.assertEqual(done, 1 if expected else 0)
        self.assertEqual("CLAIMS TOO LITTLE" in (folder / "page").read_text(), bool(expected))

    def test_claims(self) -> None:
        tree = "the device tree claims"
        self.check(400, 100, [])
        self.check(401, 100, [f"{tree} entry-latency-us 40, measured 41",
                              f"{tree} wakeup-latency-us 50, measured 51"])
        self.check(300, 101, [f"{tree} exit-latency-us 10, measured 11"])
        wakeup = IDLE.replace("wakeup-latency-us=-", "wakeup-latency-us=45")
        self.check(400, 100, [f"{tree} wakeup-latency-us 45, measured 50"], wakeup)
        self.check(9000, 9000, [], "kind=core power-state=0x10002 timer-stops=0 tree=- "
                   "entry-latency-us=- exit-latency-us=- wakeup-latency-us=- min-residency-us=- "
                   ": -")
        self.check(9000, 100, ["the board's own device tree claims entry-latency-us 40, measured "
                               "900", "the board's own device tree claims wakeup-latency-us 50, "
                               "measured 910"], IDLE.replace("tree=used", "tree=board"))

    def test_an_emulator_proves_nothing(self) -> None:
        self.check(9000, 100, [], emulated="qemu-7.2-single")
        self.check(9000, 100, [], IDLE.replace("tree=used", "tree=board"),
                   emulated="qemu-7.2-icount")
        self.check(401, 100, ["the device tree claims entry-latency-us 40, measured 41",
                              "the device tree claims wakeup-latency-us 50, measured 51"],
                   emulated="qemu-7.2-icount")
        text = report.render(results_of(sweep_rows(sweep()), emulated="qemu-7.2"), "dts")
        self.assertIn("/* EMULATED by qemu-7.2: no times of a real machine */", text)

    def test_the_worst_of_all_boots(self) -> None:
        made = results_of(sweep_rows(sweep()), boots=3)
        state = state_of(made)
        self.assertEqual((state.boots, state.n, state.n_least), (3, 300, 100))
        made["idle_states"][1]["exit"] = 231
        made["idle_states"][2]["claims"]["exit_latency_us"] = 7
        made["idle_states"][0].update(entry=None, exit=None, wakeup=None, why="lost")
        state = state_of(made)
        self.assertEqual((state.boots, state.measured["exit"], state.claims["exit"]), (2, 24, 7))

    def test_node(self) -> None:
        standby = ("kind=standby power-state=0x1 timer-stops=0 tree=used entry-latency-us=40 "
                   "exit-latency-us=10 wakeup-latency-us=- min-residency-us=1 : ")
        made = results_of(sweep_rows(sweep()) + sweep_rows(sweep(), case="standby.parallel"),
                          f"{standby}cpu-sleep", IDLE.replace("timer-stops=0", "timer-stops=1"))
        text = report.render(made, "dts")
        done = subprocess.run(["dtc", "-I", "dts", "-O", "dts"], input=f"/dts-v1/;\n{text}",
                              check=True, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        # Names differ even where the log's do not; what a residency must exceed is not undercut.
        for words in ("CPU_SLEEP: cpu-sleep {", "CPU_SLEEP_X: cpu-sleep-x {",
                      "min-residency-us = <0x32>", "min-residency-us = <0x384>",
                      'compatible = "arm,idle-state"', 'entry-method = "psci"'):
            self.assertIn(words, done.stdout)
        self.assertEqual(done.stdout.count("local-timer-stop"), 1)
        for output_format in ("md", "term"):
            whole = report.render(made, output_format)
            self.assertIn(text, whole)
            self.assertIn(report.render(made, output_format, "idle-states").strip(), whole)

    def test_no_name_breaks_the_node(self) -> None:
        for name in ("*/ }; evil {", "-", "psci-sleep", "cpu-" + "x" * 60, "cpu-a@1", "cluster-"):
            made = results_of(sweep_rows(sweep()), IDLE.replace(": cpu-sleep", f": {name}"))
            made["machine"]["model"] = "*/ }; evil {"
            text = report.render(made, "dts")
            self.assertIn("CPU_SLEEP: cpu-sleep {", text)
            done = subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb"], capture_output=True,
                                  input=f"/dts-v1/;\n{text}".encode(), check=False, timeout=60)
            self.assertEqual((done.returncode, b"evil" in done.stdout), (0, False))

    def test_csv(self) -> None:
        found = list(csv.DictReader(io.StringIO(
            report.render(results_of(sweep_rows(sweep())), "csv", "idle-states"))))
        self.assertEqual([(row["latency"], row["claimed_us"], row["measured_us"]) for row in found],
                         [("entry", "40", "40"), ("exit", "10", "10"), ("wakeup", "50", "50")])

    def test_nothing_to_show(self) -> None:
        for made in (results_of([]), results_of(sleep_rows([(5000, 90)] * 50))):
            for words in (("term", "idle-states"), ("dts",)):
                with self.assertRaisesRegex(UserError, "no sweeps"):
                    report.render(made, *words)

    def test_older_results(self) -> None:
        made = results_of(sweep_rows(sweep()))
        del made["idle_states"]
        self.assertEqual(report_idle_states.states_of(made), [])

    def test_results_that_are_wrong_are_refused(self) -> None:
        made = results_of(sweep_rows(sweep()))
        folder = temporary_folder(self, "results")
        for key, value in (("entry", "long"), ("claims", {}), ("power_state", 7), ("how", [1]),
                           ("power_state", "zero"), ("why", 3), ("why", None)):
            changed = json.loads(json.dumps(made))
            changed["idle_states"][0].update({key: value})
            if value is None:
                changed["idle_states"][0]["exit"] = None
            (folder / "results.json").write_text(json.dumps(changed), "ascii")
            with self.assertRaises(UserError, msg=(key, value)):
                results_file.load_results(folder)


class Lines(unittest.TestCase):
    """`idle` lines of the log."""

    def test_a_line(self) -> None:
        state = log_records.parse_idle(IDLE)
        self.assertEqual((state.power_state, state.timer_stops, state.entry_latency_us,
                          state.wakeup_latency_us, state.node),
                         (0x10002, False, 40, None, "cpu-sleep"))

    def test_malformed(self) -> None:
        for old, new in (("kind=core", "kind=deep"), ("0x10002", "0x100000000"), ("0x10002", "-"),
                         ("timer-stops=0", "timer-stops=2"), ("tree=used", "tree=x0"),
                         ("=40", "=-1"), ("=40", "=1e3"), ("exit-latency-us=10 ", "")):
            with self.assertRaises(log_records.Malformed, msg=new):
                log_records.parse_idle(IDLE.replace(old, new))


if __name__ == "__main__":
    unittest.main()
