"""What the image's own sources say of function pointers.

Which functions are assigned to a field (`.sample = sample`), and which have the signature of a
typedef: so that a new benchmark is followed without anybody listing it. Reads the formatted C of
this project, not any C there is.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

from el1bench_host.auditing.tree import blank

_ASSIGNED = re.compile(r"(?:\.|->)\s*(\w+)\s*=\s*&?(\w+)\s*[,};]")
_TYPEDEF = re.compile(r"\btypedef\s+([\w\s*]+?)\(\*(\w+)\)\(([^)]*)\)\s*;")
_FUNCTION = re.compile(r"^(?!typedef\b)([A-Za-z_][\w \t*()]*?[\s*])(\w+)\(([^()]*)\)\s*\{",
                       re.MULTILINE)
_NOT_TYPE = re.compile(r"__attribute__\s*\(\(.*?\)\)|\b(?:static|inline|extern|TIMED|noreturn)\b"
                       r"|\b[A-Z_]+_INLINE\b")


@dataclass(frozen=True, order=True)
class Name:
    """A function of the sources."""

    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"


def _signature(result: str, parameters: str) -> tuple[str, ...]:
    """Types alone: `(const char *text, size_t n)` gives ("const char*", "size_t")."""
    def type_of(parameter: str, named: bool) -> str:
        words = re.findall(r"\w+|\*", parameter)
        if named and len(words) > 1 and words[-1] != "*":
            words = words[:-1]
        return " ".join(words)

    parts = [part for part in parameters.split(",") if part.strip() not in ("", "void")]
    return (type_of(_NOT_TYPE.sub(" ", result), False), *(type_of(part, True) for part in parts))


class SourceIndex:
    """Functions, fields and typedefs of a set of files below a folder."""

    def __init__(self, root: Path, files: Iterable[Path]) -> None:
        self.fields: dict[str, set[Name]] = {}
        self.typedefs: dict[str, tuple[str, ...]] = {}
        self.signatures: dict[Name, tuple[str, ...]] = {}
        for path in files:
            text = blank(path.read_text(encoding="utf-8", errors="replace"))
            file = path.relative_to(root).as_posix()
            for found in _TYPEDEF.finditer(text):
                self.typedefs[found[2]] = _signature(found[1], found[3])
            for found in _FUNCTION.finditer(text):
                self.signatures[Name(file, found[2])] = _signature(found[1], found[3])
            for found in _ASSIGNED.finditer(text):
                self.fields.setdefault(found[1], set()).add(Name(file, found[2]))

    def with_type(self, typedef: str) -> set[Name]:
        """Functions whose signature is that of a typedef."""
        wanted = self.typedefs.get(typedef)
        return {name for name, has in self.signatures.items() if has == wanted}
