"""The virtual bench: two pseudo-terminals that stand in for the USB devices of a bench.

`relay` takes the frames of a CH340 relay and starts and kills the board, `console` is the board's
serial line, as slow as a real one. The board is any program that talks on standard input and
output. Faults can be injected, chosen by the number of the power-on that they hit.
"""

import ctypes
import os
import random
import selectors
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, Optional

from el1bench_host.relay import frames_in
from el1bench_host.serial_line import SerialLine
from el1bench_host.serial_port import BAUD_DEFAULT
from el1bench_host.terminal import Terminal
from el1bench_host.u_boot_dialect import VendorDialect

FAULTS = {
    "silent-relay": "the relay does not switch",
    "no-prompt": "what is typed does not reach the board",
    "tftp-stall": "TFTP serves nothing",
    "wrong-file": "TFTP serves a file that is too short",
    "hang": "the image stops in the middle",
    "noise": "bits flip on the console once the image runs",
    "lost": "bytes are lost on the console once the image runs",
    "unplug": "the console is unplugged while the image talks, and plugged in again",
}
DAMAGES = ("noise", "lost")
REPLUG_SECONDS = 0.5
PIPE_BYTES = 4096
F_SETPIPE_SZ = 1031
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)

# The command of the board for a fault ("" for none).
Command = Callable[[str], list[str]]


def _die_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Bench:
    """The bench. `run` serves it until `stop`, which any thread may call."""

    def __init__(self, folder: Path, command: Command, *, baud: int = BAUD_DEFAULT,
                 faults: Optional[dict[int, str]] = None, vendor: Optional[float] = None,
                 seed: int = 1) -> None:
        """`faults`: which fault a power-on has, counted from 0. `vendor`: the board's U-Boot is
        mainline's, and is made to speak as the vendor's does, with so many seconds for a key.
        """
        self._command = command
        self._baud = baud
        self._faults = faults or {}
        self._vendor = vendor
        self._random = random.Random(seed)
        self.power_ons = 0
        self.console = Terminal(folder / "console")
        self.relay = Terminal(folder / "relay")
        self._frames = b""
        self._relay_on = False
        self._board: Optional[subprocess.Popen[bytes]] = None
        self._talks = False  # its output has not ended
        self._fault = ""
        self._line = SerialLine(baud, "", self._random)
        self._dialect: Optional[VendorDialect] = None
        self._replug_at: Optional[float] = None
        self._wake_read, self._wake_write = os.pipe()

    @property
    def on(self) -> bool:
        """True while the board has power."""
        return self._board is not None

    def stop(self) -> None:
        """Have `run` return."""
        os.write(self._wake_write, b"x")

    def _power_on(self) -> None:
        fault = self._faults.get(self.power_ons, "")
        self.power_ons += 1
        if fault == "silent-relay":
            return
        self._fault = fault
        self._talks = True
        self._line = SerialLine(self._baud, fault if fault in DAMAGES else "", self._random)
        self._dialect = None if self._vendor is None else VendorDialect(self._vendor)
        self._board = subprocess.Popen(
            self._command(fault), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            bufsize=0, start_new_session=True, preexec_fn=_die_with_parent)
        for stream in (self._board.stdin, self._board.stdout):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
        _libc.fcntl(self._board.stdout.fileno(), F_SETPIPE_SZ, PIPE_BYTES)

    def _power_off(self) -> None:
        if self._board is None:
            return
        try:
            os.killpg(self._board.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._board.wait()
        self._board.stdin.close()
        self._board.stdout.close()
        self._board = None
        self._talks = False
        self._line.clear()

    def _take_frames(self) -> None:
        on_frames, self._frames = frames_in(self._frames + self.relay.read())
        for on in on_frames:
            # A frame that says what is so already, as when each is sent twice, does nothing.
            if on and not self._relay_on:
                self._power_on()
            elif not on:
                self._power_off()
            self._relay_on = on

    def _type(self) -> None:
        data = self.console.read()
        if self._board is None or not data or self._fault == "no-prompt":
            return
        if self._dialect is not None:
            data = self._dialect.hears(data, time.monotonic())
        try:
            self._board.stdin.write(data)
        except (BlockingIOError, BrokenPipeError):
            pass

    def _board_says(self) -> None:
        assert self._board is not None
        data = self._board.stdout.read(self._line.room)
        if data == b"":
            self._talks = False
        elif data:
            now = time.monotonic()
            self._line.put(self._dialect.says(data, now) if self._dialect else data, now)

    def _pass_line(self, now: float) -> None:
        """Hand on the bytes that have passed the line by now."""
        plugged = self.console.master >= 0
        data = self._line.take(now, self.console.speed if plugged else 0)
        if data and self._line.in_image:
            if self._fault == "hang":
                self._talks = False
                self._line.clear()
            elif self._fault == "unplug":
                self._fault = ""
                self.console.unplug()
                self._replug_at = now + REPLUG_SECONDS
        if self.console.master >= 0:
            self.console.write(data)

    def _wait(self) -> set[int]:
        """Wait for the next event; the descriptors that are ready."""
        watched = [self._wake_read, self.relay.master]
        if self.console.master >= 0:
            watched.append(self.console.master)
        if self._talks and self._line.room:
            watched.append(self._board.stdout.fileno())
        now = time.monotonic()
        events = [at for at in (self._line.wake_at(now), self._replug_at) if at is not None]
        timeout = max(0.0, min(events) - now) if events else None
        with selectors.DefaultSelector() as selector:
            for descriptor in watched:
                selector.register(descriptor, selectors.EVENT_READ)
            return {key.fd for key, _ in selector.select(timeout)}

    def run(self) -> None:
        """Serve until `stop`. The board is off and the names are gone afterwards."""
        try:
            while True:
                ready = self._wait()
                if self._wake_read in ready:
                    return
                now = time.monotonic()
                if self._replug_at is not None and now >= self._replug_at:
                    self._replug_at = None
                    self.console.plug()
                if self._talks and self._board.stdout.fileno() in ready:
                    self._board_says()
                if self.console.master in ready:
                    self._type()
                self._pass_line(time.monotonic())
                if self.relay.master in ready:
                    self._take_frames()
        finally:
            self._power_off()
            self.console.unplug()
            self.relay.unplug()
