"""results.json and its sidecar of samples (docs/results-format.md): made, written, read back.

Keys, their order and the bytes are the same for the same log. One metric a line, so that the file
can be searched and compared as text.
"""

import gzip
import io
import json
import math
import os
import re
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from el1bench_host import arrival, counter_check, idle_states
from el1bench_host.decoder import (Boot, DecodedLog, Row, count_reasons, counter_step,
                                   is_emulated, unit_step)
from el1bench_host.errors import UserError
from el1bench_host.log_records import CHECK_FIELDS, Malformed, natural
from el1bench_host.statistics import median

FORMAT = "el1bench-results/1"
RESULTS_NAME = "results.json"
SAMPLES_NAME = "results.samples.jsonl.gz"
WARNINGS = {
    "coarse": "the middle half of the samples spans less than 4 counter steps; the headline is a "
              "mean",
    "quantised": "the samples spread less than half a counter step: what they differ by is the "
                 "counter",
    "constant": "all samples are equal: deterministic, or locked to the counter",
    "few": "fewer than 30 samples",
    "excluded": "samples were kept out of the distribution; their reasons are counted",
    "drift": "the samples rise or fall in the course of the run; the figures depend on when it ended",
    "correlated": "neighbouring samples resemble each other; standard error and intervals are too "
                  "narrow",
    "wide": "the headline is less sure than ci= asked for: the cap on samples came first",
    "near-floor": "the median is less than twice what reading the counter costs",
    "samples-lost": "raw samples are missing from the log; the figures are the image's own",
}
"""Every warning that a metric may bear, and what it means."""
FEW = 30
SAME_RATIO = 0.01
"""A cycle counter that runs on in WFI at a rate no further off than this counts time."""
DETAILED_ROWS = 4096
"""In a file of more rows than this, those of a matrix of many cores, a row has its figures only."""
USUAL_BAUD = 115200
OUTPUT_CHECKS = ("uart_bytes_in_timed", "console_refused_bytes", "wire_bytes_in_timed")
"""Checks that count output while measuring; each must be 0."""


def _quantum(value: Fraction) -> int | float:
    """The nearest multiple of 1/1024, as an integer if it is one."""
    rounded = round(value * 1024)
    return rounded // 1024 if rounded % 1024 == 0 else rounded / 1024


def _integer(text: Optional[str]) -> Optional[int]:
    """A number of an info line, None if it is not there or is none."""
    try:
        return None if text is None else natural(text, 1 << 64)
    except Malformed:
        return None


def _number_or_text(text: Optional[str]) -> Any:
    number = _integer(text)
    return text if number is None else number


def _first(decoded: DecodedLog, key: str) -> Optional[str]:
    """An info line's text from the first boot that has it."""
    return next((boot.info[key] for boot in decoded.boots if key in boot.info), None)


def _boot_numbers(decoded: DecodedLog) -> list[int]:
    """What the boots are called: their own numbers if those are all there and differ."""
    numbers = [boot.begin.boot for boot in decoded.boots if boot.begin is not None]
    if len(numbers) == len(decoded.boots) == len(set(numbers)):
        return numbers
    return list(range(len(decoded.boots)))


def _image(decoded: DecodedLog) -> dict[str, Any]:
    begin = next((boot.begin for boot in decoded.boots if boot.begin is not None), None)
    return {
        "version": begin.version if begin else None,
        "build_id": begin.build if begin else None,
        "board": begin.board if begin else None,
        "compiler": _first(decoded, "compiler"),
        "flags": _first(decoded, "flags"),
        "sha256": None,
        "newlib": _first(decoded, "newlib"),
        "crc": _first(decoded, "image-crc"),
        "bytes": _integer(_first(decoded, "image-bytes")),
    }


def _step_seen(decoded: DecodedLog) -> Optional[dict[str, int]]:
    """How far the counter was seen to move: the smallest move and what all have in common, from
    `clock.step.ticks`."""
    moves = [move for boot in decoded.boots for row in boot.rows.values()
             if row.metric.name == "clock.step.ticks" and row.complete for move in row.good()]
    return {"smallest": min(moves), "divisor": math.gcd(*moves)} if moves else None


def _cycle_counter(decoded: DecodedLog,
                   metrics: list[dict[str, Any]]) -> Optional[dict[str, Any]]:
    """What `clock.cycles` found: cycles a tick while the core computes and while it sleeps, and
    whether they are cycles at all."""
    rows = {_place(metric, metric["name"]): metric for metric in metrics}

    def ratio(case: str) -> Optional[float]:
        found = []
        for metric in metrics:
            ticks = rows.get(_place(metric, f"clock.cycles.{case}-ticks"))
            if metric["name"] == f"clock.cycles.{case}" and ticks and metric["n"] and ticks["mean"]:
                found.append(metric["mean"] / ticks["mean"])
        return float(f"{median(found):.6g}") if found else None

    busy, asleep = ratio("busy"), ratio("wfi")
    if busy is None:
        return None
    same = asleep is not None and abs(asleep / busy - 1) < SAME_RATIO
    return {"busy": busy, "asleep": asleep,
            "virtual": same or any(is_emulated(boot) for boot in decoded.boots)}


def _machine(decoded: DecodedLog) -> dict[str, Any]:
    fullest = max(decoded.boots, key=lambda boot: len(boot.cpus) + len(boot.caches), default=None)
    cpus = fullest.cpus if fullest else []
    counter_hz = _integer(_first(decoded, "counter-hz"))
    if counter_hz is None and cpus:
        counter_hz = cpus[0].counter_hz
    psci = _first(decoded, "psci")
    conduit = _first(decoded, "conduit")
    emulated = next((boot for boot in decoded.boots if is_emulated(boot)), None)
    return {
        "model": _first(decoded, "model"),
        "counter_hz": counter_hz,
        "counter_step": _integer(_first(decoded, "counter-step")),
        "step_seen": _step_seen(decoded),
        "gic": _number_or_text(_first(decoded, "gic")),
        "psci": {"version": None if psci in ("none", "-") else psci,
                 "conduit": None if conduit in ("none", "-") else conduit},
        "firmware": None,
        "emulated": emulated is not None,
        "emulator": emulated.info["emulated"] if emulated else None,
        "caches": [dict(vars(cache)) for cache in (fullest.caches if fullest else [])],
        "cpus": [{"index": cpu.index, "mpidr": f"{cpu.mpidr:#x}", "midr": f"{cpu.midr:#x}",
                  "cluster": cpu.cluster, "core": cpu.core, "counter_hz": cpu.counter_hz,
                  "entry_el": cpu.entry_el} for cpu in sorted(cpus, key=lambda one: one.index)],
        "gic_id": _first(decoded, "gic-id"),
        "broadcast": _first(decoded, "broadcast"),
        "cores": _first(decoded, "cores"),
    }


def _boot(boot: Boot, index: int) -> dict[str, Any]:
    order: list[str] = []
    if boot.plan is not None:
        order = list(boot.plan.names)
        if boot.plan.cut and len(boot.outcomes) >= boot.plan.benchmarks:
            order = [outcome.name for outcome in boot.outcomes]
    return {
        "index": index,
        "seed": boot.begin.seed if boot.begin else None,
        "entry_el": _integer(boot.info.get("entry-el")),
        "load_address": boot.info.get("load-address"),
        "order": order,
        "complete": boot.complete,
        "checks": _checks(boot),
        "counter": None if boot.counter is None else boot.counter.record(),
        "status": boot.end.status if boot.end else None,
        "survived": None if boot.survived is None else {
            "finished": boot.survived.finished, "benchmarks": boot.survived.benchmarks},
        "boot": boot.begin.boot if boot.begin else None,
        "entry_mmu": boot.info.get("entry-mmu"),
        "entry_stamp": _integer(boot.info.get("entry-stamp")),
        "tree": boot.info.get("tree"),
        "stack_offset": _integer(boot.info.get("stack-offset")),
        "buffer_offset": _integer(boot.info.get("buffer-offset")),
        "memory": _integer(boot.info.get("memory")),
        "bound_ms": boot.plan.bound_ms if boot.plan else None,
        "ignored": boot.ignored,
    }


def _checks(boot: Boot) -> dict[str, int]:
    """The image's counts, and the host's own of what arrived while measuring."""
    counts = dict(boot.checks or {})
    if boot.noise is not None:
        counts["wire_bytes_in_timed"] = len(boot.noise)
    return counts


def _line_baud(boot: Boot) -> int:
    """The speed of the line to reckon with: the one the image paced itself by, or the usual one."""
    paced = re.findall(r"\bel1bench\.pace=([0-9]{3,7})\b", boot.info.get("arguments", ""))
    return int(paced[-1]) if paced else USUAL_BAUD


def _timed_output(boot: Boot, index: int) -> Iterator[dict[str, Any]]:
    """A failure for each kind of output while measuring, with the time it takes on a real line."""
    baud = _line_baud(boot)
    for key, count in _checks(boot).items():
        if key not in OUTPUT_CHECKS or not count:
            continue
        reason = (f"{count} bytes for the console while measuring: {count * 10000 / baud:.1f} ms "
                  f"of a line at {baud} baud")
        if key == "wire_bytes_in_timed":
            text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in boot.noise or b"")
            reason = (f"{count} bytes arrived on the console while measuring, from the image or "
                      f"from firmware: {text[:40]}")
        yield {"name": key, "boot": index, "reason": reason}


def _sum_of_checks(decoded: DecodedLog) -> dict[str, int]:
    total = dict.fromkeys(CHECK_FIELDS, 0)
    for boot in decoded.boots:
        for key, count in _checks(boot).items():
            total[key] = total.get(key, 0) + count
    return total


def _run(decoded: DecodedLog) -> dict[str, Any]:
    plan = next((boot.plan for boot in decoded.boots if boot.plan is not None), None)
    counter = counter_check.worst([boot.counter for boot in decoded.boots if boot.counter])
    return {
        "args": _first(decoded, "arguments"),
        "samples": plan.samples if plan else None,
        "warmup": plan.warmup if plan else None,
        "host": {"counter": counter.text} if counter else {},
        "ci": plan.ci / 1e6 if plan and plan.ci else None,
        "complete": decoded.complete,
        "checks": _sum_of_checks(decoded),
        "status": decoded.status(),
    }


def _floors(boot: Boot) -> dict[Optional[int], Fraction]:
    """The median cost of a read pair on each core of a boot, in ticks."""
    return {row.metric.cpu: Fraction(row.metric.p50, row.metric.ops) for row in boot.rows.values()
            if row.metric.name == "clock.floor.pair" and row.metric.p50 is not None}


def _metric(row: Row, index: int, boot: Boot, floors: Mapping[Optional[int], Fraction],
            step: int, detailed: bool) -> dict[str, Any]:
    metric, found = row.metric, row.figures
    dumped = row.values is not None or bool(row.lost)
    from_samples = row.complete

    def ticks(value: Optional[int | Fraction]) -> Optional[int | float]:
        return None if value is None else _quantum(Fraction(value) / metric.ops)

    source: Any = found if found is not None else metric
    floor = floors.get(metric.cpu) if metric.unit == "tick" else None
    step = unit_step(metric, step)
    if found is not None:
        mean, trimmed = found.mean, found.trimmed_mean
        coarse = found.coarse(step)
        # Four significant digits: the bytes stay few, and a standard error is no surer than that.
        se = float(f"{found.se / metric.ops:.4g}")
        low, high = found.p50_low, found.p50_high
        excluded = count_reasons(row.excluded)
    else:
        mean = Fraction(metric.mean_1024, 1024) if metric.mean_1024 is not None else None
        trimmed = None
        # Without samples the quartiles are not known; this encloses them.
        coarse = metric.n > 0 and metric.p90 - metric.min < 4 * step
        se = low = high = None
        excluded = {key: count for key, count in sorted(metric.excluded.items()) if count}
    n = found.n if found is not None else metric.n
    headline, headline_is = source.p50, "median"
    if n and coarse:
        headline, headline_is = (trimmed, "trimmed") if found is not None else (mean, "mean")
    warnings = []
    if n and coarse:
        warnings.append("coarse")
    if found is not None and n > 1 and found.quantised(step):
        warnings.append("quantised")
    if n > 1 and source.min == source.max:
        warnings.append("constant")
    if 0 < n < FEW:
        warnings.append("few")
    if excluded:
        warnings.append("excluded")
    if found is not None and found.order is not None:
        if found.order.drifts:
            warnings.append("drift")
        if found.order.correlated:
            warnings.append("correlated")
    if (found is not None and boot.plan is not None and boot.plan.ci and not metric.derived
            and not found.precise(step, Fraction(boot.plan.ci, 10 ** 6))):
        warnings.append("wide")
    if (n and floor is not None and not metric.name.startswith("clock.") and not metric.derived
            and Fraction(source.p50, metric.ops) < 2 * floor):
        warnings.append("near-floor")
    lost = not from_samples and not metric.derived and metric.samples > 0 and (
        dumped or boot_dumps(boot))
    if lost:
        warnings.append("samples-lost")
    made: dict[str, Any] = {
        "name": metric.name, "boot": index, "cpu": metric.cpu, "peer": metric.peer,
        "factors": dict(sorted(metric.factors.items())), "unit": metric.unit, "n": n,
        "warmup_n": metric.warmup, "min": ticks(source.min), "mean": ticks(mean),
        "trimmed_mean": ticks(trimmed), "se": se, "p50": ticks(source.p50),
        "p50_low": ticks(low), "p50_high": ticks(high), "p90": ticks(source.p90),
        "p99": ticks(source.p99), "p999": ticks(source.p999), "max": ticks(source.max),
        "cold": ticks(metric.cold), "floor": None if floor is None else _quantum(floor),
        "headline": ticks(headline), "headline_is": headline_is if n else None,
        "excluded": excluded, "warnings": warnings,
    }
    if metric.ops != 1:
        made["ops"] = metric.ops
    if detailed and found is not None:
        for key in ("p99_low", "p99_high", "p999_low", "p999_high"):
            if getattr(found, key) is not None:
                made[key] = ticks(getattr(found, key))
        if found.mild or found.trimmed:
            made["outliers"] = {"mild": found.mild, "far": found.trimmed}
    if not from_samples:
        made["from"] = "summary"
    if metric.derived:
        for key, of in (("minuend", metric.minuend), ("subtrahend", metric.subtrahend)):
            other = boot.rows.get(of)
            made[key] = other.metric.name if other is not None else None
    return made


def boot_dumps(boot: Boot) -> bool:
    """True if the boot sends raw samples, as far as its lines tell."""
    return any(row.values is not None for row in boot.rows.values()) or (
        boot.end is not None and boot.end.raw > 0)


def _use_batched(metrics: list[dict[str, Any]]) -> None:
    """Where the median is too coarse and the batched variant was measured, that is the headline."""
    batched = {_place(metric, metric["name"]): metric for metric in metrics
               if metric["name"].endswith(".batched") or ".batched." in metric["name"]}
    if not batched:
        return
    for metric in metrics:
        case, _, last = metric["name"].rpartition(".")
        for name in (f"{metric['name']}.batched", f"{case}.batched.{last}"):
            other = batched.get(_place(metric, name))
            if "coarse" in metric["warnings"] and other is not None and other["n"]:
                better = other["trimmed_mean"]
                metric["headline"] = other["mean"] if better is None else better
                metric["headline_is"] = "batched"


def _use_cycles(metrics: list[dict[str, Any]]) -> None:
    """Where cycles were counted for an operation, they stand beside its ticks."""
    cycles = {_place(metric, metric["name"]): metric for metric in metrics
              if metric["unit"] == "cycle"}
    for metric in metrics:
        for name in (metric["name"], metric["name"].removesuffix(".batched")):
            other = cycles.get(_place(metric, f"{name}.cycles"))
            if other is not None and other["n"]:
                metric["cycles"] = other["headline"]


def _place(metric: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    return (name, metric["boot"], metric["cpu"], metric["peer"],
            tuple(sorted(metric["factors"].items())))


def make_results(decoded: DecodedLog,
                 run_info: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
    """The content of results.json.

    `run_info` adds what only the host knows: its keys `image`, `machine` and `run` hold keys to set
    in those sections (`sha256`, `firmware`, `host`, ...).
    """
    numbers = _boot_numbers(decoded)
    metrics: list[dict[str, Any]] = []
    outcomes: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    detailed = sum(len(boot.rows) for boot in decoded.boots) <= DETAILED_ROWS
    for boot, index in zip(decoded.boots, numbers):
        floors, step = _floors(boot), counter_step(boot)
        metrics += [_metric(boot.rows[number], index, boot, floors, step, detailed)
                    for number in sorted(boot.rows)
                    if boot.rows[number].metric.unit != arrival.UNIT]
        for outcome in boot.outcomes:
            entry = {"name": outcome.name, "boot": index, "reason": outcome.reason}
            if outcome.result == "failed":
                failures.append(entry)
            elif outcome.result == "skipped":
                skipped.append(entry)
            outcomes.append({"name": outcome.name, "boot": index, "result": outcome.result})
        failures += [{"name": name, "boot": index, "reason": reason} for name, reason in boot.fails]
        failures += _timed_output(boot, index)
        if boot.counter is not None and boot.counter.failed:
            failures.append({"name": "counter", "boot": index, "reason": boot.counter.text})
        if boot.odd_frequency is not None:
            failures.append({"name": "counter", "boot": index, "reason": boot.odd_frequency})
    _use_batched(metrics)
    _use_cycles(metrics)
    samples = SAMPLES_NAME if any(row.values is not None for boot in decoded.boots
                                  for row in boot.rows.values()) else None
    made: dict[str, Any] = {
        "format": FORMAT,
        "image": _image(decoded),
        "machine": {**_machine(decoded), "cycle_counter": _cycle_counter(decoded, metrics)},
        "boots": [_boot(boot, index) for boot, index in zip(decoded.boots, numbers)],
        "run": _run(decoded),
        "samples": samples,
        "metrics": metrics,
        "idle_states": [state for boot, index in zip(decoded.boots, numbers)
                        for state in idle_states.records(boot, index)],
        "outcomes": outcomes,
        "skipped": skipped,
        "failures": failures,
        "notes": [{"name": name, "boot": index, "text": text}
                  for boot, index in zip(decoded.boots, numbers) for name, text in boot.notes],
        "counts": [{"name": one.name, "boot": index, "cpu": one.cpu, "counts": one.counts}
                   for boot, index in zip(decoded.boots, numbers)
                   for one in sorted(boot.counts, key=lambda one: (one.name, one.cpu))],
        "arrival": [one for boot, index in zip(decoded.boots, numbers)
                    for one in arrival.splits(boot, index)],
        "problems": [{"kind": one.kind, "boot": None if one.boot is None else numbers[one.boot],
                      "line": one.line, "sequence": one.sequence, "text": one.text}
                     for one in decoded.problems],
    }
    for section in ("image", "machine", "run"):
        for key, value in (run_info or {}).get(section, {}).items():
            known = made[section].get(key)
            if isinstance(value, Mapping) and isinstance(known, dict):
                known.update(value)
            else:
                made[section][key] = value
    return made


def to_text(results: Mapping[str, Any]) -> str:
    """results.json: sections on lines of their own, lists of records with one record a line."""
    parts = []
    for key, value in results.items():
        name = json.dumps(key)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            records = ",\n".join(_compact(record) for record in value)
            parts.append(f"{name}:[\n{records}\n]")
        else:
            parts.append(f"{name}:{_compact(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sample_records(decoded: DecodedLog) -> Iterator[dict[str, Any]]:
    """The sidecar's records: one for each row that has raw samples."""
    for boot, index in zip(decoded.boots, _boot_numbers(decoded)):
        for number in sorted(boot.rows):
            row = boot.rows[number]
            if row.values is None:
                continue
            values: list[Optional[int]] = row.values.tolist()
            for place in row.excluded:
                values[place] = None
            for first, last in row.lost:
                last = min(last, len(values) - 1)
                values[first:last + 1] = [None] * (last + 1 - first)
            metric = row.metric
            record: dict[str, Any] = {
                "name": metric.name, "boot": index, "cpu": metric.cpu, "peer": metric.peer,
                "factors": dict(sorted(metric.factors.items())), "ops": metric.ops,
                "values": values,
                "excluded": {str(place): row.excluded[place] for place in sorted(row.excluded)}}
            if row.figures is not None and row.figures.trimmed:
                low, high = row.figures.far_below, row.figures.far_above
                record["far"] = [place for place, value in enumerate(values)
                                 if value is not None and not low <= value <= high]
            if row.lost:
                record["lost"] = [list(run) for run in row.lost]
            yield record


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def write_results(decoded: DecodedLog, out_dir: Path,
                  run_info: Optional[Mapping[str, Any]] = None) -> Path:
    """Write results.json and its sidecar into `out_dir`; returns the path of results.json.

    `run_info` is as for `make_results`. Raises UserError if the folder cannot be written.
    """
    made = make_results(decoded, run_info)
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        if made["samples"] is None:
            (out_dir / SAMPLES_NAME).unlink(missing_ok=True)
        else:
            buffer = io.BytesIO()
            with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0,
                               compresslevel=6) as stream:
                for record in sample_records(decoded):
                    stream.write((_compact(record) + "\n").encode("ascii"))
            _replace(out_dir / SAMPLES_NAME, buffer.getvalue())
        path = out_dir / RESULTS_NAME
        _replace(path, to_text(made).encode("ascii"))
    except OSError as error:
        raise UserError(f"cannot write results to {out_dir}: {error.strerror}") from error
    return path


# What `load_results` insists on: a type, a tuple of types, a dict of required keys, or a list with
# the schema of its elements. Other keys may be there.
_NUMBER = (int, float, type(None))
_INTEGER = (int, type(None))
_TEXT = (str, type(None))
_REASON = {"name": str, "boot": _INTEGER, "reason": _TEXT}
_SCHEMA: dict[str, Any] = {
    "image": {"version": _TEXT, "build_id": _TEXT, "board": _TEXT, "compiler": _TEXT,
              "flags": _TEXT, "sha256": _TEXT},
    "machine": {"model": _TEXT, "counter_hz": _INTEGER, "counter_step": _INTEGER,
                "gic": (int, str, type(None)), "psci": {"version": _TEXT, "conduit": _TEXT},
                "firmware": _TEXT, "emulated": bool, "emulator": _TEXT, "caches": list,
                "cpus": [{"index": int, "mpidr": (int, str), "midr": (int, str)}]},
    "boots": [{"index": int, "seed": _INTEGER, "entry_el": _INTEGER, "complete": bool,
               "order": list, "checks": dict}],
    "run": {"args": _TEXT, "samples": _INTEGER, "warmup": _INTEGER, "host": dict,
            "complete": bool, "checks": dict},
    "metrics": [{"name": str, "boot": int, "cpu": _INTEGER, "peer": _INTEGER, "factors": dict,
                 "unit": str, "n": int, "warmup_n": int, "min": _NUMBER, "mean": _NUMBER,
                 "trimmed_mean": _NUMBER, "se": _NUMBER, "p50": _NUMBER, "p50_low": _NUMBER,
                 "p50_high": _NUMBER, "p90": _NUMBER, "p99": _NUMBER, "p999": _NUMBER,
                 "max": _NUMBER, "cold": _NUMBER, "floor": _NUMBER, "headline": _NUMBER,
                 "excluded": dict, "warnings": [str]}],
    "skipped": [_REASON],
    "failures": [_REASON],
}
_ORDERED = {"n": int, "p50": _NUMBER, "p50_low": _NUMBER, "p50_high": _NUMBER}
_OPTIONAL: dict[str, Any] = {
    "idle_states": [{"boot": int, "kind": str, "power_state": str, "timer_stops": bool,
                     "tree": _TEXT, "node": _TEXT, "how": [str], "n": int, "n_least": int,
                     "cores": int, "entry": _INTEGER, "exit": _INTEGER, "wakeup": _INTEGER,
                     "why": _TEXT, "claims": dict.fromkeys(idle_states.CLAIMS, _INTEGER)}],
    "outcomes": [{"name": str, "boot": _INTEGER, "result": str}],
    "notes": [{"name": str, "boot": _INTEGER, "text": str}],
    "counts": [{"name": str, "boot": int, "cpu": int, "counts": dict}],
    "arrival": [{"name": str, "boot": int, "cluster": int, "first": _ORDERED, "last": _ORDERED}],
    "problems": [{"kind": str, "text": str}],
}
_OPTIONAL_OF_METRIC: dict[str, Any] = {"minuend": _TEXT, "subtrahend": _TEXT, "headline_is": _TEXT,
                                       "p99_low": _NUMBER, "p99_high": _NUMBER,
                                       "p999_low": _NUMBER, "p999_high": _NUMBER, "cycles": _NUMBER}
_CYCLE_COUNTER = {"busy": _NUMBER, "asleep": _NUMBER, "virtual": bool}
_OPTIONAL_OUTLIERS = {"mild": int, "far": int}


def _check(value: Any, schema: Any, where: str) -> None:
    """Raises ValueError, with the place, if `value` does not follow `schema`."""
    if isinstance(schema, dict):
        _check(value, dict, where)
        for key, inner in schema.items():
            if key not in value:
                raise ValueError(f"{where}.{key} is missing")
            _check(value[key], inner, f"{where}.{key}")
    elif isinstance(schema, list):
        _check(value, list, where)
        for index, element in enumerate(value):
            _check(element, schema[0], f"{where}[{index}]")
    else:
        types = schema if isinstance(schema, tuple) else (schema,)
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise ValueError(f"{where} is not what it should be")
        if isinstance(value, (int, float)) and abs(value) >= 1 << 80:
            raise ValueError(f"{where} is out of range")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def load_results(path: Path) -> dict[str, Any]:
    """Read and check a results.json, or the one in a folder. Raises UserError."""
    if path.is_dir():
        path = path / RESULTS_NAME
    try:
        content = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
        _check(content, dict, "the content")
        if content.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        for key, schema in _SCHEMA.items():
            _check(content, {key: schema}, "results")
        if content["machine"].get("cycle_counter") is not None:
            _check(content["machine"]["cycle_counter"], _CYCLE_COUNTER,
                   "results.machine.cycle_counter")
        _check(content["run"].get("ci"), _NUMBER, "results.run.ci")
        for key, schema in _OPTIONAL.items():
            _check(content.get(key, []), schema, f"results.{key}")
        for state in content.get("idle_states", []):
            idle_states.check(state)
        for index, one in enumerate(content.get("counts", [])):
            _check(list(one["counts"].values()), [int], f"results.counts[{index}].counts")
        for index, metric in enumerate(content["metrics"]):
            for key, schema in _OPTIONAL_OF_METRIC.items():
                _check(metric.get(key), schema, f"results.metrics[{index}].{key}")
            if "outliers" in metric:
                _check(metric["outliers"], _OPTIONAL_OUTLIERS, f"results.metrics[{index}].outliers")
            _check(list(metric["excluded"].values()), [int], f"results.metrics[{index}].excluded")
            if metric.get("minuend") and not isinstance(metric.get("subtrahend"), str):
                raise ValueError(f"results.metrics[{index}].subtrahend is missing")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        text = "".join(char if char.isprintable() else "?" for char in str(error))
        raise UserError(f"{path} is no {FORMAT} file: {text[:200]}") from error
    return content
