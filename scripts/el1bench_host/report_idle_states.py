"""What Linux is to be told of the power states: a node of the device tree with the latencies that
were measured, and where the tree in use claims less (docs/idle-states.md).
"""

import csv
import io
import re
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from el1bench_host.report_firmware import counts_instructions

LATENCIES = ("entry", "exit", "wakeup")
COLUMNS = ("state", "parameter", "n", "entry", "claimed", "exit", "claimed", "wakeup", "claimed")
_NODE_NAME = re.compile(r"(cpu|cluster)-[A-Za-z0-9,._+-]{1,24}")
_DEFAULT_NAMES = {"standby": "cpu-standby", "core": "cpu-sleep", "deepest": "cluster-sleep"}


@dataclass(frozen=True)
class State:
    """A power state over all boots: the worst that was measured, the least that was claimed."""

    kind: str
    power_state: int
    timer_stops: bool
    tree: Optional[str]
    name: str
    claims: Mapping[str, Optional[int]]
    """In microseconds; `wakeup` is what follows from the others where the tree leaves it out."""
    measured: Mapping[str, int]
    """In microseconds, rounded up; empty if there is no telling, and then `why` says so."""
    n: int
    n_least: int
    cores: int
    boots: int
    how: Sequence[str]
    why: str

    def short(self) -> dict[str, tuple[int, int]]:
        """What the tree claims too little of: the claim and what was measured."""
        found = {}
        for key in LATENCIES:
            claim, measured = self.claims[key], self.measured.get(key)
            if claim is not None and measured is not None and claim < measured:
                found[key] = claim, measured
        return found

    @property
    def title(self) -> str:
        """What a person calls it."""
        return f"{self.name} ({self.kind}, power state {self.power_state:#x})"

    @property
    def source(self) -> str:
        """Whose claims these are."""
        return "the device tree" if self.tree == "used" else "the board's own device tree"


def _worst_claims(records: Sequence[Mapping[str, Any]]) -> dict[str, Optional[int]]:
    claims: dict[str, Optional[int]] = {}
    for key in (*LATENCIES, "min_residency"):
        name = f"{key}_us" if key == "min_residency" else f"{key}_latency_us"
        claims[key] = min((record["claims"][name] for record in records
                           if record["claims"][name] is not None), default=None)
    if claims["wakeup"] is None and None not in (claims["entry"], claims["exit"]):
        claims["wakeup"] = claims["entry"] + claims["exit"]
    return claims


def _state(records: Sequence[Mapping[str, Any]], counter_hz: int, used: set[str]) -> State:
    first = records[0]
    good = [record for record in records if record["why"] is None]
    measured = {key: -(-max(record[key] for record in good) * 10**6 // counter_hz)
                for key in LATENCIES} if good else {}
    name = first["node"] or ""
    if not _NODE_NAME.fullmatch(name) or name in used:
        name = _DEFAULT_NAMES.get(first["kind"], "cpu-state")
    while name in used:
        name += "-x"
    used.add(name)
    return State(first["kind"], int(first["power_state"], 0), first["timer_stops"], first["tree"],
                 name, _worst_claims(records), measured, sum(record["n"] for record in good),
                 min((record["n_least"] for record in good), default=0),
                 max((record["cores"] for record in good), default=0), len(good),
                 sorted({how for record in good for how in record["how"]}, reverse=True),
                 "" if good else str(first["why"]))


def states_of(results: Mapping[str, Any]) -> list[State]:
    """The states that firmware has by its tree, or by `power_state=`; none without a sweep."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in results.get("idle_states") or []:
        groups.setdefault((record["kind"], record["power_state"]), []).append(record)
    counter_hz = results["machine"]["counter_hz"]
    if not counter_hz or not any(record["n"] for records in groups.values() for record in records):
        return []
    used: set[str] = set()
    return [_state(records, counter_hz, used) for records in groups.values()]


def is_judged(results: Mapping[str, Any], state: State) -> bool:
    """Whether claims count: not against the times of an emulator, unless it takes an instruction
    for a nanosecond and was given the tree that claims them."""
    return not results["machine"]["emulated"] or (counts_instructions(results)
                                                  and state.tree == "used")


def shortfalls(results: Mapping[str, Any]) -> list[str]:
    """A line for each claim that is less than what was measured."""
    return [f"{state.title}: {state.source} claims {key}-latency-us {claim}, measured {measured}"
            for state in states_of(results) if is_judged(results, state)
            for key, (claim, measured) in state.short().items()]


def lines(states: Sequence[State]) -> list[list[str]]:
    """The cells of a table with COLUMNS, in microseconds."""
    def cell(value: Optional[int]) -> str:
        return "-" if value is None else str(value)

    return [[state.name, f"{state.power_state:#x}", str(state.n)]
            + [cell(value) for key in LATENCIES
               for value in (state.measured.get(key), state.claims[key])] for state in states]


def _comment(text: str) -> str:
    return "/* " + re.sub(r"[^ -~]|\*/|/\*", "?", text) + " */"


def _node(state: State, indent: str) -> list[str]:
    bound = state.measured["entry"] + state.measured["exit"]
    claim = state.claims["min_residency"]
    if claim is None or claim < bound:
        residency, whence = bound, "entry and exit alone"
    else:
        residency, whence = claim, f"what {state.source} claims"
    label = re.sub(r"\W", "_", state.name).upper()
    made = [_comment(f"maxima of {state.n} samples, {state.n_least} or more in each sweep of a core"),
            _comment(f"{state.cores} cores, {' and '.join(state.how)}; boots: {state.boots}"),
            f"{label}: {state.name} {{",
            "\tcompatible = \"arm,idle-state\";",
            f"\tarm,psci-suspend-param = <0x{state.power_state:08x}>;"]
    if state.timer_stops:
        made.append("\tlocal-timer-stop;")
    made += [f"\t{key}-latency-us = <{state.measured[key]}>;" for key in LATENCIES]
    made += [f"\t{_comment(f'not measured: {whence}')}",
             f"\tmin-residency-us = <{residency}>;", "};"]
    return [indent + line for line in made]


def node_lines(results: Mapping[str, Any]) -> list[str]:
    """A piece of device tree source with the states that could be measured; none: nothing."""
    machine, image = results["machine"], results["image"]
    states = [state for state in states_of(results) if state.measured]
    if not states:
        return []
    made = [_comment(f"el1bench {image['version']} on {machine['model'] or image['board']}")]
    made += [_comment(f"EMULATED by {machine['emulator']}: no times of a real machine")
             if machine["emulated"] else
             _comment("Lower bounds, maxima of finitely many samples: claim no less"),
             "/ {", "\tcpus {", "\t\tidle-states {", "\t\t\tentry-method = \"psci\";"]
    for state in states:
        made += ["", *_node(state, "\t\t\t")]
    return made + ["\t\t};", "\t};", "};"]


def to_csv(results: Mapping[str, Any]) -> str:
    """A line for each state and latency, with a line of column names first."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("state", "kind", "parameter", "latency", "claimed_us", "measured_us", "n",
                     "emulated", "why"))
    for state in states_of(results):
        for key in LATENCIES:
            values = ("" if value is None else value
                      for value in (state.claims[key], state.measured.get(key)))
            writer.writerow((state.name, state.kind, f"{state.power_state:#x}", key, *values,
                             state.n, str(results["machine"]["emulated"]).lower(), state.why))
    return stream.getvalue()
