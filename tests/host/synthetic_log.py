"""Writes logs as the image does, from samples that a test chooses."""

import zlib
from dataclasses import dataclass, field
from typing import Optional, Sequence

from tests.host.sample_encoder import BIAS, Code, base85
from el1bench_host import statistics
from el1bench_host.log_records import EXCLUSIONS

REASONS = {name: number for number, name in EXCLUSIONS.items()}


def machine_line(kind: str, sequence: int, body: str) -> str:
    """One machine line without its end."""
    text = f"@el1b {kind} {sequence} {body}"
    return f"{text} *{zlib.crc32(text.encode()):08x}"


@dataclass
class Row:
    """A row: ticks, or the name of a reason where a sample is excluded."""

    name: str
    samples: Sequence[int | str]
    cpu: Optional[int] = 0
    peer: Optional[int] = None
    ops: int = 1
    factors: str = "-"
    cold: Optional[int] = None
    unit: str = "tick"
    minuend: Optional[int] = None
    subtrahend: Optional[int] = None


@dataclass
class Boot:
    """Collects the lines of one boot; `text()` is what the console shows."""

    boot: int = 0
    seed: int = 1
    samples: int = 100
    warmup: int = 4
    lines: list[str] = field(default_factory=list)
    chatter: dict[int, str] = field(default_factory=dict)
    metrics: int = 0
    raw: int = 0

    def line(self, kind: str, body: str) -> None:
        """Append a machine line with the next number."""
        self.lines.append(machine_line(kind, len(self.lines), body))

    def head(self, board: str = "qemu-virt", cpus: int = 2, emulated: Optional[str] = "qemu-7.2",
             step: int = 1, hz: int = 62500000) -> "Boot":
        """Everything before the plan."""
        self.line("begin", f"format=el1bench-log/1 version=0.1.0 build=0123abcd board={board} "
                           f"boot={self.boot} seed={self.seed}")
        facts = {"compiler": "gcc 12.2.0", "flags": "-O2 -mcpu=cortex-a53", "newlib": "abc",
                 "image-bytes": "65536", "model": "linux,dummy-virt", "tree": "x0",
                 "load-address": "0x40200000", "entry-el": "1", "entry-mmu": "off",
                 "entry-stamp": "12345", "arguments": "el1bench.seed=1", "counter-hz": str(hz),
                 "counter-step": str(step), "gic": "2", "gic-id": "0x0200143b", "broadcast": "filter", "psci": "1.1",
                 "conduit": "hvc", "cores": f"{cpus}/{cpus}", "stack-offset": "64",
                 "buffer-offset": "128", "memory": "1000000"}
        if emulated:
            facts["emulated"] = emulated
        for key, text in facts.items():
            self.line("info", f"key={key} : {text}")
        for cpu in range(cpus):
            self.line("cpu", f"index={cpu} mpidr=0x{0x80000000 + cpu:x} midr=0x410fd034 cluster=0 "
                             f"core={cpu} counter-hz={hz} entry-el=1")
        self.line("cache", "cpu=0 level=1 type=data bytes=32768 line=64 ways=4 sets=128")
        self.line("ignored", ": console=ttyAML0")
        return self

    def plan(self, names: Sequence[str], rows: int = 1, ci: int = 0) -> "Boot":
        """The plan line; `ci` in parts per million."""
        self.line("plan", f"benchmarks={len(names)} rows={rows} samples={self.samples} "
                          f"warmup={self.warmup} bound-ms=1500 ci={ci} : {','.join(names)}")
        return self

    def metric(self, index: int, row: Row) -> None:
        """A `metric` or `derived` line with the figures that the target would print."""
        good = [value for value in row.samples if isinstance(value, int)]
        excluded = ",".join(f"{reason}:{row.samples.count(reason)}" for reason in REASONS
                            if reason in row.samples) or "-"
        figures = dict.fromkeys(("min", "mean", "p50", "p90", "p99", "p999", "max", "cold"), "-")
        value = "-"
        if good:
            found = statistics.compute(good)
            value = f"{found.p50 / row.ops:.3f}"
            for key in ("min", "p50", "p90", "p99", "p999", "max"):
                figure = getattr(found, key)
                figures[key] = "-" if figure is None else str(figure)
            figures["mean"] = f"{found.mean_1024}/1024"
            if row.cold is not None:
                figures["cold"] = str(row.cold)
        cpu, peer = ("-" if one is None else one for one in (row.cpu, row.peer))
        body = (f"{index} {row.name} {'pass' if good else 'fail'} {value} {row.unit} cpu={cpu} "
                f"peer={peer} n={len(good)} warmup={self.warmup} "
                + " ".join(f"{key}={figures[key]}" for key in figures)
                + f" ops={row.ops} factors={row.factors} excluded={excluded} "
                f"samples={len(row.samples)}")
        if row.minuend is not None:
            body += f" minuend={row.minuend} subtrahend={row.subtrahend}"
        self.line("metric" if row.minuend is None else "derived", body)
        self.metrics += 1

    def dump(self, index: int, row: Row, limit: Optional[int] = None) -> None:
        """A row's raw samples."""
        coded = [value + BIAS if isinstance(value, int) else REASONS[value]
                 for value in row.samples]
        if not coded:
            return
        code = Code(coded)
        pieces = [code.table[at:at + 240] for at in range(0, len(code.table), 240)]
        tables = [f"{index} {part}/{len(pieces)} {base85(piece)}"
                  for part, piece in enumerate(pieces, 1)]
        for body in tables:
            self.line("table", body)
        first = 0
        while first < len(coded):
            count, payload = code.line(coded[first:], limit)
            self.line("raw", f"{index} {first} {count} {base85(payload)}")
            self.raw += 1
            first += count
        for body in tables:
            self.line("table", body)

    def results(self, rows: Sequence[Row], raw: bool = True, limit: Optional[int] = None,
                outcomes: Sequence[str] = (), **checks: int) -> "Boot":
        """Everything between the table for a person and the trailer."""
        self.chatter[len(self.lines)] = "A table for a person\r\n  ipi.normal  12 ticks\r\n"
        for index, row in enumerate(rows):
            self.metric(index, row)
        for outcome in outcomes:
            self.line("outcome", outcome)
        counts = dict.fromkeys(("uart_bytes_in_timed", "console_refused_bytes",
                                "counter_backwards", "lost_interrupts", "spurious_interrupts"), 0)
        counts.update(checks)
        self.line("check", " ".join(f"{key}={value}" for key, value in counts.items()))
        for index, row in enumerate(rows):
            if raw and row.minuend is None:
                self.dump(index, row, limit)
        return self

    def end(self, status: str = "passed") -> "Boot":
        """The trailer."""
        self.line("end", f"status={status} lines={len(self.lines) + 1} metrics={self.metrics} "
                         f"raw={self.raw}")
        return self

    def text(self) -> bytes:
        """The console's bytes."""
        return "".join(self.chatter.get(index, "") + line + "\r\n"
                       for index, line in enumerate(self.lines)).encode()
