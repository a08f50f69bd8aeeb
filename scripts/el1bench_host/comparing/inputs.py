"""Reads one side of a comparison: results, their samples, and each row of each boot as estimates.

The files are hostile input: what is wrong ends in a UserError.
"""

import gzip
import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Mapping, NamedTuple, Optional

from el1bench_host.comparing.estimate import Estimate, from_figures, from_samples
from el1bench_host.errors import UserError
from el1bench_host.report_model import clean
from el1bench_host.results_file import RESULTS_NAME, load_results

LINE_MOST = 1 << 28
"""Bytes of one row's samples; a row of ten million samples has less."""
SAMPLE_MOST = 1 << 63


class Key(NamedTuple):
    """What a row is called; rows of two sides match if all of it is equal."""

    name: str
    cpu: Optional[int]
    peer: Optional[int]
    factors: tuple[tuple[str, str], ...]
    unit: str


class BootKey(NamedTuple):
    """A boot of a side: the file that it is in, and its number there."""

    file: int
    boot: int


@dataclass
class Side:
    """One side: its files' contents, and their rows by key and boot."""

    paths: list[str]
    results: list[dict[str, Any]] = field(default_factory=list)
    rows: dict[Key, dict[BootKey, Estimate]] = field(default_factory=dict)
    named: dict[str, list[Key]] = field(default_factory=dict)
    """The same rows' keys by name."""
    ops: dict[Key, set[int]] = field(default_factory=dict)
    controls: dict[str, str] = field(default_factory=dict)
    """By benchmark: the row that was sampled alternately with its own, as its control."""
    without_samples: int = 0
    """Rows whose samples are not there."""

    @property
    def boots(self) -> int:
        """How many boots there are."""
        return sum(len(one["boots"]) for one in self.results)


def _key(record: Mapping[str, Any], unit: str) -> Key:
    factors = tuple(sorted((str(key), str(value)) for key, value in record["factors"].items()))
    return Key(record["name"], record["cpu"], record["peer"], factors, unit)


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path, "rb") as stream:
        while line := stream.readline(LINE_MOST):
            if len(line) == LINE_MOST:
                raise ValueError("a line is too long")
            yield line


def _integer(value: Any, least: int, most: int = SAMPLE_MOST) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < most


def _are_samples(values: list[Any]) -> bool:
    """True if all are integers of 64 bits, or None."""
    # Millions of them are looked at: no loop in Python.
    if not set(map(type, values)) <= {int, type(None)}:
        return False
    known = [value for value in values if value is not None]
    return not known or (-SAMPLE_MOST <= min(known) and max(known) < SAMPLE_MOST)


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    """The sidecar's records, checked. Raises UserError."""
    try:
        for line in _lines(path):
            record = json.loads(line)
            if not (isinstance(record, dict) and isinstance(record.get("name"), str)
                    and isinstance(record.get("factors"), dict)
                    and isinstance(record.get("values"), list)
                    and _integer(record.get("boot"), -SAMPLE_MOST)
                    and _integer(record.get("ops"), 1)
                    and all(record.get(end, ()) is None or _integer(record.get(end), 0)
                            for end in ("cpu", "peer"))
                    and _are_samples(record["values"])):
                raise ValueError("a line is no row of samples")
            yield record
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or 'it is damaged'}") from error
    except (ValueError, EOFError, zlib.error, RecursionError) as error:
        raise UserError(f"{path} holds no samples: {clean(error)[:200]}") from error


def _step(results: Mapping[str, Any], unit: str) -> int:
    """What a reading can tell apart: a counter's step in ticks, or one cycle."""
    return max(results["machine"]["counter_step"] or 1, 1) if unit == "tick" else 1


def _add_controls(side: Side, results: Mapping[str, Any]) -> None:
    for metric in results["metrics"]:
        if metric.get("minuend"):
            control = metric["subtrahend"]
            side.controls[metric["name"].rpartition(".")[0]] = control
            # What a control's own benchmark measures besides was sampled with it, too.
            side.controls.setdefault(control.rpartition(".")[0], control)


def _add(side: Side, path: Path) -> None:
    results = load_results(path)
    number = len(side.results)
    side.results.append(results)
    _add_controls(side, results)
    metrics: dict[tuple[Key, int], dict[str, Any]] = {}
    units: dict[tuple[Key, int], str] = {}
    for metric in results["metrics"]:
        key = _key(metric, metric["unit"])
        if (key, metric["boot"]) in metrics:
            raise UserError(f"{path}: {clean(key.name)} is there twice in boot {metric['boot']}")
        ops = metric.get("ops", 1)
        if not _integer(ops, 1):
            raise UserError(f"{path}: {clean(key.name)}: ops is not what it should be")
        metrics[key, metric["boot"]] = metric
        units[key._replace(unit=""), metric["boot"]] = metric["unit"]
        side.ops.setdefault(key, set()).add(ops)

    def keep(key: Key, boot: int, estimate: Optional[Estimate]) -> None:
        if estimate is None:
            return
        if key not in side.rows:
            side.named.setdefault(key.name, []).append(key)
        side.rows.setdefault(key, {})[BootKey(number, boot)] = estimate

    name = results.get("samples")
    sidecar = (path if path.is_dir() else path.parent) / str(name)
    left = dict(metrics)
    emulated = results["machine"]["emulated"]
    if isinstance(name, str) and name == Path(name).name and sidecar.is_file():
        for record in _samples(sidecar):
            short, boot = _key(record, ""), record["boot"]
            key = short._replace(unit=units.get((short, boot), ""))
            metric = left.get((key, boot))
            # Where samples are lost, the image's own figures are those of all of them.
            if metric is None or record.get("lost"):
                continue
            del left[key, boot]
            keep(key, boot, from_samples(metric, record["values"], record["ops"],
                                         _step(results, key.unit), emulated))
    for (key, boot), metric in left.items():
        if metric["n"]:
            side.without_samples += 1
            keep(key, boot, from_figures(metric, _step(results, key.unit)))


def load_side(names: list[str]) -> Side:
    """Read the results.json files, or the folders that hold them, of one side. Raises UserError."""
    side = Side(names)
    seen = set()
    for name in names:
        path = Path(name)
        real = (path / RESULTS_NAME if path.is_dir() else path).resolve()
        if real in seen:
            raise UserError(f"{name} is given twice on one side: a boot counts once")
        seen.add(real)
        _add(side, path)
    return side
