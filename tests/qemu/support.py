"""What the tests of the real image share: build it, boot it, look at what it said.

A test that fails prints the command lines and the consoles of its boots, so that the report alone
tells what was measured.
"""

import functools
import io
import os
import re
import struct
import subprocess
import sys
import unittest
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from el1bench_host import build, decode, machine, paths, results, setup
from el1bench_host.run import BOUND_FACTOR, BootStream, Limits, Outcome, run_boot
from tests.folder import temporary_folder

CONSOLE_SHOWN = 6000
PREFIX = "el1bench."


@functools.lru_cache(maxsize=None)
def build_folder(board: str) -> Path:
    """The board's build folder, its image up to date.

    `el1bench test` has built all images already, and says so to the many processes of its tests.
    """
    if os.environ.get("EL1BENCH_IMAGES_BUILT"):
        return paths.BUILD / board
    return build.build_board(board, quiet=True)


def image_of(board: str) -> Path:
    """The board's image."""
    return build_folder(board) / "image"


def plain_image_of(board: str) -> Path:
    """The same image before it was packed: for tests that change some of its bytes."""
    return build_folder(board) / "image.plain"


@functools.lru_cache(maxsize=None)
def qemu_version() -> str:
    """The version of the machine's QEMU."""
    return machine.qemu_version(machine.DEFAULT_QEMU)


def setup_of(board: str, **options: Any) -> machine.Setup:
    """A QEMU for the board and its image."""
    described = machine.load_board(board, build_folder(board))
    options.setdefault("kernel", image_of(board))
    options.setdefault("gic", 2)
    options.setdefault("cpus", described.cores or 2)
    return machine.Setup(described, **options)


def words_of(accel: str = "single", **values: Any) -> list[str]:
    """Boot arguments, as `run` would make them."""
    words = {"emulated": f"qemu-{qemu_version()}-{accel}", "boot": 0, "seed": 1, "clock_ms": 0,
             **values}
    return [f"{PREFIX}{key}={value}" for key, value in words.items()]


@dataclass
class Boot:
    """One boot: how it ended and what it said."""

    command: list[str]
    log: bytes
    outcome: Outcome
    decoded: decode.DecodedLog

    @property
    def text(self) -> str:
        """The console as text."""
        return self.log.decode("latin-1").replace("\r", "")

    @functools.cached_property
    def results(self) -> dict[str, Any]:
        """What results.json would hold."""
        return results.make_results(self.decoded)

    def lines(self, kind: str) -> list[str]:
        """The bodies of intact machine lines of a type."""
        return re.findall(rf"@el1b {kind} [0-9]+ (.*) \*[0-9a-f]{{8}}", self.text)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a metric."""
        return [row for row in self.results["metrics"] if row["name"] == name]

    def row(self, name: str) -> dict[str, Any]:
        """The first row of a metric."""
        found = self.rows(name)
        if not found:
            raise AssertionError(f"no metric {name}; there are "
                                 f"{sorted({row['name'] for row in self.results['metrics']})}")
        return found[0]

    def fact(self, key: str) -> Optional[str]:
        """The text of an info line."""
        return self.decoded.boots[0].info.get(key) if self.decoded.boots else None


class QemuTest(unittest.TestCase):
    """Boots images; shows what they said when a test fails."""

    longMessage = True

    def setUp(self) -> None:
        self.boots: list[Boot] = []
        self.noted: list[str] = []
        self.folder = temporary_folder(self, "test")

    def run(self, result: Optional[unittest.TestResult] = None) -> Optional[unittest.TestResult]:
        """As in TestCase, with what was measured after a failure."""
        before = len(result.failures) + len(result.errors) if result else 0
        returned = super().run(result)
        if result and len(result.failures) + len(result.errors) > before:
            self._show()
        return returned

    def _show(self) -> None:
        for line in self.noted:
            print(f"{self.id()}: {line}", file=sys.stderr)
        for boot in self.boots:
            text = re.sub(r"@el1b (raw|table) .*\n", "", boot.text)
            if len(text) > CONSOLE_SHOWN:
                text = f"{text[:CONSOLE_SHOWN // 2]}\n[...]\n{text[-CONSOLE_SHOWN // 2:]}"
            print(f"--- {self.id()}: {' '.join(boot.command)}\n--- {boot.outcome}\n{text}\n---",
                  file=sys.stderr)

    def note(self, text: str) -> None:
        """Keep a measured value for the report of a failure."""
        self.noted.append(text)

    def boot(self, qemu: machine.Setup, words: Optional[Sequence[str]] = None, *,
             launch: Optional[Callable[[BootStream], Any]] = None,
             limits: Optional[Limits] = None) -> Boot:
        """Run one boot to its end; `words` are its arguments where QEMU passes them."""
        if words is not None:
            qemu = replace(qemu, arguments=" ".join(words))
        log = io.BytesIO()
        limits = limits or Limits(factor=BOUND_FACTOR[qemu.accel])
        outcome = run_boot(qemu, log, limits, launch=launch)
        boot = Boot(machine.command_line(qemu), log.getvalue(), outcome,
                    decode.decode_log(log.getvalue(), outcome.arrivals))
        self.boots.append(boot)
        return boot

    def assert_passed(self, boot: Boot, cores: Optional[int] = None) -> None:
        """The boot is whole, passed, and honest about its time."""
        self.assertEqual(boot.outcome.status, "passed", boot.outcome.problem)
        self.assertEqual([problem.text for problem in boot.decoded.problems], [])
        self.assertEqual(boot.results["failures"], [])
        checks = boot.decoded.boots[0].checks
        self.assertEqual(checks["uart_bytes_in_timed"], 0)
        self.assertEqual(checks["console_refused_bytes"], 0)
        self.assertEqual(boot.results["boots"][0]["checks"]["wire_bytes_in_timed"], 0)
        self.assertEqual(checks["counter_backwards"], 0)
        if cores is not None:
            self.assertEqual(boot.fact("cores"), f"{cores}/{cores}")

    def assert_failed(self, boot: Boot, *reasons: str) -> None:
        """The boot says, in its lines, why it failed, and its trailer still comes."""
        self.assertEqual(boot.outcome.status, "failed", boot.outcome.problem)
        self.assertEqual(boot.decoded.exit_code(), 1,
                         [problem.text for problem in boot.decoded.problems])
        said = "\n".join(f"{one['name']}: {one['reason']}" for one in boot.results["failures"])
        for reason in reasons:
            self.assertRegex(said, reason)


def dump_tree(qemu: machine.Setup, path: Path) -> None:
    """Write the tree that QEMU makes for a machine to `path`."""
    dumping = replace(qemu, kernel=None, machine_options=(*qemu.machine_options,
                                                          f"dumpdtb={path}"))
    subprocess.run(machine.command_line(dumping), check=True, stdin=subprocess.DEVNULL,
                   capture_output=True, timeout=60)


def put_property(tree: Path, node: str, name: str, *values: str, kind: str = "s") -> None:
    """Set a property of a compiled tree."""
    subprocess.run(["fdtput", "-p", "-t", kind, str(tree), node, name, *values], check=True,
                   capture_output=True, timeout=60)


def remove_node(tree: Path, node: str) -> None:
    """Take a node out of a compiled tree."""
    subprocess.run(["fdtput", "-r", str(tree), node], check=True, capture_output=True, timeout=60)


def remove_property(tree: Path, node: str, name: str) -> None:
    """Take a property out of a node of a compiled tree."""
    subprocess.run(["fdtput", "-d", str(tree), node, name], check=True, capture_output=True,
                   timeout=60)


def nodes_of(tree: Path, node: str = "/") -> list[str]:
    """The names of a node's children."""
    return subprocess.run(["fdtget", "-l", str(tree), node], check=True, capture_output=True,
                          text=True, timeout=60).stdout.split()


def jump_with_x0(x0: int, target: int) -> bytes:
    """A program that puts `x0` into x0 and jumps to `target`; runs anywhere."""
    code = (
        0x58000080,  # ldr x0, .+16
        0x580000A1,  # ldr x1, .+20 (that is, target)
        0xD61F0020,  # br x1
        0xD503201F,  # nop
    )
    return struct.pack("<4IQQ", *code, x0, target)


def loaded(folder: Path, image: Path, at: int, x0: int, tree: Optional[Path] = None,
           tree_at: int = 0x4A000000, stub_at: int = 0x48000000) -> tuple[str, ...]:
    """QEMU options that load an image as a boot loader would, and start it with a chosen x0."""
    stub = folder / "jump"
    stub.write_bytes(jump_with_x0(x0, at))
    options = ["-device", f"loader,file={image},addr={at:#x},force-raw=on",
               "-device", f"loader,file={stub},addr={stub_at:#x},force-raw=on,cpu-num=0"]
    if tree is not None:
        options += ["-device", f"loader,file={tree},addr={tree_at:#x},force-raw=on"]
    return tuple(options)


def ensure_u_boot() -> Path:
    """The U-Boot that images are started through."""
    return setup.ensure_u_boot(True)
