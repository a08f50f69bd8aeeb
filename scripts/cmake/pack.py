"""Packs the image for boot loaders: header and unpacker, then the image in LZ4's block format.

Calls and addresses in its code are made absolute first, since the same target then looks the same
wherever it is named: that packs better. The unpacker (src/boot/packed/unpack.S) undoes it, and
says what it needs to know in `parameters`.
"""

import argparse
import struct
import subprocess
from pathlib import Path

import lz4.block

HEADER_BYTES = 64
IMAGE_SIZE_OFFSET = 16  # of the header's image_size
PAGE = 4096


def symbol(nm: str, elf: Path, name: str) -> int:
    """The address of a global symbol."""
    output = subprocess.run([nm, "--extern-only", str(elf)], check=True, text=True, capture_output=True).stdout
    for line in output.splitlines():
        address, _, found = line.split(None, 2)
        if found == name:
            return int(address, 16)
    raise SystemExit(f"{elf} has no symbol {name}")


def checksum(data: bytes) -> int:
    """The unpacker's sum: words added up, the sum rotated right by one bit before each."""
    total = 0
    for (word,) in struct.iter_unpack("<I", data):
        total = ((total >> 1 | total << 31) + word) & 0xffffffff
    return total


def make_absolute(code: bytes) -> bytes:
    """BL and ADR with the place they stand at, in words, added to their distance."""
    words = []
    for index, (word,) in enumerate(struct.iter_unpack("<I", code)):
        if word >> 26 == 0b100101:
            word = (word & ~0x3ffffff) | ((word + index) & 0x3ffffff)
        elif word >> 24 & 0x1f == 0b10000:
            word = (word & ~(0x7ffff << 5)) | ((word + (index << 5)) & (0x7ffff << 5))
        words.append(word)
    return struct.pack(f"<{len(words)}I", *words)


def pack(unpacker: bytes, image: bytes, code: int, image_size: int, entry: int) -> bytes:
    """The file. `code`: that many bytes of the image are code, at its start; `image_size`: what the
    unpacked image occupies, bss included; `entry`: an offset."""
    data = lz4.block.compress(make_absolute(image[:code]) + image[code:],
                              mode="high_compression", compression=12, store_size=False)
    padded = data + bytes(-len(data) % 4)
    distance = -(-(len(unpacker) + len(padded)) // PAGE) * PAGE
    head = bytearray(unpacker)
    struct.pack_into("<Q", head, IMAGE_SIZE_OFFSET, distance + image_size)
    struct.pack_into("<7Q", head, HEADER_BYTES, len(padded), len(data), len(image), distance,
                     entry, checksum(padded), code)
    return bytes(head) + padded


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--elf", type=Path, required=True, help="the image as linked")
    parser.add_argument("--unpacker", type=Path, required=True, help="header and unpacker, raw")
    parser.add_argument("--image", type=Path, required=True, help="the image, raw")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    start, code_end, end, entry = (
        symbol(arguments.nm, arguments.elf, name)
        for name in ("image_start", "text_end", "image_end", "entry_unpacked"))
    arguments.output.write_bytes(pack(arguments.unpacker.read_bytes(),
                                      arguments.image.read_bytes(), code_end - start, end - start,
                                      entry - start))


if __name__ == "__main__":
    main()
