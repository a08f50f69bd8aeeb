"""All metrics of a results.json as comma-separated values: one row a line, nothing folded."""

import csv
import io
import json
from typing import Any, Mapping

COLUMNS = ("name", "boot", "cpu", "peer", "factors", "unit", "n", "warmup_n", "min", "mean",
           "trimmed_mean", "se", "p50", "p50_low", "p50_high", "p90", "p99", "p99_low", "p99_high", "p999",
           "p999_low", "p999_high", "max", "cold", "floor", "headline", "headline_is", "excluded", "outliers", "warnings")
EXTRA = ("headline_ns", "counter_hz", "counter_step", "emulated")


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True) if value else ""
    if isinstance(value, list):
        return " ".join(str(one) for one in value)
    return value


def render(results: Mapping[str, Any]) -> str:
    """The text, with a line of column names first."""
    machine = results["machine"]
    counter_hz = machine["counter_hz"]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS + EXTRA)
    for metric in results["metrics"]:
        headline = metric["headline"]
        in_ticks = headline is not None and metric["unit"] == "tick"
        converted = "" if not in_ticks or not counter_hz else round(
            headline * 1e9 / counter_hz, 3)
        writer.writerow([_cell(metric.get(key)) for key in COLUMNS]
                        + [converted, _cell(counter_hz), _cell(machine["counter_step"]),
                           str(machine["emulated"]).lower()])
    return stream.getvalue()
