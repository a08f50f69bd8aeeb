"""Whether two sides may be compared at all, how, and what else differs between them."""

import enum
import re
from typing import Any, Callable, Mapping, Sequence

from el1bench_host.comparing.inputs import Side
from el1bench_host.errors import UserError
from el1bench_host.report_model import clean

Results = Mapping[str, Any]
SHOWN = 3


class Mode(enum.Enum):
    """How rows are compared."""

    EXACT = "instruction by instruction"
    TIME = "as times"
    RELATIVE = "as ratios to a control in the same boot"


def kind(results: Results) -> str:
    """`real`, or the emulator's way of keeping time: `icount`, `multi`, `single`."""
    machine = results["machine"]
    if not machine["emulated"]:
        return "real"
    accelerator = results["run"]["host"].get("accel")
    found = re.search(r"(single|multi|icount)$", machine["emulator"] or "")
    # An emulator that does not say how it keeps time is trusted least.
    name = found.group(1) if found else accelerator
    return name if name in ("icount", "multi") else "single"


def _boots(results: Results) -> list[tuple[Any, Any]]:
    return [(boot["seed"], boot["index"]) for boot in results["boots"]]


def _cores(results: Results) -> str:
    return " ".join(str(cpu["midr"]) for cpu in results["machine"]["cpus"])


def _run(key: str) -> Callable[[Results], Any]:
    return lambda results: results["run"][key]


_DRAWN: tuple[Callable[[Results], Any], ...] = (
    lambda results: results["machine"]["counter_hz"], _cores, _run("samples"), _run("warmup"))
"""What, beside the seed, decides which instructions a run under icount executes."""

# What a change of code does not change by itself: (what, where, what it means for the verdicts).
_ASPECTS: tuple[tuple[str, Callable[[Results], Any], str], ...] = (
    ("counter frequencies", lambda one: one["machine"]["counter_hz"],
     "times are compared in nanoseconds"),
    ("counter steps", lambda one: one["machine"]["counter_step"], "the larger one counts"),
    ("machine models", lambda one: one["machine"]["model"],
     "a difference may be the machine's"),
    ("boards", lambda one: one["image"]["board"], "a difference may be the board's"),
    ("cores", _cores, "a difference may be the cores'"),
    ("interrupt controllers", lambda one: one["machine"]["gic"],
     "a difference may be the controller's"),
    ("emulators", lambda one: one["machine"]["emulator"], "a difference may be the emulator's"),
    ("firmwares", lambda one: one["machine"]["firmware"], "a difference may be the firmware's"),
    ("PSCI versions", lambda one: one["machine"]["psci"]["version"],
     "a difference may be the firmware's"),
    ("entry levels", lambda one: " ".join(sorted({str(boot["entry_el"])
                                                  for boot in one["boots"]})),
     "a difference may be the exception level's"),
    ("compilers", lambda one: one["image"]["compiler"], "a difference may be the compiler's"),
    ("compiler flags", lambda one: one["image"]["flags"], "a difference may be the flags'"),
    ("warm-ups", _run("warmup"), "a difference may be the caches'"),
)


def _texts(side: Side, get: Callable[[Results], Any]) -> list[str]:
    """The different values on a side, in order, as text."""
    return list(dict.fromkeys(clean(get(one)) for one in side.results))


def _shown(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return " and ".join(texts[:SHOWN]) + more


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def warnings(base: Side, new: Side, mode: Mode) -> list[str]:
    """What makes the verdicts less than they seem, one sentence each."""
    found = []
    for what, get, meaning in _ASPECTS:
        one, other = _texts(base, get), _texts(new, get)
        if one != other:
            found.append(f"{what} differ: {_shown(one)} in base, {_shown(other)} in new; {meaning}")
        elif len(one) > 1:
            found.append(f"{what} differ within each side: {_shown(one)}; {meaning}")
    for name, side in (("base", base), ("new", new)):
        builds = _texts(side, lambda results: results["image"]["build_id"])
        if len(builds) > 1:
            found.append(f"{name} mixes builds: {_shown(builds)}")
        if side.without_samples:
            found.append(f"samples of {_rows(side.without_samples)} of {name} are not there; their "
                         "figures have to do")
    if mode is Mode.TIME and kind(base.results[0]) == "icount":
        found.append("the runs differ in seed, boots, samples, warm-up, cores or counter: an "
                     "instruction more or less may come from that; rows are compared as samples")
    ops = sum(base.ops[key] != new.ops[key] for key in base.ops if key in new.ops)
    if ops and mode is not Mode.EXACT:
        found.append(f"a sample of {_rows(ops)} has another number of operations: the share of what "
                     "surrounds an operation differs")
    return found


def mode_of(base: Side, new: Side) -> Mode:
    """How to compare the two. Raises UserError if it makes no sense."""
    kinds = {kind(results) for side in (base, new) for results in side.results}
    if "real" in kinds and len(kinds) > 1:
        raise UserError("emulated results cannot be compared with those of a real board")
    if "multi" in kinds:
        raise UserError("a multi-threaded emulator gives no times that could be compared: use "
                        "--accel icount, or single with --boots")
    if len(kinds) > 1:
        raise UserError("instruction counts (icount) cannot be compared with emulated times")
    if "real" in kinds:
        return Mode.TIME
    if "single" in kinds:
        return Mode.RELATIVE
    drawn = [({get(one) for one in side.results} for get in _DRAWN) for side in (base, new)]
    same = all(one == other and len(one) == 1 for one, other in zip(*drawn))
    boots = [sorted({repr(boot) for one in side.results for boot in _boots(one)})
             for side in (base, new)]
    return Mode.EXACT if same and boots[0] == boots[1] else Mode.TIME


def nanoseconds_needed(base: Side, new: Side) -> bool:
    """True if ticks of the two sides are not the same time."""
    return len({results["machine"]["counter_hz"] for side in (base, new)
                for results in side.results}) > 1
