"""Makes a mainline U-Boot speak as the vendor's of the Odroid-C4 does, for the virtual bench.

The commands are the same; what differs is the prompt, the countdown's text, the keys that stop it
and how long there is for them. From the start of an image on everything passes as it is.
"""

from typing import Optional

from el1bench_host.u_boot import STARTED

TEXTS = {
    b"=> ": b"odroidc4#",
    b"Hit any key to stop autoboot:": b"Hit Enter or space or Ctrl+C key to stop autoboot -- :",
}
PROMPT, COUNTDOWN = TEXTS
STOP_KEYS = b"\r \x03"
# What the vendor's U-Boot calls a second, unless its environment has `ms_delay_step`.
COUNTDOWN_SECONDS = 0.1
LINE_BYTES_KEPT = 256


class VendorDialect:
    """Stands between a board and its serial line, from one power-on to the next."""

    def __init__(self, seconds: float = COUNTDOWN_SECONDS) -> None:
        """`seconds`: how long there is for a key."""
        self._seconds = seconds
        self._held: Optional[bytes] = b""  # a line's start that may become one of TEXTS
        self._line = b""
        self._running = False  # an image is
        self._prompted = False
        self._counting_since: Optional[float] = None

    def says(self, data: bytes, now: float) -> bytes:
        """What the board says becomes this. Never holds back the end of a line."""
        out = bytearray()
        for place, value in enumerate(data):
            if self._running:
                return bytes(out) + data[place:]
            byte = bytes((value,))
            self._line = (self._line + byte)[-LINE_BYTES_KEPT:]
            if self._held is None:
                out += byte
            else:
                self._held += byte
                if self._held in TEXTS:
                    out += TEXTS[self._held]
                    self._saw(self._held, now)
                    self._held = None
                elif not any(text.startswith(self._held) for text in TEXTS):
                    out += self._held
                    self._held = None
            if byte in b"\r\n":
                self._running = STARTED.search(self._line) is not None
                self._held = self._line = b""
        return bytes(out)

    def _saw(self, text: bytes, now: float) -> None:
        if text == PROMPT:
            self._prompted = True
        else:
            self._counting_since = now

    def hears(self, data: bytes, now: float) -> bytes:
        """What is typed reaches the board as this: before the prompt, keys that stop it, in time."""
        if self._prompted or self._running:
            return data
        if self._counting_since is not None and now - self._counting_since > self._seconds:
            return b""
        return bytes(value for value in data if value in STOP_KEYS)
