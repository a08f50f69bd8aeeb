"""The instructions of an image's timed code, by function, without what moves when others change.

Addresses become labels and names, so that two listings of a function differ only where its
instructions do. A benchmark's path is what its functions call or refer to, and what every interrupt
and every send passes through.
"""

import bisect
import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

TOOLS = "aarch64-linux-gnu-"
IRQ_VECTOR = "exception_vectors: IRQ"
IRQ_VECTOR_OFFSET = 5 * 128  # taken at EL1 with SP_EL1
HEADING = "== "


@dataclass(frozen=True)
class Symbol:
    """A function or an object: where it is, and a name that no other one has."""

    address: int
    size: int
    name: str
    function: bool


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def read_symbols(readelf: str) -> list[Symbol]:
    """Sized symbols, by address, from `readelf -sW`; local ones are called file:name."""
    found: dict[int, Symbol] = {}
    file = ""
    for line in readelf.splitlines():
        fields = line.split()
        if len(fields) != 8 or not fields[0].endswith(":") or fields[0] == "Num:":
            continue
        _, address, size, kind, binding, _, _, name = fields
        if kind == "FILE":
            file = name
        elif kind in ("FUNC", "OBJECT"):
            full_name = f"{file}:{name}" if binding == "LOCAL" else name
            found[int(address, 16)] = Symbol(int(address, 16), int(size, 0), full_name,
                                             kind == "FUNC")
    return sorted(found.values(), key=lambda symbol: symbol.address)


class _Names:
    """Addresses as names."""

    def __init__(self, symbols: list[Symbol]) -> None:
        self._symbols = symbols
        self._addresses = [symbol.address for symbol in symbols]

    def of(self, address: int, shown: str) -> str:
        """The symbol that holds an address, with the offset in it; `shown` if there is none."""
        index = bisect.bisect_right(self._addresses, address) - 1
        if index < 0 or address >= self._symbols[index].address + self._symbols[index].size:
            return shown
        symbol = self._symbols[index]
        offset = address - symbol.address
        return f"{symbol.name}+{offset:#x}" if offset else symbol.name


def normalised(function: range, instructions: list[tuple[int, str]], names: _Names) -> list[str]:
    """A function's instructions, one a line, jumps within it by label."""
    targets: dict[int, str] = {}
    lines = []
    for address, text in instructions:
        text = re.sub(r"\s+//.*", "", text).replace("\t", " ").strip()
        match = re.fullmatch(r"(.*?)([0-9a-f]{8,16}) <(.+)>", text)
        if match:
            target = int(match[2], 16)
            if target in function:
                targets.setdefault(target, f"L{len(targets) + 1}")
                text = match[1] + targets[target]
            else:
                text = match[1] + names.of(target, match[3])
        lines.append((address, text))
    return [line for address, text in lines
            for line in ([f"{targets[address]}:"] if address in targets else []) + ["  " + text]]


@dataclass
class TimedCode:
    """Functions by name, and for each benchmark those on its path."""

    functions: dict[str, list[str]]
    roots: dict[str, list[str]]  # benchmark -> functions that its description names

    def path(self, benchmark: str, gic: int) -> list[str]:
        """The functions that a sample of a benchmark can pass through, by name."""
        always = [name for name in self.functions
                  if name in (IRQ_VECTOR, f"interrupt_v{gic}", f"interrupt_v{gic}_staged",
                              "interrupt_call")
                  or re.match(rf"v{gic}\.c:v{gic}_send", name)]
        seen: set[str] = set()
        left = always + self.roots.get(benchmark, [])
        while left:
            name = left.pop()
            if name in self.functions and name not in seen:
                seen.add(name)
                left += [re.split(r"[ ,]", line)[-1] for line in self.functions[name]]
        return sorted(seen)

    def text(self, benchmarks: list[str]) -> str:
        """The listing of all functions on the benchmarks' paths, as a file."""
        wanted = {name for benchmark in benchmarks for gic in (2, 3)
                  for name in self.path(benchmark, gic)}
        return "".join(f"{HEADING}{name}\n" + "".join(f"{line}\n" for line in self.functions[name])
                       for name in sorted(wanted))


def parse_text(text: str) -> dict[str, list[str]]:
    """The functions of a listing."""
    functions: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith(HEADING):
            current = functions.setdefault(line.removeprefix(HEADING), [])
        else:
            current.append(line)
    return functions


def _roots(image: bytes, start: int, symbols: list[Symbol], bounds: range) -> dict[str, list[str]]:
    """Each benchmark's functions: its description is a structure that holds their addresses."""
    by_address = {symbol.address: symbol for symbol in symbols}
    roots = {}
    for entry in range(bounds.start, bounds.stop, 8):
        description, = struct.unpack_from("<Q", image, entry - start)
        words = struct.unpack_from(f"<{by_address[description].size // 8}Q", image,
                                   description - start)
        name = image[words[0] - start:image.index(b"\0", words[0] - start)].decode()
        roots[name] = [by_address[word].name for word in words[1:]
                       if word in by_address and by_address[word].function]
    return roots


def read(folder: Path) -> TimedCode:
    """The timed code of the image in a build folder."""
    elf = str(folder / "image.elf")
    image = (folder / "image.plain").read_bytes()
    symbols = read_symbols(_output(f"{TOOLS}readelf", "-sW", elf))
    marks = {name: int(address, 16) for address, name in
             re.findall(r"^([0-9a-f]+) \w (\w+)$", _output(f"{TOOLS}nm", elf), re.MULTILINE)}
    vector = marks["exception_vectors"] + IRQ_VECTOR_OFFSET
    symbols = sorted(symbols + [Symbol(vector, 4 * 4, IRQ_VECTOR, True)],
                     key=lambda symbol: symbol.address)
    listing = [(int(address, 16), text) for address, text in re.findall(
        r"^ *([0-9a-f]+):\t(.*)$",
        _output(f"{TOOLS}objdump", "--disassemble", "--no-show-raw-insn", elf), re.MULTILINE)]
    addresses = [address for address, _ in listing]
    names = _Names(symbols)
    functions = {}
    for symbol in symbols:
        if symbol.function and (marks["timed_text_start"] <= symbol.address
                                < marks["timed_text_end"] or symbol.address == vector):
            inside = range(symbol.address, symbol.address + symbol.size)
            first, last = (bisect.bisect_left(addresses, end) for end in (inside.start,
                                                                          inside.stop))
            functions[symbol.name] = normalised(inside, listing[first:last], names)
    return TimedCode(functions, _roots(image, marks["image_start"], symbols,
                                       range(marks["benchmarks_start"], marks["benchmarks_end"])))
