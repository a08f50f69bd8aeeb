"""Reads a tree of C sources, whatever it holds: odd names and encodings, links, devices."""

import os
import re
import stat
import sys
from pathlib import Path
from typing import Iterator, Optional, Sequence

from el1bench_host.auditing.finding import printable
from el1bench_host.errors import UserError

SOURCE_SUFFIXES = (".c", ".h", ".S", ".s", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inc",
                   ".inl", ".ipp", ".tcc", ".def", ".lds", ".ld", ".dts", ".dtsi")
BUILD_NAMES = ("CMakeLists.txt", "Makefile", "makefile", "GNUmakefile", "Kbuild", "meson.build",
               "BUILD.gn", "SConstruct", "SConscript")
BUILD_SUFFIXES = (".mk", ".mak", ".cmake", ".gn", ".gni", ".bp")
# Nobody writes larger sources; generated tables have no switches.
FILE_BYTES_MAX = 8 << 20

_TOKENS = re.compile(
    r"//(?:[^\\\n]|\\.|\\\n)*|/\*.*?(?:\*/|\Z)"
    r"|\"(?:[^\"\\\n]|\\.|\\\n)*\"?|'(?:[^'\\\n]|\\.|\\\n)*'?", re.DOTALL)
_NOT_NEWLINE = re.compile(r"[^\n]")


class Tree:
    """The sources below a folder, or below some folders of it.

    `unreadable` has a line for each that could not be read.
    """

    def __init__(self, root: Path, folders: Sequence[str] = ("",)) -> None:
        self.root = root
        self.unreadable: list[str] = []
        self.sources: list[str] = []  # relative to the root
        self.build_files: list[str] = []
        if not root.exists():
            raise UserError(f"no folder {printable(str(root))}")
        if root.is_dir():
            for folder in folders:
                if (root / folder).is_dir():
                    self._walk(root / folder)
        else:
            self.root, name = root.parent, root.name
            self.sources.append(name)

    def _walk(self, top: Path) -> None:
        def cannot(error: OSError) -> None:
            if Path(error.filename) == self.root:
                raise UserError(f"cannot read {printable(str(self.root))}: {error.strerror}")
            self.unreadable.append(f"{printable(error.filename)}: {error.strerror}")

        for folder, subfolders, names in os.walk(top, onerror=cannot):
            subfolders[:] = sorted(one for one in subfolders if one not in (".git", ".svn", ".hg"))
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), self.root)
                if name.endswith(SOURCE_SUFFIXES):
                    self.sources.append(path)
                elif name in BUILD_NAMES or name.endswith(BUILD_SUFFIXES):
                    self.build_files.append(path)

    def read(self, path: str) -> str:
        """A file's text, "" if it cannot be read or is not what one would audit.

        Every byte becomes one character, whatever the encoding: C's own words are ASCII.
        """
        full = os.path.join(self.root, path)
        try:
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode) and self._is_elsewhere(full):
                return ""
            status = os.stat(full)
            # A device or a pipe might never end.
            if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_BYTES_MAX:
                return ""
            with open(full, "rb") as file:
                return file.read().decode("latin-1")
        except OSError as error:
            self.unreadable.append(f"{printable(path)}: {error.strerror}")
            return ""

    def _is_elsewhere(self, full: str) -> bool:
        """A link that leads nowhere, or to a file that is read under its own name anyway."""
        goal = os.path.realpath(full)
        inside = os.path.commonpath([goal, os.path.realpath(self.root)]) == \
            os.path.realpath(self.root)
        return not os.path.exists(goal) or inside

    def report_unreadable(self) -> None:
        """Say on standard error what has been left out."""
        for line in self.unreadable:
            print(f"el1bench: audit: not read: {line}", file=sys.stderr)


def blank(text: str, strings: bool = True) -> str:
    """The text with comments (and the inside of strings) turned to blanks; no offset changes."""
    def replace(found: re.Match) -> str:
        token = found[0]
        if token[0] == "/":
            return _NOT_NEWLINE.sub(" ", token)
        if not strings or len(token) < 3:
            return token
        return token[0] + _NOT_NEWLINE.sub(" ", token[1:-1]) + token[-1]

    return _TOKENS.sub(replace, text)


class LineNumbers:
    """Line numbers of offsets in a text, asked for in rising order or not."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        position = text.find("\n")
        while position >= 0:
            self._starts.append(position + 1)
            position = text.find("\n", position + 1)

    def at(self, offset: int) -> int:
        """The line, from 1, that holds an offset."""
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            if self._starts[middle] <= offset:
                low = middle
            else:
                high = middle
        return low + 1


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number of the first line, text) with continued lines joined."""
    held: Optional[str] = None
    first = 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if held is None:
            first, held = number, line
        else:
            held += line
        if held.rstrip().endswith("\\"):
            held = held.rstrip()[:-1]
            continue
        yield first, held
        held = None
    if held is not None:
        yield first, held
