"""A pseudo-terminal that stands in for a serial port, under a name of its own."""

import os
import pty
import re
import termios
import tty
from pathlib import Path


SPEEDS = {getattr(termios, name): int(name[1:]) for name in dir(termios)
          if re.fullmatch(r"B\d+", name)}
OUTPUT_SPEED = 5  # its place in what tcgetattr returns


class Terminal:
    """A pseudo-terminal under a name of its own. `write` loses what nobody reads, as a UART does."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self.master = -1
        self._slave = -1
        self.plug()

    def plug(self) -> None:
        """Make it, and have the name point to it."""
        self.master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        fresh = self.link.with_name(f".{self.link.name}.new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(os.ttyname(self._slave))
        fresh.rename(self.link)

    def unplug(self) -> None:
        """Take it away from whoever has it open."""
        if self.master >= 0:
            self.link.unlink(missing_ok=True)
            os.close(self.master)
            os.close(self._slave)
            self.master = self._slave = -1

    @property
    def speed(self) -> int:
        """The speed, in baud, to which whoever reads it has set it; 0 if that is no usual one."""
        return SPEEDS.get(termios.tcgetattr(self._slave)[OUTPUT_SPEED], 0)

    def read(self) -> bytes:
        """What has been sent to it."""
        try:
            return os.read(self.master, 4096)
        except (BlockingIOError, OSError):
            return b""

    def write(self, data: bytes) -> None:
        """Send."""
        try:
            os.write(self.master, data)
        except OSError:
            pass
