"""One attempt of a campaign: power on, boot, follow the console to the end, say how it went.

Whatever happens becomes one of the outcomes; the log and the timings are kept in each case.
"""

import re
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, Callable, Optional

from el1bench_host.campaign_file import Campaign, Configuration
from el1bench_host.decoder import decode_log, problem_text
from el1bench_host.errors import UserError
from el1bench_host.follow import LogFollower
from el1bench_host.power import CommandSwitch, RelaySwitch
from el1bench_host.prompt import prompt
from el1bench_host.serial_port import SerialPort
from el1bench_host.stamped_log import StampedLog
from el1bench_host.u_boot import StreamEnded, UBoot

OUTCOMES = ("ok", "no-prompt", "tftp-failed", "timeout", "truncated", "failed")
PRINTK = re.compile(rb"\[ *(\d+\.\d{6})\]")
# What is left of a trailer, if the line it came on was spoilt.
TRAILER = re.compile(rb"el1b end |status=(?:passed|failed|refused)")
# The console is silent for this long before a board without power has said all.
SILENCE_SECONDS = 0.05
SILENCE_SECONDS_MAX = 2.0
# A damaged trailer is followed by nothing.
TRAILER_SECONDS = 1.0


@dataclass
class Attempt:
    """How an attempt went: what attempt.json holds."""

    configuration: str
    iteration: int
    number: int
    started: str
    outcome: str = ""
    reason: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    """Since power-on: first-byte, prompt, loaded, started, end."""
    phases: list[dict[str, Any]] = field(default_factory=list)
    """name, host (seconds since power-on) and guest (the line's own printk time, or null)."""
    counter_at_entry: Optional[float] = None
    """Of an image of ours: what its counter showed at its first instruction, in seconds. The
    counter starts with the chip, so this is what the firmware took."""

    @property
    def ok(self) -> bool:
        """True if its numbers count."""
        return self.outcome == "ok"


class Over(Exception):
    """The attempt is over, with an outcome and the reason for it."""

    def __init__(self, outcome: str, reason: str = "") -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


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
        self.phases: list[dict[str, Any]] = []

    def _look(self, stamp: float, line: bytes) -> None:
        if not self.watching:
            return
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


class Runner:
    """Makes attempts on a bench whose console and power switch are open."""

    def __init__(self, campaign: Campaign, switch: CommandSwitch | RelaySwitch) -> None:
        self._campaign = campaign
        self._switch = switch

    def run(self, configuration: Configuration, attempt: Attempt, port: SerialPort,
            log_file: BinaryIO) -> bool:
        """Make the attempt and fill it in. False if the console has gone.

        The board is on afterwards; the log is complete, but not yet held against its own sums.
        """
        attempt.started = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        stream = ConsoleStream(port, log_file, configuration)
        try:
            with prompt():
                self._power_on(stream)
                if configuration.start != "none":
                    self._boot(configuration, attempt, stream)
                stream.watching = True
                self._follow(configuration, stream)
            attempt.outcome = "ok"
        except Over as over:
            attempt.outcome, attempt.reason = over.outcome, over.reason
        except StreamEnded as error:
            attempt.outcome, attempt.reason = "truncated", str(error)
        attempt.seconds["end"] = stream.since_power()
        if stream.first_byte is not None:
            attempt.seconds["first-byte"] = stream.first_byte - stream.powered
        attempt.seconds = {name: round(value, 6) for name, value in
                           sorted(attempt.seconds.items(), key=lambda item: item[1])}
        attempt.phases = stream.phases
        return not stream.lost

    def _power_on(self, stream: ConsoleStream) -> None:
        try:
            self._switch.set(False)
            stream.listen(self._campaign.power.off_seconds)
            stream.listen_to_silence()
            stream.power_comes()
            self._switch.set(True)
        except UserError as error:
            raise Over("no-prompt", str(error)) from error

    def _boot(self, configuration: Configuration, attempt: Attempt,
              stream: ConsoleStream) -> None:
        """Bring U-Boot from reset to the start of the image."""
        seconds = self._campaign.u_boot.prompt_seconds
        boot_loader = UBoot(stream)
        self._step("no-prompt", stream, lambda: boot_loader.wait_prompt(seconds, eager=True))
        attempt.seconds["prompt"] = stream.since_power()
        self._step("tftp-failed", stream, lambda: self._load(boot_loader, configuration))
        attempt.seconds["loaded"] = stream.since_power()
        stream.watching = True
        self._step("failed", stream,
                   lambda: self._launch(boot_loader, configuration, attempt.iteration))
        attempt.seconds["started"] = stream.since_power()

    @staticmethod
    def _step(outcome: str, stream: ConsoleStream, step: Callable[[], None]) -> None:
        """A step of the way to the image; what goes wrong in it has its own outcome."""
        try:
            step()
        except UserError as error:
            if stream.lost:
                raise Over("truncated", str(error)) from error
            if stream.first_byte is None:
                raise Over(outcome, "the board said nothing at all") from error
            raise Over(outcome, str(error)) from error

    def _load(self, boot_loader: UBoot, configuration: Configuration) -> None:
        settings = self._campaign.u_boot
        if settings.dhcp:
            boot_loader.ask_addresses(settings.server, settings.transfer_seconds)
        else:
            boot_loader.set_addresses(settings.board, settings.netmask, settings.server)
        for file in configuration.files():
            boot_loader.fetch(file.address, file.name, file.size, settings.transfer_seconds)
            boot_loader.check(file.address, file.size, file.crc)

    @staticmethod
    def _launch(boot_loader: UBoot, configuration: Configuration, iteration: int) -> None:
        assert configuration.image is not None
        tree, ramdisk = configuration.tree_file, configuration.ramdisk
        own = "${fdtcontroladdr}" if configuration.tree == "own" else ""
        boot_loader.start(configuration.start, configuration.image.address,
                          configuration.words(iteration), f"{tree.address:x}" if tree else own,
                          f"{ramdisk.address:x}:{ramdisk.size:x}" if ramdisk else "-")

    @staticmethod
    def _follow(configuration: Configuration, stream: ConsoleStream) -> None:
        """Read to the end of the image's work, or to where it went wrong."""
        deadline = time.monotonic() + configuration.timeout
        while not (stream.done or configuration.el1bench and stream.follower.ended):
            if stream.failure is not None:
                raise Over("failed", stream.failure)
            left = deadline - time.monotonic()
            if left <= 0:
                last = stream.follower.last_line
                raise Over("timeout", f"not done within {configuration.timeout:g} s"
                           + (f"; last line: {last[:120]}" if last else ""))
            wait = min(left, TRAILER_SECONDS) if stream.spoilt_trailer else left
            if not stream.read(wait) and stream.spoilt_trailer:
                raise Over("truncated", "the trailer is damaged")


def judge(attempt: Attempt, log_path: Path) -> None:
    """Hold the log of an image of ours against its own sums; may take the attempt's `ok` away."""
    if attempt.outcome != "ok":
        return
    decoded = decode_log(log_path)
    if len(decoded.boots) != 1:
        attempt.outcome, attempt.reason = "truncated", f"the log holds {len(decoded.boots)} boots"
    elif decoded.problems:
        attempt.outcome = "truncated"
        attempt.reason = (f"the log is damaged in {len(decoded.problems)} places: "
                          f"{problem_text(decoded.problems[0])}")
    elif decoded.status() != "passed":
        attempt.outcome, attempt.reason = "failed", f"the image says: {decoded.status()}"
    else:
        info = decoded.boots[0].info
        stamp, hz = info.get("entry-stamp", ""), info.get("counter-hz", "")
        if stamp.isdigit() and hz.isdigit() and int(hz) > 0:
            attempt.counter_at_entry = round(int(stamp) / int(hz), 9)
