"""The campaign file: TOML, checked as a whole before anything is powered. docs/campaign.md has it.

Every mistake is one line that names the table and the key.
"""

import re
import tomllib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from el1bench_host.errors import UserError
from el1bench_host.serial_port import BAUD_DEFAULT
from el1bench_host.toml_table import Table
from el1bench_host.u_boot import check_arguments

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Names that the campaign itself uses in its folder.
ORDERS = ("interleaved", "sequential")
STARTS = ("go", "booti", "none")
TREES = ("own", "none")
ITERATIONS_MAX = 100_000


@dataclass(frozen=True)
class ServedFile:
    """A file in the TFTP folder: its name there, and where U-Boot is to put it."""

    name: str
    address: int
    size: int
    crc: int


@dataclass(frozen=True)
class Phase:
    """A moment of a boot: the first line that matches, after the phase before it."""

    name: str
    pattern: re.Pattern[bytes]


@dataclass(frozen=True)
class Configuration:
    """One thing to boot."""

    name: str
    start: str
    image: Optional[ServedFile]
    tree: str
    tree_file: Optional[ServedFile]
    ramdisk: Optional[ServedFile]
    arguments: tuple[str, ...]
    el1bench: bool
    done: Optional[re.Pattern[bytes]]
    fail: tuple[re.Pattern[bytes], ...]
    timeout: float
    phases: tuple[Phase, ...]

    def words(self, iteration: int) -> list[str]:
        """The boot arguments of an iteration."""
        return [word.replace("{iteration}", str(iteration)) for word in self.arguments]

    def files(self) -> list[ServedFile]:
        """What U-Boot fetches, the image last."""
        return [one for one in (self.tree_file, self.ramdisk, self.image) if one is not None]


@dataclass(frozen=True)
class Console:
    """The board's serial line."""

    port: str
    baud: int


@dataclass(frozen=True)
class Power:
    """What switches the board: a relay's port, or two commands."""

    relay: Optional[str]
    channel: int
    on: tuple[str, ...]
    off: tuple[str, ...]
    off_seconds: float
    repeat_seconds: float


@dataclass(frozen=True)
class UBootSettings:
    """How U-Boot is reached and what it is told; None where nothing is loaded through it."""

    folder: Optional[Path]
    dhcp: bool
    board: str
    netmask: str
    server: str
    prompt_seconds: float
    transfer_seconds: float


@dataclass(frozen=True)
class Campaign:
    """The whole file."""

    name: str
    out: Path
    iterations: int
    attempts: int
    order: str
    console: Console
    power: Power
    u_boot: UBootSettings
    configurations: tuple[Configuration, ...]
    identity: dict[str, Any]
    """What must not change while a campaign is being resumed."""


def _console(table: Table) -> Console:
    console = Console(table.text("port"), table.integer("baud", BAUD_DEFAULT, 1, 10_000_000))
    table.done()
    return console


def _power(table: Table) -> Power:
    relay = table.text("relay", None)
    if relay is not None and (table.has("on") or table.has("off")):
        raise table.wrong("relay", "and commands exclude each other")
    if relay is None and not table.has("on"):
        raise table.wrong("relay", "is missing, or `on` and `off`")
    power = Power(relay, table.integer("channel", 1, 1, 255),
                  () if relay else table.command("on"), () if relay else table.command("off"),
                  table.seconds("off_seconds", 2.0, 0), table.seconds("repeat_seconds", 1.0, 0))
    table.done()
    return power


def _u_boot(table: Table, base: Path) -> UBootSettings:
    folder = base / table.text("folder")
    if not folder.is_dir():
        raise table.wrong("folder", f"names no folder: {folder}")
    dhcp = table.flag("dhcp", False)
    if dhcp:
        for key in ("board", "netmask"):
            if table.has(key):
                raise table.wrong(key, "and dhcp exclude each other")
    settings = UBootSettings(
        folder, dhcp, "" if dhcp else table.address("board", "10.42.0.2"),
        "" if dhcp else table.address("netmask", "255.255.255.0"),
        table.address("server", "10.42.0.1"), table.seconds("prompt_seconds", 30.0),
        table.seconds("transfer_seconds", 60.0))
    table.done()
    return settings


def _served(table: Table, key: str, address: int, folder: Optional[Path]) -> ServedFile:
    name = table.text(key)
    if folder is None:
        raise table.wrong(key, "needs the table [u-boot]")
    if not re.fullmatch(r"[A-Za-z0-9_.+/~-]+", name) or ".." in name.split("/"):
        raise table.wrong(key, f"is `{name}`, which U-Boot cannot be asked for")
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        raise table.wrong(key, f"cannot be read: {folder / name}: {error.strerror}") from error
    if not data:
        raise table.wrong(key, f"is an empty file: {folder / name}")
    return ServedFile(name, address, len(data), zlib.crc32(data))


def _phases(table: Table, where: str) -> tuple[Phase, ...]:
    phases = []
    for number, data in enumerate(table.tables("phase"), 1):
        one = Table(data, f"{where}: phase {number}")
        phases.append(Phase(one.text("name"), one.pattern("pattern", one.text("pattern"))))
        one.done()
    names = [phase.name for phase in phases]
    if len(set(names)) < len(names):
        raise table.wrong("phase", "has a name twice")
    return tuple(phases)


def _configuration(data: Any, path: str, folder: Optional[Path]) -> Configuration:
    name = Table(data, f"{path}: configuration").text("name")
    where = f"{path}: configuration `{name}`"
    if not NAME.fullmatch(name):
        raise UserError(f"{where}: `name` is not of letters, digits, dots and dashes")
    table = Table(data, where)
    table.text("name")
    start = table.text("start", "go", STARTS)
    image = tree_file = ramdisk = None
    tree = "none"
    arguments = table.texts("arguments")
    if start != "none":
        image = _served(table, "image", table.integer("address", 0x20000000, 0, 2**64 - 1), folder)
        tree = table.text("tree", "own" if start == "booti" else "none")
        if tree not in TREES:
            tree_file = _served(table, "tree",
                                table.integer("tree_address", 0x1000000, 0, 2**64 - 1), folder)
        if start == "booti":
            if tree == "none":
                raise table.wrong("tree", "cannot be none: `booti` needs a tree")
            if table.has("ramdisk"):
                ramdisk = _served(table, "ramdisk",
                                  table.integer("ramdisk_address", 0x13000000, 0, 2**64 - 1),
                                  folder)
        try:
            check_arguments(start, [word.replace("{iteration}", "0") for word in arguments])
        except UserError as error:
            raise UserError(f"{where}: {error}") from error
    elif arguments:
        raise table.wrong("arguments", "have no way to the board with start = \"none\"")
    el1bench = table.flag("el1bench", start != "none" and not table.has("done"))
    done = None if el1bench else table.pattern("done", table.text("done"))
    configuration = Configuration(
        name, start, image, tree, tree_file, ramdisk, tuple(arguments), el1bench, done,
        tuple(table.pattern("fail", text) for text in table.texts("fail")),
        table.seconds("timeout_seconds", 120.0), _phases(table, where))
    table.done()
    return configuration


def read(path: Path) -> Campaign:
    """Read and check a campaign file; UserError, one line, for the first thing that is wrong."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not TOML: {error}") from error
    base = path.absolute().parent
    top = Table(data, str(path))
    head = top.table("campaign")
    console = _console(top.table("console"))
    power = _power(top.table("power"))
    u_boot = (_u_boot(top.table("u-boot"), base) if top.has("u-boot") else
              UBootSettings(None, False, "", "", "", 1.0, 1.0))
    configurations = tuple(_configuration(one, str(path), u_boot.folder)
                           for one in top.tables("configuration"))
    top.done()
    if not configurations:
        raise UserError(f"{path}: no [[configuration]]")
    names = [one.name for one in configurations]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{path}: two configurations are called `{name}`")
    campaign = Campaign(
        head.text("name", path.stem), base / head.text("out", path.stem),
        head.integer("iterations", 5, 1, ITERATIONS_MAX), head.integer("attempts", 3, 1, 100),
        head.text("order", "interleaved", ORDERS), console, power, u_boot, configurations,
        {"configurations": data["configuration"],
         "files": {one.name: {file.name: [file.size, file.crc] for file in one.files()}
                   for one in configurations}})
    head.done()
    return campaign
