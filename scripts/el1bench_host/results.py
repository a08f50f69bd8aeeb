"""What results.json and its sidecar of samples hold (docs/results-format.md), from a decoded log.

Keys and their order are the same for the same log.
"""

import math
import re
from fractions import Fraction
from typing import Any, Iterator, Mapping, Optional

from el1bench_host import arrival, counter_check, idle_states
from el1bench_host.decoded_log import (Boot, DecodedLog, Row, count_reasons, counter_step,
                                       is_emulated, unit_step)
from el1bench_host.log_records import CHECK_FIELDS, Malformed, natural
from el1bench_host.statistics import median

FORMAT = "el1bench-results/1"
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
