"""Functions and their instructions, from the text that objdump prints."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Iterable, Optional

_LABEL = re.compile(r"([0-9a-f]+) <(.+)>:$")
_INSTRUCTION = re.compile(r" *([0-9a-f]+):\t(\S+)(?:\s+(.*?))?(?:\s+(?://|;).*)?$")
_TARGET = re.compile(r"(?:^|, ?)([0-9a-f]+) <[^>]*>$")
_NUMBER = re.compile(r"#(-?(?:0x[0-9a-f]+|\d+))")
# Direct branches, and those of them that come back.
_BRANCH = re.compile(r"(?:bl?|b\.\w+|bc\.\w+|cbn?z|tbn?z)$")
# Execution does not go on behind these.
_ENDS = re.compile(r"(?:b|br|bra[ab]z?|ret|reta[ab]|eret|ereta[ab]|udf|drps|\.word|\.inst|\.short|"
                   r"\.byte)$")
_INDIRECT = re.compile(r"(?:blr|blra[ab]z?|br|bra[ab]z?)$")


@dataclass(frozen=True)
class Instruction:
    """One line of objdump's output."""

    address: int
    mnemonic: str
    operands: str

    @property
    def target(self) -> Optional[int]:
        """Where a direct branch or call goes."""
        if _BRANCH.match(self.mnemonic):
            found = _TARGET.search(self.operands)
            if found:
                return int(found[1], 16)
        return None

    @property
    def is_call(self) -> bool:
        """It comes back."""
        return self.mnemonic == "bl" or self.mnemonic.startswith("blr")

    @property
    def ends(self) -> bool:
        """Execution does not go on with the next instruction."""
        return _ENDS.match(self.mnemonic) is not None

    @property
    def is_indirect(self) -> bool:
        """A branch or call to where a register points."""
        return _INDIRECT.match(self.mnemonic) is not None

    @property
    def immediate(self) -> Optional[int]:
        """The last #number, shifted if it says so."""
        found = _NUMBER.findall(self.operands)
        if not found:
            return None
        if ", lsl #" in self.operands and len(found) >= 2:
            return int(found[-2], 0) << int(found[-1], 0)
        return int(found[-1], 0)


@dataclass(eq=False)
class Function:
    """What lies between two symbols."""

    name: str
    address: int
    instructions: list[Instruction] = field(default_factory=list, repr=False)

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.instructions[-1].address + 4 if self.instructions else self.address

    def __contains__(self, address: int) -> bool:
        return self.address <= address < self.end


class Program:
    """All functions of an image, by address."""

    def __init__(self, functions: Iterable[Function]) -> None:
        self.functions = sorted((one for one in functions if one.instructions),
                                key=lambda one: one.address)
        self._starts = [one.address for one in self.functions]

    def at(self, address: int) -> Optional[Function]:
        """The function that an address lies in."""
        index = bisect_right(self._starts, address) - 1
        if index >= 0 and address in self.functions[index]:
            return self.functions[index]
        return None

    def starting(self, address: int) -> Optional[Function]:
        """The function that begins at an address."""
        found = self.at(address)
        return found if found is not None and found.address == address else None

    def named(self, name: str) -> list[Function]:
        """Every function with that name."""
        return [one for one in self.functions if one.name == name]


def parse(text: str, slots: Optional[dict[str, int]] = None) -> Program:
    """A program from objdump's output.

    `slots` names functions that are tables of short pieces of so many bytes each, as vectors are;
    their pieces become functions of their own, called NAME+0xOFFSET.
    """
    functions: list[Function] = []
    for line in text.splitlines():
        found = _INSTRUCTION.match(line)
        if found and functions:
            functions[-1].instructions.append(
                Instruction(int(found[1], 16), found[2], found[3] or ""))
            continue
        label = _LABEL.match(line)
        if label:
            functions.append(Function(label[2], int(label[1], 16)))
    for name, size in (slots or {}).items():
        for whole in [one for one in functions if one.name == name]:
            functions.remove(whole)
            functions += _pieces(whole, size)
    return Program(functions)


def _pieces(whole: Function, size: int) -> list[Function]:
    pieces: dict[int, Function] = {}
    for instruction in whole.instructions:
        offset = (instruction.address - whole.address) // size * size
        piece = pieces.setdefault(offset, Function(f"{whole.name}+{offset:#x}",
                                                   whole.address + offset))
        piece.instructions.append(instruction)
    return list(pieces.values())
