"""Capturing a console: what is stamped, what is kept, and how exact the stamps are."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
import tty
import unittest
from typing import Any, Optional, Sequence
from unittest import mock

from tests.folder import temporary_folder
from tests.host.synthetic_log import Boot, Row
from el1bench_host import paths
from el1bench_host.decoder import decode_log
from el1bench_host.prompt import prompt
from el1bench_host.stamped_log import StampedLog, read_stamps
from el1bench_host.terminal import Terminal

COMMAND = ["/usr/bin/python3", "-s", "-m", "el1bench_host"]
BYTE_SECONDS = 10 / 115200
LINES = 1000
LINE = b"line %4d\r\n"
ROWS = (Row("clock.floor.pair", [2] * 100, cold=3),)


class Sink:
    """An unbuffered file in memory."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        """Append."""
        self.data += bytes(data)


class Stamps(unittest.TestCase):
    """StampedLog by itself."""

    def setUp(self) -> None:
        self.sink = Sink()
        self.seen: list[tuple[float, bytes]] = []
        self.log = StampedLog(self.sink, 100.0, 0.0001,
                              lambda stamp, line: self.seen.append((stamp, line)))

    def test_first_byte_counts(self) -> None:
        self.log.feed(b"a", 101.0)
        self.log.feed(b"bc\r\n", 109.0)
        self.assertEqual(self.sink.data, b"1.000000\tabc\r\n")
        self.assertEqual([line for _, line in self.seen], [b"a", b"abc"])

    def test_bytes_read_together_are_set_apart(self) -> None:
        self.log.feed(b"x\n", 101.0)
        self.log.feed(b"a\nbcde\nf", 102.0)
        self.assertEqual([stamp for stamp, _ in read_stamps(self.sink.data)],
                         [0.9999, 1.9993, 1.9995, 2.0])

    def test_never_before_the_previous_read(self) -> None:
        self.log.feed(b"x\n", 101.0)
        self.log.feed(b"a\n" * 100, 101.001)
        self.assertEqual(list(read_stamps(self.sink.data))[1][0], 1.0)

    def test_a_note_ends_the_line(self) -> None:
        self.log.feed(b"half", 101.0)
        self.log.note("gone", 102.0)
        self.log.feed(b"new", 103.0)
        self.assertEqual([line for _, line in read_stamps(self.sink.data)],
                         [b"half", b"--- gone ---", b"new"])


class Command(unittest.TestCase):
    """Runs the command."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "capture")
        self.out = self.folder / "out"

    def start(self, port: str, *options: str) -> subprocess.Popen[str]:
        """The command, running and with its log there."""
        child = subprocess.Popen([*COMMAND, "capture", port, "--out", str(self.out), *options],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 cwd=paths.SOURCE_TREE / "scripts")
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def run_it(self, port: str, *options: str) -> tuple[int, str]:
        """Exit code and standard error."""
        child = self.start(port, *options)
        _, errors = child.communicate(timeout=60)
        return child.returncode, errors

    def wait_for(self, text: bytes, child: Optional[subprocess.Popen[Any]] = None) -> None:
        """Until the log holds `text`."""
        deadline = time.monotonic() + 60
        log = self.out / "console.log"
        while not (log.exists() and text in log.read_bytes()):
            if time.monotonic() > deadline or (child and child.poll() is not None):
                self.fail(f"{text!r} is not in the log")
            time.sleep(0.01)

    def log(self) -> bytes:
        """The log."""
        return (self.out / "console.log").read_bytes()

    def terminal(self) -> Terminal:
        """A port."""
        terminal = Terminal(self.folder / "port")
        self.addCleanup(terminal.unplug)
        return terminal


class Capture(Command):
    """From a port to a log."""

    def test_a_file_decodes_the_same(self) -> None:
        plain = Boot().head().plan(["clock.floor"]).results(ROWS).end().text()
        (self.folder / "log").write_bytes(plain + b"no line end")
        self.assertEqual(self.run_it(str(self.folder / "log")), (0, ""))
        lines = [line for _, line in read_stamps(self.log())]
        self.assertEqual(lines, [line.rstrip(b"\r") for line in
                                 (plain + b"no line end").split(b"\n")])
        before, after = decode_log(plain), decode_log(self.log())
        self.assertEqual(after.problems, before.problems)
        self.assertEqual(after.boots[0].info, before.boots[0].info)

    def test_until_matches_an_unfinished_line(self) -> None:
        terminal = self.terminal()
        child = self.start(str(terminal.link), "--until", "login: $")
        self.wait_for(b"", child)
        terminal.write(b"board login: ")
        _, errors = child.communicate(timeout=60)
        self.assertEqual((child.returncode, errors), (0, ""))
        self.assertTrue(self.log().endswith(b"\tboard login: "))

    def test_written_through_and_whole_after_a_kill(self) -> None:
        terminal = self.terminal()
        child = self.start(str(terminal.link))
        self.wait_for(b"", child)
        terminal.write(b"first\r\nsecond, unfini")
        self.wait_for(b"unfini", child)
        child.kill()
        child.wait()
        self.assertEqual([line for _, line in read_stamps(self.log())],
                         [b"first", b"second, unfini"])

    def test_a_port_that_goes_and_comes_back(self) -> None:
        terminal = self.terminal()
        child = self.start(str(terminal.link))
        self.wait_for(b"", child)
        terminal.write(b"before")
        self.wait_for(b"before", child)
        terminal.unplug()
        self.wait_for(b"is gone", child)
        terminal.plug()
        self.wait_for(b"is back", child)
        terminal.write(b"after\n")
        self.wait_for(b"after", child)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0)
        lines = [line for _, line in read_stamps(self.log())]
        self.assertEqual((lines[0], lines[-1]), (b"before", b"after"))

    def test_refusals(self) -> None:
        terminal = self.terminal()
        holder = self.start(str(terminal.link))
        self.wait_for(b"", holder)
        self.out = self.folder / "other"
        for port, options, pattern in (
                (str(terminal.link), (), "cannot open .*: another program uses it"),
                (str(self.folder / "none"), (), "cannot open .*: No such file or directory"),
                ("nonsense://x", (), "cannot open nonsense"),
                ("/dev/null", (), "cannot open /dev/null: it is no serial port"),
                ("socket://127.0.0.1:1", (), "cannot open socket:.*:1: .*Connection refused"),
                ("/etc/hostname", ("--until", "("), "is not a regular expression"),
                ("/etc/hostname", ("--timeout", "-1"), "is not a time"),
                ("/etc/hostname", ("--baud", "0"), "is no speed")):
            with self.subTest(port=port, options=options):
                code, errors = self.run_it(port, *options)
                self.assertEqual(code, 2)
                self.assertRegex(errors, f"^el1bench: .*{pattern}.*\n$")
                self.assertEqual(errors.count("\n"), 1)
                self.assertFalse((self.out / "console.log").exists())

    def test_an_old_log_is_kept(self) -> None:
        (self.folder / "log").write_bytes(b"text\n")
        self.assertEqual(self.run_it(str(self.folder / "log"))[0], 0)
        code, errors = self.run_it(str(self.folder / "log"))
        self.assertEqual(code, 2)
        self.assertRegex(errors, "there is a console.log .* already")

    def test_the_pattern_does_not_come(self) -> None:
        code, errors = self.run_it(str(self.terminal().link), "--until", "x", "--timeout", "0.1")
        self.assertEqual((code, errors), (3, "el1bench: `x` did not come\n"))


class Prompt(unittest.TestCase):
    """The scheduling of what listens to a console."""

    def test_as_before_afterwards(self) -> None:
        before = os.sched_getscheduler(0)
        with self.assertRaises(ValueError), prompt():
            inside = os.sched_getscheduler(0)
            raise ValueError
        self.assertEqual(os.sched_getscheduler(0), before)
        if os.geteuid() == 0:
            self.assertEqual(inside, os.SCHED_RR | os.SCHED_RESET_ON_FORK)

    def test_it_may_be_refused(self) -> None:
        done = []
        with mock.patch.object(os, "sched_setscheduler", side_effect=PermissionError), prompt():
            done.append(True)
        self.assertEqual(done, [True])


# Does nothing but stamp what it reads, at once: what is late there is late by the host.
CONTROL = """
import os, sys, time
port = os.open(sys.argv[1], os.O_RDONLY | os.O_NOCTTY)
print("ready", flush=True)
reads, count = [], 0
while count < int(sys.argv[2]):
    data = os.read(port, 4096)
    reads += [repr(time.monotonic())] * len(data)
    count += len(data)
print(*reads)
"""


class Precision(Command):
    """Stamps against the times at which a line of 115,200 baud was written.

    A control reads a second line that says the same at the same time, and does nothing but stamp.
    """

    serial = True
    # How much more than the control's, at most: it does more, and chance has a share in both.
    RATIO_P50 = 10
    RATIO_P99 = 4

    def open_line(self) -> tuple[int, str]:
        """A line: the end that is written to, and the name of the other."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        tty.setraw(slave)
        return master, os.ttyname(slave)

    @staticmethod
    def send(masters: Sequence[int], line: bytes) -> list[tuple[float, float]]:
        """Write a line to each, no byte sooner than the wire would; between which two readings of
        the clock its first byte was written to each."""
        spans = []
        for number in range(len(line)):
            for master in masters:
                before = time.monotonic()
                os.write(master, line[number:number + 1])
                if number == 0:
                    spans.append((before, time.monotonic()))
            time.sleep(BYTE_SECONDS)
        return spans

    @staticmethod
    def errors(stamps: list[float], spans: list[tuple[float, float]]) -> list[float]:
        """How far each stamp is from when the byte was written, as far as that is known; sorted."""
        return sorted(max(stamp - after, 0) + min(stamp - before, 0)
                      for stamp, (before, after) in zip(stamps, spans))

    @staticmethod
    def shares(errors: list[float]) -> tuple[float, float, float]:
        """Median, 99th percentile and worst, in milliseconds."""
        return tuple(errors[int(len(errors) * share)] * 1e3 for share in (0.5, 0.99, 0.9999))

    def test_precision(self) -> None:
        (first, port), (second, control_port) = self.open_line(), self.open_line()
        control = subprocess.Popen(["/usr/bin/python3", "-s", "-c", CONTROL, control_port,
                                    str(LINES * len(LINE % 0))], stdout=subprocess.PIPE,
                                   text=True)
        self.addCleanup(control.stdout.close)
        self.addCleanup(control.wait)
        self.addCleanup(control.kill)
        child = self.start(port, "--until", "THE END")
        self.wait_for(b"", child)
        self.assertEqual(control.stdout.readline(), "ready\n")
        written, written_control = [], []
        for number in range(LINES):
            # Each of them is the first one half of the time.
            if number % 2:
                later, sooner = self.send((second, first), LINE % number)
            else:
                sooner, later = self.send((first, second), LINE % number)
            written.append(sooner)
            written_control.append(later)
        os.write(first, b"THE END\n")
        child.communicate(timeout=60)
        reads = control.communicate(timeout=60)[0].split()
        stamps_control = [float(stamp) for stamp in reads[::len(LINE % 0)]]
        zero = json.loads((self.out / "capture.json").read_text())["started_monotonic"]
        stamps = [zero + stamp for stamp, line in read_stamps(self.log())
                  if line.startswith(b"line ")]
        self.assertEqual((len(stamps), len(stamps_control)), (LINES, LINES))
        errors = self.errors(stamps, written)
        found, reference = (self.shares(one) for one in
                            (errors, self.errors(stamps_control, written_control)))
        for what, figures in (("capture", found), ("control", reference)):
            print("error of %d stamps of %s against the writes: p50 %.3f ms, p99 %.3f ms, "
                  "worst %.3f ms" % (LINES, what, *figures), file=sys.stderr)
        # A control that is right to less than a byte's time on the line is no measure.
        p50, p99 = (max(figure, BYTE_SECONDS * 1e3) for figure in reference[:2])
        self.assertLess(found[0], self.RATIO_P50 * p50)
        self.assertLess(found[1], self.RATIO_P99 * p99)
        # No stamp is earlier than its byte: but for a microsecond that log and zero are rounded to.
        self.assertGreater(errors[0], -2e-6)


if __name__ == "__main__":
    unittest.main()
