"""Decoder of the compact code of raw samples (docs/log-format.md, "Raw samples").

Every line decodes on its own, given its row's code table.
"""

import base64
import re
from bisect import bisect_right
from dataclasses import dataclass

from el1bench_host.log_records import Malformed, SAMPLES_LIMIT

BIAS = 16
"""A good sample of v ticks is coded as v + BIAS; smaller codes are exclusions."""
LINE_SAMPLES = 4096
"""No line holds more samples than this."""

_RANGE = 1 << 56
_RENORMALISE = 1 << 48
_LOWEST_BITS = 16
_ORDER_LIMIT = 64
_NOT_BASE85 = re.compile(r"[^0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]")


def base85(text: str) -> bytes:
    """The bytes of a payload; `-` stands for none."""
    if text == "-":
        return b""
    if _NOT_BASE85.search(text) or len(text) % 5 == 1:
        raise Malformed("its payload is not base 85")
    try:
        return base64.b85decode(text)
    except ValueError as error:
        raise Malformed("its payload is not base 85") from error


@dataclass(frozen=True)
class SampleCode:
    """A row's code: for each leaf (first value, cumulative count, count, order).

    Neighbouring positions of the tree are values that lie `unit` apart.
    """

    leaves: list[tuple[int, int, int, int]]
    unit: int
    cumulative: list[int]
    total: int


def parse_table(table: bytes) -> SampleCode:
    """Read a serialised code table; raises Malformed."""
    if not table:
        raise Malformed("the code table is empty")
    bits = format(int.from_bytes(table, "big"), f"0{len(table) * 8}b")
    position = 0

    def gamma() -> int:
        nonlocal position
        one = bits.find("1", position)
        zeros = one - position
        if one < 0 or zeros > _ORDER_LIMIT or one + zeros >= len(bits):
            raise Malformed("the code table is cut off")
        position = one + zeros + 1
        return int(bits[one:position], 2)

    first = gamma() - 1
    unit = gamma()
    order = gamma() - 1
    if order > _ORDER_LIMIT or first + (unit << order) > 1 << _ORDER_LIMIT:
        raise Malformed("the code table covers values that no sample has")
    leaves: list[tuple[int, int, int, int]] = []
    total = 0
    nodes = [(0, order)]
    while nodes:
        base, order = nodes.pop()
        if position >= len(bits):
            raise Malformed("the code table is cut off")
        split = bits[position] == "1"
        position += 1
        if split:
            if order == 0:
                raise Malformed("the code table splits a single value")
            order -= 1
            nodes.append((base + (1 << order), order))
            nodes.append((base, order))
            continue
        count = gamma() - 1
        if count:
            leaves.append((first + unit * base, total, count, order))
            total += count
    if not 0 < total < SAMPLES_LIMIT:
        raise Malformed(f"the code table counts {total} samples")
    if len(bits) - position >= 8 or "1" in bits[position:]:
        raise Malformed("bits are left over after the code table")
    return SampleCode(leaves, unit, [leaf[1] for leaf in leaves], total)


def decode_line(code: SampleCode, payload: bytes, count: int) -> list[int]:
    """The `count` coded values of one raw line."""
    if count > LINE_SAMPLES:
        raise Malformed(f"it claims {count} samples; a line holds {LINE_SAMPLES} at most")
    leaves, unit, cumulative, total = code.leaves, code.unit, code.cumulative, code.total
    if len(leaves) == 1 and leaves[0][3] == 0:
        return [leaves[0][0]] * count
    end = len(payload)
    position = 7
    value = int.from_bytes(payload[:7].ljust(7, b"\0"), "big")
    span = _RANGE
    found: list[int] = []
    append = found.append
    # The hot loop: everything is a local, and nothing is called but bisect_right and append.
    for _ in range(count):
        step = span // total
        place = value // step
        if place >= total:
            place = total - 1
        base, low, frequency, order = leaves[bisect_right(cumulative, place) - 1]
        below = step * low
        value -= below
        span = span - below if low + frequency == total else step * frequency
        while span < _RENORMALISE:
            value <<= 8
            if position < end:
                value |= payload[position]
            position += 1
            span <<= 8
        if order:
            offset = 0
            width = order % _LOWEST_BITS or _LOWEST_BITS
            while order:
                step = span >> width
                place = value // step
                last = (1 << width) - 1
                if place >= last:
                    place = last
                    below = step * place
                    span -= below
                else:
                    below = step * place
                    span = step
                value -= below
                while span < _RENORMALISE:
                    value <<= 8
                    if position < end:
                        value |= payload[position]
                    position += 1
                    span <<= 8
                offset = offset << width | place
                order -= width
                width = _LOWEST_BITS
            base += unit * offset
        append(base)
    return found
