"""From the bytes of a console log to its boots, rows and samples, as far as the log goes.

Whatever is lost or damaged is named; the rest is used. Figures are computed here from the raw
samples and compared with the image's own.
"""

from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any, Optional

from el1bench_host import log_records as records
from el1bench_host import counter_check, sample_code, statistics
from el1bench_host.decoded_log import (Boot, DecodedLog, Row, count_reasons, counter_step,
                                       unit_step)
from el1bench_host.errors import UserError
from el1bench_host.log import FORMAT, Arrivals, Line, Log, Problem, read_log
from el1bench_host.log_records import Malformed

NAMES_SHOWN = 8
_HOLES = 8


def _earlier_boot(finder: Boot) -> Boot:
    """The boot that another found in memory: on the same machine, with the same image."""
    found = finder.survivors
    assert found is not None and found.boot is not None and found.seed is not None
    begin = finder.begin
    boot = Boot(finder.position, cpus=finder.cpus, caches=finder.caches, survived=found)
    if begin is not None:
        boot.begin = replace(begin, boot=found.boot, seed=found.seed)
    boot.info = {**finder.info, "arguments": found.text, "entry-stamp": str(found.entry_stamp)}
    boot.problems.append(Problem(
        "survived", f"the machine was reset when {found.finished} of {found.benchmarks} benchmarks "
        "had finished; a later boot found their samples in memory", finder.position))
    return boot


def _place_survivors(boots: list[Boot], earlier: Boot) -> None:
    """Give what was found to the boot of the log that was cut off, or make it one of its own."""
    home = next((boot for boot in boots if boot.end is None and boot.survived is None
                 and boot.begin is not None and boot.begin == earlier.begin
                 and boot.info.get("entry-stamp") == earlier.info["entry-stamp"]), None)
    if home is None:
        earlier.position = len(boots)
        home = earlier
        boots.append(home)
    else:
        home.rows, home.outcomes = earlier.rows, earlier.outcomes
        home.fails += earlier.fails
        home.survived = earlier.survived
    problems = [replace(one, boot=home.position) for one in earlier.problems]
    home.problems = problems if home is earlier else home.problems + problems


class _BootDecoder:
    """Decodes the lines of one boot."""

    def __init__(self, log: Log, position: int, found_by: Optional[Boot] = None) -> None:
        """With `found_by`, the lines are those of an earlier boot that this one found."""
        lines = log.boots[position]
        self._log = log
        self._lines = lines
        self._boot = Boot(position, problems=lines.problems)
        self._prefix = ""
        if found_by is not None:
            self._boot = _earlier_boot(found_by)
            self._prefix = records.SURVIVOR_PREFIX
        self._tables: dict[int, dict[int, records.Table]] = {}
        self._raw: dict[int, list[tuple[records.Raw, Line]]] = {}
        self._earlier_end: Optional[tuple[int, int]] = None

    def _problem(self, kind: str, text: str, line: Optional[Line] = None) -> None:
        self._boot.problems.append(Problem(
            kind, text, self._boot.position, line.number if line else None,
            line.sequence if line else None))

    def decode(self) -> Boot:
        """Everything that the lines hold."""
        counts = {"metrics": 0, "raw": 0}
        for line in self._lines.ordered():
            kind = line.kind.removeprefix(records.SURVIVOR_PREFIX)
            if self._prefix + kind != line.kind:
                continue
            if kind in ("metric", "derived"):
                counts["metrics"] += 1
            elif kind == "raw":
                counts["raw"] += 1
            try:
                if self._prefix:
                    self._take_earlier(line, kind)
                else:
                    self._take(line, kind)
            except Malformed as error:
                self._problem("malformed", f"machine line {line.sequence} ({line.kind}): {error}",
                              line)
        if self._prefix:
            self._check_earlier(counts)
        else:
            self._check_trailer(counts)
            self._check_silence()
            self._check_counter()
        self._decode_samples()
        self._derive()
        self._compare()
        return self._boot

    def _once(self, what: Any) -> None:
        if what is not None:
            raise Malformed("there was one before in this boot")

    def _take(self, line: Line, kind: str) -> None:
        boot, rest = self._boot, line.rest
        if kind == "begin":
            self._once(boot.begin)
            boot.begin = records.parse_begin(rest)
            if boot.begin.format != FORMAT:
                raise Malformed(f"its format is {boot.begin.format[:40]}, not {FORMAT}")
        elif kind == "info":
            key, text = records.parse_info(rest)
            self._once(boot.info.get(key))
            boot.info[key] = text
        elif kind == "cpu":
            boot.cpus.append(records.parse_cpu(rest))
        elif kind == "cache":
            boot.caches.append(records.parse_cache(rest))
        elif kind == "idle":
            boot.idle_states.append(records.parse_idle(rest))
        elif kind == "ignored":
            boot.ignored += records.split_text(rest)[1].split()
        elif kind == "plan":
            self._once(boot.plan)
            boot.plan = records.parse_plan(rest)
        elif kind == "note":
            boot.notes.append(records.parse_fail(rest))
        elif kind == "counts":
            boot.counts.append(records.parse_counts(rest))
        elif kind == "check":
            self._once(boot.checks)
            boot.checks = records.parse_check(rest)
        elif kind == "clock":
            clock = records.parse_clock(rest)
            boot.marks.append(counter_check.Mark(clock.mark, clock.counter, line.arrived))
        elif kind == "baud":
            records.parse_baud(rest)
        elif kind == "end":
            self._once(boot.end)
            boot.end = records.parse_end(rest)
        elif kind == "survivors":
            self._once(boot.survivors)
            boot.survivors = records.parse_survivors(rest)
            if boot.survivors.state != "whole":
                boot.notes.append((kind, boot.survivors.text))
        elif not self._take_result(line, kind):
            boot.unknown_lines += 1

    def _take_result(self, line: Line, kind: str) -> bool:
        """A line of results, of this boot or of an earlier one; False if it is another."""
        boot, rest = self._boot, line.rest
        if kind in ("metric", "derived"):
            metric = records.parse_metric(rest, kind == "derived")
            self._once(boot.rows.get(metric.row))
            boot.rows[metric.row] = Row(metric, line)
        elif kind == "table":
            table = records.parse_table(rest)
            known = self._tables.setdefault(table.row, {}).setdefault(table.part, table)
            if known != table:
                raise Malformed("it differs from the first copy of the table")
        elif kind == "raw":
            raw = records.parse_raw(rest)
            self._raw.setdefault(raw.row, []).append((raw, line))
        elif kind == "outcome":
            boot.outcomes.append(records.parse_outcome(rest))
        elif kind == "fail":
            boot.fails.append(records.parse_fail(rest))
        else:
            return False
        return True

    def _take_earlier(self, line: Line, kind: str) -> None:
        if kind == "end":
            self._once(self._earlier_end)
            self._earlier_end = records.parse_survivors_end(line.rest)
        else:
            self._take_result(line, kind)

    def _check_earlier(self, counts: dict[str, int]) -> None:
        """That all the lines of an earlier boot are there, as far as no lost line explains it."""
        said = self._earlier_end
        if said is None:
            self._problem("no-trailer", "what a later boot found of this one breaks off")
        elif (said != (counts["metrics"], counts["raw"])
              and len(self._lines.lines) == self._lines.highest + 1):
            self._problem("trailer", "not all that a later boot found of this one is there")

    def _check_silence(self) -> None:
        """What came while measuring, from whatever source: the image counts its own bytes only."""
        lines = self._lines.lines
        for line in self._lines.arrived:
            after = lines.get(line.sequence + 1)
            if line.kind == "plan" and after is not None and after.kind == "clock":
                self._boot.noise = self._log.bytes_between(line, after)

    def _check_counter(self) -> None:
        """The counter against the clock that the lines' arrival was taken from."""
        boot = self._boot
        if boot.marks:
            try:
                hz = records.natural(boot.info.get("counter-hz", "0"), 1 << 40)
            except Malformed:
                hz = 0
            boot.counter = counter_check.check(boot.marks, hz, boot.info.get("emulated", ""))

    def _check_trailer(self, counts: dict[str, int]) -> None:
        """The trailer's counts, where no lost line explains a difference."""
        end, line = self._boot.end, self._lines.end
        if end is None or line is None:
            return
        if end.lines != line.sequence + 1:
            self._problem("trailer", f"the trailer counts {end.lines} machine lines, but is itself "
                                     f"number {line.sequence}", line)
        if len(self._lines.lines) != line.sequence + 1:
            return
        for what, said in (("metrics", end.metrics), ("raw", end.raw)):
            if said != counts[what]:
                self._problem("trailer", f"the trailer counts {what}={said}, but there are "
                                         f"{counts[what]} such lines", line)

    def _code(self, row: int) -> Optional[sample_code.SampleCode]:
        parts = self._tables.get(row)
        if not parts:
            return None
        expected = next(iter(parts.values())).parts
        if len(parts) != expected or max(parts) != expected:
            return None
        payload = b"".join(sample_code.base85(parts[part].payload) for part in sorted(parts))
        return sample_code.parse_table(payload)

    def _decode_samples(self) -> None:
        """Samples of all rows; names the lost ones."""
        rows = self._boot.rows
        for index in sorted(set(self._raw) | set(self._tables)):
            if index not in rows or rows[index].metric.derived:
                count = sum(raw.count for raw, _ in self._raw.get(index, ()))
                line = self._raw[index][0][1] if index in self._raw else None
                self._problem("no-metric", f"{count} samples of row {index} belong to no metric "
                                           "line", line)
        dumped = bool(self._raw) or (self._boot.end is not None and self._boot.end.raw > 0)
        to_come: list[str] = []
        last_raw = max(self._raw, default=-1)
        for index in sorted(rows):
            row = rows[index]
            if row.metric.derived or row.metric.samples == 0:
                continue
            if index in self._raw:
                self._decode_row(row, self._raw[index])
            elif dumped and self._boot.end is None and index > last_raw:
                to_come.append(row.title())
            elif dumped:
                self._problem("samples-lost", f"all {row.metric.samples} samples of {row.title()} "
                                              "are lost", row.line)
        if to_come:
            names = ", ".join(to_come[:NAMES_SHOWN])
            more = f" and {len(to_come) - NAMES_SHOWN} more" if len(to_come) > NAMES_SHOWN else ""
            self._problem("samples-lost", f"all samples of {names}{more} are lost: the log ends "
                                          "before them", self._lines.ordered()[-1])

    def _decode_row(self, row: Row, lines: list[tuple[records.Raw, Line]]) -> None:
        count = row.metric.samples
        try:
            code = self._code(row.metric.row)
            if code is not None and code.total != count:
                raise Malformed(f"it counts {code.total} samples, the metric line {count}")
        except Malformed as error:
            self._problem("malformed", f"code table of {row.title()}: {error}", row.line)
            code = None
        if code is None:
            self._problem("samples-lost", f"all {count} samples of {row.title()} are lost: no copy "
                                          "of their code table is whole", row.line)
            return
        extent = min(max(raw.first + raw.count for raw, _ in lines), count)
        received = sum(raw.count for raw, _ in lines)
        if extent > received * _HOLES + sample_code.LINE_SAMPLES:
            # Nearly nothing is there; a forged line must not make room for millions of holes.
            self._problem("samples-lost", f"only {received} of {count} samples of {row.title()} "
                                          "arrived; all are taken as lost", row.line)
            return
        row.values = array("q", bytes(8 * extent))
        at = 0
        before: Optional[Line] = None
        for raw, line in sorted(lines, key=lambda one: (one[0].first, one[1].sequence)):
            try:
                if raw.first < at:
                    raise Malformed(f"sample {raw.first} is in a line before it")
                if raw.first + raw.count > count:
                    raise Malformed(f"the row has {count} samples only")
                coded = sample_code.decode_line(code, sample_code.base85(raw.payload), raw.count)
                ticks = array("q", [value - sample_code.BIAS for value in coded])
            except (Malformed, OverflowError) as error:
                self._problem("malformed", f"machine line {line.sequence} (raw): {error}", line)
                continue
            if raw.first > at:
                self._lose(row, at, raw.first - 1, before, line)
            row.values[raw.first:raw.first + raw.count] = ticks
            if min(coded) < sample_code.BIAS:
                for index, value in enumerate(coded, raw.first):
                    if value < sample_code.BIAS:
                        row.values[index] = 0
                        row.excluded[index] = records.EXCLUSIONS.get(value, f"reason-{value}")
            at = raw.first + raw.count
            before = line
        if at < count:
            self._lose(row, at, count - 1, before, None)

    def _lose(self, row: Row, first: int, last: int, before: Optional[Line],
              after: Optional[Line]) -> None:
        """Note samples that did not arrive, with the machine lines that must have held them."""
        row.lost.append((first, last))
        numbers = []
        if before is not None and after is not None:
            numbers = [number for number in range(before.sequence + 1, after.sequence)
                       if number not in self._lines.lines]
        elif after is not None:
            number = after.sequence - 1
            while number >= 0 and number not in self._lines.lines:
                numbers.insert(0, number)
                number -= 1
        elif before is not None:
            number = before.sequence + 1
            while number < self._lines.highest and number not in self._lines.lines:
                numbers.append(number)
                number += 1
        where = ""
        if len(numbers) == 1:
            where = f" with machine line {numbers[0]}"
        elif numbers:
            where = f" with machine lines {numbers[0]} to {numbers[-1]}"
        near = after or before
        self._boot.problems.append(Problem(
            "samples-lost", f"samples {first} to {last} of {row.title()} are lost{where}",
            self._boot.position, near.number if near else None,
            numbers[0] if numbers else None))

    def _derive(self) -> None:
        """Samples of derived rows, where those of both their rows are there."""
        rows = self._boot.rows
        for row in rows.values():
            if not row.metric.derived:
                continue
            minuend = rows.get(row.metric.minuend)
            subtrahend = rows.get(row.metric.subtrahend)
            if minuend is None or subtrahend is None or row is minuend or row is subtrahend:
                if self._boot.complete:
                    self._problem("malformed", f"{row.title()} is the difference of rows "
                                  f"{row.metric.minuend} and {row.metric.subtrahend}, which are "
                                  "not there", row.line)
                continue
            if minuend.metric.derived or not minuend.complete or not subtrahend.complete:
                continue
            try:
                row.values = array("q", map(int.__sub__, minuend.values, subtrahend.values))
            except OverflowError:
                self._problem("malformed", f"the differences of {row.title()} are out of range",
                              row.line)
                continue
            row.excluded = {index: reason for index, reason
                            in sorted((subtrahend.excluded | minuend.excluded).items())
                            if index < len(row.values)}
            for index in row.excluded:
                row.values[index] = 0

    def _compare(self) -> None:
        """Statistics of complete rows, against the image's own."""
        step = counter_step(self._boot)
        for row in self._boot.rows.values():
            if not row.complete:
                continue
            good = row.good()
            metric = row.metric
            theirs: dict[str, Any] = {"n": metric.n}
            ours: dict[str, Any] = {"n": len(good)}
            if not metric.derived:
                theirs["excluded"] = {key: count for key, count in metric.excluded.items() if count}
                ours["excluded"] = count_reasons(row.excluded)
            if good:
                row.figures = statistics.compute(good, unit_step(metric, step))
                for key in ("min", "mean_1024", "p50", "p90", "p99", "p999", "max"):
                    theirs[key] = getattr(metric, key)
                    ours[key] = getattr(row.figures, key)
                # The target rounds a tie away from zero, or up; both are right.
                if metric.mean_1024 is not None and abs(ours["mean_1024"] - metric.mean_1024) <= 1:
                    ours["mean_1024"] = metric.mean_1024
                if abs(float(metric.value) * metric.ops - row.figures.p50) > 0.001 * metric.ops:
                    theirs["value"] = metric.value
                    ours["value"] = f"{row.figures.p50 / metric.ops:.3f}"
            wrong = [f"{key} {theirs[key]} (samples say {ours[key]})"
                     for key in theirs if theirs[key] != ours.get(key)]
            if wrong:
                self._problem("disagreement",
                              f"{row.title()}: the image's figures are not those of its samples: "
                              f"{', '.join(wrong)}", row.line)


def decode_log(source: bytes | str | Path, arrivals: Arrivals = ()) -> DecodedLog:
    """Decode a log, given as its bytes or as the path of its file.

    `arrivals` says when its bytes arrived, unless its lines say so themselves.
    Raises UserError only if the file cannot be read. A log without any machine line gives a
    DecodedLog that is `empty`, with the exit code of an incomplete one.
    """
    if isinstance(source, bytes):
        data = source
    else:
        try:
            data = Path(source).read_bytes()
        except (OSError, ValueError) as error:
            raise UserError(f"cannot read {source}: "
                            f"{getattr(error, 'strerror', None) or error}") from error
    log = read_log(data, arrivals)
    boots = [_BootDecoder(log, position).decode() for position in range(len(log.boots))]
    for boot in list(boots):
        if boot.survivors is not None and boot.survivors.state == "whole":
            _place_survivors(boots, _BootDecoder(log, boot.position, boot).decode())
    builds = {boot.begin.build for boot in boots if boot.begin is not None}
    stray = list(log.stray)
    if len(builds) > 1:
        stray.append(Problem("mixed", "the boots are of different images: builds "
                                      + ", ".join(sorted(builds)[:NAMES_SHOWN])))
    return DecodedLog(boots, stray)
