"""results.json as a file (docs/results-format.md): written with its sidecar of samples, read back.

One record a line, so that the file can be searched and compared as text. A file that is read is
checked first: its readers may rely on the types of what it holds.
"""

import gzip
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Mapping, Optional

from el1bench_host import idle_states
from el1bench_host.decoded_log import DecodedLog
from el1bench_host.errors import UserError
from el1bench_host.results import FORMAT, SAMPLES_NAME, make_results, sample_records

RESULTS_NAME = "results.json"


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
