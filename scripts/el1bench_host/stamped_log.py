"""A console log in which each line bears the time at which its first byte arrived.

`SECONDS<TAB>LINE`, SECONDS on the monotonic clock since the log was started, six decimals. Bytes go
to the file as they come, so that a log is whole up to the moment that its writer is killed.
"""

import re
from typing import BinaryIO, Callable, Iterator, Optional

STAMP = re.compile(rb"(\d+\.\d{6})\t")
LINE_BYTES_KEPT = 4096


class StampedLog:
    """Writes such a log. `stream` must be unbuffered."""

    def __init__(self, stream: BinaryIO, started: float, byte_seconds: float,
                 on_line: Optional[Callable[[float, bytes], None]] = None) -> None:
        """`started`: what counts as 0, on the monotonic clock. `byte_seconds`: what a byte takes
        on the line, 0 if that is unknown. `on_line` is told of each line, and again whenever more
        of it has come: its stamp and what is there, without the line's end.
        """
        self._stream = stream
        self._started = started
        self.byte_seconds = byte_seconds
        self._on_line = on_line
        self._before = started
        self._stamp: Optional[float] = None
        self._line = b""

    @property
    def line(self) -> bytes:
        """What there is of the line that is not finished yet."""
        return self._line

    def feed(self, data: bytes, now: float) -> None:
        """Take bytes that a read returned at `now`.

        Bytes that were read together did not arrive together: one that has n behind it arrived n
        byte times before the last one, at the latest, though not before the previous read.
        """
        out = bytearray()
        left = len(data)
        for piece in _pieces(data):
            if self._stamp is None:
                arrival = max(self._before, now - (left - 1) * self.byte_seconds)
                self._stamp = arrival - self._started
                out += b"%.6f\t" % self._stamp
            left -= len(piece)
            out += piece
            self._line = (self._line + piece.rstrip(b"\r\n"))[-LINE_BYTES_KEPT:]
            if self._on_line is not None:
                self._on_line(self._stamp, self._line)
            if piece.endswith(b"\n"):
                self._stamp, self._line = None, b""
        self._stream.write(out)
        self._before = now

    def note(self, text: str, now: float) -> None:
        """A line of the log's own, between marks that no console prints."""
        end = b"" if self._stamp is None else b"\n"
        self._stream.write(end + b"%.6f\t--- %s ---\n" % (now - self._started, text.encode()))
        self._stamp, self._line = None, b""
        self._before = now


def _pieces(data: bytes) -> list[bytes]:
    """Split after each line feed, and only there."""
    pieces = data.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def read_stamps(data: bytes) -> Iterator[tuple[float, bytes]]:
    """(seconds, line) of each stamped line; lines without a stamp are passed over."""
    for text in data.split(b"\n"):
        found = STAMP.match(text)
        if found:
            yield float(found.group(1)), text[found.end():].rstrip(b"\r")
