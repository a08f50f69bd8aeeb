"""Machine lines of a console log (docs/log-format.md): finds them, checks them, sorts them by boot.

The log is hostile input: any bytes, firmware text anywhere, lines cut, doubled, swapped or damaged.
Nothing here raises for what the bytes hold; whatever is wrong becomes a `Problem` that names the
line of the file and the sequence number.

Where each line of the file starts with the time of its arrival, `SECONDS<TAB>`, that is taken off.
"""

import re
import zlib
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Optional, Sequence

FORMAT = "el1bench-log/1"
_MARK = b"@el1b"
_PREFIX = re.compile(rb"@el1b ([a-z][a-z0-9-]*) ([0-9]{1,10})(?= )")
_CHECKED = re.compile(rb"([ -~]*) \*([0-9a-f]{8})")
_STAMP = re.compile(rb"([0-9]{1,12}\.[0-9]{1,9})\t")
# What `capture` says of the connection, in a line of its own.
_REMARK = re.compile(rb"--- .* ---\r?")
_CHECKSUM_AT_END = re.compile(rb" \*[0-9a-f]{8}[\r ]*$")
# A line that came again this much later is no doubled line, but one of another boot.
_REPEAT_REACH = 64


@dataclass(frozen=True)
class Problem:
    """Something wrong with the log: `kind` is a stable keyword, `text` one line for a person."""

    kind: str
    text: str
    boot: Optional[int] = None
    line: Optional[int] = None
    sequence: Optional[int] = None


@dataclass(frozen=True)
class Line:
    """A machine line whose checksum holds. `number` counts the lines of the file from 1."""

    kind: str
    sequence: int
    rest: str
    number: int
    tail: bool = False
    """True if something other than a line end follows the checksum."""
    column: int = 0
    """Where it starts in its line of the file."""
    arrived: Optional[float] = None
    """When its end arrived, in seconds of some epoch."""


@dataclass(frozen=True)
class Damaged:
    """What looks like a machine line but does not check; `claimed`: the number it seems to bear."""

    number: int
    claimed: Optional[int]
    reason: str
    certain: bool
    """False if only a checksum at the end of the line gives it away."""


@dataclass
class BootLines:
    """The machine lines of one boot by sequence number, and what was wrong with them."""

    lines: dict[int, Line] = field(default_factory=dict)
    arrived: list[Line] = field(default_factory=list)
    damaged: list[Damaged] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    end: Optional[Line] = None
    highest: int = -1

    def ordered(self) -> list[Line]:
        """The lines by sequence number."""
        return [self.lines[sequence] for sequence in sorted(self.lines)]


def split_stamp(text: bytes) -> tuple[Optional[float], bytes]:
    """The time of arrival that a line of the file starts with, if it does, and the rest."""
    match = _STAMP.match(text)
    return (None, text) if match is None else (float(match.group(1)), text[match.end():])


def scan_line(text: bytes, number: int,
              arrived: Optional[float] = None) -> list[Line | Damaged]:
    """The machine lines, intact or not, in one line of the file (normally none or one)."""
    if _MARK not in text:
        if _CHECKSUM_AT_END.search(text):
            return [Damaged(number, None, "its prefix is damaged", False)]
        return []
    found: list[Line | Damaged] = []
    prefixes = list(_PREFIX.finditer(text))
    if not prefixes:
        return [Damaged(number, None, "its head is damaged or cut off", True)]
    for index, prefix in enumerate(prefixes):
        last = index + 1 == len(prefixes)
        end = len(text) if last else prefixes[index + 1].start()
        segment = text[prefix.start():end]
        claimed = int(prefix.group(2))
        # The last checksum in the segment counts, since free text may hold one too.
        match = _CHECKED.match(segment)
        if match is None:
            found.append(Damaged(number, claimed, "it has no checksum: cut off or split", True))
            continue
        body = match.group(1)
        if zlib.crc32(body) != int(match.group(2), 16):
            found.append(Damaged(number, claimed, "its checksum does not match", True))
            continue
        rest = body[prefix.end() - prefix.start():].decode("ascii")
        tail = bool(segment[match.end():].strip(b"\r")) or not last
        found.append(Line(prefix.group(1).decode("ascii"), claimed, rest, number, tail,
                          prefix.start(), arrived))
    return found


class _Sorter:
    """Gives each line to its boot, and notes what is repeated or out of order."""

    def __init__(self) -> None:
        self.boots: list[BootLines] = []
        self.stray: list[Damaged] = []

    def add_damaged(self, damaged: Damaged) -> None:
        """Keep a damaged line with the boot it came in."""
        if self.boots:
            self.boots[-1].damaged.append(damaged)
        else:
            self.stray.append(damaged)

    def _begins_anew(self, boot: BootLines, line: Line) -> bool:
        known = boot.lines.get(line.sequence)
        if line.kind == "begin" and line.sequence == 0:
            if known is not None:
                return len(boot.lines) > 1 or known.rest != line.rest
            return boot.end is not None or boot.highest >= _REPEAT_REACH
        if known is not None:
            same = known.rest == line.rest and known.kind == line.kind
            return not same or boot.highest - line.sequence >= _REPEAT_REACH
        return boot.end is not None and line.sequence > boot.end.sequence

    def add(self, line: Line) -> None:
        """Sort in one intact line."""
        if not self.boots or self._begins_anew(self.boots[-1], line):
            boot = BootLines()
            if not self.boots:
                boot.damaged = self.stray
                self.stray = []
            self.boots.append(boot)
        boot = self.boots[-1]
        index = len(self.boots) - 1
        sequence = line.sequence
        if line.tail:
            boot.problems.append(Problem(
                "damaged", f"machine line {sequence} is followed by other bytes on its line",
                index, line.number, sequence))
        if sequence in boot.lines:
            boot.problems.append(Problem(
                "repeated", f"machine line {sequence} came again, first in line "
                f"{boot.lines[sequence].number} of the file", index, line.number, sequence))
            return
        if sequence < boot.highest:
            boot.problems.append(Problem(
                "out-of-order", f"machine line {sequence} came after {boot.highest}",
                index, line.number, sequence))
        boot.lines[sequence] = line
        boot.arrived.append(line)
        boot.highest = max(boot.highest, sequence)
        if line.kind == "end":
            boot.end = line


def _damage_text(damaged: Damaged, sequence: Optional[int]) -> str:
    name = "a machine line" if sequence is None else f"machine line {sequence}"
    return f"{name} is damaged: {damaged.reason}"


def _without(first: int, last: int, taken: list[int]) -> list[tuple[int, int]]:
    """The runs of `first` to `last` that the sorted numbers `taken` leave."""
    runs = []
    for number in taken:
        if number > first:
            runs.append((first, number - 1))
        first = number + 1
    if first <= last:
        runs.append((first, last))
    return runs


def _name_gaps(boot: BootLines, index: int) -> None:
    """Turn missing numbers and damaged lines into problems, matching the ones to the others."""
    ordered = boot.ordered()
    places = [one.number for one in boot.damaged]
    used: set[int] = set()
    sequence, place = -1, 0
    for line in ordered:
        first, last = sequence + 1, line.sequence - 1
        low, high = min(place, line.number), max(place, line.number)
        sequence, place = line.sequence, line.number
        if first > last:
            continue
        inside = [one for one in range(bisect_left(places, low), bisect_right(places, high))
                  if one not in used]
        named: dict[int, int] = {}
        if len(inside) == last - first + 1:
            named = dict(zip(range(first, last + 1), inside))
        else:
            for one in inside:
                claimed = boot.damaged[one].claimed
                if claimed is not None and first <= claimed <= last:
                    named.setdefault(claimed, one)
        for number, one in named.items():
            used.add(one)
            damaged = boot.damaged[one]
            boot.problems.append(Problem("damaged", _damage_text(damaged, number), index,
                                         damaged.number, number))
        for begin, end in _without(first, last, sorted(named)):
            what = (f"machine line {begin} is" if begin == end
                    else f"machine lines {begin} to {end} are")
            where = f"before line {high}" if low == 0 else f"between lines {low} and {high}"
            boot.problems.append(Problem("missing", f"{what} missing, {where} of the file", index,
                                         high, begin))
    for one, damaged in enumerate(boot.damaged):
        if one not in used and (damaged.certain or boot.end is None):
            boot.problems.append(Problem("damaged", _damage_text(damaged, damaged.claimed), index,
                                         damaged.number, damaged.claimed))
    if boot.end is None:
        latest = ordered[-1]
        boot.problems.append(Problem(
            "no-trailer",
            f"the boot ends without its trailer, after machine line {latest.sequence}", index,
            latest.number, latest.sequence))


@dataclass
class Log:
    """All boots of a log; `stray` are problems that belong to none."""

    boots: list[BootLines]
    stray: list[Problem]
    text: list[bytes] = field(default_factory=list)
    """The lines of the file, without their times of arrival and what `capture` itself remarks."""

    def bytes_between(self, before: Line, after: Line) -> bytes:
        """What stands between two machine lines of the file, the line ends included."""
        if after.number <= before.number:
            return b""
        return b"".join([*self.text[before.number:after.number - 1],
                         self.text[after.number - 1][:after.column]])

    @property
    def empty(self) -> bool:
        """True if nothing in it even looks like a machine line."""
        return not self.boots and not self.stray


Arrivals = Sequence[tuple[int, float]]
"""Times of arrival: (bytes of the file up to then, seconds), both rising."""


def read_log(data: bytes, arrivals: Arrivals = ()) -> Log:
    """Find and check every machine line in the bytes of a console log."""
    sorter = _Sorter()
    lines = []
    offset = 0
    for number, text in enumerate(data.split(b"\n"), 1):
        offset += len(text) + 1
        arrived, text = split_stamp(text)
        remark = arrived is not None and _REMARK.fullmatch(text)
        lines.append(b"" if remark else text + b"\n")
        if arrived is None and arrivals and _MARK in text:
            index = bisect_left(arrivals, (offset, 0.0))
            arrived = arrivals[index][1] if index < len(arrivals) else None
        for found in scan_line(text, number, arrived):
            if isinstance(found, Line):
                sorter.add(found)
            else:
                sorter.add_damaged(found)
    for index, boot in enumerate(sorter.boots):
        _name_gaps(boot, index)
    stray = [Problem("damaged", _damage_text(one, one.claimed), None, one.number, one.claimed)
             for one in sorter.stray if one.certain]
    return Log(sorter.boots, stray, lines)
