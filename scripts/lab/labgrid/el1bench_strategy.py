"""A labgrid strategy: power, U-Boot, TFTP, `go`, and the image's log up to its trailer."""

import enum
import os
import re
from typing import Sequence

import attr
from labgrid import target_factory
from labgrid.strategy import Strategy, StrategyError

BEGIN = rb"@el1b begin "
END = rb"@el1b end [^\n]*\n"
TRANSFER_SECONDS = 60


class Status(enum.Enum):
    """Where the board is."""

    unknown = 0
    off = 1
    uboot = 2
    done = 3


@target_factory.reg_driver
@attr.s(eq=False)
class El1benchStrategy(Strategy):
    """Measures on a board that U-Boot starts. `image` is the served file, as this host sees it."""

    bindings = {"power": "PowerProtocol", "console": "ConsoleProtocol", "uboot": "UBootDriver"}

    image = attr.ib(validator=attr.validators.instance_of(str))
    address = attr.ib(default=0x20000000, validator=attr.validators.instance_of(int))
    board = attr.ib(default="10.42.0.2", validator=attr.validators.instance_of(str))
    netmask = attr.ib(default="255.255.255.0", validator=attr.validators.instance_of(str))
    server = attr.ib(default="10.42.0.1", validator=attr.validators.instance_of(str))
    timeout = attr.ib(default=300, validator=attr.validators.instance_of(int))
    status = attr.ib(default=Status.unknown)

    def transition(self, status: Status | str) -> None:
        """To `off`, or to U-Boot's prompt, by way of power."""
        status = Status[status] if isinstance(status, str) else status
        if status not in (Status.off, Status.uboot):
            raise StrategyError(f"cannot go to {status}")
        if status == self.status:
            return
        self.target.deactivate(self.uboot)
        self.target.activate(self.power)
        self.power.off()
        self.status = Status.off
        if status == Status.uboot:
            self.target.activate(self.console)
            self.power.cycle()
            self.target.activate(self.uboot)
            self.status = status

    def measure(self, arguments: Sequence[str]) -> bytes:
        """Boot the image with these arguments; its log, from the first line to the trailer."""
        self.transition(Status.uboot)
        self.uboot.run_check(f"setenv autoload no; setenv ipaddr {self.board}; setenv netmask "
                             f"{self.netmask}; setenv serverip {self.server}")
        said = "\n".join(self.uboot.run_check(
            f"tftpboot {self.address:#x} {os.path.basename(self.image)}",
            timeout=TRANSFER_SECONDS))
        fetched = re.search(r"Bytes transferred = (\d+) ", said)
        if not fetched or int(fetched.group(1)) != os.path.getsize(self.image):
            raise StrategyError(f"not all of {self.image} was fetched: {said[-200:]}")
        self.status = Status.done
        self.console.sendline(" ".join(["go", f"{self.address:#x}", *arguments]))
        _, _, _, begin = self.console.expect(BEGIN, timeout=self.timeout)
        _, log, _, end = self.console.expect(END, timeout=self.timeout)
        return begin + log + end
