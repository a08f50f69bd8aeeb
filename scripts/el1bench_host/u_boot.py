"""Drives U-Boot's command line on a byte stream: stop autoboot, type commands, start an image.

Knows U-Boot, and nothing of what carries the bytes: an emulator's pipe or a board's serial port.
Each wait ends with an event in the stream or at a limit, and a limit that is hit becomes one line
that names the step and the last text seen.
"""

import re
import time
from typing import Optional, Protocol

from el1bench_host.errors import EXIT_INCOMPLETE, UserError

# Mainline's default prompt, and that of the vendor tree of the Odroid-C4.
PROMPT = re.compile(rb"(?:^|[\r\n])(?:=> |odroidc4#) ?$")
AUTOBOOT = re.compile(rb"Hit (?:any key|Enter or space or Ctrl\+C key) to stop autoboot")
TRANSFERRED = re.compile(rb"Bytes transferred = (\d+) ")
# U-Boot would start over again, for ever.
STALLED = re.compile(rb"Retry (?:count|time) exceeded")
BOUND = re.compile(rb"DHCP client bound to address")
CHECKSUM = re.compile(rb"==> ([0-9a-f]{8})")
STARTED = re.compile(rb"## Starting application at|Starting kernel \.\.\.")

PROMPT_SECONDS = 60.0
COMMAND_SECONDS = 30.0
# For the first, trivial one, even if the prompt came late.
READY_SECONDS = 5.0
TRANSFER_SECONDS = 60.0
# A carriage return can be lost while the console is being set up; it is sent again at this rate.
NUDGE_SECONDS = 0.5
# Between the carriage returns that are sent before there is anything to stop. The vendor's window
# for a key is 100 ms, and none at all when it starts from SPI flash.
EAGER_SECONDS = 0.05
# The shortest console buffer among the U-Boots that are known (CONFIG_SYS_CBSIZE).
COMMAND_BYTES_MAX = 1023
# CONFIG_SYS_MAXARGS of the same.
COMMAND_WORDS_MAX = 16
# What the command line takes without quoting. The rest would need rules that differ by version.
PLAIN_WORD = re.compile(r"[A-Za-z0-9_.,:=/+@%^~-]+")


class StreamEnded(Exception):
    """The other end is gone: the emulator ended, the port was unplugged."""


class ByteStream(Protocol):
    """What U-Boot is reached through."""

    def read(self, timeout: float) -> bytes:
        """Bytes that arrived, as soon as there are any; empty after `timeout` seconds."""

    def write(self, data: bytes) -> None:
        """Send bytes."""


class UBoot:
    """A U-Boot that is starting up, or waits at its prompt, at the other end of `stream`."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._seen = b""
        self._commands = 0

    def _last_line(self) -> str:
        # The prompt, empty or with a command behind it, tells nothing.
        lines = [line for line in re.split(rb"[\r\n]+", self._seen)
                 if line.strip() and not re.match(rb"=>|odroidc4#", line)]
        return lines[-1].decode("ascii", "replace").strip()[:120] if lines else ""

    def _fail(self, what: str) -> UserError:
        last = self._last_line()
        return UserError(f"U-Boot: {what}" + (f"; last line: {last}" if last else ""),
                         EXIT_INCOMPLETE)

    def _read(self, timeout: float) -> bytes:
        try:
            data = self._stream.read(timeout)
        except StreamEnded as error:
            raise self._fail("the console ended") from error
        self._seen += data
        return data

    def wait_prompt(self, seconds: float = PROMPT_SECONDS, eager: bool = False) -> None:
        """Stop autoboot and wait for the prompt. A carriage return stops every U-Boot known.

        `eager`: type from the first byte of the boot ROM on, not just at the countdown.
        """
        deadline = time.monotonic() + seconds
        stopping = False
        pause = EAGER_SECONDS if eager else NUDGE_SECONDS
        while not PROMPT.search(self._seen):
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._fail(f"no prompt within {seconds:.0f} s")
            data = self._read(min(left, pause) if stopping else left)
            if not stopping and (AUTOBOOT.search(self._seen) or eager and data):
                stopping = True
                self._write(b"\r")
            elif stopping and (eager or not data):
                self._write(b"\r")
                if eager and data:
                    # The boot talks without a break; it is not answered byte for byte.
                    self._collect(pause)
        # Every return that was sent may print one more prompt: a known word ends that.
        self.command("echo ready", max(deadline - time.monotonic(), READY_SECONDS))

    def _write(self, data: bytes) -> None:
        try:
            self._stream.write(data)
        except StreamEnded as error:
            raise self._fail("the console ended") from error

    def _collect(self, seconds: float) -> None:
        """Read for a while, unless the prompt comes."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not PROMPT.search(self._seen):
            self._read(left)

    def _send(self, text: str) -> None:
        if len(text) > COMMAND_BYTES_MAX:
            raise UserError(f"U-Boot: a command of {len(text)} characters is too long, "
                            f"at most {COMMAND_BYTES_MAX}: pass fewer arguments")
        self._seen = b""
        self._write(text.encode("ascii") + b"\r")

    def command(self, text: str, seconds: float = COMMAND_SECONDS,
                hopeless: Optional[re.Pattern[bytes]] = None) -> bytes:
        """Type a command, wait for the prompt after it, return what it printed.

        `hopeless`: output after which there is no use in waiting.

        A mark that no other command has, printed after the command, ends its output: a prompt from
        before is not taken for the end.
        """
        self._commands += 1
        mark = f"el1bench-{self._commands}"
        self._send(f"{text}; echo {mark}")
        end = re.compile(rb"[\r\n]" + mark.encode() + rb"[\r\n]+(?:=> |odroidc4#) ?$")
        deadline = time.monotonic() + seconds
        while not end.search(self._seen):
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._fail(f"`{text}` did not end within {seconds:.0f} s")
            if hopeless is not None and hopeless.search(self._seen):
                raise self._fail(f"`{text}` came to nothing")
            self._read(left)
        return self._seen[:end.search(self._seen).start()]

    def ask_addresses(self, server: str, seconds: float = TRANSFER_SECONDS) -> None:
        """Have U-Boot ask DHCP for its address; files then come from `server`."""
        # Without `autoload no` it would go on to fetch what DHCP names.
        output = self.command("setenv autoload no; dhcp", seconds, STALLED)
        if not BOUND.search(output):
            self._seen = output
            raise self._fail("dhcp gave no address")
        self.command(f"setenv serverip {server}")

    def set_addresses(self, own: str, netmask: str, server: str) -> None:
        """Give U-Boot fixed addresses instead of asking DHCP for them."""
        self.command(f"setenv ipaddr {own}; setenv netmask {netmask}; setenv serverip {server}")

    def fetch(self, address: int, name: str, size: int, seconds: float = TRANSFER_SECONDS) -> None:
        """Fetch the file `name` by TFTP to `address` and check its length."""
        output = self.command(f"tftpboot {address:#x} {name}", seconds, STALLED)
        found = TRANSFERRED.search(output)
        if not found:
            self._seen = output
            raise self._fail(f"tftpboot did not fetch `{name}`")
        if int(found.group(1)) != size:
            raise UserError(f"U-Boot: tftpboot fetched {int(found.group(1))} bytes, "
                            f"the image has {size}", EXIT_INCOMPLETE)

    def check(self, address: int, size: int, crc: int) -> None:
        """Hold what is in memory against a CRC-32, if this U-Boot has a command for it."""
        output = self.command(f"crc32 {address:#x} {size:#x}")
        found = CHECKSUM.search(output)
        if found and int(found.group(1), 16) != crc:
            raise UserError(f"U-Boot: the bytes in memory have CRC-32 {found.group(1).decode()}, "
                            f"those of the file {crc:08x}", EXIT_INCOMPLETE)

    def start(self, how: str, address: int, arguments: list[str],
              tree: str = "${fdtcontroladdr}", ramdisk: str = "-") -> bytes:
        """Start the image at `address` with `booti` or `go`; returns what was read up to the jump.

        `tree` is the address of the device tree in hex digits, U-Boot's own unless given. With
        `booti` the arguments go into it, with `go` they are words of the command, the tree's
        address, if there is one, first.
        """
        check_arguments(how, arguments)
        if how == "booti":
            self.command("setenv bootargs " + " ".join(arguments))
            self._send(f"booti {address:#x} {ramdisk} {tree}")
        else:
            self._send(" ".join(["go", f"{address:#x}", *([tree] if tree else []), *arguments]))
        deadline = time.monotonic() + COMMAND_SECONDS
        while not STARTED.search(self._seen):
            left = deadline - time.monotonic()
            if left <= 0 or PROMPT.search(self._seen):
                raise self._fail(f"`{how}` did not start the image")
            self._read(left)
        return self._seen


def check_arguments(how: str, arguments: list[str]) -> None:
    """Raise UserError for boot arguments that U-Boot's command line could not hand on."""
    for word in arguments:
        if not PLAIN_WORD.fullmatch(word):
            raise UserError(f"U-Boot's command line cannot carry the argument `{word}`")
    if how == "go" and len(arguments) > COMMAND_WORDS_MAX - 3:
        raise UserError(f"U-Boot's `go` takes at most {COMMAND_WORDS_MAX - 3} boot arguments, "
                        f"here are {len(arguments)}")
