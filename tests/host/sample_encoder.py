"""A reference encoder of raw samples, written from docs/log-format.md for tests alone.

It favours plain arithmetic over speed: the encoder's `low` is one big integer, so there is no carry
to get wrong.
"""

import base64
import math
from typing import Optional, Sequence

BIAS = 16
LINE_BYTES = 240
LINE_SAMPLES = 4096


def base85(data: bytes) -> str:
    """RFC 1924, or `-` for nothing."""
    return base64.b85encode(data).decode("ascii") if data else "-"


def gamma(value: int) -> str:
    """The Elias gamma code as a string of bits."""
    bits = format(value, "b")
    return "0" * (len(bits) - 1) + bits


class Code:
    """A code fitted to coded values: a tree of binary splits of least total length."""

    def __init__(self, coded: Sequence[int]) -> None:
        ordered = sorted(coded)
        self.first = ordered[0]
        self.unit = math.gcd(*(value - self.first for value in ordered)) or 1
        ordered = [(value - self.first) // self.unit for value in ordered]
        self.total = len(ordered)
        self.leaves: list[tuple[int, int, int, int]] = []
        order = ordered[-1].bit_length()
        tree, _ = self._fit(ordered, 0, order)
        bits = gamma(self.first + 1) + gamma(self.unit) + gamma(order + 1) + tree
        bits += "0" * (-len(bits) % 8)
        self.table = int(bits, 2).to_bytes(len(bits) // 8, "big")
        self._collect(iter(tree), ordered, 0, order)

    def _fit(self, values: Sequence[int], base: int, order: int) -> tuple[str, float]:
        count = len(values)
        leaf = "0" + gamma(count + 1)
        if count == 0:
            return leaf, len(leaf)
        cost = len(leaf) + count * (order + math.log2(self.total / count))
        if order == 0:
            return leaf, cost
        middle = base + (1 << (order - 1))
        left, left_cost = self._fit([v for v in values if v < middle], base, order - 1)
        right, right_cost = self._fit([v for v in values if v >= middle], middle, order - 1)
        if 1 + left_cost + right_cost < cost:
            return "1" + left + right, 1 + left_cost + right_cost
        return leaf, cost

    def _collect(self, bits, values: Sequence[int], base: int, order: int) -> None:
        if next(bits) == "1":
            middle = base + (1 << (order - 1))
            self._collect(bits, [v for v in values if v < middle], base, order - 1)
            self._collect(bits, [v for v in values if v >= middle], middle, order - 1)
            return
        zeros = 0
        while next(bits) == "0":
            zeros += 1
        for _ in range(zeros):
            next(bits)
        if values:
            cumulative = sum(leaf[2] for leaf in self.leaves)
            self.leaves.append((base, cumulative, len(values), order))

    def line(self, coded: Sequence[int], limit: Optional[int] = None) -> tuple[int, bytes]:
        """Encode as many values as fit a line; how many, and the payload."""
        low, span, bits = 0, 1 << 56, 56
        done = 0

        def code(cumulative: int, count: int, total: int) -> None:
            nonlocal low, span, bits
            step = span // total
            low += step * cumulative
            span = span - step * cumulative if cumulative + count == total else step * count
            while span < 1 << 48:
                low, span, bits = low << 8, span << 8, bits + 8

        for value in coded[:min(limit or LINE_SAMPLES, LINE_SAMPLES)]:
            before = low, span, bits
            place = (value - self.first) // self.unit
            base, cumulative, count, order = next(
                leaf for leaf in self.leaves if leaf[0] <= place < leaf[0] + (1 << leaf[3]))
            code(cumulative, count, self.total)
            offset = place - base
            while order:
                width = order % 16 or 16
                order -= width
                code(offset >> order & ((1 << width) - 1), 1, 1 << width)
            if bits // 8 > LINE_BYTES:
                low, span, bits = before
                break
            done += 1
        payload = self._finish(low, span, bits)
        if "Oops" in base85(payload) and done > 1:
            return self.line(coded, done - 1)
        return done, payload

    @staticmethod
    def _finish(low: int, span: int, bits: int) -> bytes:
        size = 0
        while True:
            unit = 1 << (bits - 8 * size)
            value = -(-low // unit)
            if value * unit < low + span:
                return value.to_bytes(size, "big").rstrip(b"\0")
            size += 1
