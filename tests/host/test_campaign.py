"""Campaigns on the virtual bench, with a board of a few lines behind it."""

import fcntl
import json
import os
import select
import signal
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Optional
from unittest import mock

from tests.host.campaign_folder import CONFIGURATION, GUEST, Folder
from tests.host.fake_board import samples_of
from el1bench_host import campaign, campaign_file, relay
from el1bench_host.campaign_store import Store
from el1bench_host.decoder import decode_log
from el1bench_host.errors import UserError
from el1bench_host.terminal import Terminal
from el1bench_host.virtual_bench import Bench

FAKE_BOARD = Path(__file__).with_name("fake_board.py")
BAUD = 1_000_000


class OnTheBench(Folder):
    """Whole campaigns."""

    def bench(self, faults: Optional[dict[int, str]] = None, dialect: str = "mainline") -> Bench:
        """A bench that serves until the test ends."""
        bench = Bench(self.folder,
                      lambda fault: ["/usr/bin/python3", "-s", str(FAKE_BOARD), str(self.served),
                                     dialect, fault], baud=BAUD, faults=faults)
        thread = threading.Thread(target=bench.run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(bench.stop)
        return bench

    def wait_off(self, bench: Bench) -> None:
        """Until the board is off: the last frame may be on its way."""
        deadline = time.monotonic() + 10
        while bench.on and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(bench.on)

    def rows(self, name: str) -> dict[int, float]:
        """The mean of each boot of a configuration."""
        data = json.loads((self.folder / "out" / name / "results.json").read_text())
        self.assertEqual(data["failures"], [])
        return {row["boot"]: row["mean"] for row in data["metrics"]}

    def expected(self, iterations: int) -> dict[int, float]:
        """What the fake board measures."""
        return {number: sum(samples_of(number)) / 100 for number in range(iterations)}

    def assert_rows(self, name: str, iterations: int) -> None:
        """Every iteration's numbers are there, once, and as they were measured."""
        found = self.rows(name)
        self.assertEqual(sorted(found), list(range(iterations)))
        for number, mean in self.expected(iterations).items():
            self.assertAlmostEqual(found[number], mean, places=2)

    def test_three_configurations(self) -> None:
        bench = self.bench()
        self.write(*(CONFIGURATION.format(name=name) for name in "ab"), GUEST, iterations=2)
        code, output, errors = self.run_it()
        self.assertEqual(code, 0, errors)
        self.wait_off(bench)
        self.assertEqual(bench.power_ons, 6)
        for name in ("a", "b", "guest"):
            self.assertEqual(self.outcomes(name), ["ok", "ok"])
            self.assertRegex(output, rf"\| {name} +\| 2/2 +\| 2 ")
        for name in "ab":
            self.assert_rows(name, 2)
        names = [phase["name"] for phase in self.attempts("guest")[0]["phases"]]
        self.assertEqual(names, ["kernel", "init", "login"])
        self.assertEqual([phase["guest"] for phase in self.attempts("guest")[0]["phases"]],
                         [0.0, 1.0, None])
        # The fake's counter shows 12345 at 62.5 MHz.
        self.assertEqual([attempt["counter_at_entry"] for attempt in self.attempts("a")],
                         [0.00019752] * 2)
        report = (self.folder / "out" / "report.md").read_text()
        self.assertIn("| boot.counter-at-entry |", report)
        self.assertIn("## a: what the image measured", report)

    def test_vendor_dialect(self) -> None:
        self.bench(dialect="vendor")
        self.write(CONFIGURATION.format(name="a"))
        code, _, errors = self.run_it()
        self.assertEqual(code, 0, errors)

    def test_faster_samples(self) -> None:
        """The console follows the image to another speed and back; without that, all is garbage."""
        self.bench()
        faster = CONFIGURATION.format(name="a").replace("timeout_seconds = 4",
                                                        "timeout_seconds = 60")
        self.write(faster.replace('{iteration}"', '{iteration}", "el1bench.baud=921600"'),
                   iterations=2, attempts=1)
        code, _, errors = self.run_it()
        self.assertEqual(code, 0, errors)
        self.assert_rows("a", 2)

    def test_each_fault_has_its_name_and_spoils_nothing(self) -> None:
        faults = {0: "silent-relay", 2: "no-prompt", 4: "tftp-stall", 6: "wrong-file",
                  8: "other-file", 10: "noise", 12: "lost", 14: "unplug", 16: "hang"}
        outcomes = {"silent-relay": "no-prompt", "no-prompt": "no-prompt",
                    "tftp-stall": "tftp-failed", "wrong-file": "tftp-failed",
                    "other-file": "tftp-failed", "noise": "truncated", "lost": "truncated",
                    "unplug": "truncated", "hang": "timeout"}
        bench = self.bench(faults)
        # A bench that hits each try that comes first; the second one is good.
        self.write(CONFIGURATION.format(name="a"), iterations=len(faults), prompt=3)
        code, _, errors = self.run_it()
        self.assertEqual(code, 0, errors)
        self.wait_off(bench)
        made = self.attempts("a")
        self.assertEqual([attempt["outcome"] for attempt in made],
                         [outcome for fault in faults.values() for outcome in
                          (outcomes[fault], "ok")],
                         [(attempt["outcome"], attempt["reason"]) for attempt in made])
        self.assertEqual(made[0]["reason"], "the board said nothing at all")
        self.assert_rows("a", len(faults))
        for attempt in made:
            folder = self.folder / "out" / "a" / f"{attempt['iteration']:04}-{attempt['number']}"
            self.assertTrue((folder / "console.log").exists())

    def test_a_failure_is_a_finding(self) -> None:
        self.bench()
        (self.served / "guest").write_bytes(b"panic" + bytes(100))
        self.write(GUEST)
        code, _, errors = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("Kernel panic - not syncing: x", errors)
        self.assertEqual(self.outcomes("guest"), ["failed"])

    def check_watchdog(self, content: bytes, dialect: str, reason: str) -> dict[str, Any]:
        """An image that hangs once, with a watchdog; its one attempt."""
        bench = self.bench(dialect=dialect)
        (self.served / "image").write_bytes(content)
        self.write(CONFIGURATION.format(name="a").replace(
            '{iteration}"', '{iteration}", "el1bench.watchdog=on"'), prompt=3)
        code, _, errors = self.run_it()
        self.assertEqual(code, 1, errors)
        attempt, = self.attempts("a")
        self.assertEqual(attempt["outcome"], "failed")
        self.assertRegex(attempt["reason"], "^the board has reset itself; last line before: "
                         f".* plan .*; {reason}$")
        self.assertLess(attempt["seconds"]["started"], attempt["seconds"]["reset"])
        # The power was not touched in between: memory would be lost.
        self.wait_off(bench)
        self.assertEqual(bench.power_ons, 1)
        return attempt

    def test_a_board_that_its_watchdog_resets(self) -> None:
        attempt = self.check_watchdog(
            b"hangs", "vendor", "1 of 2 benchmarks had finished, their samples are in the log")
        self.assertEqual(attempt["survived"], {"finished": 1, "benchmarks": 2})
        decoded = decode_log(self.folder / "out" / "a" / "0000-1" / "console.log")
        self.assertEqual(decoded.boots[0].survived.finished, 1)

    def test_a_board_that_its_watchdog_resets_and_that_forgets(self) -> None:
        attempt = self.check_watchdog(b"hangs and forgets", "mainline",
                                      "nothing of it was left in memory")
        self.assertIsNone(attempt["survived"])

    def test_a_board_that_resets_itself(self) -> None:
        self.bench()
        (self.served / "image").write_bytes(b"hangs")
        self.write(CONFIGURATION.format(name="a"), attempts=2)
        self.assertEqual(self.run_it()[0], 3)
        self.assertEqual(self.outcomes("a"), ["truncated"] * 2)
        self.assertRegex(self.attempts("a")[0]["reason"], "^the board has reset itself")

    def test_attempts_are_used_up(self) -> None:
        bench = self.bench({number: "silent-relay" for number in range(2)})
        self.write(CONFIGURATION.format(name="a"), attempts=2, prompt=0.2)
        self.assertEqual(self.run_it()[0], 3)
        self.assertEqual(self.run_it()[0], 3)
        self.assertEqual(self.outcomes("a"), ["no-prompt"] * 2)
        self.assertEqual(bench.power_ons, 2)

    def test_killed_and_resumed(self) -> None:
        bench = self.bench()
        self.write(CONFIGURATION.format(name="a"), iterations=6)
        child = self.start()
        deadline = time.monotonic() + 60
        # In the middle of the third iteration: its log is there, its end is not.
        while not list((self.folder / "out" / "a").glob("0002-*/console.log")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.wait()
        before = {path: path.read_bytes() for path in
                  (self.folder / "out").glob("a/*/*") if (path.parent / "attempt.json").exists()}
        self.assertGreaterEqual(len(before), 4)
        code, _, errors = self.run_it()
        self.assertEqual(code, 0, errors)
        self.assertRegex(errors, "going on: [23] of 6 iterations are there")
        self.assertEqual(self.outcomes("a"), ["ok"] * 6)
        self.assert_rows("a", 6)
        for path, data in before.items():
            self.assertEqual(path.read_bytes(), data, path)
        power_ons = bench.power_ons
        self.assertEqual(self.run_it()[0], 0)
        self.assertEqual(bench.power_ons, power_ons)

    def test_another_campaign_in_the_folder(self) -> None:
        self.bench()
        self.write(CONFIGURATION.format(name="a"))
        self.assertEqual(self.run_it()[0], 0)
        (self.served / "image").write_bytes(b"another image")
        code, _, errors = self.run_it()
        self.assertEqual(code, 2)
        self.assertRegex(errors, r"^el1bench: .* holds another campaign \(not the same: files\).*\n$")

    def test_refused_before_anything_is_powered(self) -> None:
        bench = self.bench()
        self.write(CONFIGURATION.format(name="a"))
        holder = os.open(self.folder / "console", os.O_RDWR | os.O_NOCTTY)
        self.addCleanup(os.close, holder)
        fcntl.flock(holder, fcntl.LOCK_EX)
        code, _, errors = self.run_it()
        self.assertEqual(code, 2)
        self.assertRegex(errors, "^el1bench: cannot open .*console: another program uses it\n$")
        fcntl.flock(holder, fcntl.LOCK_UN)
        self.file.write_text(self.file.read_text().replace("/relay", "/no-relay"))
        code, _, errors = self.run_it()
        self.assertEqual(code, 2)
        self.assertRegex(errors, "^el1bench: cannot open .*no-relay: No such file or directory\n$")
        self.assertEqual(bench.power_ons, 0)

    def test_power_by_command(self) -> None:
        bench = self.bench()
        self.write(CONFIGURATION.format(name="a"), attempts=1)
        frames = {name: self.folder / name for name in ("on", "off")}
        for name, path in frames.items():
            path.write_bytes(relay.frame(name == "on"))
        text = self.file.read_text().replace(
            f'relay = "{self.folder}/relay"',
            "\n".join(f"{name} = \"dd status=none if={path} of={self.folder}/relay\""
                      for name, path in frames.items()))
        self.file.write_text(text)
        self.assertEqual(self.run_it()[0], 0)
        self.assertEqual(bench.power_ons, 1)
        (self.folder / "out").rename(self.folder / "first")
        self.file.write_text(text.replace('on = "dd', 'on = "false dd'))
        code, _, errors = self.run_it()
        self.assertEqual(code, 3)
        self.assertEqual(self.outcomes("a"), ["no-prompt"])
        self.assertIn("power: false ended with status 1", errors)


class Vanishing(Folder):
    """A bench whose devices go for good: one line, and nothing is left waiting."""

    def vanish(self, device: str) -> tuple[str, list[str]]:
        """The error of a campaign whose device goes after power-on, and the outcomes."""
        terminals = {name: Terminal(self.folder / name) for name in ("console", "relay")}
        for terminal in terminals.values():
            self.addCleanup(terminal.unplug)
        self.write(CONFIGURATION.format(name="a"), prompt=0.5)
        described = campaign_file.read(self.file)
        store = Store(described)
        self.addCleanup(store.close)

        def unplug() -> None:
            seen = b""
            while relay.frame(True) * 2 not in seen:
                select.select([terminals["relay"].master], [], [], 60)
                seen += terminals["relay"].read()
            terminals[device].unplug()

        thread = threading.Thread(target=unplug)
        thread.start()
        self.addCleanup(thread.join)
        with mock.patch.object(campaign, "REPLUG_SECONDS", 0.2), \
                self.assertRaises(UserError) as caught:
            campaign.Bench(described, store, True).run()
        self.assertEqual(caught.exception.exit_code, 3)
        return str(caught.exception), self.outcomes("a")

    def test_console(self) -> None:
        error, outcomes = self.vanish("console")
        self.assertRegex(error, r"^cannot open .*/console: No such file or directory, for 0 s$")
        self.assertEqual(outcomes, ["truncated"])

    def test_relay(self) -> None:
        error, outcomes = self.vanish("relay")
        self.assertRegex(error, r"^power: .*/relay is gone$")
        self.assertEqual(outcomes, ["no-prompt"])


if __name__ == "__main__":
    unittest.main()
