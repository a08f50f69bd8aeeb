"""A board's console during an attempt: what is read from it is logged, and looked at by the line."""

import re
import time
from typing import Any, BinaryIO, Optional

from el1bench_host.campaign_file import Configuration
from el1bench_host.follow import LogFollower
from el1bench_host.serial_port import SerialPort
from el1bench_host.stamped_log import StampedLog
from el1bench_host.u_boot import AUTOBOOT, StreamEnded

PRINTK = re.compile(rb"\[ *(\d+\.\d{6})\]")
# A board that comes out of reset: its boot ROM, U-Boot's banner, or just the countdown.
RESET = re.compile(rb"SM1:BL:|U-Boot (?:SPL )?20\d\d\.\d\d|" + AUTOBOOT.pattern)
# What is left of a trailer, if the line it came on was spoilt.
TRAILER = re.compile(rb"el1b end |status=(?:passed|failed|refused)")
# The console is silent for this long before a board without power has said all.
SILENCE_SECONDS = 0.05
SILENCE_SECONDS_MAX = 2.0


class ConsoleStream:
    """The board's console: what is read from it also reaches the log and those who look at lines."""

    def __init__(self, port: SerialPort, log_file: BinaryIO, configuration: Configuration) -> None:
        self._port = port
        self._configuration = configuration
        self._zero = time.monotonic()
        self.powered = self._zero
        self._log = StampedLog(log_file, self._zero, port.byte_seconds, self._look)
        self.follower = LogFollower()
        self.lost = False
        self.first_byte: Optional[float] = None
        self.watching = False
        port.follow(0)  # the board starts anew
        self.done = False
        self.spoilt_trailer = False
        self.failure: Optional[str] = None
        self.reset: Optional[str] = None
        """The last line before an image of ours reset the board, if it did."""
        self.phases: list[dict[str, Any]] = []
        self._line = self._line_before = b""

    def _look(self, stamp: float, line: bytes) -> None:
        if not self.watching:
            return
        # The same line again, longer, until it is finished.
        if line.strip() and not line.startswith(self._line):
            self._line_before = self._line
        self._line = line or self._line
        settings = self._configuration
        if len(self.phases) < len(settings.phases):
            phase = settings.phases[len(self.phases)]
            if phase.pattern.search(line):
                printk = PRINTK.match(line)
                host = stamp - (self.powered - self._zero)
                self.phases.append({"name": phase.name, "host": round(host, 6),
                                    "guest": float(printk.group(1)) if printk else None})
        if settings.done is not None and settings.done.search(line):
            self.done = True
        for pattern in settings.fail:
            if self.failure is None and pattern.search(line):
                self.failure = line.decode("latin-1")[:120]
        if settings.el1bench and TRAILER.search(line):
            self.spoilt_trailer = True
        if settings.el1bench and self.reset is None and RESET.search(line):
            self.reset = self._line_before.decode("latin-1")[:120]

    def read(self, timeout: float) -> bytes:
        """As ByteStream.read."""
        try:
            data = self._port.read(timeout)
        except StreamEnded as error:
            if not self.lost:
                self._log.note(str(error), time.monotonic())
            self.lost = True
            raise
        if data:
            if self.first_byte is None:
                self.first_byte = self._port.arrived
            self._log.feed(data, self._port.arrived)
            self.follower.feed(data)
            self._port.follow(self.follower.baud)
            self._log.byte_seconds = self._port.byte_seconds
        return data

    def write(self, data: bytes) -> None:
        """As ByteStream.write."""
        try:
            self._port.write(data)
        except StreamEnded:
            self.lost = True
            raise

    def listen(self, seconds: float) -> None:
        """Read for a while, whatever comes."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.read(left)

    def listen_to_silence(self) -> None:
        """Read until nothing comes any more."""
        deadline = time.monotonic() + SILENCE_SECONDS_MAX
        while self.read(SILENCE_SECONDS) and time.monotonic() < deadline:
            pass

    def power_comes(self) -> None:
        """What comes from now on is the board's."""
        self.first_byte = None
        self.powered = time.monotonic()

    def since_power(self) -> float:
        """Seconds since power-on."""
        return time.monotonic() - self.powered
