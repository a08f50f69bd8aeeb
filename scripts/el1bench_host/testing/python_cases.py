"""Finds the Python tests of a folder and makes jobs of them, each in a process of its own."""

import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Iterator

from el1bench_host import paths
from el1bench_host.testing.pool import FAIL, Job, Result, run_command

PYTHON = "/usr/bin/python3"
RUNNER = Path(__file__).with_name("run_cases.py")


def _cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _cases(item)
        else:
            yield item


def _has_shared_setup(case: unittest.TestCase) -> bool:
    """True if the cases of its class share a setUpClass, which would be wasteful to repeat."""
    return type(case).setUpClass.__func__ is not unittest.TestCase.setUpClass.__func__


def environment(group: str) -> dict[str, str]:
    """The environment in which tests find the package and the tests' own helpers.

    The tests under QEMU are told that the images are built, so that not each process asks.
    """
    clean = {**os.environ, "PYTHONPATH": f"{paths.SOURCE_TREE / 'scripts'}:{paths.SOURCE_TREE}",
             "PYTHONDONTWRITEBYTECODE": "1"}
    clean.pop("EL1BENCH_IMAGES_BUILT", None)
    if group == "qemu":
        clean["EL1BENCH_IMAGES_BUILT"] = "1"
    clean.pop("PYTHONHOME", None)
    return clean


def _short(case_id: str, package: str) -> str:
    """tests.host.test_run.RunTest.test_x -> test_run.RunTest.test_x"""
    return case_id.removeprefix(package + ".")


def _run(group: str, package: str, ids: tuple[str, ...], seconds: float) -> list[Result]:
    """Run the cases in a child and read the results that it left."""
    started = time.monotonic()
    # The tests' temporary files go there too, so that those of a killed test go as well.
    with tempfile.TemporaryDirectory(prefix="el1bench-test-") as scratch:
        lines = Path(scratch) / "results"
        lines.touch()
        status, output = run_command([PYTHON, "-s", str(RUNNER), str(lines), *ids], seconds,
                                     folder=paths.SOURCE_TREE,
                                     environment={**environment(group), "TMPDIR": scratch})
        ended = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    own = {data["id"] for data in ended}
    left = [case_id for case_id in ids if case_id not in own]
    for data in [data for data in ended if data["id"] not in ids]:
        # Something around the cases of a class, named like "setUpClass (package.module.Class)".
        prefix = data["id"].rpartition("(")[2].rstrip(")") + "."
        affected = [case_id for case_id in left if case_id.startswith(prefix)]
        if affected:
            ended.remove(data)
            ended += [{**data, "id": case_id} for case_id in affected]
            left = [case_id for case_id in left if case_id not in affected]
    reason = f"the test's process ended early, exit status {status}"
    ended += [{"id": case_id, "status": FAIL, "output": reason,
               "seconds": time.monotonic() - started} for case_id in left]
    return [_result(group, package, data, output) for data in ended]


def _result(group: str, package: str, data: dict[str, Any], output: str) -> Result:
    """A result from a line of the child; a failure gets all that the child printed."""
    text = data["output"]
    if data["status"] == FAIL and output:
        text = f"{text.rstrip()}\n--- output of the test's process ---\n{output}"
    return Result(f"{group}: {_short(data['id'], package)}", data["status"], data["seconds"], text)


def jobs(group: str, folder: Path, seconds: float, together: bool) -> list[Job]:
    """The jobs for the tests in `folder`, called `group` in the report.

    `together`: one job per module; otherwise one per case, or per class that has a setUpClass.
    `seconds` is the limit for a job. A module that cannot be imported is a failed test. A class
    with `serial = True` compares times: its cases run with nothing beside them.
    """
    if not list(folder.glob("test_*.py")):
        return []
    for entry in (str(paths.SOURCE_TREE), str(paths.SOURCE_TREE / "scripts")):
        if entry not in sys.path:
            sys.path.append(entry)
    loader = unittest.TestLoader()
    package = ".".join(folder.relative_to(paths.SOURCE_TREE).parts)
    shared: dict[str, list[str]] = {}
    serial: set[str] = set()
    unreadable = []
    for case in _cases(loader.discover(str(folder), top_level_dir=str(paths.SOURCE_TREE))):
        name = case.id()
        if name.startswith("unittest.loader._FailedTest."):
            module = name.removeprefix("unittest.loader._FailedTest.").removeprefix(package + ".")
            text = "\n".join(error for error in loader.errors if module in error)
            unreadable.append(Result(f"{group}: {module}", FAIL, 0.0, text))
            continue
        if together:
            key = type(case).__module__
        elif _has_shared_setup(case):
            key = f"{type(case).__module__}.{type(case).__qualname__}"
        else:
            key = name
        shared.setdefault(key, []).append(name)
        if getattr(type(case), "serial", False):
            serial.add(key)

    def job(ids: tuple[str, ...], alone: bool) -> Job:
        return Job(tuple(f"{group}: {_short(name, package)}" for name in ids),
                   lambda: _run(group, package, ids, seconds), alone)

    failed = [Job((result.name,), lambda result=result: [result]) for result in unreadable]
    return failed + [job(tuple(ids), key in serial) for key, ids in shared.items()]
