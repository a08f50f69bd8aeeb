"""What can be reached from timed code, and must not be.

Every function of the timed section is a start. The walk leaves the section only through functions
that are listed as [[outside]]; it goes on behind those that are not, so that a print three calls
away is named as a print.
"""

import re
from collections import deque
from typing import Optional

from el1bench_host.auditing.disassembly import Function
from el1bench_host.auditing.finding import Finding
from el1bench_host.auditing.graph import Edge, Image

# Exclusives, and the atomic instructions of ARMv8.1: how every lock is taken.
_ATOMIC = re.compile(r"(?:ldaxr|ldxr|ldaxp|ldxp|casp?|swpp?|ld(?:add|clr|eor|set|[su]max|[su]min))"
                     r"(?:al|a|l)?[bh]?$|st(?:add|clr|eor|set|[su]max|[su]min)l?[bh]?$")


class Walk:
    """All that timed code reaches, each function with the edge it was first reached by."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.by: dict[int, Optional[Edge]] = {}
        self.functions: list[Function] = []
        self.findings: list[Finding] = []
        pending = deque(image.roots())
        for function in pending:
            self.by[function.address] = None
        while pending:
            function = pending.popleft()
            self.functions.append(function)
            for edge in image.edges(function):
                if self._enter(edge):
                    self.by[edge.callee.address] = edge
                    pending.append(edge.callee)

    def _enter(self, edge: Edge) -> bool:
        """Judge a step; true if the callee is to be walked through too."""
        image, callee = self.image, edge.callee
        if image.is_timed(callee) or callee in image.interrupts():
            return False  # a start of its own
        file, name = image.file_of(callee), image.name_of(callee)
        for forbidden in image.declared.forbidden:
            if forbidden.matches(file, name):
                self._complain(edge, f"{forbidden.what} can be reached from timed code: {name}")
                return False
        listed = False
        for entry in image.declared.outside:
            if entry.is_about(file, name):
                entry.used = listed = True
        if not listed and image.is_timed(edge.caller):
            self._complain(edge, f"timed code calls {name}, which is not TIMED and not listed as "
                                 f"[[outside]] in {image.declared.file}")
        return callee.address not in self.by

    def path_to(self, edge: Edge) -> list[Edge]:
        """The steps from timed code, the given one last."""
        steps = [edge]
        while True:
            before = self.by.get(steps[0].caller.address)
            if before is None:
                return steps
            steps.insert(0, before)

    def _complain(self, edge: Edge, text: str) -> None:
        self.findings.append(self.finding(self.path_to(edge), text))

    def finding(self, steps: list[Edge], text: str) -> Finding:
        """A finding at the first step, with all of them below."""
        image = self.image
        image.lines.look_up([step.site for step in steps])
        path = []
        for step in steps:
            inner, outer = image.lines.inner(step.site), image.lines.outer(step.site)
            through = f", inlined into {outer.function}" if inner.function != outer.function else ""
            how = "through a pointer calls" if step.indirect else "calls"
            path.append(f"{inner}: {inner.function}{through} {how} "
                        f"{image.name_of(step.callee)}")
        goal = image.lines.outer(steps[-1].callee.address)
        path.append(f"{goal if goal.line else 'a library'}: {image.name_of(steps[-1].callee)}")
        place = image.lines.inner(steps[0].site)
        return Finding(place.file, place.line, text, tuple(path))

    def finding_in(self, function: Function, address: int, text: str) -> Finding:
        """A finding at an instruction of a function that was reached."""
        place = self.image.lines.inner(address)
        edge = self.by[function.address]
        path = self.finding(self.path_to(edge), "").path if edge is not None else (
            f"{self.image.lines.outer(function.address)}: {self.image.name_of(function)}, timed",)
        return Finding(place.file, place.line, text, path)


def indirect_findings(walk: Walk) -> list[Finding]:
    """Indirect calls that nobody has declared."""
    image = walk.image
    found = []
    for function in walk.functions:
        for one in image.indirect_sites(function):
            if image.declaration_of(one.address, image.declared.calls) is None:
                place = image.lines.inner(one.address)
                found.append(walk.finding_in(
                    function, one.address,
                    f"{place.function} makes an indirect call ({one.mnemonic} {one.operands}) "
                    f"that is not declared: [[call]] in {image.declared.file}"))
    return found


def lock_findings(walk: Walk) -> list[Finding]:
    """Locks other than the declared ones."""
    image = walk.image
    found = []
    for function in walk.functions:
        for one in function.instructions:
            if _ATOMIC.match(one.mnemonic) and image.declaration_of(
                    one.address, image.declared.atomic) is None:
                found.append(walk.finding_in(
                    function, one.address,
                    f"a lock can be reached from timed code: {one.mnemonic} in "
                    f"{image.lines.inner(one.address).function}, not declared as [[atomic]] in "
                    f"{image.declared.file}"))
    return found
