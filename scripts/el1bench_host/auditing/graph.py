"""Who calls whom in an image: direct calls and tail calls as the instructions have them, falling
through from one symbol to the next, and indirect calls as they are declared."""

import re
from dataclasses import dataclass, field
from typing import Iterable, Iterator, Optional

from el1bench_host.auditing.declarations import Declarations, Entry
from el1bench_host.auditing.disassembly import Function, Instruction, Program
from el1bench_host.auditing.elf import Elf
from el1bench_host.auditing.finding import Finding
from el1bench_host.auditing.frames import Frame, frame_of, is_jump_table
from el1bench_host.auditing.lines import Lines
from el1bench_host.auditing.source_index import SourceIndex


@dataclass(frozen=True)
class Edge:
    """One way from a function into another."""

    caller: Function = field(repr=False)
    site: int  # the address of the branch
    callee: Function = field(repr=False)
    indirect: bool = False


def source_name(symbol: str) -> str:
    """A symbol without what the compiler appends: sample.isra.0 is sample."""
    return re.sub(r"\.(?:isra|part|constprop|cold|lto_priv)\b.*", "", symbol)


class Image:
    """An image with all that is known of it."""

    def __init__(self, elf: Elf, program: Program, lines: Lines, index: SourceIndex,
                 declared: Declarations) -> None:
        self.elf = elf
        self.program = program
        self.lines = lines
        self.index = index
        self.declared = declared
        self.timed = range(elf.symbols["timed_text_start"], elf.symbols["timed_text_end"])
        self._indirect = [(function, one) for function in program.functions
                          for number, one in enumerate(function.instructions)
                          if one.is_indirect and not is_jump_table(function, number)]
        lines.look_up([function.address for function in program.functions] +
                      [one.address for _, one in self._indirect])
        self._frames: dict[int, Frame] = {}
        self._edges: dict[int, tuple[Edge, ...]] = {}
        self._by_name: dict[tuple[str, str], list[Function]] = {}
        for function in program.functions:
            self._by_name.setdefault((self.file_of(function), self.name_of(function)),
                                     []).append(function)
        self.taken = {function.address for function in self._address_taken()}
        self._goals: dict[int, tuple[Function, ...]] = {}  # by entry's line

    # Names and places

    def name_of(self, function: Function) -> str:
        """Its name in the sources."""
        return source_name(function.name)

    def file_of(self, function: Function) -> str:
        """The source file, "?" for a library's."""
        return self.lines.outer(function.address).file

    def describe(self, function: Function) -> str:
        """For a person: a name, and where it is defined."""
        place = self.lines.outer(function.address)
        if place.file == "?":
            return f"{self.name_of(function)} (a library's)"
        return f"{self.name_of(function)} ({place})"

    def is_timed(self, function: Function) -> bool:
        """It lies in the timed section."""
        return function.address in self.timed

    def roots(self) -> list[Function]:
        """Where timed code starts: any timed function, and the declared ways of interrupts."""
        found = [one for one in self.program.functions if self.is_timed(one)]
        for entry in self.declared.interrupts:
            named = self.program.named(entry.where)
            entry.used = bool(named)
            found += named
        return found

    def interrupts(self) -> list[Function]:
        """The declared ways of interrupts."""
        return [one for entry in self.declared.interrupts
                for one in self.program.named(entry.where)]

    # Calls

    def frame(self, function: Function) -> Frame:
        """The function's own stack."""
        if function.address not in self._frames:
            self._frames[function.address] = frame_of(function)
        return self._frames[function.address]

    def indirect_sites(self, function: Function) -> Iterator[Instruction]:
        """The function's calls and branches through registers."""
        return (one for owner, one in self._indirect if owner is function)

    def all_indirect_sites(self) -> list[int]:
        """Those of all functions, whether timed code reaches them or not."""
        return [one.address for _, one in self._indirect]

    def declaration_of(self, site: int, entries: Iterable[Entry]) -> Optional[Entry]:
        """The entry about the function that has an instruction, or that is inlined around it."""
        places = self.lines.places(site)
        for entry in entries:
            if any(entry.is_about(place.file, place.function) for place in places):
                entry.used = True
                return entry
        return None

    def edges(self, function: Function) -> tuple[Edge, ...]:
        """All that the function can go to."""
        if function.address not in self._edges:
            self._edges[function.address] = tuple(self._edges_of(function))
        return self._edges[function.address]

    def _edges_of(self, function: Function) -> Iterator[Edge]:
        for one in function.instructions:
            target = one.target
            if target is not None and (target not in function or
                                       one.is_call and target == function.address):
                callee = self.program.at(target)
                if callee is not None:
                    yield Edge(function, one.address, callee)
        if self.frame(function).runs_on:
            behind = self.program.at(function.end)
            if behind is not None:
                yield Edge(function, function.end - 4, behind)
        for one in self.indirect_sites(function):
            entry = self.declaration_of(one.address, self.declared.calls)
            for callee in self.goals(entry) if entry is not None else ():
                yield Edge(function, one.address, callee, True)

    def goals(self, entry: Entry) -> tuple[Function, ...]:
        """The functions that a declared indirect call can go to while timing."""
        if entry.line not in self._goals:
            found = {one.address: one for to in entry.to for one in self._resolve(to)
                     if not self._is_apart(one)}
            self._goals[entry.line] = tuple(found[address] for address in sorted(found))
        return self._goals[entry.line]

    def _is_apart(self, function: Function) -> bool:
        """It is declared that no pointer leads there while timing."""
        apart = False
        for entry in self.declared.not_timed:
            if entry.is_about(self.file_of(function), self.name_of(function)):
                entry.used = apart = True
        return apart

    def _resolve(self, to: str) -> Iterator[Function]:
        """`.field`, a typedef's name, or FILE:FUNCTION."""
        if to.startswith("."):
            names = self.index.fields.get(to[1:], set())
            for name in names:
                # The same file first; what is defined elsewhere has one name in the image.
                own = self._by_name.get((name.file, name.name))
                yield from own or [one for (_, other), found in self._by_name.items()
                                   if other == name.name for one in found]
        elif to in self.index.typedefs:
            for name in self.index.with_type(to):
                yield from (one for one in self._by_name.get((name.file, name.name), [])
                            if one.address in self.taken)
        else:
            file, _, name = to.rpartition(":")
            yield from self._by_name.get((file, name), [])

    def _address_taken(self) -> Iterator[Function]:
        """Functions whose address is in the data, or made by an instruction."""
        for word in self.elf.words():
            function = self.program.starting(word)
            if function is not None:
                yield function
        for function in self.program.functions:
            pages: dict[str, int] = {}
            for one in function.instructions:
                made = None
                target = re.match(r"(x\d+), ([0-9a-f]+)(?: <|$)", one.operands)
                if one.mnemonic == "adr" and target:
                    made = int(target[2], 16)
                elif one.mnemonic == "adrp" and target:
                    pages[target[1]] = int(target[2], 16)
                elif one.mnemonic == "add":
                    low = re.match(r"x\d+, (x\d+), #", one.operands)
                    if low and low[1] in pages and one.immediate is not None:
                        made = pages[low[1]] + one.immediate
                found = self.program.starting(made) if made is not None else None
                if found is not None:
                    yield found


def stale_declarations(image: Image) -> list[Finding]:
    """Declarations of what the image does not have, and calls that go nowhere."""
    declared = image.declared
    for site in image.all_indirect_sites():
        image.declaration_of(site, declared.calls)
    for entry in declared.calls:
        if entry.used:
            entry.used = bool(image.goals(entry))
    found = []
    for table, entries in (("interrupt", declared.interrupts), ("call", declared.calls),
                           ("not_timed", declared.not_timed),
                           ("outside", declared.outside), ("atomic", declared.atomic),
                           ("unordered", declared.unordered), ("frame", declared.frames)):
        found += [Finding(declared.file, entry.line,
                          f"stale: the image has nothing that [[{table}]] {entry.where} is about")
                  for entry in entries if not entry.used]
    return found
