"""`el1bench capture`: a board's console to a file, each line stamped as its first byte arrives."""

import argparse
import json
import re
import signal
import stat
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional

from el1bench_host.errors import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OK, UserError
from el1bench_host.follow import LogFollower
from el1bench_host.prompt import prompt
from el1bench_host.serial_port import BAUD_DEFAULT, FilePort, SerialPort
from el1bench_host.stamped_log import StampedLog
from el1bench_host.u_boot import StreamEnded

LOG_NAME = "console.log"
FACTS_NAME = "capture.json"
FORMAT = "el1bench-capture/1"
IDLE_SECONDS = 3600.0
# A USB converter that was replugged needs a moment to get its name back.
RECONNECT_SECONDS = 0.1


class Ended(Exception):
    """Somebody asks us to stop."""


def _is_plain(url: str) -> bool:
    """True for what is read to its end: a file or a FIFO, but no device."""
    try:
        mode = Path(url).stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode)


def _stop(*_: object) -> None:
    raise Ended


class Capture:
    """One capture: from a port to a log, across disconnects."""

    def __init__(self, url: str, baud: int, folder: Path, until: Optional[re.Pattern[bytes]],
                 timeout: Optional[float]) -> None:
        self._url = url
        self._baud = baud
        self._until = until
        self._plain = _is_plain(url)
        self._port = self._open()
        self.started = time.monotonic()
        self._deadline = None if timeout is None else self.started + timeout
        self.found = False
        self.received = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # A log that is there already is somebody's measurement.
            self._file = (folder / LOG_NAME).open("xb", buffering=0)
            facts = {"format": FORMAT, "port": url, "baud": baud,
                     "started": datetime.now(timezone.utc).isoformat(timespec="microseconds"),
                     "started_monotonic": self.started}
            (folder / FACTS_NAME).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        except FileExistsError as error:
            raise UserError(f"there is a {LOG_NAME} in {folder} already: name another --out"
                            ) from error
        except OSError as error:
            raise UserError(f"cannot write to --out {folder}: {error.strerror}") from error
        self._follower = LogFollower()
        self._log = StampedLog(self._file, self.started, self._port.byte_seconds, self._look)

    def _open(self) -> SerialPort | FilePort:
        return FilePort(self._url) if self._plain else SerialPort(self._url, self._baud, False)

    def _look(self, _stamp: float, line: bytes) -> None:
        if self._until is not None and self._until.search(line):
            self.found = True

    def _left(self) -> float:
        """Seconds until the time limit."""
        return IDLE_SECONDS if self._deadline is None else self._deadline - time.monotonic()

    def _reconnect(self) -> bool:
        """Wait for the port to come back; False at the time limit."""
        self._port.close()
        while (left := self._left()) > 0:
            try:
                self._port = self._open()
                return True
            except UserError:
                # There is no event that tells of a device node with a name of ours.
                time.sleep(min(left, RECONNECT_SECONDS))
        return False

    def run(self) -> None:
        """Read until the pattern, the time limit or the end of a file; Ended if told to stop."""
        while not self.found and (left := self._left()) > 0:
            try:
                data = self._port.read(left)
            except StreamEnded as error:
                if self._plain:
                    return
                self._log.note(str(error), time.monotonic())
                print(f"el1bench: {error}; waiting for it", file=sys.stderr)
                if self._reconnect():
                    self._log.note(f"{self._url} is back", time.monotonic())
                continue
            if data:
                self.received += len(data)
                self._log.feed(data, self._port.arrived)
                self._follower.feed(data)
                self._port.follow(self._follower.baud)
                self._log.byte_seconds = self._port.byte_seconds

    def close(self) -> None:
        """Close the port and the log."""
        self._port.close()
        self._file.close()


def register(subparsers: Any) -> None:
    """Adds `capture` to the command line."""
    parser = subparsers.add_parser(
        "capture", help="write a board's console to a file, each line stamped on arrival",
        description="Reads a serial port (a device or any URL of pyserial, such as "
        "socket://HOST:PORT or rfc2217://HOST:PORT) or a file, and writes DIR/console.log with "
        "lines `SECONDS<TAB>LINE`: the monotonic clock, since the start of the capture, at the "
        "arrival of the line's first byte. What arrives is on disk at once; a port that goes away "
        "is waited for. Ends at Ctrl-C, with --until or --timeout, or at a file's end. Exit codes: "
        "0 all well, 2 bad usage, 3 the pattern did not come, 130 interrupted before it came.")
    parser.add_argument("port", metavar="PORT", help="device, URL or file")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for console.log")
    parser.add_argument("--baud", type=int, default=BAUD_DEFAULT, help="default: %(default)s")
    parser.add_argument("--until", metavar="REGEX", help="end when a line, finished or not, matches")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end after this time")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Runs `capture`."""
    if args.baud < 1:
        raise UserError(f"--baud: {args.baud} is no speed")
    if args.timeout is not None and not 0 < args.timeout < 1e9:
        raise UserError(f"--timeout: {args.timeout:g} is not a time in seconds")
    try:
        until = re.compile(args.until.encode()) if args.until else None
    except re.error as error:
        raise UserError(f"--until: `{args.until}` is not a regular expression: {error}") from error
    capture = Capture(args.port, args.baud, Path(args.out), until, args.timeout)
    stopped = False
    before = [(number, signal.signal(number, _stop)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        with prompt():
            capture.run()
    except Ended:
        stopped = True
    finally:
        for number, handler in before:
            signal.signal(number, handler)
        capture.close()
    if not args.quiet:
        print(f"{Path(args.out) / LOG_NAME}: {capture.received} bytes")
    if until is None or capture.found:
        return EXIT_OK
    if not stopped:
        print(f"el1bench: `{args.until}` did not come", file=sys.stderr)
    return EXIT_INTERRUPTED if stopped else EXIT_INCOMPLETE
