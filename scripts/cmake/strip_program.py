"""Makes an EL0 program as small as it can be: cuts the section headers and what else the loader
does not read off the end of a linked ELF file, and trailing zeros of its last segment with it.
"""

import argparse
import struct
from pathlib import Path

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
PT_LOAD = 1


def stripped(elf: bytes) -> bytes:
    """The ELF file with nothing behind its last segment."""
    fields = list(HEADER.unpack_from(elf))
    segments_at, segment_count = fields[5], fields[10]
    end = segments_at + segment_count * SEGMENT.size
    kept = []
    for index in range(segment_count):
        segment = list(SEGMENT.unpack_from(elf, segments_at + index * SEGMENT.size))
        offset, file_bytes, memory_bytes = segment[2], segment[5], segment[6]
        if segment[0] != PT_LOAD or memory_bytes == 0:
            continue
        segment[5] = len(elf[offset:offset + file_bytes].rstrip(b"\0"))
        kept.append(segment)
        if segment[5]:
            end = max(end, offset + segment[5])
    fields[6] = 0  # e_shoff
    fields[10] = len(kept)
    fields[11:14] = [0, 0, 0]
    result = bytearray(elf[:end])
    HEADER.pack_into(result, 0, *fields)
    for index, segment in enumerate(kept):
        if not segment[5]:
            segment[2] = 0
        SEGMENT.pack_into(result, segments_at + index * SEGMENT.size, *segment)
    return bytes(result)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("elf", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    arguments.output.write_bytes(stripped(arguments.elf.read_bytes()))


if __name__ == "__main__":
    main()
