"""Checks a linked image: what the linker script cannot assert and QEMU does not catch.

- No dynamic relocations: the image is linked at a fixed virtual address.
- No DC ZVA: it faults on Device memory, which is all memory before the MMU is on.
- Timed code does not use the registers that the interrupt vector does not save.
- Light handlers (INTERRUPT_HANDLER) use only x0 to x2, and call and jump to nothing.
- No constructors: nobody would call them.
- The symbol table that the second link added has moved no function.

What timed code can reach is the audit's business (`el1bench audit`).
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

from symbols import read_symbols

# Swap all registers for EL0's and back, with interrupts masked.
UNINTERRUPTED = ("el0_run", "el0_synchronous", "el0_interrupt")


def output_of(*command: str) -> str:
    """Standard output of a tool."""
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def code_range(symbols: str, name: str) -> range:
    """The addresses from <name>_start to <name>_end, from nm's output."""
    bounds = [int(re.search(rf"^([0-9a-f]+) . {name}_{end}$", symbols, re.MULTILINE)[1], 16)
              for end in ("start", "end")]
    return range(*bounds)


def light_problem(instruction: str, light: range) -> str:
    """What a light handler must not do, or nothing."""
    if re.search(r"\b([xw]([3-9]|[12][0-9])|sp)\b", instruction):
        return "uses a register other than x0 to x2"
    branch = re.match(r"(\w+)(?:\.\w+)?\s.*?([0-9a-f]{16}) <", instruction)
    if re.match(r"(bl|blr|br)\s", instruction) or (
            branch and branch[1] not in ("adr", "ldr") and int(branch[2], 16) not in light):
        return "calls or leaves for something else"
    return ""


def instructions(disassembly: str) -> Iterator[tuple[str, int, str]]:
    """(function, address, instruction) for each line of objdump's output."""
    function = "?"
    for line in disassembly.splitlines():
        start = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if start:
            function = start[1]
        instruction = re.match(r" *([0-9a-f]+):\t(.*)$", line)
        if instruction:
            yield function, int(instruction[1], 16), instruction[2]


def code_problems(timed: range, light: range, disassembly: str) -> list[str]:
    """What is wrong with the image's instructions."""
    found = []
    for function, address, instruction in instructions(disassembly):
        if re.match(r"dc\s+g?zva\b", instruction):
            found.append(f"DC ZVA in {function}")
        if address not in timed:
            continue
        if address in light and light_problem(instruction, light):
            found.append(f"light handler {function} {light_problem(instruction, light)}: "
                         + instruction)
        if function not in UNINTERRUPTED and re.search(r"\b[xw](9|1[0-58])\b", instruction):
            found.append(f"timed code in {function} uses a register that interrupts do not save: "
                         + instruction)
    return found


def problems(arguments: argparse.Namespace) -> list[str]:
    """One line for each check that fails."""
    elf = str(arguments.elf)
    found = []
    relocations = output_of(arguments.readelf, "--relocs", "--wide", elf)
    if "There are no relocations" not in relocations:
        found.append("the image has relocations:\n" + relocations)
    sections = output_of(arguments.readelf, "--sections", "--wide", elf)
    for name in re.findall(r"\] (\.(?:init|fini|preinit)_array|\.[cd]tors|\.dynamic)\b", sections):
        found.append(f"the image has a section {name}")
    disassembly = output_of(arguments.objdump, "--disassemble", "--no-show-raw-insn", elf)
    symbols = output_of(arguments.nm, elf)
    found += code_problems(code_range(symbols, "timed_text"), code_range(symbols, "light_handlers"),
                           disassembly)
    if read_symbols(arguments.nm, arguments.elf) != read_symbols(arguments.nm,
                                                                  arguments.first_pass):
        found.append("functions moved between the two link passes: the symbol table is wrong")
    return found


def main() -> int:
    """Command line; 1 when a check fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--first-pass", type=Path, required=True)
    parser.add_argument("elf", type=Path)
    found = problems(parser.parse_args())
    for problem in found:
        print(f"check_image: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
