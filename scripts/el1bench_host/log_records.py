"""What the bodies of machine lines mean: one record and one parser per type of docs/log-format.md.

A parser takes what follows the sequence number and raises `Malformed` for anything else than the
page says; a correct checksum proves nothing about who wrote the line.
"""

import re
from dataclasses import dataclass
from typing import Optional

TYPES = ("begin", "info", "cpu", "cache", "idle", "ignored", "plan", "metric", "derived", "table",
         "raw", "outcome", "note", "counts", "fail", "check", "clock", "baud", "end", "survivors")
SURVIVOR_PREFIX = "was-"
"""What the types of lines start with that an earlier boot left."""
INFO_KEYS = (
    "compiler", "flags", "newlib", "image-crc", "image-bytes", "model", "tree", "load-address",
    "entry-el", "entry-mmu", "entry-stamp", "arguments", "emulated", "counter-hz", "counter-step",
    "gic", "gic-id", "broadcast", "psci", "conduit", "cores", "stack-offset", "buffer-offset",
    "memory", "watchdog")
METRIC_FIELDS = ("cpu", "peer", "n", "warmup", "min", "mean", "p50", "p90", "p99", "p999", "max",
                 "cold", "ops", "factors", "excluded", "samples")
DERIVED_FIELDS = ("minuend", "subtrahend")
CHECK_FIELDS = ("uart_bytes_in_timed", "console_refused_bytes", "counter_backwards",
                "lost_interrupts", "spurious_interrupts")
MARKS = ("begin", "timed", "end")
EXCLUSIONS = {1: "backwards", 2: "lost", 3: "inline", 4: "early", 5: "spurious", 6: "stale"}
IDLE_KINDS = ("standby", "core", "deepest")
IDLE_TREES = ("used", "board", "-")
UNITS = ("tick", "cycle", "place")
COUNT_FIELDS = ("calls", "power_state", "resumed_at_entry", "returned_inline", "early",
                "stamps_out_of_order", "slept_us", "entered", "resident_us", "entered_core")
"""What the benchmarks of today count; a `counts` line may hold others."""
OUTCOMES = ("passed", "failed", "skipped")
STATUSES = ("passed", "failed", "refused")
SURVIVOR_STATES = ("whole", "spoilt")

_NUMBER = re.compile(r"-?[0-9]{1,20}")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,16}")
_DECIMALS = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,9})?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


class Malformed(Exception):
    """A machine line that checks but does not say what the format page promises."""


def number(text: str) -> int:
    """A decimal number, or one with 0x before it."""
    if _NUMBER.fullmatch(text):
        return int(text)
    if _HEX.fullmatch(text):
        return int(text, 16)
    raise Malformed(f"`{text[:40]}` is no number")


def optional_number(text: str) -> Optional[int]:
    """A number, or None for `-`."""
    return None if text == "-" else number(text)


def natural(text: str, limit: int = 1 << 63) -> int:
    """A number from 0 to below `limit`."""
    value = number(text)
    if not 0 <= value < limit:
        raise Malformed(f"{text[:40]} is out of range")
    return value


def name(text: str) -> str:
    """A name of a benchmark or metric."""
    if not _NAME.fullmatch(text):
        raise Malformed(f"`{text[:40]}` is no name")
    return text


def split_text(rest: str) -> tuple[list[str], str]:
    """The words of a body, and the free text after ` : `."""
    head, _, text = rest.partition(" : ")
    return head.split(), text.strip()


def fields(words: list[str]) -> dict[str, str]:
    """Words of the form key=value; later ones of the same key are refused."""
    found: dict[str, str] = {}
    for word in words:
        key, separator, value = word.partition("=")
        if not separator or not key:
            raise Malformed(f"`{word[:40]}` is not of the form key=value")
        if key in found:
            raise Malformed(f"the field {key[:40]} stands twice")
        found[key] = value
    return found


def _need(found: dict[str, str], key: str) -> str:
    if key not in found:
        raise Malformed(f"the field {key} is missing")
    return found[key]


def _one_of(found: dict[str, str], key: str, known: tuple[str, ...]) -> str:
    value = _need(found, key)
    if value not in known:
        raise Malformed(f"its {key} is `{value[:40]}`")
    return value


def _pairs(text: str) -> dict[str, str]:
    """`key:value,key:value`, or `-` for none."""
    found: dict[str, str] = {}
    if text == "-":
        return found
    for pair in text.split(","):
        key, separator, value = pair.partition(":")
        if not separator or not key or key in found:
            raise Malformed(f"`{pair[:40]}` is not of the form key:value")
        found[key] = value
    return found


@dataclass(frozen=True)
class Begin:
    """The first line of a boot."""

    format: str
    version: str
    build: str
    board: str
    boot: int
    seed: int


def parse_begin(rest: str) -> Begin:
    """The body of a `begin` line."""
    found = fields(split_text(rest)[0])
    return Begin(_need(found, "format"), _need(found, "version"), _need(found, "build"),
                 _need(found, "board"), natural(_need(found, "boot")),
                 natural(_need(found, "seed"), 1 << 64))


def _labelled(rest: str, key: str) -> tuple[str, str]:
    words, text = split_text(rest)
    return _need(fields(words), key), text


def parse_info(rest: str) -> tuple[str, str]:
    """The key and the text of an `info` line."""
    return _labelled(rest, "key")


@dataclass(frozen=True)
class Cpu:
    """One core; `mpidr` and `midr` are register values."""

    index: int
    mpidr: int
    midr: int
    cluster: Optional[int]
    core: Optional[int]
    counter_hz: int
    entry_el: Optional[int]


def parse_cpu(rest: str) -> Cpu:
    """The body of a `cpu` line."""
    found = fields(split_text(rest)[0])
    return Cpu(natural(_need(found, "index"), 1 << 16), natural(_need(found, "mpidr"), 1 << 64),
               natural(_need(found, "midr"), 1 << 64), optional_number(_need(found, "cluster")),
               optional_number(_need(found, "core")), natural(_need(found, "counter-hz")),
               optional_number(_need(found, "entry-el")))


@dataclass(frozen=True)
class Cache:
    """One cache as one core sees it; sizes in bytes."""

    cpu: int
    level: int
    type: str
    bytes: Optional[int]
    line: Optional[int]
    ways: Optional[int]
    sets: Optional[int]


def parse_cache(rest: str) -> Cache:
    """The body of a `cache` line."""
    found = fields(split_text(rest)[0])
    return Cache(natural(_need(found, "cpu"), 1 << 16), natural(_need(found, "level"), 16),
                 _need(found, "type"), optional_number(_need(found, "bytes")),
                 optional_number(_need(found, "line")), optional_number(_need(found, "ways")),
                 optional_number(_need(found, "sets")))


@dataclass(frozen=True)
class IdleState:
    """A power state, and what the tree that describes it claims of it in microseconds."""

    kind: str
    power_state: int
    timer_stops: bool
    tree: str
    entry_latency_us: Optional[int]
    exit_latency_us: Optional[int]
    wakeup_latency_us: Optional[int]
    min_residency_us: Optional[int]
    node: str


def parse_idle(rest: str) -> IdleState:
    """The body of an `idle` line."""
    words, text = split_text(rest)
    found = fields(words)
    claims = [_need(found, key) for key in ("entry-latency-us", "exit-latency-us",
                                            "wakeup-latency-us", "min-residency-us")]
    return IdleState(_one_of(found, "kind", IDLE_KINDS),
                     natural(_need(found, "power-state"), 1 << 32),
                     natural(_need(found, "timer-stops"), 2) == 1,
                     _one_of(found, "tree", IDLE_TREES),
                     *(None if one == "-" else natural(one, 1 << 32) for one in claims), text)


@dataclass(frozen=True)
class Plan:
    """What a boot is going to do; `cut` if not all names fitted the line. `ci` is in parts per
    million, 0 if the number of samples is fixed."""

    benchmarks: int
    rows: int
    samples: int
    warmup: int
    bound_ms: int
    ci: int
    names: tuple[str, ...]
    cut: bool


def parse_plan(rest: str) -> Plan:
    """The body of a `plan` line."""
    words, text = split_text(rest)
    found = fields(words)
    cut = text.endswith("...")
    names = [one for one in text.removesuffix("...").split(",") if one]
    if cut and not text.endswith(",..."):
        names = names[:-1]
    return Plan(natural(_need(found, "benchmarks")), natural(_need(found, "rows")),
                natural(_need(found, "samples")), natural(_need(found, "warmup")),
                natural(_need(found, "bound-ms")), natural(found.get("ci", "0"), 1 << 20),
                tuple(name(one) for one in names), cut)


@dataclass(frozen=True)
class Metric:
    """One row as the image sums it up: units per sample, `mean_1024` in 1/1024 of that."""

    row: int
    name: str
    value: str
    unit: str
    cpu: Optional[int]
    peer: Optional[int]
    n: int
    warmup: int
    min: Optional[int]
    mean_1024: Optional[int]
    p50: Optional[int]
    p90: Optional[int]
    p99: Optional[int]
    p999: Optional[int]
    max: Optional[int]
    cold: Optional[int]
    ops: int
    factors: dict[str, str]
    excluded: dict[str, int]
    samples: int
    minuend: Optional[int] = None
    subtrahend: Optional[int] = None

    @property
    def derived(self) -> bool:
        """True for the difference of two other rows."""
        return self.minuend is not None


ROWS_LIMIT = 1 << 16
SAMPLES_LIMIT = 1 << 24


def parse_metric(rest: str, derived: bool) -> Metric:
    """The body of a `metric` line, or of a `derived` one."""
    words = split_text(rest)[0]
    if len(words) < 5:
        raise Malformed("it has too few words")
    row, metric_name, result, value, unit = words[:5]
    if unit not in UNITS or not ((result == "pass" and _DECIMALS.fullmatch(value))
                              or (result, value) == ("fail", "-")):
        raise Malformed("it does not say `pass VALUE UNIT`")
    found = fields(words[5:])
    cpu, peer = (optional_number(_need(found, key)) for key in ("cpu", "peer"))
    mean_text = _need(found, "mean")
    mean: Optional[int] = None
    if mean_text != "-":
        over, separator, below = mean_text.partition("/")
        if not separator or below != "1024":
            raise Malformed("its mean is not of the form M/1024")
        mean = number(over)
    excluded = {reason: natural(count)
                for reason, count in _pairs(_need(found, "excluded")).items()}
    figures = {key: optional_number(_need(found, key))
               for key in ("min", "p50", "p90", "p99", "p999", "max", "cold")}
    operations = natural(_need(found, "ops"))
    if operations == 0:
        raise Malformed("its ops are 0")
    metric = Metric(
        natural(row, ROWS_LIMIT), name(metric_name), value, unit, cpu, peer, natural(_need(found, "n")),
        natural(_need(found, "warmup")), mean_1024=mean, ops=operations,
        factors=_pairs(_need(found, "factors")), excluded=excluded,
        samples=natural(_need(found, "samples"), SAMPLES_LIMIT),
        minuend=natural(_need(found, "minuend")) if derived else None,
        subtrahend=natural(_need(found, "subtrahend")) if derived else None, **figures)
    if (metric.n > 0) != (result == "pass"):
        raise Malformed("its result does not go with its count of samples")
    if metric.n > 0 and None in (metric.min, metric.mean_1024, metric.p50, metric.p90, metric.max):
        raise Malformed("it has samples but lacks a figure")
    return metric


@dataclass(frozen=True)
class Table:
    """A piece of a row's code table."""

    row: int
    part: int
    parts: int
    payload: str


def parse_table(rest: str) -> Table:
    """The body of a `table` line."""
    words = rest.split()
    if len(words) != 3:
        raise Malformed("it has not three words")
    part, separator, parts = words[1].partition("/")
    if not separator:
        raise Malformed("its part is not of the form PART/PARTS")
    table = Table(natural(words[0], ROWS_LIMIT), natural(part, 1 << 20), natural(parts, 1 << 20),
                  words[2])
    if not 1 <= table.part <= table.parts:
        raise Malformed("its part is out of range")
    return table


@dataclass(frozen=True)
class Raw:
    """A line of coded samples."""

    row: int
    first: int
    count: int
    payload: str


def parse_raw(rest: str) -> Raw:
    """The body of a `raw` line."""
    words = rest.split()
    if len(words) != 4:
        raise Malformed("it has not four words")
    raw = Raw(natural(words[0], ROWS_LIMIT), natural(words[1], SAMPLES_LIMIT),
              natural(words[2], SAMPLES_LIMIT), words[3])
    if raw.count == 0:
        raise Malformed("it has no samples")
    return raw


@dataclass(frozen=True)
class Outcome:
    """How one benchmark ended."""

    name: str
    result: str
    reason: str


def parse_outcome(rest: str) -> Outcome:
    """The body of an `outcome` line."""
    words, text = split_text(rest)
    if len(words) != 2 or words[1] not in OUTCOMES:
        raise Malformed("it does not say how a benchmark ended")
    return Outcome(name(words[0]), words[1], text)


def parse_fail(rest: str) -> tuple[str, str]:
    """The name and the reason of a `fail` line, or the text of a `note` line."""
    return _labelled(rest, "name")


@dataclass(frozen=True)
class Counts:
    """What a benchmark has counted of a core."""

    name: str
    cpu: int
    counts: dict[str, int]


def parse_counts(rest: str) -> Counts:
    """The body of a `counts` line."""
    words = split_text(rest)[0]
    found = fields(words[1:])
    return Counts(name(words[0] if words else ""), natural(_need(found, "cpu"), 1 << 16),
                  {key: natural(value, 1 << 64) for key, value in found.items() if key != "cpu"})


def parse_check(rest: str) -> dict[str, int]:
    """The counts of a `check` line; those the page does not name are kept too."""
    found = fields(split_text(rest)[0])
    for key in CHECK_FIELDS:
        _need(found, key)
    return {key: natural(value, 1 << 64) for key, value in found.items()}


@dataclass(frozen=True)
class Clock:
    """A point in time, as the counter has it."""

    mark: str
    counter: int


def parse_clock(rest: str) -> Clock:
    """The body of a `clock` line."""
    found = fields(split_text(rest)[0])
    return Clock(_one_of(found, "mark", MARKS), natural(_need(found, "counter"), 1 << 64))


def parse_baud(rest: str) -> int:
    """The body of a `baud` line: the line's speed, 0 for the one from before."""
    return natural(_need(fields(split_text(rest)[0]), "rate"), 1 << 32)


@dataclass(frozen=True)
class End:
    """The trailer of a boot."""

    status: str
    lines: int
    metrics: int
    raw: int


def parse_end(rest: str) -> End:
    """The body of an `end` line."""
    found = fields(split_text(rest)[0])
    return End(_one_of(found, "status", STATUSES), natural(_need(found, "lines")),
               natural(_need(found, "metrics")), natural(_need(found, "raw")))


@dataclass(frozen=True)
class Survivors:
    """What a boot found in memory of an earlier one; the numbers are None unless it is whole."""

    state: str
    boot: Optional[int]
    seed: Optional[int]
    entry_stamp: Optional[int]
    benchmarks: Optional[int]
    finished: Optional[int]
    bound_ms: int
    text: str
    """The earlier boot's arguments or, if it is not whole, what is wrong."""


def parse_survivors(rest: str) -> Survivors:
    """The body of a `survivors` line."""
    words, text = split_text(rest)
    found = fields(words)
    state = _one_of(found, "state", SURVIVOR_STATES)
    if state != "whole":
        return Survivors(state, None, None, None, None, None, 0, text)
    return Survivors(state, natural(_need(found, "boot")), natural(_need(found, "seed"), 1 << 64),
                     natural(_need(found, "entry-stamp"), 1 << 64),
                     natural(_need(found, "benchmarks"), ROWS_LIMIT),
                     natural(_need(found, "finished"), ROWS_LIMIT),
                     natural(_need(found, "bound-ms")), text)


def parse_survivors_end(rest: str) -> tuple[int, int]:
    """The `metric` and `derived` lines, and the `raw` lines, that were sent of an earlier boot."""
    found = fields(split_text(rest)[0])
    return natural(_need(found, "metrics")), natural(_need(found, "raw"))
