"""QEMU as the machine an image runs on: its command line as data, and the process itself.

What a board needs comes from the board's own `board.json`, which the build writes next to the
image; what the user asked for is a `Setup`. The process is read by events, never by sleeping, and
never outlives this program.
"""

import ctypes
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from el1bench_host.errors import EXIT_INCOMPLETE, UserError
from el1bench_host.u_boot import StreamEnded

DEFAULT_QEMU = "qemu-system-aarch64"
ACCELERATORS = {
    "single": ("-accel", "tcg,thread=single"),
    "multi": ("-accel", "tcg,thread=multi"),
    # One instruction is one nanosecond, and idle time passes at once.
    "icount": ("-icount", "shift=0,sleep=off"),
}
CORES_MAX = 64
CORES_MAX_GICV2 = 8
# Above this QEMU silently counts nanoseconds.
COUNTER_HZ_MAX = 1_000_000_000
COUNTER_HZ_MIN = 1_000
# Where QEMU's user network puts its DHCP and TFTP server.
TFTP_SERVER = "10.0.2.2"
QUESTION_SECONDS = 30
STDERR_BYTES_KEPT = 4096
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Board:
    """What QEMU must be told to be, or to stand in for, a board."""

    name: str
    load_address: int
    machine: str
    machine_options: tuple[str, ...]
    cpu: Optional[str]  # None: the machine has its own
    cores: Optional[int]  # None: as many as asked for
    gics: tuple[int, ...]
    levels: tuple[int, ...]  # exception levels an image can start at
    memory_mib: int
    options: tuple[str, ...]
    tree: Optional[Path]  # handed over with -dtb
    firmware_load_address: Optional[int]  # None: no firmware can load an image there


@dataclass(frozen=True)
class Setup:
    """What to start QEMU with: a `kernel`, or `firmware`, or both.

    With both, the firmware starts the image: QEMU puts the arguments into the tree and, where
    `placed` says so, the image into memory.
    """

    board: Board
    qemu: str = DEFAULT_QEMU
    accel: str = "single"
    cpus: int = 4
    cpu: Optional[str] = None
    counter_hz: Optional[int] = None
    gic: Optional[int] = None
    level: int = 1
    kernel: Optional[Path] = None
    arguments: str = ""
    firmware: Optional[Path] = None
    served: Optional[Path] = None  # a folder that TFTP serves
    tree: Optional[Path] = None  # instead of the board's
    semihosting: bool = False
    secure: bool = False  # EL3 is there, for the firmware
    placed: Optional[int] = None  # where in memory QEMU is to put the image
    machine_options: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def _escape(value: object) -> str:
    """A value inside of a QEMU option list, where a comma ends it."""
    return str(value).replace(",", ",,")


def command_line(setup: Setup) -> list[str]:
    """The QEMU command for `setup`. Nothing is checked here."""
    board = setup.board
    machine = [board.machine, *board.machine_options]
    if setup.gic is not None and len(board.gics) > 1:
        machine.append(f"gic-version={setup.gic}")
    if setup.level == 2:
        machine.append("virtualization=on")
    if setup.secure:
        machine.append("secure=on")
    machine += setup.machine_options
    command = [setup.qemu, "-machine", ",".join(machine), *ACCELERATORS[setup.accel],
               "-smp", str(setup.cpus), "-m", str(board.memory_mib)]
    cpu = setup.cpu or board.cpu
    if cpu:
        if setup.counter_hz is not None:
            cpu += f",cntfrq={setup.counter_hz}"
        command += ["-cpu", cpu]
    command += ["-nodefaults", "-display", "none", "-monitor", "none", "-serial", "stdio",
                "-no-reboot", *board.options]
    if setup.served is None:
        command += ["-nic", "none"]
    else:
        # `restrict` leaves the guest DHCP and TFTP, and keeps it off the host's network.
        command += ["-netdev", f"user,id=net0,restrict=on,tftp={_escape(setup.served)}",
                    "-device", "virtio-net-device,netdev=net0"]
    if setup.semihosting:
        command += ["-semihosting-config", "enable=on,target=native"]
    if setup.firmware is not None:
        command += ["-bios", str(setup.firmware)]
    if setup.kernel is not None:
        command += ["-kernel", str(setup.kernel)]
        if setup.placed is not None:
            command += ["-device", f"loader,file={_escape(setup.kernel)},addr={setup.placed:#x},"
                        "force-raw=on"]
        if setup.arguments:
            command += ["-append", setup.arguments]
        tree = setup.tree or board.tree
        if tree is not None:
            command += ["-dtb", str(tree)]
    return [*command, *setup.options]


def load_board(name: str, folder: Path) -> Board:
    """Reads `board.json`, which the build left in `folder`."""
    path = folder / "board.json"
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
        qemu = data["qemu"]
        return Board(
            name=name,
            load_address=int(str(data["load_address"]), 0),
            machine=qemu["machine"],
            machine_options=tuple(qemu.get("machine_options", ())),
            cpu=qemu.get("cpu"),
            cores=qemu.get("cores"),
            gics=tuple(qemu["gics"]),
            levels=tuple(qemu["levels"]),
            memory_mib=int(qemu["memory_mib"]),
            options=tuple(qemu.get("options", ())),
            tree=folder / qemu["tree"] if qemu.get("tree") else None,
            firmware_load_address=(int(str(qemu["firmware_load_address"]), 0)
                                   if qemu.get("firmware_load_address") else None),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error


def find_qemu(binary: str) -> str:
    """The path of the QEMU to run; UserError if there is none that can be started."""
    found = shutil.which(binary)
    if found:
        return found
    path = Path(binary)
    if "/" not in binary:
        raise UserError(f"no `{binary}` in PATH")
    if not path.exists():
        raise UserError(f"no such file: {binary}")
    raise UserError(f"{binary} is not an executable file")


def _ask(qemu: str, *question: str) -> str:
    """What QEMU prints when asked about itself."""
    try:
        return subprocess.run([qemu, *question], stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, timeout=QUESTION_SECONDS).stdout.decode("utf-8",
                                                                                   "replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = getattr(error, "strerror", None) or "it does not answer"
        raise UserError(f"cannot run {qemu}: {reason}") from error


def qemu_version(qemu: str) -> str:
    """The version of a QEMU binary, for instance `7.2.22`."""
    found = re.search(r"QEMU emulator version ([0-9][0-9A-Za-z.+~-]*)", _ask(qemu, "--version"))
    if not found:
        raise UserError(f"{qemu} does not look like QEMU: `--version` names no version")
    return found.group(1)


def check_cpu(qemu: str, cpu: str, machine: str) -> None:
    """UserError if this QEMU says that it has no such core."""
    answer = _ask(qemu, "-machine", machine, "-cpu", "help")
    known = re.findall(r"^\s+(\S+)", answer, re.MULTILINE)
    if known and cpu.split(",")[0] not in known:
        raise UserError(f"{Path(qemu).name} has no core `{cpu}`; see {qemu} -cpu help")


def _die_with_parent() -> None:
    """In the child: be killed when the program that started it is gone, however it went."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Emulator:
    """A running QEMU: a byte stream to its serial port, and its end. A context manager."""

    def __init__(self, command: list[str], interactive: bool = False) -> None:
        """Starts it. `interactive`: the serial port can be written to."""
        self.command = command
        self.status: Optional[int] = None
        self.errors = b""
        self._ended = False
        try:
            # A session of its own, so that Ctrl-C reaches this program alone and a wrapper's
            # children can be ended together with it.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE if interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                start_new_session=True, preexec_fn=_die_with_parent)
        except OSError as error:
            raise UserError(f"cannot start {command[0]}: {error.strerror}",
                            EXIT_INCOMPLETE) from error
        self._exit = os.pidfd_open(self._process.pid)
        self._selector = selectors.DefaultSelector()
        for stream in (self._process.stdout, self._process.stderr):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        self._selector.register(self._exit, selectors.EVENT_READ)

    def __enter__(self) -> "Emulator":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _read_errors(self) -> bool:
        """Take what is on standard error; False at its end."""
        data = self._process.stderr.read(65536)
        if data:
            self.errors = (self.errors + data)[-STDERR_BYTES_KEPT:]
        return data != b""

    def read(self, timeout: float) -> bytes:
        """Bytes from the serial port as soon as there are any; empty after `timeout` seconds.

        Raises StreamEnded once QEMU has ended and everything it wrote has been returned.
        """
        deadline = time.monotonic() + timeout
        while not self._ended:
            ready = {key.fileobj for key, _ in
                     self._selector.select(max(0.0, deadline - time.monotonic()))}
            if self._process.stderr in ready and not self._read_errors():
                self._selector.unregister(self._process.stderr)
            if self._process.stdout in ready:
                data = self._process.stdout.read(65536)
                if data:
                    return data
                self._ended = data is not None
            elif self._exit in ready:
                self._ended = True
            elif not ready:
                return b""
        raise StreamEnded

    def write(self, data: bytes) -> None:
        """Send bytes to the serial port; StreamEnded if nobody is left to take them."""
        try:
            self._process.stdin.write(data)
        except BrokenPipeError as error:
            raise StreamEnded from error

    def wait(self, seconds: float) -> bool:
        """Wait until the process has ended by itself; False if it has not after `seconds`."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._exit, selectors.EVENT_READ)
            return bool(selector.select(seconds))

    def stop(self) -> None:
        """Kill it and what it started, if anything is left, and collect its status."""
        if self.status is not None:
            return
        # The process is not reaped yet, so its number cannot belong to anybody else.
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.status = self._process.wait()
        self._read_errors()
        self._selector.close()
        os.close(self._exit)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def complaint(self) -> str:
        """The last line QEMU wrote to standard error, or nothing."""
        lines = self.errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip()[:300] if lines else ""
