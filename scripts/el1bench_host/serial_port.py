"""A serial port, named by device or by any URL that pyserial takes, as a stream of bytes.

Knows how a port is opened, found busy and lost; nothing of what is said on it.
"""

import os
import select
import time
from typing import Any, Optional

from el1bench_host import setup
from el1bench_host.errors import UserError
from el1bench_host.u_boot import StreamEnded

READ_BYTES = 4096
BITS_PER_BYTE = 10  # 8N1
BAUD_DEFAULT = 115200


def _pyserial(quiet: bool) -> Any:
    """The pyserial module, installed if it is missing."""
    try:
        import serial  # pylint: disable=import-outside-toplevel
    except ImportError:
        setup.ensure_packages("lab", quiet)
        import serial  # pylint: disable=import-outside-toplevel
    return serial


def _reason(error: Exception, url: str) -> str:
    """Why a port cannot be opened, in a few words."""
    text = str(error).splitlines()[0]
    if "exclusively lock" in text or isinstance(error, BlockingIOError):
        return "another program uses it"
    if "Could not configure port" in text:
        return "it is no serial port"
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else text.removeprefix(f"Could not open port {url}: ")


class SerialPort:
    """An open port: a ByteStream whose chunks carry the time of their arrival."""

    def __init__(self, url: str, baud: int = BAUD_DEFAULT, quiet: bool = True) -> None:
        """Open it for this process alone; UserError if it is absent, busy or no port."""
        self.url = url
        self.byte_seconds = BITS_PER_BYTE / baud
        self._baud = self._speed = baud
        self.arrived = 0.0
        """When the latest read returned, on the monotonic clock."""
        serial = _pyserial(quiet)
        self._errors = (OSError, serial.SerialException)
        try:
            self._port = serial.serial_for_url(url, baudrate=baud, timeout=0, do_not_open=True)
            if "://" not in url:
                self._port.exclusive = True
            self._port.open()
        except self._errors as error:
            raise UserError(f"cannot open {url}: {_reason(error, url)}") from error
        except (ValueError, TypeError) as error:
            raise UserError(f"cannot open {url}: {error}") from error
        # Devices have a descriptor; other URLs are read through pyserial.
        self._descriptor: Optional[int] = getattr(self._port, "fd", None)
        try:
            # Some USB converters hold bytes back for 16 ms unless they are told not to.
            self._port.set_low_latency_mode(True)
        except (*self._errors, AttributeError, ValueError, NotImplementedError):
            pass

    def __enter__(self) -> "SerialPort":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the port."""
        try:
            self._port.close()
        except self._errors:
            pass

    def follow(self, speed: int) -> None:
        """Go to another speed, as the other end has done or is about to; 0: back to the first."""
        speed = speed or self._baud
        if speed == self._speed:
            return
        try:
            self._port.baudrate = speed
        except (*self._errors, ValueError):
            # A port that cannot go on receives garbage, which the log's sums will show.
            return
        self._speed = speed
        self.byte_seconds = BITS_PER_BYTE / speed

    def _read_device(self, timeout: float) -> bytes:
        assert self._descriptor is not None
        if not select.select([self._descriptor], [], [], timeout)[0]:
            return b""
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            raise StreamEnded(f"{self.url} is gone")
        return data

    def _read_other(self, timeout: float) -> bytes:
        self._port.timeout = timeout
        data = self._port.read(1)
        if data:
            self._port.timeout = 0
            data += self._port.read(min(self._port.in_waiting, READ_BYTES))
        return data

    def read(self, timeout: float) -> bytes:
        """Bytes as soon as there are any; empty after `timeout` seconds; StreamEnded if it is gone.
        """
        try:
            data = (self._read_other(timeout) if self._descriptor is None
                    else self._read_device(timeout))
        except self._errors as error:
            raise StreamEnded(f"{self.url} is gone") from error
        self.arrived = time.monotonic()
        return data

    def write(self, data: bytes) -> None:
        """Send bytes; StreamEnded if the port is gone."""
        try:
            self._port.write(data)
            self._port.flush()
        except self._errors as error:
            raise StreamEnded(f"{self.url} is gone") from error


class FilePort:
    """A file, a FIFO or another program's output, read to its end as if it were a console."""

    byte_seconds = 0.0

    def follow(self, speed: int) -> None:
        """A file has no speed."""

    def __init__(self, path: str) -> None:
        self.url = path
        self.arrived = 0.0
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise UserError(f"cannot open {path}: {error.strerror}") from error

    def __enter__(self) -> "FilePort":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def read(self, timeout: float) -> bytes:
        """As SerialPort.read."""
        if not select.select([self._descriptor], [], [], timeout)[0]:
            return b""
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except OSError as error:
            raise StreamEnded(f"{self.url}: {error.strerror}") from error
        self.arrived = time.monotonic()
        if not data:
            raise StreamEnded(f"{self.url} has ended")
        return data
