"""Jobs for the C unit tests: configure and build them once, then one job for each."""

import json
import subprocess
from pathlib import Path

from el1bench_host import paths
from el1bench_host.errors import EXIT_FAILED, UserError
from el1bench_host.process import run_logged
from el1bench_host.testing.pool import Job, command_job

TEST_SECONDS = 120


def jobs() -> list[Job]:
    """Build the tests (UserError if that fails) and list them."""
    folder = paths.BUILD / "host-tests"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "build.log"
    log.unlink(missing_ok=True)
    run_logged(["cmake", "--preset", "host-tests"], log, "building the unit tests",
               folder=paths.SOURCE_TREE)
    run_logged(["cmake", "--build", str(folder)], log, "building the unit tests", quiet=True)
    listed = subprocess.run(["ctest", "--test-dir", str(folder), "--show-only=json-v1"],
                            stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
    names = [test["name"] for test in json.loads(listed)["tests"]]
    if not names:
        raise UserError("ctest lists no unit tests", EXIT_FAILED)
    return [_job(folder, name) for name in names]


def _job(folder: Path, name: str) -> Job:
    return command_job(f"unit: {name}",
                       ["ctest", "--test-dir", str(folder), "--output-on-failure",
                        "--no-tests=error", "--timeout", str(TEST_SECONDS), "-R", f"^{name}$"],
                       TEST_SECONDS + 10)
