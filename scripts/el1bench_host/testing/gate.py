"""The instruction-exact gate: every metric under icount against a file in the source tree.

Under QEMU's icount, with a counter of 1 GHz, a tick is an instruction, and a run with the same seed
repeats itself exactly. One instruction more on a timed path fails, with the metric, the difference,
and the instructions that changed on its path. docs/gate.md says how to read and refresh the files.
"""

import difflib
import io
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping, Optional

from el1bench_host import build, decode, machine, paths, results
from el1bench_host.errors import EXIT_FAILED, UserError
from el1bench_host.run import BOUND_FACTOR, Limits, run_boot
from el1bench_host.testing import timed_code
from el1bench_host.testing.pool import FAIL, PASS, SKIP, Job, Result

FORMAT = "el1bench-expectations/1"
FOLDER = paths.SOURCE_TREE / "tests" / "qemu" / "expectations"
CODE_NAME = "timed-code.txt"
REFRESH = "scripts/el1bench test --only gate --refresh"
BOARD = "qemu-virt"
COUNTER_HZ = 10**9
SAMPLES = 8
WARMUP = 2
SEEDS = (1, 2)
WITHOUT_METRICS = ("smoke",)
DIFF_LINES_MAX = 60

Numbers = Optional[list[int | float]]  # [min, p50, max]; None where the draw decides


@dataclass(frozen=True)
class Machine:
    """One of the machines that the gate measures on."""

    gic: int
    cpus: int

    @property
    def name(self) -> str:
        """As in the file's name."""
        return f"gicv{self.gic}-{self.cpus}-cores"

    @property
    def path(self) -> Path:
        """The expectations' place."""
        return FOLDER / f"{self.name}.json"


MACHINES = (Machine(2, 2), Machine(3, 4))


@dataclass
class Measured:
    """What a machine yields: the numbers, by row, and with what they were made."""

    compiler: str
    qemu: str
    metrics: dict[str, Numbers]


def row_name(metric: Mapping[str, Any]) -> str:
    """`ipi.normal.total 0>1 factor=value`: a row's identity as text."""
    cpu, peer = metric["cpu"], metric["peer"]
    ends = "" if cpu is None else f" {cpu}" if peer is None else f" {cpu}>{peer}"
    unit = "" if metric["unit"] == "tick" else f" [{metric['unit']}]"
    factors = "".join(f" {key}={value}" for key, value in sorted(metric["factors"].items()))
    return metric["name"] + ends + factors + unit


def benchmark_of(row: str) -> str:
    """The benchmark that a row belongs to."""
    return row.split(" ")[0].rpartition(".")[0]


def short_version(qemu: str) -> str:
    """7.2.22 -> 7.2: what decides how instructions are counted, but not a distribution's fixes."""
    return ".".join(qemu.split(".")[:2])


def _boot(folder: Path, where: Machine, suite: str, seed: int) -> dict[str, Any]:
    """The results of one boot that must pass."""
    version = machine.qemu_version(machine.DEFAULT_QEMU)
    words = {"emulated": f"qemu-{version}-icount", "boot": 0, "seed": seed, "suite": suite,
             "samples": SAMPLES, "warmup": WARMUP}
    qemu = machine.Setup(machine.load_board(BOARD, folder), accel="icount", gic=where.gic,
                         cpus=where.cpus, counter_hz=COUNTER_HZ, kernel=folder / "image",
                         arguments=" ".join(f"el1bench.{key}={value}"
                                            for key, value in words.items()))
    log = io.BytesIO()
    outcome = run_boot(qemu, log, Limits(factor=BOUND_FACTOR["icount"]))
    decoded = decode.decode_log(log.getvalue())
    if outcome.status != "passed" or decoded.problems:
        said = [outcome.problem or f"the run {outcome.status}"]
        said += [problem.text for problem in decoded.problems]
        said += re.findall(r"@el1b fail \d+ (.*) \*", log.getvalue().decode("latin-1"))
        raise UserError(f"{where.name}, suite {suite}: " + "; ".join(filter(None, said)),
                        EXIT_FAILED)
    return results.make_results(decoded)


def measure(folder: Path, where: Machine, suites: list[str], seed: int) -> Measured:
    """All metrics of all suites. Each suite has a boot of its own: what one draws moves no other."""
    metrics: dict[str, Numbers] = {}
    for suite in suites:
        found = _boot(folder, where, suite, seed)
        for metric in found["metrics"]:
            metrics[row_name(metric)] = [metric["min"], metric["p50"], metric["max"]]
        for skipped in found["skipped"]:
            metrics[f"{skipped['name']} skipped: {skipped['reason']}"] = None
    return Measured(found["image"]["compiler"],
                    short_version(machine.qemu_version(machine.DEFAULT_QEMU)), metrics)


def suites_of(code: timed_code.TimedCode) -> list[str]:
    """The suites in the image that measure something."""
    return sorted({name.split(".")[0] for name in code.roots} - set(WITHOUT_METRICS))


def compare(expected: Mapping[str, Numbers], found: Mapping[str, Numbers]) -> list[tuple[str, str]]:
    """(row, what is wrong with it) for each that is not as expected."""
    wrong = []
    for row in sorted(expected.keys() | found.keys()):
        if row not in expected:
            wrong.append((row, "not in the file"))
        elif row not in found:
            wrong.append((row, "in the file, but not measured"))
        elif expected[row] is not None and found[row] != expected[row]:
            wrong.append((row, _difference(expected[row], found[row])))
    return wrong


def _difference(expected: list[int | float], found: Numbers) -> str:
    if found is None:
        return "no numbers"
    names = ("min", "p50", "max") if len({*expected, *found}) > 2 else ("",)
    return ", ".join(f"{name} {new:g} instead of {old:g}, {new - old:+g}".strip()
                     for name, old, new in zip(names, expected, found) if new != old
                     ) + " instructions"


def code_changes(rows: list[str], gic: int, expected: Mapping[str, list[str]],
                 code: timed_code.TimedCode) -> list[str]:
    """Unified differences of the functions on the rows' paths, each function once."""
    functions = sorted({name for row in rows for name in code.path(benchmark_of(row), gic)})
    lines = []
    for name in functions:
        old, new = expected.get(name, []), code.functions[name]
        if old != new:
            lines += list(difflib.unified_diff(old, new, f"{name} (expected)", name, n=3,
                                               lineterm=""))
    if len(lines) > DIFF_LINES_MAX:
        lines[DIFF_LINES_MAX:] = [f"... and {len(lines) - DIFF_LINES_MAX} lines more"]
    return lines or ["no instruction on these paths changed: a constant or what is executed did"]


def _load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {error}; `{REFRESH}` makes it", EXIT_FAILED) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UserError(f"{path} is not in the format {FORMAT}; `{REFRESH}` makes it", EXIT_FAILED)
    return data


def verdict(where: Machine, expected: Mapping[str, Any], found: Measured,
            code: timed_code.TimedCode, listing: Mapping[str, list[str]],
            in_ci: bool) -> tuple[str, str]:
    """(PASS, FAIL or SKIP, the words for it)."""
    wrong = compare(expected["metrics"], found.metrics)
    others = [f"{what} {mine}, the expectations are for {theirs}"
              for what, mine, theirs in (("compiler", found.compiler, expected["compiler"]),
                                         ("QEMU", found.qemu, expected["qemu"]))
              if mine != theirs]
    lines = [f"{row}: {what}" for row, what in wrong]
    # A row that came or went changed on no path.
    moved = [row for row, _ in wrong if row in expected["metrics"] and row in found.metrics]
    if moved:
        lines += code_changes(moved, where.gic, listing, code)
    if others:
        heading = ["not comparable: " + "; ".join(others),
                   f"{len(wrong)} of {len(found.metrics)} metrics differ"]
        return (FAIL if in_ci else SKIP), "\n".join(heading + lines) + "\n"
    if wrong:
        lines.append(f"if this is meant: {REFRESH}")
    return (FAIL if wrong else PASS), "".join(f"{line}\n" for line in lines)


def _check(where: Machine, folder: Path, code: timed_code.TimedCode) -> Result:
    started = time.monotonic()
    try:
        expected = _load(where.path)
        listing = timed_code.parse_text((FOLDER / CODE_NAME).read_text("utf-8"))
        status, words = verdict(where, expected, measure(folder, where, suites_of(code), SEEDS[0]),
                                code, listing, bool(os.environ.get("CI")))
    except (UserError, OSError) as error:
        status, words = FAIL, f"{error}\n"
    return Result(f"gate: {where.name}", status, time.monotonic() - started, words)


def to_text(measured: Measured) -> str:
    """A file of expectations: sorted, one metric a line."""
    head = {"format": FORMAT, "compiler": measured.compiler, "qemu": measured.qemu,
            "refresh": REFRESH}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    rows = ",\n".join(f"  {json.dumps(row)}: {json.dumps(numbers)}"
                      for row, numbers in sorted(measured.metrics.items()))
    return "{\n" + "\n".join(lines) + '\n"metrics": {\n' + rows + "\n}\n}\n"


def _refresh(where: Machine, folder: Path, code: timed_code.TimedCode) -> Result:
    """Write the file. A number that another seed changes is not held against anybody."""
    started = time.monotonic()
    try:
        first, other = (measure(folder, where, suites_of(code), seed) for seed in SEEDS)
        for row, numbers in first.metrics.items():
            if other.metrics.get(row) != numbers:
                first.metrics[row] = None
        where.path.write_text(to_text(first), encoding="utf-8")
        status, words = PASS, ""
    except (UserError, OSError) as error:
        status, words = FAIL, f"{error}\n"
    return Result(f"gate: {where.name}: refreshed", status, time.monotonic() - started, words)


def jobs(refresh: bool) -> list[Job]:
    """One job for each machine; with `refresh` they write what they would compare with."""
    folder = build.build_board(BOARD)
    code = timed_code.read(folder)
    if refresh:
        measuring = [name for name in code.roots if name.split(".")[0] not in WITHOUT_METRICS]
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / CODE_NAME).write_text(code.text(measuring), encoding="utf-8")
    act: Callable[[Machine, Path, timed_code.TimedCode], Result] = _refresh if refresh else _check
    names = {where: f"gate: {where.name}" + (": refreshed" if refresh else "")
             for where in MACHINES}
    return [Job((names[where],), lambda where=where: [act(where, folder, code)])
            for where in MACHINES]
