"""Checks a linked image: what the linker script cannot assert and QEMU does not catch.

- No dynamic relocations: the image is linked at a fixed virtual address.
- No DC ZVA: it faults on Device memory, which is all memory before the MMU is on.
- Timed code does not use the registers that the interrupt vector does not save.
- No constructors: nobody would call them.
- The symbol table that the second link added has moved no function.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from symbols import read_symbols


def output_of(*command: str) -> str:
    """Standard output of a tool."""
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def timed_range(symbols: str) -> range:
    """The addresses of timed code, from nm's output."""
    bounds = [int(re.search(rf"^([0-9a-f]+) . {name}$", symbols, re.MULTILINE)[1], 16)
              for name in ("timed_text_start", "timed_text_end")]
    return range(*bounds)


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
    function = "?"
    for line in disassembly.splitlines():
        if line.endswith(">:"):
            function = line.split("<", 1)[1][:-2]
        elif re.search(r"\bdc\s+g?zva\b", line):
            found.append(f"DC ZVA in {function}: {line.strip()}")
    timed = timed_range(output_of(arguments.nm, elf))
    for address, instruction in re.findall(r"^ *([0-9a-f]+):\t(.*)$", disassembly, re.MULTILINE):
        if int(address, 16) in timed and re.search(r"\b[xw](9|1[0-58])\b", instruction):
            found.append(f"timed code at {address} uses a register that interrupts do not save: "
                         + instruction)
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
