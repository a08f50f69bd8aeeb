"""Counter reads in the programs that an image carries: ELF files in its data, without symbols.

They stamp themselves at EL0, and their reads need an ISB right before them as any other. The first
instruction of a program needs none: the ERET that leads there is a context synchronization event.
"""

import struct
from typing import Iterator, Optional

from el1bench_host.auditing.elf import Elf
from el1bench_host.auditing.finding import Finding

_MAGIC = b"\x7fELF\x02\x01"
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SEGMENT_LOAD = 1
_EXECUTABLE = 1
# Instructions with their register, or the ISB's option, masked out.
_REGISTER = 0x1f
_READS = {0xd53be020: "cntpct_el0", 0xd53be040: "cntvct_el0"}
_ISB = 0xd5033fdf
_ISB_OPTION = 0xf00


def _programs(elf: Elf) -> Iterator[tuple[int, bytes]]:
    """(address, bytes from there on) of each ELF file in the data."""
    for address, data in elf.segments:
        place = data.find(_MAGIC)
        while place >= 0:
            yield address + place, data[place:]
            place = data.find(_MAGIC, place + 1)


def _code(program: bytes) -> Iterator[tuple[int, bytes, int]]:
    """(offset, bytes, index of the entry's instruction) of a program's executable segments."""
    entry, table = struct.unpack_from("<QQ", program, 24)
    size, count = struct.unpack_from("<HH", program, 54)
    for index in range(count):
        kind, flags, offset, address, _, length, _, _ = _SEGMENT.unpack_from(program,
                                                                       table + index * size)
        if kind == _SEGMENT_LOAD and flags & _EXECUTABLE:
            yield offset, program[offset:offset + length // 4 * 4], (entry - address) // 4


def embedded_findings(elf: Elf) -> tuple[list[Finding], int]:
    """(reads that are not ordered, how many reads there are)."""
    found = []
    reads = 0
    for address, program in _programs(elf):
        try:
            code = list(_code(program))
        except (struct.error, OverflowError):
            continue  # it only looked like one
        for offset, data, entry in code:
            before: Optional[int] = None
            for number, (word,) in enumerate(struct.iter_unpack("<I", data)):
                counter = _READS.get(word & ~_REGISTER)
                if counter is not None:
                    reads += 1
                    ordered = before is not None and before & ~_ISB_OPTION == _ISB & ~_ISB_OPTION
                    if not ordered and number != entry:
                        place = address + offset + 4 * number
                        found.append(Finding(
                            elf.path.name, 0, f"unordered counter read: mrs {counter} without isb "
                            f"right before it, in a program that the image carries, at {place:#x}, "
                            f"{_near(elf, place)}"))
                before = word
    return found, reads


def _near(elf: Elf, place: int) -> str:
    """The last symbol before an address, and how far behind it."""
    before = [(value, name) for name, value in elf.symbols.items()
              if value <= place and name and not name.startswith("$")]
    value, name = max(before, default=(0, "the start"))
    return f"{name}+{place - value:#x}"
