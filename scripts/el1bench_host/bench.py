"""`el1bench bench`: a virtual bench, so that a campaign runs, and is tested, without a board.

Two pseudo-terminals stand in for a bench's USB devices: `relay` takes the frames of a CH340 relay
and starts and kills the board, `console` is the board's serial line, as slow as a real one. The
board is QEMU with U-Boot and a network of its own (10.42.0.0/24, the host being 10.42.0.1 with
TFTP), or any other program that talks on standard input and output. Faults can be injected, chosen
by the number of the power-on that they hit.
"""

import argparse
import ctypes
import os
import random
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Optional

from el1bench_host import build, machine, setup
from el1bench_host.errors import EXIT_OK, UserError
from el1bench_host.relay import frames_in
from el1bench_host.serial_port import BAUD_DEFAULT, BITS_PER_BYTE
from el1bench_host.terminal import Terminal

SUBNET = "10.42.0.0/24"
HOST_ADDRESS = "10.42.0.1"
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
DAMAGE_PROBABILITY = 0.003
# Where a fault of the running image sets in: this long after its start.
FAULT_BYTES = 400
REPLUG_SECONDS = 0.5
STARTED = re.compile(rb"## Starting application at|Starting kernel \.\.\.")
SPEED = re.compile(rb"@el1b baud \d+ rate=(\d+)")
# A USB converter hands bytes on about this often.
TICK_SECONDS = 0.001
QUEUE_BYTES = 256
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
                 faults: Optional[dict[int, str]] = None, seed: int = 1) -> None:
        """`faults`: which fault a power-on has, counted from 0."""
        self._command = command
        self._baud = baud
        self._byte_seconds = BITS_PER_BYTE / baud
        self._board_line = b""
        self._expected = 0  # the speed that the board has set; 0: its first one
        self._reader_speed = 0  # the reader's at that time
        self._faults = faults or {}
        self._random = random.Random(seed)
        self.power_ons = 0
        self.console = Terminal(folder / "console")
        self.relay = Terminal(folder / "relay")
        self._frames = b""
        self._relay_on = False
        self._board: Optional[subprocess.Popen[bytes]] = None
        self._talks = False  # its output has not ended
        self._fault = ""
        self._queue = bytearray()
        self._due = 0.0  # when the queue's first byte will have passed the line
        self._tail = b""
        self._since_start: Optional[int] = None
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
        self._tail = b""
        self._since_start = None
        self._talks = True
        self._expected = 0
        self._byte_seconds = BITS_PER_BYTE / self._baud
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
        self._queue.clear()

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
        if self._board is not None and data and self._fault != "no-prompt":
            try:
                self._board.stdin.write(data)
            except (BlockingIOError, BrokenPipeError):
                pass

    def _board_says(self) -> None:
        assert self._board is not None
        data = self._board.stdout.read(QUEUE_BYTES)
        if data:
            if not self._queue:
                self._due = max(self._due, time.monotonic() + self._byte_seconds)
            self._queue += data
        elif data == b"":
            self._talks = False

    def _watch_start(self, data: bytes) -> None:
        if self._since_start is not None:
            self._since_start += len(data)
            return
        self._tail = (self._tail + data)[-256:]
        if STARTED.search(self._tail):
            self._since_start = 0

    def _watch_speed(self, data: bytes) -> None:
        """Change to the speed that the board says it changes to."""
        lines = (self._board_line + data).split(b"\n")
        self._board_line = lines.pop()[-256:]
        for line in lines:
            if found := SPEED.search(line):
                if not self._expected:
                    self._reader_speed = self.console.speed
                self._expected = int(found.group(1))
                self._byte_seconds = BITS_PER_BYTE / (self._expected or self._baud)

    def _misread(self, data: bytes) -> bytes:
        """What a reader makes of it that has not followed to the board's speed."""
        speed = self._expected or self._reader_speed
        if self.console.master < 0 or not speed or self.console.speed == speed:
            return data
        return bytes(byte ^ 0x55 for byte in data)

    def _spoil(self, data: bytes) -> bytes:
        """What arrives of `data` on a bad line."""
        if self._fault not in ("noise", "lost"):
            return data
        out = bytearray()
        for byte in data:
            if self._random.random() >= DAMAGE_PROBABILITY:
                out.append(byte)
            elif self._fault == "noise":
                out.append(byte ^ (1 << self._random.randrange(7)))
        return bytes(out)

    def _pass_line(self, now: float) -> None:
        """Hand on the bytes that have passed the line by now."""
        if not self._queue or now < self._due:
            return
        count = min(len(self._queue), 1 + int((now - self._due) / self._byte_seconds))
        data = bytes(self._queue[:count])
        del self._queue[:count]
        self._due += count * self._byte_seconds
        self._watch_start(data)
        whole = data
        data = self._misread(data)
        if self._since_start is not None and self._since_start > FAULT_BYTES:
            data = self._spoil(data)
            if self._fault == "hang":
                self._talks = False
                self._queue.clear()
            elif self._fault == "unplug":
                self._fault = ""
                self.console.unplug()
                self._replug_at = now + REPLUG_SECONDS
        if self.console.master >= 0:
            self.console.write(data)
        self._watch_speed(whole)

    def _wait(self) -> set[int]:
        """Wait for the next event; the descriptors that are ready."""
        watched = [self._wake_read, self.relay.master]
        if self.console.master >= 0:
            watched.append(self.console.master)
        if self._talks and len(self._queue) < QUEUE_BYTES:
            watched.append(self._board.stdout.fileno())
        now = time.monotonic()
        limits = [self._due, now + TICK_SECONDS] if self._queue else []
        timeout: Optional[float] = max(limits) - now if limits else None
        if self._replug_at is not None:
            replug = max(0.0, self._replug_at - now)
            timeout = replug if timeout is None else min(timeout, replug)
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


def _cut_copies(served: Path, folder: Path) -> None:
    """Copies of the served files without their last kibibyte."""
    for path in served.iterdir():
        if path.is_file():
            shutil.copyfile(path, folder / path.name)
            os.truncate(folder / path.name, max(0, path.stat().st_size - 1024))


def qemu_command(board: machine.Board, u_boot: Path, served: Path, wrong: Path,
                 level: int = 2) -> Command:
    """QEMU as a board with U-Boot, network and TFTP; `wrong` is an empty folder of the caller's."""
    def command(fault: str) -> list[str]:
        network = f"user,id=net0,net={SUBNET},host={HOST_ADDRESS},restrict=on"
        if fault == "wrong-file":
            _cut_copies(served, wrong)
        if fault != "tftp-stall":
            folder = wrong if fault == "wrong-file" else served
            network += f",tftp={str(folder).replace(',', ',,')}"
        return machine.command_line(machine.Setup(
            board, firmware=u_boot, gic=2, level=level,
            options=("-netdev", network, "-device", "virtio-net-device,netdev=net0")))
    return command


def _fault(text: str) -> tuple[int, str]:
    """An argparse type: N=KIND."""
    number, _, kind = text.partition("=")
    if not number.isdigit() or kind not in FAULTS:
        raise argparse.ArgumentTypeError(f"`{text}` is not NUMBER=FAULT, one of {', '.join(FAULTS)}")
    return int(number), kind


def register(subparsers: Any) -> None:
    """Adds `bench` to the command line."""
    parser = subparsers.add_parser(
        "bench", help="stand in for a board, its relay and its serial line",
        description="Offers DIR/console and DIR/relay, pseudo-terminals that behave as the serial "
        "line and the CH340 relay of a board that runs U-Boot and finds what --serve holds by TFTP "
        f"on {HOST_ADDRESS}, until Ctrl-C. QEMU is the board. Faults, by the number of the "
        "power-on, from 0: " + "; ".join(f"{kind}: {what}" for kind, what in FAULTS.items()) + ".")
    parser.add_argument("folder", metavar="DIR", help="folder for console and relay")
    parser.add_argument("--board", default="odroid-c4", help="a folder of boards/; its image is "
                        "built and served (default: odroid-c4)")
    parser.add_argument("--serve", metavar="FOLDER", help="serve this instead of the board's build "
                        "folder")
    parser.add_argument("--baud", type=int, default=BAUD_DEFAULT,
                        help="speed of the serial line (default: %(default)s)")
    parser.add_argument("--fault", type=_fault, action="append", default=[], metavar="N=FAULT",
                        help="may be repeated")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Runs `bench`."""
    if args.baud < 1:
        raise UserError(f"--baud: {args.baud} is no speed")
    setup.ensure_packages("run", args.quiet)
    machine.find_qemu(machine.DEFAULT_QEMU)
    folder, served = Path(args.folder), Path(args.serve) if args.serve else None
    if served is not None and not served.is_dir():
        raise UserError(f"--serve: no folder {served}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror}") from error
    build_folder = build.build_board(args.board, quiet=args.quiet)
    board = machine.load_board(args.board, build_folder)
    if board.firmware_load_address is None:
        raise UserError(f"QEMU's U-Boot does not run on {args.board}")
    u_boot = setup.ensure_u_boot(args.quiet)
    with tempfile.TemporaryDirectory(prefix="el1bench-bench-") as wrong:
        bench = Bench(folder, qemu_command(board, u_boot, (served or build_folder).absolute(),
                                           Path(wrong)),
                      baud=args.baud, faults=dict(args.fault))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: bench.stop())
        if not args.quiet:
            print(f"console {bench.console.link}, relay {bench.relay.link}, images load at "
                  f"{board.firmware_load_address:#x}; Ctrl-C ends", flush=True)
        bench.run()
    return EXIT_OK
