#!/usr/bin/python3
"""Stands in for a board behind the virtual bench: boot ROM, U-Boot in both dialects, an image.

Talks on standard input and output: FAKE_BOARD.py SERVED DIALECT FAULT. The image's log has one row
whose samples depend on its boot number alone, so that what a campaign collects can be foretold.
"""

import os
import select
import sys
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

# pylint: disable=wrong-import-position
from tests.host.synthetic_log import Boot, Row

PROMPTS = {"mainline": b"=> ", "vendor": b"odroidc4#"}
COUNTDOWNS = {
    "mainline": (b"Hit any key to stop autoboot:  2 ", 2.0),
    "vendor": (b"Hit Enter or space or Ctrl+C key to stop autoboot -- :  1 ", 0.1),
}
VENDOR_STOP_KEYS = b"\r \x03"
LINE_BYTES_PER_SECOND = 11_520  # at 115,200 baud, the slower of the speeds
FOLLOW_SECONDS = 1.5  # for a reader on a busy host


def samples_of(boot: int) -> list[int]:
    """What the image measures in its boot number `boot`."""
    return [20 + boot + index % 5 for index in range(100)]


def put(data: bytes) -> None:
    """Bytes to the console, at once."""
    os.write(1, data)


def hang() -> None:
    """Say nothing any more."""
    while os.read(0, 64):
        pass
    sys.exit(0)


class Board:
    """The board, from power-on to the image."""

    def __init__(self, served: Path, dialect: str, fault: str) -> None:
        self._served = served
        self._dialect = dialect
        self._fault = fault
        self._memory = b""
        self._hung = False

    def boot(self) -> None:
        """Boot ROM and countdown; without a key the board goes on to where nobody looks."""
        put(b"SM1:BL:511f6b:81ca2f;FEAT:A0F83180:20282000;POC:F;RCY:0;\r\nbl2_stage_init 0x01\r\n")
        text, seconds = COUNTDOWNS[self._dialect]
        put(b"U-Boot 2023.07 (fake)\r\n" + text)
        while select.select([0], [], [], seconds)[0]:
            key = os.read(0, 1)
            if not key:
                sys.exit(0)
            if self._dialect == "mainline" or key in VENDOR_STOP_KEYS:
                break
        else:
            put(b"\r\nautobooting\r\n")
            hang()
        self.command_line()

    def command_line(self) -> None:
        """U-Boot's."""
        prompt = PROMPTS[self._dialect]
        put(b"\r\n" + prompt)
        line = b""
        while True:
            key = os.read(0, 1)
            if not key:
                sys.exit(0)
            if key == b"\n":
                continue
            if key != b"\r":
                line += key
                put(key)
                continue
            put(b"\r\n")
            for command in line.decode().split("; "):
                self.execute(command.split())
            line = b""
            put(prompt)

    def execute(self, words: list[str]) -> None:
        """One command."""
        if not words:
            return
        if words[0] == "echo":
            put(" ".join(words[1:]).encode() + b"\r\n")
        elif words[0] == "tftpboot":
            self.fetch(words[2])
        elif words[0] == "crc32":
            put(b"crc32 for 20000000 ... 20001000 ==> %08x\r\n" % zlib.crc32(self._memory))
        elif words[0] == "go":
            put(b"## Starting application at 0x20000000 ...\r\n")
            self.image(dict(word.removeprefix("el1bench.").split("=", 1) for word in words[2:]
                            if "=" in word))
        elif words[0] == "booti":
            put(b"Starting kernel ...\r\n")
            self.image({})
        elif words[0] != "setenv":
            put(b"Unknown command '%s' - try 'help'\r\n" % words[0].encode())

    def fetch(self, name: str) -> None:
        """TFTP."""
        if self._fault == "tftp-stall":
            put(b"Loading: T T T \r\nRetry count exceeded; starting again\r\n")
            hang()
        data = (self._served / name).read_bytes()
        if self._fault == "wrong-file":
            data = data[:-1]
        if self._fault == "other-file":
            data = data[:-1] + b"?"
        self._memory = data
        put(b"Loading: ####\r\ndone\r\nBytes transferred = %d (%x hex)\r\n" % (len(data), len(data)))

    def image(self, words: dict[str, str]) -> None:
        """What has been fetched decides what runs."""
        if self._memory.startswith(b"guest"):
            put(b"[    0.000000] Booting Linux\r\n[    1.000000] Run /init as init process\r\n"
                b"board login: ")
            hang()
        if self._memory.startswith(b"panic"):
            put(b"[    0.000000] Booting Linux\r\n[    0.5] Kernel panic - not syncing: x\r\n")
            hang()
        boot = Boot(boot=int(words.get("boot", "0")), seed=1)
        boot.head()
        if self._memory.startswith(b"hangs"):
            self.reset_or_survivors(boot)
        boot.plan(["clock.floor"])
        said = boot.text()
        put(said)
        row = Row("clock.floor.pair", samples_of(boot.boot), cold=3)
        faster = words.get("baud")
        boot.results([row], raw=not faster, outcomes=("clock.floor passed : because",))
        if faster:
            boot.line("baud", f"rate={faster}")
            said = self.say_rest(boot, said)
            boot.dump(0, row)
            boot.line("baud", "rate=0 : as before")
            said = self.say_rest(boot, said)
        boot.end("passed")
        self.say_rest(boot, said)
        hang()

    def reset_or_survivors(self, boot: Boot) -> None:
        """The first time, hang in a benchmark and be reset; then find what was finished."""
        if not self._hung:
            self._hung = True
            put(boot.plan(["clock.floor", "ipi.self"]).text())
            self.boot()
        if not self._memory.endswith(b"forgets"):
            boot.line("survivors", "state=whole boot=0 seed=1 entry-stamp=12345 benchmarks=2 "
                      "finished=1 bound-ms=1000 : el1bench.watchdog=on")
            boot.line("was-outcome", "clock.floor passed : ")
            boot.line("was-outcome", "ipi.self failed : the machine was reset while it ran")
            boot.line("was-end", "metrics=0 raw=0")

    @staticmethod
    def say_rest(boot: Boot, said: bytes) -> bytes:
        """Say what is new, and leave the reader time to change speed, once it is there.

        The image drains its UART and then waits. Here the bench paces what is said, so the time
        on its line comes first.
        """
        new = boot.text()[len(said):]
        put(new)
        time.sleep(len(new) / LINE_BYTES_PER_SECOND + FOLLOW_SECONDS)
        return boot.text()


if __name__ == "__main__":
    Board(Path(sys.argv[1]), sys.argv[2], sys.argv[3]).boot()
