"""Campaigns on the virtual bench, with a board of a few lines behind it, and the campaign file."""

import json
import os
import re
import select
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Optional
from unittest import mock

from tests.folder import temporary_folder
from tests.host.fake_board import samples_of
from el1bench_host import campaign, campaign_file, campaign_report, paths, relay
from el1bench_host.campaign_store import Store
from el1bench_host.virtual_bench import Bench
from el1bench_host.decoder import decode_log
from el1bench_host.errors import UserError
from el1bench_host.terminal import Terminal

COMMAND = ["/usr/bin/python3", "-s", "-m", "el1bench_host"]
FAKE_BOARD = Path(__file__).with_name("fake_board.py")
BAUD = 1_000_000
FILE = """
[campaign]
name = "test"
out = "out"
iterations = {iterations}
attempts = {attempts}

[console]
port = "{bench}/console"

[power]
relay = "{bench}/relay"
off_seconds = 0
repeat_seconds = 0

[u-boot]
folder = "served"
prompt_seconds = {prompt}
transfer_seconds = 5
"""
CONFIGURATION = """
[[configuration]]
name = "{name}"
image = "image"
arguments = ["el1bench.boot={{iteration}}"]
timeout_seconds = 4
"""
GUEST = """
[[configuration]]
name = "guest"
image = "guest"
start = "booti"
done = "login: $"
fail = ["Kernel panic"]
timeout_seconds = 20

[[configuration.phase]]
name = "kernel"
pattern = "Booting Linux"

[[configuration.phase]]
name = "init"
pattern = "Run /init"

[[configuration.phase]]
name = "login"
pattern = "login:"
"""


class Folder(unittest.TestCase):
    """A folder with a campaign file and what it serves."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "campaign")
        self.served = self.folder / "served"
        self.served.mkdir()
        (self.served / "image").write_bytes(b"image" + bytes(range(256)) * 16)
        (self.served / "guest").write_bytes(b"guest" + bytes(range(256)) * 16)
        self.file = self.folder / "campaign.toml"

    def write(self, *configurations: str, iterations: int = 1, attempts: int = 3,
              prompt: float = 10, also: str = "") -> None:
        """The campaign file."""
        head = FILE.format(bench=self.folder, iterations=iterations, attempts=attempts,
                           prompt=prompt)
        self.file.write_text(head + also + "".join(configurations))

    def start(self, *options: str) -> subprocess.Popen[str]:
        """The campaign, running."""
        child = subprocess.Popen([*COMMAND, "campaign", str(self.file), *options], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 cwd=paths.SOURCE_TREE / "scripts")
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def run_it(self, *options: str) -> tuple[int, str, str]:
        """Exit code, output and errors."""
        child = self.start(*options)
        output, errors = child.communicate(timeout=120)
        return child.returncode, output, errors

    def attempts(self, name: str) -> list[dict[str, Any]]:
        """Every finished attempt of a configuration, in order."""
        return [json.loads(path.read_text()) for path
                in sorted((self.folder / "out" / name).glob("*/attempt.json"))]

    def outcomes(self, name: str) -> list[str]:
        """Their outcomes."""
        return [attempt["outcome"] for attempt in self.attempts(name)]


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
        import fcntl  # pylint: disable=import-outside-toplevel
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


class File(Folder):
    """What is refused in a campaign file, in one line."""

    def refused(self, pattern: str, old: str = "", new: str = "") -> None:
        """The file, with `old` replaced, is refused."""
        self.write(CONFIGURATION.format(name="a"), GUEST)
        text = self.file.read_text()
        self.assertIn(old, text)
        self.file.write_text(text.replace(old, new, 1) if old else text + new)
        with self.assertRaisesRegex(UserError, pattern) as caught:
            campaign_file.read(self.file)
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertNotIn("\n", str(caught.exception))

    def test_mistakes(self) -> None:
        for pattern, old, new in (
                ("not TOML", "", "[[["),
                ("unknown key `timeout_second`, did you mean `timeout_seconds`",
                 "timeout_seconds", "timeout_second"),
                (r"unknown key `nonsense`", "", "\n[nonsense]\n"),
                (r"\[campaign\]: `iterations` is not a whole number", "iterations = 1",
                 "iterations = 0"),
                (r"\[campaign\]: `iterations` is not a whole number", "iterations = 1",
                 "iterations = true"),
                ("`image` cannot be read: .*/none: No such file", '"image"', '"none"'),
                ("`image` is `../x`, which U-Boot cannot", '"image"', '"../x"'),
                (r"\[u-boot\]: `folder` names no folder", '"served"', '"absent"'),
                (r"\[console\]: `port` is missing", "port =", "baud = 9600 #"),
                (r"\[power\]: `relay` is missing", "relay =", "channel = 1 #"),
                ("two configurations are called `a`", '"guest"\nimage', '"a"\nimage'),
                ("`name` is not of letters", 'name = "a"', 'name = "../a"'),
                ("`done` is not a regular expression", '"login: $"', '"("'),
                ("`done` is missing", 'image = "guest"\nstart = "booti"\ndone',
                 'start = "none"\ntree_address = 1\n#'),
                ("phase 1: `pattern` is not a regular", '"Booting Linux"', '"["'),
                ("`phase` has a name twice", 'name = "init"', 'name = "kernel"'),
                ("cannot carry the argument `a;b`", "el1bench.boot={iteration}", "a;b"),
                ("`start` is `jump`, not one of", '"booti"', '"jump"'),
                (r"\[campaign\]: `out` holds a NUL", '"out"', '"o\\u0000"'),
                (r"\[power\]: `on` names no program that can be run: /none/x", "relay =",
                 'on = "/none/x 1"\noff = "true"\n#'),
                ("cannot be none", 'start = "booti"', 'start = "booti"\ntree = "none"')):
            with self.subTest(pattern=pattern, new=new):
                self.refused(pattern, old, new)

    def test_an_empty_image(self) -> None:
        (self.served / "image").write_bytes(b"")
        self.refused("`image` is an empty file")

    def test_no_file(self) -> None:
        with self.assertRaisesRegex(UserError, "cannot read .*: No such file"):
            campaign_file.read(self.folder / "none.toml")

    def test_check_powers_nothing(self) -> None:
        self.write(CONFIGURATION.format(name="a"), GUEST)
        code, output, errors = self.run_it("--check")
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("2 configurations, 1 iterations each", output)


class Examples(Folder):
    """scripts/lab/*.toml, with the files that they name."""

    def test_examples(self) -> None:
        found = sorted((paths.SOURCE_TREE / "scripts" / "lab").glob("*.toml"))
        self.assertEqual(len(found), 4)
        for name in ("vm-tracked", "vm-untracked"):
            (self.served / name).write_bytes(b"guest")
        for path in found:
            with self.subTest(path=path.name):
                text = re.sub(r'(?m)^folder = ".*"', 'folder = "served"', path.read_text())
                self.file.write_text(text)
                campaign_file.read(self.file)

    def test_the_guide(self) -> None:
        page = (paths.SOURCE_TREE / "docs" / "lab.md").read_text()
        text = re.search(r"```toml\n(.*?)```", page, re.S).group(1)
        self.file.write_text(text.replace("/srv/tftp", "served"))
        self.assertEqual([one.name for one in campaign_file.read(self.file).configurations], ["ipi"])
        self.assertEqual(re.findall(r"scripts/lab/relay /dev/odroid-relay (\w+)", page),
                         ["on", "off"])

    def test_the_relay_command(self) -> None:
        terminal = Terminal(self.folder / "relay")
        self.addCleanup(terminal.unplug)
        command = str(paths.SOURCE_TREE / "scripts" / "lab" / "relay")

        def switch(what: str, port: Path = terminal.link) -> tuple[int, str]:
            done = subprocess.run([command, str(port), what], capture_output=True, text=True,
                                  env={**os.environ, "EL1BENCH_RELAY_SECONDS": "0"}, check=False)
            return done.returncode, done.stderr

        for what, frames in (("on", [True] * 2), ("off", [False] * 2),
                             ("cycle", [False] * 2 + [True] * 2)):
            self.assertEqual(switch(what), (0, ""))
            said = b""
            while len(said) < relay.FRAME_BYTES * len(frames):
                self.assertTrue(select.select([terminal.master], [], [], 60)[0], said)
                said += terminal.read()
            self.assertEqual(relay.frames_in(said), (frames, b""))
            self.assertEqual(terminal.speed, relay.BAUD)
        for what, port, pattern in (("up", terminal.link, "`up` is neither on, off nor cycle"),
                                    ("on", self.folder / "none", "none is no port")):
            code, errors = switch(what, port)
            self.assertEqual(code, 2)
            self.assertRegex(errors, f"^.*{pattern}\n$")
        self.assertEqual(terminal.read(), b"")

    def test_names_by_role(self) -> None:
        """Each rule is whole, and gives a name that the examples use."""
        folder = paths.SOURCE_TREE / "scripts"
        names = set()
        for line in (folder / "udev" / "70-el1bench.rules").read_text().splitlines():
            if line and not line.startswith("#"):
                for part in line.split(", "):
                    self.assertRegex(part, r'^[A-Z]+(\{\w+\})?(==|=|\+=)"[^"]+"$')
                names.add(re.search(r'SYMLINK\+="([^"]+)"', line).group(1))
        self.assertEqual(names, {"odroid-console", "odroid-relay"})
        for name in names:
            self.assertIn(f'"/dev/{name}"', (folder / "lab" / "process-spawn.toml").read_text())

    def test_every_key_is_documented(self) -> None:
        page = (paths.SOURCE_TREE / "docs" / "campaign.md").read_text()
        code = Path(campaign_file.__file__).read_text()
        keys = set(re.findall(r'(?:table|one|head|top)\.(?:text|integer|seconds|flag|texts|address|'
                              r'command|tables|table)\("([a-z0-9_-]+)"', code))
        self.assertGreater(len(keys), 25)
        for key in keys:
            self.assertRegex(page, rf"[`\[.]{key}[`\]]")


class Figures(unittest.TestCase):
    """Statistics of the report."""

    def test_interval(self) -> None:
        found = campaign_report.figure([1.0, 2.0, 3.0])
        self.assertEqual((found.n, found.mean, found.low, found.high), (3, 2.0, 1.0, 3.0))
        self.assertAlmostEqual(found.half, 4.303 / 3 ** 0.5, places=3)
        self.assertIsNone(campaign_report.figure([5.0]).half)

    def test_frames(self) -> None:
        self.assertEqual(relay.frame(True), bytes.fromhex("a00101a2"))
        self.assertEqual(relay.frame(False), bytes.fromhex("a00100a1"))
        self.assertEqual(relay.frames_in(b"\x00\xa0" + relay.frame(True) * 2 + b"\xa0\x01"),
                         ([True, True], b"\xa0\x01"))


if __name__ == "__main__":
    unittest.main()
