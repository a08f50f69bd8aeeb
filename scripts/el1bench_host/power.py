"""Switches a board on and off: a USB relay, or any two commands."""

import subprocess
import time

from el1bench_host import relay
from el1bench_host.campaign_file import Power
from el1bench_host.errors import EXIT_INCOMPLETE, UserError
from el1bench_host.process import tail
from el1bench_host.serial_port import SerialPort
from el1bench_host.u_boot import StreamEnded

COMMAND_SECONDS = 60


class CommandSwitch:
    """Power by commands, which succeed with status 0."""

    def __init__(self, power: Power) -> None:
        self._power = power

    def set(self, on: bool) -> None:
        """Switch; UserError if the command fails."""
        command = self._power.on if on else self._power.off
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                  check=False, timeout=COMMAND_SECONDS)
        except OSError as error:
            raise UserError(f"power: cannot start {command[0]}: {error.strerror}",
                            EXIT_INCOMPLETE) from error
        except subprocess.TimeoutExpired as error:
            raise UserError(f"power: {command[0]} did not end within {COMMAND_SECONDS} s",
                            EXIT_INCOMPLETE) from error
        if done.returncode != 0:
            said = tail(done.stderr.decode("utf-8", "replace"), 1)
            raise UserError(f"power: {command[0]} ended with status {done.returncode}"
                            + (f": {said}" if said else ""), EXIT_INCOMPLETE)

    def close(self) -> None:
        """Nothing to let go of."""


class RelaySwitch:
    """Power by a relay, whose port is held from now on. Frames are sent twice: relays miss some."""

    def __init__(self, power: Power) -> None:
        assert power.relay is not None
        self._power = power
        self._port = SerialPort(power.relay, relay.BAUD)

    def set(self, on: bool) -> None:
        """Switch; UserError if the relay is gone. It does not say whether it has switched."""
        try:
            self._port.write(relay.frame(on, self._power.channel))
            # The relay gives no sign of being ready for the next frame.
            time.sleep(self._power.repeat_seconds)
            self._port.write(relay.frame(on, self._power.channel))
        except StreamEnded as error:
            raise UserError(f"power: {error}", EXIT_INCOMPLETE) from error

    def close(self) -> None:
        """Let go of the port."""
        self._port.close()


def open_switch(power: Power) -> CommandSwitch | RelaySwitch:
    """What switches the board; nothing is switched yet."""
    return RelaySwitch(power) if power.relay else CommandSwitch(power)
