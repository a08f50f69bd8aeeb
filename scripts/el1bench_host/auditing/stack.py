"""Stack: what each timed function uses, and the deepest way through timed code.

The deepest way starts where a core enters C, leads to timed code and through it, and has the
worst interrupt on top: handlers run on the interrupted stack, with interrupts masked.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from el1bench_host.auditing.disassembly import Function
from el1bench_host.auditing.finding import Finding
from el1bench_host.auditing.graph import Edge
from el1bench_host.auditing.reach import Walk


@dataclass(frozen=True)
class Deepest:
    """A way down: its bytes, and the steps."""

    bytes: int
    steps: tuple[str, ...]


class StackAudit:
    """Frames and ways of one image."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.image = walk.image
        self.findings: list[Finding] = []
        self._relevant: set[int] = set()
        self.worst: Optional[Deepest] = None
        self._deepest: dict[int, Deepest] = {}
        self._open: set[int] = set()
        self._recursions: set[int] = set()

    def run(self, limit: int) -> None:
        """Look at every frame, then at the ways."""
        for function in self.walk.functions:
            self._check_frame(function)
        self._relevant = {one.address for one in self.walk.functions} | self._leading_there()
        interrupt = max((self._down(one) for one in self.image.interrupts()),
                        key=lambda way: way.bytes, default=Deepest(0, ()))
        for name in self.image.declared.entries:
            for entry in self.image.program.named(name):
                way = self._down(entry)
                total = Deepest(way.bytes + interrupt.bytes, way.steps + interrupt.steps)
                if self.worst is None or total.bytes > self.worst.bytes:
                    self.worst = total
                if total.bytes > limit:
                    place = self.image.lines.outer(entry.address)
                    self.findings.append(Finding(
                        place.file, place.line,
                        f"the deepest way through timed code from {name} takes {total.bytes} "
                        f"bytes of stack, {limit} are there", total.steps))

    def _declared_bytes(self, function: Function) -> Optional[int]:
        entry = self.image.declaration_of(function.address, self.image.declared.frames)
        return entry.bytes if entry is not None else None

    def _own(self, function: Function) -> int:
        """Bytes of the function's frame; where the instructions do not say, those declared."""
        deepest = self.image.frame(function).deepest
        return deepest if deepest is not None else self._declared_bytes(function) or 0

    def _check_frame(self, function: Function) -> None:
        frame = self.image.frame(function)
        declared = self._declared_bytes(function)
        name = self.image.name_of(function)
        if frame.deepest is None:
            if declared is None:
                self.findings.append(self.walk.finding_in(
                    function, frame.unknown_at or function.address,
                    f"the stack that {name} uses is not of a fixed size; timed code can reach it"))
            return
        budget = declared or self.image.declared.frame_bytes
        if frame.deepest > budget:
            finding = self.walk.finding_in(
                function, function.address,
                f"{name} uses {frame.deepest} bytes of stack, its budget is {budget} "
                f"([[frame]] in {self.image.declared.file} raises it)")
            self.findings.append(finding)

    def _check_size_known(self, function: Function) -> None:
        """A function on the way to timed code: any size will do, but it must be known."""
        frame = self.image.frame(function)
        if frame.deepest is None and self._declared_bytes(function) is None:
            place = self.image.lines.inner(frame.unknown_at or function.address)
            self.findings.append(Finding(
                place.file, place.line,
                f"the stack that {self.image.name_of(function)} uses on the way to timed code is "
                f"not of a fixed size: [[frame]] in {self.image.declared.file}"))

    def _leading_there(self) -> set[int]:
        """Functions outside of timed code that lead to it."""
        callers: dict[int, set[int]] = {}
        for function in self.image.program.functions:
            for edge in self.image.edges(function):
                callers.setdefault(edge.callee.address, set()).add(function.address)
        found: set[int] = set()
        pending = [one.address for one in self.walk.functions]
        while pending:
            for caller in callers.get(pending.pop(), ()):
                if caller not in found:
                    found.add(caller)
                    pending.append(caller)
        return found

    def _down(self, function: Function) -> Deepest:
        """The deepest way from a function's entry, its own frame included."""
        known = self._deepest.get(function.address)
        if known is not None:
            return known
        own = self._own(function)
        frame = self.image.frame(function)
        if function.address not in self.walk.by:
            self._check_size_known(function)
        best = Deepest(own, (f"{own:6} {self.image.describe(function)}",))
        self._open.add(function.address)
        for edge in self.image.edges(function):
            if edge.callee.address not in self._relevant:
                continue
            if edge.callee.address in self._open:
                self._recursion(edge)
                continue
            at = frame.depth_at.get(edge.site, own)
            at = own if at is None else at
            way = self._down(edge.callee)
            if at + way.bytes > best.bytes:
                best = Deepest(at + way.bytes,
                               (f"{at:6} {self.image.describe(function)}", *way.steps))
        self._open.discard(function.address)
        self._deepest[function.address] = best
        return best

    def _recursion(self, edge: Edge) -> None:
        # A way that timed code cannot be on has no bound to keep.
        if edge.caller.address not in self.walk.by or edge.site in self._recursions:
            return
        self._recursions.add(edge.site)
        place = self.image.lines.inner(edge.site)
        self.findings.append(Finding(
            place.file, place.line,
            f"timed code calls itself: {self.image.name_of(edge.caller)} calls "
            f"{self.image.name_of(edge.callee)}, so its stack has no bound"))


def constant(name: str, headers: list[Path]) -> Optional[int]:
    """The value of a #define NAME NUMBER."""
    for path in headers:
        found = re.search(rf"^#define {name} (\d+|0x[0-9a-f]+)\b", path.read_text("utf-8"), re.M)
        if found:
            return int(found[1], 0)
    return None
