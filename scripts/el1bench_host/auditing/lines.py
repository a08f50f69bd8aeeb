"""Source lines of addresses, through the debug information."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

from el1bench_host.errors import UserError


@dataclass(frozen=True)
class Place:
    """A source line, and the function it belongs to there."""

    function: str
    file: str  # "?" if not known
    line: int  # 0 if not known

    def __str__(self) -> str:
        return f"{self.file}:{self.line or '?'}"


UNKNOWN = Place("?", "?", 0)


def run_tool(command: list[str], given: str = "") -> str:
    """Standard output of one of the cross tools."""
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False,
                              errors="replace")
    except OSError as error:
        raise UserError(f"cannot start {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"{command[0]} failed: {reason}")
    return done.stdout


class Lines:
    """Looks addresses up, many at a time, and remembers them."""

    def __init__(self, elf: Path, tool: str) -> None:
        self._elf = elf
        self._tool = tool
        self._known: dict[int, tuple[Place, ...]] = {}

    def look_up(self, addresses: Iterable[int]) -> None:
        """Read the lines of many addresses at once."""
        wanted = sorted(set(addresses) - set(self._known))
        if not wanted:
            return
        text = run_tool([self._tool, "-a", "-f", "-i", "-e", str(self._elf)],
                        "".join(f"{address:#x}\n" for address in wanted))
        self._known.update(parse_places(text))

    def places(self, address: int) -> tuple[Place, ...]:
        """The innermost function first, then those it is inlined into."""
        self.look_up([address])
        return self._known.get(address) or (UNKNOWN,)

    def inner(self, address: int) -> Place:
        """Where the instruction was written."""
        return self.places(address)[0]

    def outer(self, address: int) -> Place:
        """The function whose code it is part of."""
        return self.places(address)[-1]


def parse_places(text: str) -> dict[int, tuple[Place, ...]]:
    """What addr2line -a -f -i prints: an address, then pairs of lines."""
    known: dict[int, tuple[Place, ...]] = {}
    address = 0
    lines = iter(text.splitlines())
    for line in lines:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            address = int(line, 16)
            continue
        where = re.match(r"(.*):(\d+|\?)(?: \(discriminator \d+\))?$", next(lines, ""))
        file, number = (where[1], where[2]) if where else ("?", "0")
        # Sources are recorded as ./src/..., below whatever folder the compiler ran in.
        file = "?" if file == "??" else file.rpartition("/./")[2].removeprefix("./")
        place = Place(line, file,
                      int(number) if number.isdigit() else 0)
        known[address] = known.get(address, ()) + (place,)
    return known
