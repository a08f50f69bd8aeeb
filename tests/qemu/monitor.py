"""QEMU's control socket, for tests that stop or reset a machine."""

import json
import socket
from pathlib import Path
from typing import Any


def monitor_options(path: Path) -> tuple[str, ...]:
    """What makes QEMU listen at `path`."""
    return ("-qmp", f"unix:{path},server=on,wait=off")


class Monitor:
    """A connection to the control socket of a QEMU that has been started."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rwb", buffering=0)
        self._lines.readline()
        self.ask("qmp_capabilities")

    def ask(self, command: str) -> Any:
        """Run a command; its answer, events passed over."""
        self._lines.write(json.dumps({"execute": command}).encode() + b"\n")
        while "return" not in (answer := json.loads(self._lines.readline())):
            pass
        return answer["return"]

    def close(self) -> None:
        """Let go."""
        self._lines.close()
        self._socket.close()
