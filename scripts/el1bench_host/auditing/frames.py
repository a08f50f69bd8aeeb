"""How deep a function's stack is at each of its instructions.

Follows the function's flow from its entry and adds up what moves SP. A depth that cannot be known
from the instructions (a frame of variable size, a switch to another stack) is None.
"""

import re
from dataclasses import dataclass
from typing import Optional

from el1bench_host.auditing.disassembly import Function, Instruction

_LOOK_BACK = 8  # instructions; a constant is loaded just before it is used


@dataclass(frozen=True)
class Frame:
    """The stack of one function."""

    deepest: Optional[int]  # bytes; None: not a fixed size
    depth_at: dict[int, Optional[int]]  # by address, where it was reached
    runs_on: bool  # falls through into what lies behind it
    unknown_at: int = 0  # the first instruction that makes the size unknown


def _constant(function: Function, index: int, register: str) -> Optional[int]:
    """What MOV and MOVK have put into a register by then."""
    value: Optional[int] = None
    number = register[1:]
    for one in function.instructions[max(0, index - _LOOK_BACK):index]:
        if re.match(rf"[xw]{number},", one.operands) is None:
            continue
        if one.mnemonic == "mov":
            value = one.immediate
        elif one.mnemonic == "movk" and value is not None and one.immediate is not None:
            shift = re.search(r"lsl #(\d+)", one.operands)
            place = int(shift[1]) if shift else 0
            value = value & ~(0xffff << place) | one.immediate
        elif not one.mnemonic.startswith(("st", "cmp", "cb", "tb")):
            value = None
    return value


def _after(function: Function, index: int, depth: Optional[int],
           frame_pointer: Optional[int]) -> tuple[Optional[int], Optional[int]]:
    """Depth and the depth that x29 stands for, after an instruction."""
    one = function.instructions[index]
    operands = one.operands
    # Most instructions have nothing to do with either.
    if "sp" not in operands and "x29" not in operands:
        return depth, frame_pointer
    write_back = re.search(r"\[sp, #(-?\d+)\]!$|\[sp\], #(-?\d+)$", operands)
    if write_back:
        moved = int(write_back[1] or write_back[2])
        return (None if depth is None else depth - moved), frame_pointer
    if one.mnemonic == "mov" and operands == "x29, sp":
        return depth, depth
    if one.mnemonic == "add" and operands.startswith("x29, sp, #"):
        return depth, None if depth is None or one.immediate is None else depth - one.immediate
    if one.mnemonic == "mov" and operands == "sp, x29":
        return frame_pointer, frame_pointer
    if re.match(r"sp, sp, ", operands) and one.mnemonic in ("sub", "add"):
        moved = one.immediate
        if moved is None:
            register = re.match(r"sp, sp, (x\d+)$", operands)
            moved = _constant(function, index, register[1]) if register else None
        if moved is None or depth is None:
            return None, frame_pointer
        return depth + (moved if one.mnemonic == "sub" else -moved), frame_pointer
    if re.match(r"sp, x29, #", operands) and one.mnemonic in ("sub", "add"):
        if frame_pointer is None or one.immediate is None:
            return None, frame_pointer
        return (frame_pointer + (one.immediate if one.mnemonic == "sub" else -one.immediate),
                frame_pointer)
    if re.match(r"sp, ", operands) and one.mnemonic in ("mov", "and", "add", "sub"):
        return None, frame_pointer
    return depth, frame_pointer


def is_jump_table(function: Function, index: int) -> bool:
    """A BR to a place in the same function: a `switch`."""
    one = function.instructions[index]
    if one.mnemonic != "br":
        return False
    before = function.instructions[max(0, index - _LOOK_BACK):index]
    for sum_of in reversed(before):
        if sum_of.mnemonic == "add" and re.match(
                rf"{one.operands}, x\d+, [xw]\d+, (?:sxt|uxt)[bhw]\b", sum_of.operands):
            base = sum_of.operands.split(", ")[1]
            return any(_loads_own_address(function, other, base) for other in before)
        if sum_of.operands.startswith(f"{one.operands}, "):
            return False
    return False


def _loads_own_address(function: Function, one: Instruction, register: str) -> bool:
    found = re.match(rf"{register}, ([0-9a-f]+) <", one.operands)
    return one.mnemonic == "adr" and found is not None and int(found[1], 16) in function


def frame_of(function: Function) -> Frame:
    """Follow the function from its entry."""
    start, end = function.address, function.end
    index_of = {one.address: index for index, one in enumerate(function.instructions)}
    depth_at: dict[int, Optional[int]] = {}
    pending: list[tuple[int, Optional[int], Optional[int]]] = [(start, 0, None)]
    deepest: Optional[int] = 0
    unknown_at = 0
    runs_on = False
    while pending:
        address, depth, frame_pointer = pending.pop()
        if address not in index_of or address in depth_at:
            continue
        depth_at[address] = depth
        index = index_of[address]
        one = function.instructions[index]
        depth, frame_pointer = _after(function, index, depth, frame_pointer)
        if depth is None:
            deepest = None
            unknown_at = unknown_at or address
        elif deepest is not None:
            deepest = max(deepest, depth)
        target = one.target
        if target is not None and not one.is_call and start <= target < end:
            pending.append((target, depth, frame_pointer))
        if is_jump_table(function, index):
            # Any place behind it that nothing falls into may be a case.
            for place, other in enumerate(function.instructions[index + 1:], index + 1):
                if function.instructions[place - 1].ends:
                    pending.append((other.address, depth, frame_pointer))
        if one.ends:
            continue
        if address + 4 >= end:
            # What ends in a call ends in one that does not return.
            runs_on = runs_on or not one.is_call
        pending.append((address + 4, depth, frame_pointer))
    return Frame(deepest, depth_at, runs_on, unknown_at)
