"""The serial line of the virtual bench: as slow as a real one, and as bad as a test wants it.

What a board says goes in, what a reader receives comes out when it has passed the line. Knows
nothing of terminals or processes.
"""

import random
import re
from typing import Optional

from el1bench_host.serial_port import BITS_PER_BYTE
from el1bench_host.u_boot import STARTED

DAMAGE_PROBABILITY = 0.003
# A fault of the running image sets in this many bytes after its start.
FAULT_BYTES = 400
# What the line holds before the board has to wait.
QUEUE_BYTES = 256
# A USB converter hands bytes on about this often.
TICK_SECONDS = 0.001
SPEED = re.compile(rb"@el1b baud \d+ rate=(\d+)")
LINE_BYTES_KEPT = 256


class SerialLine:
    """From one power-on to the next. Times are those of the monotonic clock."""

    def __init__(self, baud: int, damage: str, generator: random.Random) -> None:
        """`damage`: what happens to bytes once an image runs: `noise`, `lost` or nothing."""
        self._baud = baud
        self._byte_seconds = BITS_PER_BYTE / baud
        self._damage = damage
        self._random = generator
        self._queue = bytearray()
        self._due = 0.0  # when the queue's first byte will have passed the line
        self._since_start: Optional[int] = None
        self._line = b""
        self._board_speed = 0  # the speed that the board has set; 0: its first one
        self._first_speed = 0  # the reader's when the board first changed its own

    @property
    def room(self) -> int:
        """Bytes that may be put."""
        return max(0, QUEUE_BYTES - len(self._queue))

    @property
    def in_image(self) -> bool:
        """True when faults of the running image are due."""
        return self._since_start is not None and self._since_start > FAULT_BYTES

    def put(self, data: bytes, now: float) -> None:
        """The board says something."""
        if not self._queue:
            self._due = max(self._due, now + self._byte_seconds)
        self._queue += data

    def clear(self) -> None:
        """Nothing more comes of what was said."""
        self._queue.clear()

    def wake_at(self, now: float) -> Optional[float]:
        """When to `take` next; None: when something has been put."""
        return max(self._due, now + TICK_SECONDS) if self._queue else None

    def take(self, now: float, reader_speed: int) -> bytes:
        """The bytes that have passed by now, as a reader at that speed (0: unknown) gets them."""
        if not self._queue or now < self._due:
            return b""
        count = min(len(self._queue), 1 + int((now - self._due) / self._byte_seconds))
        data = bytes(self._queue[:count])
        del self._queue[:count]
        self._due += count * self._byte_seconds
        received = self._misread(data, reader_speed)
        if self.in_image:
            received = self._spoil(received)
        self._watch(data, reader_speed)
        return received

    def _misread(self, data: bytes, reader_speed: int) -> bytes:
        """What a reader makes of it that has not followed to the board's speed."""
        speed = self._board_speed or self._first_speed
        if not reader_speed or not speed or reader_speed == speed:
            return data
        return bytes(byte ^ 0x55 for byte in data)

    def _spoil(self, data: bytes) -> bytes:
        """What arrives of `data` on a bad line."""
        if not self._damage:
            return data
        out = bytearray()
        for byte in data:
            if self._random.random() >= DAMAGE_PROBABILITY:
                out.append(byte)
            elif self._damage == "noise":
                out.append(byte ^ (1 << self._random.randrange(7)))
        return bytes(out)

    def _watch(self, data: bytes, reader_speed: int) -> None:
        """See an image start, and follow the board to another speed."""
        if self._since_start is not None:
            self._since_start += len(data)
        lines = (self._line + data).split(b"\n")
        self._line = lines[-1][-LINE_BYTES_KEPT:]
        if self._since_start is None and any(STARTED.search(line) for line in lines):
            self._since_start = 0
        for line in lines[:-1]:
            if found := SPEED.search(line):
                if not self._board_speed:
                    self._first_speed = reader_speed
                self._board_speed = int(found.group(1))
                self._byte_seconds = BITS_PER_BYTE / (self._board_speed or self._baud)
