"""One attempt of a campaign: power on, boot, follow the console to the end, say how it went.

Whatever happens becomes one of the outcomes; the log and the timings are kept in each case.
"""

import time
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, Callable, NoReturn, Optional

from el1bench_host.campaign_file import Campaign, Configuration
from el1bench_host.console_stream import ConsoleStream
from el1bench_host.decoded_log import problem_text
from el1bench_host.decoder import decode_log
from el1bench_host.errors import UserError
from el1bench_host.power import CommandSwitch, RelaySwitch
from el1bench_host.prompt import prompt
from el1bench_host.serial_port import SerialPort
from el1bench_host.u_boot import StreamEnded, UBoot

OUTCOMES = ("ok", "no-prompt", "tftp-failed", "timeout", "truncated", "failed")
WATCHDOG = "el1bench.watchdog=on"
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
    survived: Optional[dict[str, int]] = None
    """Of an image of ours that its watchdog reset: how many of its `benchmarks` had `finished`,
    whose samples are in the log."""

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
                if stream.reset is not None:
                    self._salvage(configuration, attempt, stream)
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

    def _salvage(self, configuration: Configuration, attempt: Attempt,
                 stream: ConsoleStream) -> NoReturn:
        """An image of ours has reset the board. If it had a watchdog, start it once more, the power
        left on, and let it send what it had measured.
        """
        what = f"the board has reset itself; last line before: {stream.reset}"
        if configuration.start == "none" or WATCHDOG not in configuration.arguments:
            raise Over("truncated", what)
        attempt.seconds["reset"] = stream.since_power()
        stream.watching, stream.reset = False, None
        boots = stream.follower.boots
        try:
            # It may be counting down already.
            stream.write(b"\r")
            self._boot(configuration, replace(attempt, seconds={}), stream)
            follower = stream.follower
            deadline = time.monotonic() + configuration.timeout
            while (follower.boots == boots or not follower.survivors_sent) and stream.reset is None:
                left = deadline + follower.survivors_ms / 1e3 - time.monotonic()
                if left <= 0:
                    break
                stream.read(left)
        except Over as over:
            raise Over("failed", f"{what}; then {over.reason}") from over
        found = follower.survivors
        if found is None or found.finished is None or found.benchmarks is None \
                or not follower.survivors_sent:
            raise Over("failed", f"{what}; nothing of it was left in memory")
        attempt.survived = {"finished": found.finished, "benchmarks": found.benchmarks}
        raise Over("failed", f"{what}; {found.finished} of {found.benchmarks} benchmarks had "
                   "finished, their samples are in the log")

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
        """Read to the end of the image's work, to a reset, or to where it went wrong."""
        deadline = time.monotonic() + configuration.timeout
        while not (stream.done or stream.reset is not None
                   or configuration.el1bench and stream.follower.ended):
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
