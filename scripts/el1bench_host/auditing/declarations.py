"""What has been declared of an image, with reasons: src/audit.toml, read and checked."""

import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from el1bench_host.errors import UserError


@dataclass(eq=False)
class Entry:
    """One declaration. `used` says whether the image has anything that it is about."""

    where: str  # "FILE:FUNCTION"; for [[root]] the function alone
    line: int  # in the declaration file
    why: str
    to: tuple[str, ...] = ()
    bytes: int = 0
    used: bool = False

    def is_about(self, file: str, function: str) -> bool:
        """It names that function."""
        return self.where == f"{file}:{function}"


@dataclass(frozen=True)
class Forbidden:
    """What timed code must not reach."""

    what: str
    files: tuple[str, ...]
    functions: tuple[str, ...]

    def matches(self, file: str, function: str) -> bool:
        """The function is one of them."""
        return (any(fnmatchcase(file, pattern) for pattern in self.files)
                or any(fnmatchcase(function, pattern) for pattern in self.functions))


@dataclass
class Declarations:
    """The whole file."""

    file: str
    frame_bytes: int = 256
    stack_constant: str = "CPU_STACK_BYTES"
    entries: tuple[str, ...] = ()
    slots: dict[str, int] = field(default_factory=dict)
    interrupts: list[Entry] = field(default_factory=list)
    calls: list[Entry] = field(default_factory=list)
    not_timed: list[Entry] = field(default_factory=list)
    outside: list[Entry] = field(default_factory=list)
    atomic: list[Entry] = field(default_factory=list)
    unordered: list[Entry] = field(default_factory=list)
    frames: list[Entry] = field(default_factory=list)
    forbidden: list[Forbidden] = field(default_factory=list)


# Tables of the file that become entries: the key that says where, and keys besides `why`.
_TABLES = {
    "interrupt": ("interrupts", ()),
    "call": ("calls", ("to",)),
    "not_timed": ("not_timed", ()),
    "outside": ("outside", ()),
    "atomic": ("atomic", ()),
    "unordered": ("unordered", ()),
    "frame": ("frames", ("bytes",)),
}


def _lines_of(text: str, table: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1)
            if line.strip() == f"[[{table}]]"]


def load(path: Path, shown_as: str) -> Declarations:
    """Read the file; UserError, in one line, for anything that is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{shown_as}: {error}") from error
    declared = Declarations(shown_as)
    try:
        _fill(declared, data, text)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{shown_as}: {error}") from error
    return declared


def _fill(declared: Declarations, data: dict[str, Any], text: str) -> None:
    unknown = set(data) - set(_TABLES) - {"stack", "slots", "forbidden"}
    if unknown:
        raise ValueError(f"unknown table `{sorted(unknown)[0]}`")
    stack = data.get("stack", {})
    declared.frame_bytes = int(stack.get("frame_bytes", declared.frame_bytes))
    declared.stack_constant = str(stack.get("limit", declared.stack_constant))
    declared.entries = tuple(stack.get("entries", ()))
    declared.slots = {str(name): int(size) for name, size in data.get("slots", {}).items()}
    if any(size <= 0 or size % 4 for size in declared.slots.values()):
        raise ValueError("a slot's size is a positive multiple of 4")
    for table, (attribute, keys) in _TABLES.items():
        for line, values in zip(_lines_of(text, table), data.get(table, [])):
            getattr(declared, attribute).append(_entry(table, line, values, keys))
    for values in data.get("forbidden", []):
        declared.forbidden.append(Forbidden(str(values["what"]), tuple(values.get("files", ())),
                                            tuple(values.get("functions", ()))))


def _entry(table: str, line: int, values: dict[str, Any], keys: tuple[str, ...]) -> Entry:
    wrong = set(values) ^ {"in", "why", *keys}
    if wrong:
        raise ValueError(f"line {line}: [[{table}]] takes in, why" +
                         "".join(f", {key}" for key in keys) + f"; see `{sorted(wrong)[0]}`")
    if not str(values["why"]).strip():
        raise ValueError(f"line {line}: `why` is empty")
    return Entry(str(values["in"]), line, str(values["why"]), tuple(values.get("to", ())),
                 int(values.get("bytes", 0)))
