"""A comparison as the blocks of a report, and as comma-separated values."""

import csv
import io
import json
import math
from typing import Optional, Sequence

from el1bench_host.comparing.conditions import Mode
from el1bench_host.comparing.inputs import Key, Side
from el1bench_host.comparing.verdicts import (CHANGED, FASTER, NOT_COMPARABLE, RATE,
                                              RELATIVE_TOLERANCE, SAME, SLOWER, TOO_FEW, WORDS,
                                              Comparison, Verdicts, middle)
from el1bench_host.report_model import (FOLD_ABOVE, Block, Facts, Heading, Remark, Table, clean,
                                        ticks)

FILES_SHOWN = 4
NAMES_SHOWN = 12
COLUMNS = ("name", "cpu", "peer", "factors", "unit", "verdict", "base", "new", "estimate", "change",
           "low", "high", "percent", "percent_low", "percent_high", "bound", "p", "step",
           "base_boots", "new_boots", "base_n", "new_n", "reason")


def figure(value: Optional[float]) -> str:
    """A value in few characters, four digits or more."""
    if value is None:
        return "-"
    return f"{value:.4g}" if abs(value) < 10000 else ticks(value)


def _signed(value: float) -> str:
    text = figure(value)
    return text if text.startswith("-") else f"+{text}"


def _bound(value: float) -> str:
    """Two digits, rounded up: a bound must hold."""
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return figure(math.ceil(value / unit - 1e-9) * unit)


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _place(key: Key) -> str:
    if key.cpu is None:
        return "-"
    return str(key.cpu) if key.peer is None else f"{key.cpu}>{key.peer}"


def _label(key: Key) -> str:
    name = clean(key.name)
    if key.factors:
        name += " " + ",".join(f"{clean(one)}={clean(value)}" for one, value in key.factors)
    return name


def _groups(rows: Sequence[Comparison]) -> list[tuple[str, str, list[Comparison]]]:
    """Lines of a table: name, place, rows; many places of one metric make one line."""
    by_name: dict[tuple[str, str], list[Comparison]] = {}
    for row in rows:
        by_name.setdefault((_label(row.key), row.unit), []).append(row)
    lines = []
    for (label, _), found in sorted(by_name.items()):
        found.sort(key=lambda row: tuple(-1 if end is None else end
                                         for end in (row.key.cpu, row.key.peer)))
        if len(found) > FOLD_ABOVE:
            what = "cores" if all(row.key.peer is None for row in found) else "pairs"
            lines.append((label, f"{len(found)} {what}", found))
        else:
            lines += [(label, _place(row.key), [row]) for row in found]
    return lines


def _middles(found: Sequence[Comparison]) -> tuple[str, str]:
    mark = "m" if any(row.mean for row in found) else ""
    return (figure(middle([row.base for row in found])) + mark,
            figure(middle([row.new for row in found])) + mark)


def _change_cells(found: Sequence[Comparison], exact: bool) -> list[str]:
    """Change, interval, percent; of several rows the middle change and the outermost ends."""
    many = "~" if len(found) > 1 else ""
    change = _signed(middle([row.change for row in found]))
    interval = ""
    if many or not exact:
        interval = (f"{many}{_signed(min(row.low for row in found))}.."
                    f"{_signed(max(row.high for row in found))}")
    percents = [row.percent for row in found]
    if None in percents:
        return [change, interval, "-"]
    text = f"{middle([one[0] for one in percents]):+.1f}"
    if many or not exact:
        low, high = min(one[1] for one in percents), max(one[2] for one in percents)
        text += f" ({low:+.1f}..{high:+.1f})"
    return [change, interval, text]


def _changes(rows: Sequence[Comparison], exact: bool) -> Table:
    lines = []
    for label, where, found in _groups(rows):
        lines.append([label, where, *_middles(found), *_change_cells(found, exact)])
    if exact and all(not line[5] for line in lines):
        lines = [line[:5] + line[6:] for line in lines]
        return Table(("metric", "cpu", "base", "new", "change", "%"), lines, 2)
    return Table(("metric", "cpu", "base", "new", "change", "interval", "% (interval)"), lines, 2)


def _sames(rows: Sequence[Comparison]) -> Table:
    lines = []
    for label, where, found in _groups(rows):
        lines.append([label, where, *_middles(found), _bound(max(row.bound for row in found))])
    return Table(("metric", "cpu", "base", "new", "no change larger than"), lines, 2)


def _reasons(rows: Sequence[Comparison]) -> list[Block]:
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        by_reason.setdefault(row.reason, []).append(_label(row.key))
    return [Remark(f"{len(names)} row{'' if len(names) == 1 else 's'}: {clean(reason)} ({_names(names)})")
            for reason, names in by_reason.items()]


def _names(names: Sequence[str]) -> str:
    different = list(dict.fromkeys(names))
    more = len(different) - NAMES_SHOWN
    return ", ".join(different[:NAMES_SHOWN]) + (f" and {more} more names" if more > 0 else "")


def _side(side: Side) -> str:
    builds = dict.fromkeys(clean(results["image"]["build_id"]) for results in side.results)
    files = ", ".join(clean(path) for path in side.paths[:FILES_SHOWN])
    if len(side.paths) > FILES_SHOWN:
        files += f" and {len(side.paths) - FILES_SHOWN} more"
    return (f"{side.boots} boot{'' if side.boots == 1 else 's'}, "
            f"build {' and '.join(list(builds)[:3])}: {files}")


def _unit(made: Verdicts, base: Side) -> str:
    counter_hz = base.results[0]["machine"]["counter_hz"]
    if made.mode is Mode.RELATIVE:
        return "multiples of a control that was sampled alternately in the same boot"
    if any(row.unit == "ns" for row in made.rows):
        return "nanoseconds an operation"
    if made.mode is Mode.EXACT and counter_hz == 10 ** 9:
        return "instructions an operation"
    if made.mode is Mode.EXACT and counter_hz:
        return f"ticks an operation, {10 ** 9 / counter_hz:g} instructions each"
    return "ticks an operation"


def _how(made: Verdicts, base: Side, new: Side, tolerance: float) -> str:
    """How the verdicts came about, in a sentence or two."""
    if made.mode is Mode.EXACT:
        text = "instruction by instruction: any difference is one"
        return text + (f", but for one within {_percent(tolerance)}" if tolerance else "")
    text = "over boots" if base.boots + new.boots > 2 else "over the samples of one boot a side"
    if made.mode is Mode.RELATIVE:
        text += f"; a change within {_percent(max(tolerance, RELATIVE_TOLERANCE))} is none"
    elif tolerance:
        text += f"; a change within {_percent(tolerance)} is none"
    return (f"{text}; {made.tested} rows tested, of the changes called at most {_percent(RATE)} are false "
            "(Benjamini-Hochberg)")


def new_failures(base: Side, new: Side) -> list[tuple[str, str]]:
    """Benchmarks that fail in new and not in base, with the reason."""
    before = {one["name"] for results in base.results for one in results["failures"]}
    found: dict[str, str] = {}
    for results in new.results:
        for one in results["failures"]:
            if one["name"] not in before:
                found.setdefault(one["name"], one["reason"] or "no reason given")
    return list(found.items())


def make_blocks(made: Verdicts, base: Side, new: Side, warnings: Sequence[str],
                tolerance: float) -> list[Block]:
    """The whole comparison."""
    exact = made.mode is Mode.EXACT
    blocks: list[Block] = [Heading(1, "el1bench: new against base")]
    if any(results["machine"]["emulated"] for results in base.results):
        blocks.append(Remark("EMULATED on both sides", True))
    for name, side in (("base", base), ("new", new)):
        if not all(results["run"]["complete"] for results in side.results):
            blocks.append(Remark(f"INCOMPLETE: {name} did not come whole", True))
    counts = ", ".join(f"{made.count(word)} {word}" for word in WORDS if made.count(word))
    blocks.append(Facts([("base", _side(base)), ("new", _side(new)), ("unit", _unit(made, base)),
                         ("compared", _how(made, base, new, tolerance)),
                         ("verdicts", counts or "none: no row is on both sides")]))
    if made.mode is Mode.TIME and base.boots + new.boots == 2:
        blocks.append(Remark("One boot a side: how far two boots of one image differ is not known, "
                             "and a change may be the boot's. Run with --boots."))
    if warnings:
        blocks.append(Heading(2, "warnings"))
        blocks += [Remark(text) for text in warnings]
    failed = new_failures(base, new)
    if failed:
        blocks.append(Heading(2, "failed in new, not in base"))
        blocks += [Remark(f"{clean(name)}: {clean(reason)}", True)
                   for name, reason in failed[:NAMES_SHOWN]]
        if len(failed) > NAMES_SHOWN:
            blocks.append(Remark(f"and {len(failed) - NAMES_SHOWN} more"))
    for word in (SLOWER, FASTER, SAME):
        rows = [row for row in made.rows if row.word == word]
        if rows:
            blocks.append(Heading(2, f"{word} ({len(rows)})"))
            blocks.append(_sames(rows) if word == SAME else _changes(rows, exact))
    for word in (CHANGED, TOO_FEW, NOT_COMPARABLE):
        rows = [row for row in made.rows if row.word == word]
        if rows:
            blocks.append(Heading(2, f"{word} ({len(rows)})"))
            blocks += _reasons(rows)
    for name, keys in (("base", made.only_base), ("new", made.only_new)):
        if keys:
            blocks.append(Heading(2, f"only in {name} ({len(keys)})"))
            blocks.append(Remark(_names([_label(key) for key in keys])))
    return blocks


def _cell(value: Optional[float]) -> str:
    return "" if value is None else f"{value:.7g}"


def make_csv(made: Verdicts) -> str:
    """All rows, nothing folded, with a line of column names first."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)

    def cells(key: Key) -> list[str]:
        ends = ["" if end is None else str(end) for end in (key.cpu, key.peer)]
        factors = json.dumps(dict(key.factors), sort_keys=True) if key.factors else ""
        return [clean(key.name), *ends, clean(factors)]

    for row in made.rows:
        percent = row.percent or (None, None, None)
        estimate = "" if row.base is None else "mean" if row.mean else "median"
        writer.writerow([
            *cells(row.key), clean(row.unit), row.word, _cell(row.base), _cell(row.new), estimate,
            _cell(row.change), _cell(row.low), _cell(row.high), *map(_cell, percent),
            _cell(row.bound), _cell(row.chance), _cell(row.step), *row.boots, *row.n,
            clean(row.reason)])
    for side, keys in (("base", made.only_base), ("new", made.only_new)):
        for key in keys:
            writer.writerow([*cells(key), clean(key.unit), f"only in {side}"]
                            + [""] * (len(COLUMNS) - 6))
    return stream.getvalue()
