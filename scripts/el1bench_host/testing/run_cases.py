"""Runs the named unittest cases in this process, one JSON line a case into a file.

Started by `el1bench_host.testing.python_cases`, once for each job.
"""

import json
import sys
import time
import unittest
from pathlib import Path
from typing import Any, Optional, TextIO


class LineResult(unittest.TestResult):
    """Writes a line as each test ends, so that a crash loses only the test that it hits."""

    def __init__(self, lines: TextIO) -> None:
        super().__init__()
        self._lines = lines
        self._started = 0.0
        self._problems: list[str] = []
        self._skipped: Optional[str] = None

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._started = time.monotonic()
        self._problems = []
        self._skipped = None

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self._write(test.id())

    def _write(self, name: str) -> None:
        if self._problems:
            status, text = "FAIL", "\n".join(self._problems)
        elif self._skipped is not None:
            status, text = "SKIP", self._skipped
        else:
            status, text = "PASS", ""
        json.dump({"id": name, "status": status, "output": text,
                   "seconds": time.monotonic() - self._started}, self._lines)
        self._lines.write("\n")
        self._lines.flush()

    def _problem(self, test: Any, error: Any, heading: str = "") -> None:
        self._problems.append(heading + self._exc_info_to_string(error, test))
        if not isinstance(test, unittest.TestCase):
            # setUpClass or setUpModule: no test was started for it.
            self._write(str(test))

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        self._problem(test, err)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        self._problem(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        if err is not None:
            self._problem(test, err, f"{subtest}\n")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self._skipped = reason
        if not isinstance(test, unittest.TestCase):
            self._write(str(test))

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self._problems.append("passed, but was expected to fail\n")


def main() -> None:
    """run_cases.py RESULTS_FILE ID..."""
    results, *names = sys.argv[1:]
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    with Path(results).open("w", encoding="utf-8") as lines:
        suite.run(LineResult(lines))


if __name__ == "__main__":
    main()
