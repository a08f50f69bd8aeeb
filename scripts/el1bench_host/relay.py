"""Frames of the one-channel USB relays with a CH340 (LCUS-1 and its like), 9600 8N1.

A frame is 0xA0, the channel, 0 or 1 for off or on, and the sum of the three. Relays do not answer.
"""

BAUD = 9600
START = 0xA0
FRAME_BYTES = 4


def frame(on: bool, channel: int = 1) -> bytes:
    """The frame that switches a channel."""
    return bytes((START, channel, on, (START + channel + on) & 0xFF))


def frames_in(data: bytes) -> tuple[list[bool], bytes]:
    """What the frames for channel 1 in `data` say, and the bytes that may be the start of one."""
    found = []
    while len(data) >= FRAME_BYTES:
        if data[:FRAME_BYTES] in (frame(False), frame(True)):
            found.append(bool(data[2]))
            data = data[FRAME_BYTES:]
        else:
            data = data[1:]
    return found, data
