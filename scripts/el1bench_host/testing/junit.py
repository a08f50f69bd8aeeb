"""Writes test results as JUnit XML, which CI systems read."""

import re
from pathlib import Path
from typing import Sequence
from xml.etree import ElementTree

from el1bench_host.errors import UserError
from el1bench_host.testing.pool import FAIL, SKIP, Result

# Characters that XML 1.0 cannot carry, not even escaped.
_UNREPRESENTABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(path: Path, results: Sequence[Result]) -> None:
    """Write all results into one test suite; UserError if the file cannot be written."""
    suite = ElementTree.Element("testsuite", {
        "name": "el1bench",
        "tests": str(len(results)),
        "failures": str(sum(result.status == FAIL for result in results)),
        "skipped": str(sum(result.status == SKIP for result in results)),
        "time": f"{sum(result.seconds for result in results):.3f}",
    })
    for result in results:
        group, _, name = result.name.partition(": ")
        case = ElementTree.SubElement(suite, "testcase", {
            "classname": f"el1bench.{group}", "name": name, "time": f"{result.seconds:.3f}"})
        text = _UNREPRESENTABLE.sub("?", result.output)
        if result.status == FAIL:
            message = text.strip().splitlines()[-1] if text.strip() else "failed"
            ElementTree.SubElement(case, "failure", {"message": message}).text = text
        elif result.status == SKIP:
            ElementTree.SubElement(case, "skipped", {"message": text.strip()})
    try:
        ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error
