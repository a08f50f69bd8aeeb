"""`el1bench shell`: runs a command as root on a board's Linux, through its serial console.

For what has to be done before a board has a network. The command's output is told from what the
console echoes by marks that the typed line does not contain as they are printed.
"""

import argparse
import getpass
import os
import re
import shlex
import sys
import time
from typing import Any, Optional

from el1bench_host.errors import EXIT_FAILED, EXIT_INCOMPLETE, UserError
from el1bench_host.serial_port import BAUD_DEFAULT, SerialPort
from el1bench_host.u_boot import ByteStream, StreamEnded

LOGIN = re.compile(rb"(?:^|[\r\n])[^\r\n]*login: ?$")
PASSWORD = re.compile(rb"(?:^|[\r\n])[^\r\n]*[Pp]assword: ?$")
PROMPT = re.compile(rb"[#$] (?:\x1b\[[0-9;?]*[a-zA-Z])*$")
REFUSED = re.compile(rb"Login incorrect|Login timed out")
LOGIN_SECONDS = 30.0
COMMAND_SECONDS = 60.0
NUDGE_SECONDS = 2.0
# What a terminal takes as one line, less what goes round the command.
COMMAND_BYTES_MAX = 3500
PASSWORD_VARIABLE = "EL1BENCH_PASSWORD"


class SerialShell:
    """A Linux at the other end of a serial line."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._seen = b""
        # Not the number of another program that left its marks on this line.
        self._mark = f"{os.getpid()}-{time.monotonic_ns()}"
        self._commands = 0

    def _read(self, timeout: float) -> bytes:
        try:
            data = self._stream.read(timeout)
        except StreamEnded as error:
            raise UserError(f"the console ended: {error}", EXIT_INCOMPLETE) from error
        self._seen += data
        return data

    def _send(self, text: str) -> None:
        self._seen = b""
        try:
            self._stream.write(text.encode() + b"\r")
        except StreamEnded as error:
            raise UserError(f"the console ended: {error}", EXIT_INCOMPLETE) from error

    def _last_line(self) -> str:
        lines = self._seen.decode("utf-8", "replace").split()
        return f"; last word: {lines[-1][:60]}" if lines else "; it says nothing"

    def log_in(self, user: str, password: Optional[str], seconds: float = LOGIN_SECONDS) -> None:
        """Get to a prompt: log in, unless somebody is logged in."""
        deadline = time.monotonic() + seconds
        nudged = 0.0
        while not PROMPT.search(self._seen):
            now = time.monotonic()
            if now >= deadline:
                raise UserError(f"no login and no prompt within {seconds:g} s{self._last_line()}",
                                EXIT_INCOMPLETE)
            if REFUSED.search(self._seen):
                raise UserError(f"the board refuses to log in `{user}`", EXIT_FAILED)
            if LOGIN.search(self._seen):
                self._send(user)
            elif PASSWORD.search(self._seen):
                if password is None:
                    raise UserError(f"`{user}` needs a password: set {PASSWORD_VARIABLE}")
                self._send(password)
            elif now - nudged >= NUDGE_SECONDS:
                nudged = now
                self._send("")
            self._read(min(NUDGE_SECONDS, deadline - now))

    def run(self, command: str, seconds: float = COMMAND_SECONDS) -> tuple[bytes, int]:
        """Run a command in a shell of its own; its output and its status."""
        if not re.fullmatch(r"[^\x00-\x1f\x7f]+", command):
            raise UserError("a command is one line of printable characters")
        quoted = shlex.quote(command)
        if len(quoted.encode()) > COMMAND_BYTES_MAX:
            raise UserError(f"the command is longer than {COMMAND_BYTES_MAX} bytes")
        self._commands += 1
        mark = f"{self._mark}-{self._commands}"
        self._send(f"printf '%s:%s\\n' begin {mark}; sh -c {quoted}; "
                   f"printf '\\n%s:%s:%s:\\n' end {mark} $?")
        begin = re.compile(rb"(?:^|[\r\n])begin:" + mark.encode() + rb"\r*\n")
        end = re.compile(rb"\r*\nend:" + mark.encode() + rb":(\d+):")
        deadline = time.monotonic() + seconds
        while not (found := end.search(self._seen)):
            left = deadline - time.monotonic()
            if left <= 0:
                raise UserError(f"the command did not end within {seconds:g} s", EXIT_INCOMPLETE)
            self._read(left)
        start = begin.search(self._seen)
        if not start:
            raise UserError("the command's output is damaged: its start is missing",
                            EXIT_INCOMPLETE)
        output = self._seen[start.end():found.start()] if start.end() <= found.start() else b""
        return re.sub(rb"\r+\n", b"\n", output), int(found.group(1))


def register(subparsers: Any) -> None:
    """Adds `shell` to the command line."""
    parser = subparsers.add_parser(
        "shell", help="run a command on a board's Linux through its serial console",
        description="Logs in, unless somebody is, runs the command and prints its output. The "
        "exit code is the command's, unless a line on standard error that starts with `el1bench:` "
        "says otherwise: 1 the login was refused, 2 bad usage, 3 no answer.")
    parser.add_argument("port", metavar="PORT", help="device or URL of pyserial")
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER,
                        help="one command line; asked for on standard input if there is none")
    parser.add_argument("--baud", type=int, default=BAUD_DEFAULT, help="default: %(default)s")
    parser.add_argument("--user", default="root", help="default: root")
    parser.add_argument("--ask-password", action="store_true",
                        help=f"ask for the password, instead of taking it from {PASSWORD_VARIABLE}")
    parser.add_argument("--timeout", type=float, default=COMMAND_SECONDS, metavar="SECONDS",
                        help="for each command (default: %(default)g)")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Runs `shell`."""
    if args.baud < 1:
        raise UserError(f"--baud: {args.baud} is no speed")
    if not 0 < args.timeout < 1e9:
        raise UserError(f"--timeout: {args.timeout:g} is not a time in seconds")
    password = (getpass.getpass() if args.ask_password
                else os.environ.get(PASSWORD_VARIABLE))
    commands = [" ".join(args.command)] if args.command else sys.stdin
    status = 0
    with SerialPort(args.port, args.baud) as port:
        shell = SerialShell(port)
        shell.log_in(args.user, password)
        for line in commands:
            if line.strip():
                output, status = shell.run(line.rstrip("\r\n"), args.timeout)
                sys.stdout.buffer.write(output + (b"" if output.endswith(b"\n") or not output
                                                  else b"\n"))
                sys.stdout.buffer.flush()
    return status
