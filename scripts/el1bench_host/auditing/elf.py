"""Reads what the audit needs of a 64-bit little-endian ELF file: symbols and loaded words."""

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

from el1bench_host.errors import UserError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_MACHINE_AARCH64 = 183
_SEGMENT_LOAD = 1
_SECTION_SYMBOLS = 2


@dataclass(frozen=True)
class Elf:
    """An image: its symbols' addresses, and the parts of it that are loaded."""

    path: Path
    symbols: dict[str, int] = field(repr=False)  # of several with one name, any
    segments: tuple[tuple[int, bytes], ...] = field(repr=False)  # (address, bytes)

    def words(self) -> Iterator[int]:
        """Every aligned 64-bit word that is loaded."""
        for address, data in self.segments:
            skip = -address % 8
            usable = data[skip:len(data) - (len(data) - skip) % 8]
            for (word,) in struct.iter_unpack("<Q", usable):
                yield word


def _text(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset)
    return data[offset:end if end >= 0 else len(data)].decode("utf-8", "replace")


def read_elf(path: Path) -> Elf:
    """Read an image; UserError if it is none for this architecture."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    try:
        return _parse(path, data)
    except (struct.error, IndexError, OverflowError) as error:
        raise UserError(f"{path} is cut short, or no ELF file") from error


def _parse(path: Path, data: bytes) -> Elf:
    header = _HEADER.unpack_from(data)
    if header[0][:6] != b"\x7fELF\x02\x01" or header[2] != _MACHINE_AARCH64:
        raise UserError(f"{path} is no ELF file for AArch64")
    segments = []
    for index in range(header[10]):
        kind, _, offset, address, _, size, _, _ = _SEGMENT.unpack_from(
            data, header[5] + index * header[9])
        if kind == _SEGMENT_LOAD:
            segments.append((address, data[offset:offset + size]))
    sections = [_SECTION.unpack_from(data, header[6] + index * header[11])
                for index in range(header[12])]
    symbols = {}
    for section in sections:
        if section[1] != _SECTION_SYMBOLS:
            continue
        names = sections[section[6]]
        strings = data[names[4]:names[4] + names[5]]
        table = data[section[4]:section[4] + section[5]]
        usable = len(table) - len(table) % _SYMBOL.size
        for name, _, _, _, value, _ in _SYMBOL.iter_unpack(table[:usable]):
            symbols[_text(strings, name)] = value
    return Elf(path, symbols, tuple(segments))
