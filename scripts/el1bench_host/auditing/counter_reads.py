"""Counter reads, and the ISB right before each that keeps them from being done early.

Of the whole image, timed or not: an unordered read is wrong anywhere. The self-synchronized
counters (CNTPCTSS, CNTVCTSS) need none. Where something else synchronizes (an exception that is
taken), the function is declared as [[unordered]].
"""

import re

from el1bench_host.auditing.disassembly import Instruction
from el1bench_host.auditing.finding import Finding
from el1bench_host.auditing.graph import Image

# By name, or as assemblers that do not know the name print it: op0 3, op1 3, CRn 14, CRm 0.
_COUNTER = re.compile(r"x\d+, (?:cntpct_el0|cntvct_el0|s3_3_c14_c0_[12])$")


def count(image: Image) -> int:
    """How many reads the image has."""
    return sum(_is_read(one) for function in image.program.functions
               for one in function.instructions)


def _is_read(one: Instruction) -> bool:
    return one.mnemonic == "mrs" and _COUNTER.match(one.operands) is not None


def counter_findings(image: Image) -> list[Finding]:
    """Every read that is not ordered."""
    found = []
    jumped_to = {one.target for function in image.program.functions
                 for one in function.instructions if one.target is not None}
    for function in image.program.functions:
        before = ""
        for one in function.instructions:
            if _is_read(one):
                ordered = before == "isb" and one.address not in jumped_to
                if not ordered and image.declaration_of(one.address,
                                                        image.declared.unordered) is None:
                    place = image.lines.inner(one.address)
                    outer = image.lines.outer(one.address)
                    found.append(Finding(
                        place.file, place.line,
                        f"unordered counter read: mrs {one.operands} without isb right before it",
                        (f"{place}: in {place.function}"
                         + (f", inlined into {outer.function}"
                            if outer.function != place.function else "")
                         + f", at {function.name}+{one.address - function.address:#x}",)))
            before = one.mnemonic
    return found
