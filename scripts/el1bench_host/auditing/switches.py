"""Debug switches that are always on: `#ifdef X` where X is defined, as 0.

The compiler sees nothing wrong with them, and the code they were to leave out is in. Not counted,
since they do what they say: a default (`#ifndef X` or `#ifdef X`, `#else`; then `#define X 0`), a
test of the value next to the test for being defined (`#if defined(X) && X`), and a redefinition
(`#ifdef X`, `#undef X`).
"""

import os
import re
from dataclasses import dataclass
from typing import Optional

from el1bench_host.auditing.finding import Finding, printable
from el1bench_host.auditing.tree import Tree, blank, logical_lines

_ZERO = r"\(*[ \t]*(?:0[xX]0+|0+|false|FALSE)[uUlL]*[ \t]*\)*"
_COMMENT = r"(?://[^\n]*|/\*[^\n]*)?"
# Quick looks at raw text, to leave most files of a large tree alone.
_MAYBE_ZERO = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t\\\r\n]+{_ZERO}[ \t\r]*{_COMMENT}$",
                         re.MULTILINE)
_MAYBE_TESTED = re.compile(r"^[ \t]*#[ \t]*ifn?def[ \t]+(\w+)|\bdefined\s*\(?\s*(\w+)",
                           re.MULTILINE)
_BUILD_ZERO = re.compile(r"(?:^|[\s\"'(])[-/]D\s*[\"']?(\w+)=0+[uUlL]*(?=$|[\s\"'),;])",
                         re.MULTILINE)
_CMAKE_DEFINITIONS = re.compile(r"\b(?:add|target)_compile_definitions\s*\(([^)]*)\)")
_CMAKE_ZERO = re.compile(r"(?:^|[\s\"':])(\w+)=0+[uUlL]*(?=$|[\s\"'>;])")

_DIRECTIVE = re.compile(r"[ \t]*(?:#|%:)[ \t]*(\w+)[ \t]*(.*)$", re.DOTALL)


@dataclass(frozen=True)
class _Definition:
    file: str
    line: int
    local: bool  # seen by this file alone: it is no header, and no build file

    def __str__(self) -> str:
        return f"{printable(self.file)}:{self.line}"


@dataclass
class _Test:
    """A test for being defined, and the group of lines that it rules."""

    name: str
    line: int
    negative: bool  # the group is for X undefined
    open: bool = True  # still within the group
    excused: bool = False


def switch_findings(tree: Tree) -> list[Finding]:
    """Every switch of the tree that cannot be switched off."""
    maybe_zero: dict[str, set[str]] = {}
    maybe_tested: dict[str, set[str]] = {}
    for path in tree.sources:
        text = tree.read(path)
        for found in _MAYBE_ZERO.finditer(text):
            maybe_zero.setdefault(found[1], set()).add(path)
        for found in _MAYBE_TESTED.finditer(text):
            maybe_tested.setdefault(found[1] or found[2], set()).add(path)
    definitions = _build_definitions(tree)
    names = (set(maybe_zero) | set(definitions)) & set(maybe_tested)
    involved = {path for name in names for path in maybe_zero.get(name, set()) | maybe_tested[name]}
    tests: dict[str, list[_Test]] = {}
    for path in sorted(involved):
        zeros, tests[path] = _read_directives(blank(tree.read(path), strings=False), names)
        for name, line in zeros:
            definitions.setdefault(name, []).append(
                _Definition(path, line, path.endswith((".c", ".S", ".s", ".cc", ".cpp", ".cxx"))))
    return [Finding(printable(path), test.line, _text(test, definition))
            for path, found in tests.items() for test in found
            for definition in [_seen_by(path, definitions.get(test.name, []))]
            if definition is not None]


def _text(test: _Test, definition: _Definition) -> str:
    return (f"tests whether {test.name} is defined; it is, as 0, at {definition}: test its value "
            "with #if")


def _seen_by(path: str, definitions: list[_Definition]) -> Optional[_Definition]:
    """The definition that a file sees: its own, or the nearest one that others share."""
    seen = [one for one in definitions if one.file == path or not one.local]
    return max(seen, key=lambda one: len(os.path.commonprefix([one.file, path])), default=None)


def _build_definitions(tree: Tree) -> dict[str, list[_Definition]]:
    """What Makefiles and their like define as 0 on the compiler's command line."""
    found: dict[str, list[_Definition]] = {}
    for path in tree.build_files:
        text = re.sub(r"(?m)^[ \t]*#.*$", "", tree.read(path))
        for one in _BUILD_ZERO.finditer(text):
            line = text.count("\n", 0, one.start(1)) + 1
            found.setdefault(one[1], []).append(_Definition(path, line, False))
        for group in _CMAKE_DEFINITIONS.finditer(text):
            for one in _CMAKE_ZERO.finditer(group[1]):
                line = text.count("\n", 0, group.start(1) + one.start(1)) + 1
                found.setdefault(one[1], []).append(_Definition(path, line, False))
    return found


def _tested(word: str, rest: str) -> list[tuple[str, bool]]:
    """(name, negative) of each test in a directive that looks at being defined and no further."""
    if word in ("ifdef", "ifndef", "elifdef", "elifndef"):
        name = re.match(r"\w+", rest)
        return [(name[0], word.endswith("ndef"))] if name else []
    if word not in ("if", "elif"):
        return []
    found: dict[str, bool] = {}
    without = re.sub(r"\bdefined\s*(?:\(\s*\w+\s*\)|\w+)", " ", rest)
    values = set(re.findall(r"\w+", without))
    for one in re.finditer(r"(!?)\s*\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))", rest):
        name = one[2] or one[3]
        if name not in values:
            found.setdefault(name, one[1] == "!")
    return list(found.items())


def _read_directives(text: str, names: set[str]) -> tuple[list[tuple[str, int]], list[_Test]]:
    """(names defined as 0 with their lines, tests of names for being defined) of one file."""
    zeros: list[tuple[str, int]] = []
    tests: list[_Test] = []
    nested: list[list[_Test]] = []
    for number, line in logical_lines(text):
        found = _DIRECTIVE.match(line)
        if not found:
            continue
        word, rest = found[1], found[2].strip()
        if word in ("define", "undef"):
            name = re.match(r"\w+", rest)
            if not name:
                continue
            if word == "define" and re.fullmatch(_ZERO, rest[name.end():].strip()):
                zeros.append((name[0], number))
            for group in nested:
                for test in group:
                    # A default for what is not defined, or a fresh start for what is.
                    undefined = test.negative == test.open
                    if test.name == name[0] and (undefined if word == "define" else not undefined):
                        test.excused = True
            continue
        if word == "endif":
            for test in nested.pop() if nested else []:
                test.open = False
            continue
        if word in ("else", "elif", "elifdef", "elifndef"):
            for test in nested[-1] if nested else []:
                test.open = False
        if word in ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"):
            # Its value is looked at right behind: #ifdef X, #if X.
            for group in nested:
                for test in group:
                    if test.open and word in ("if", "elif") and re.search(
                            rf"(?<!defined\()\b{test.name}\b", rest):
                        test.excused = True
            group = [_Test(name, number, negative) for name, negative in _tested(word, rest)
                     if name in names]
            tests += group
            if word in ("if", "ifdef", "ifndef"):
                nested.append(group)
            elif nested:
                nested[-1] += group
    return zeros, [test for test in tests if not test.excused]
