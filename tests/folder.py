"""A folder for the files of one test."""

import tempfile
import unittest
from pathlib import Path


def temporary_folder(test: unittest.TestCase, name: str) -> Path:
    """An empty folder that goes when the test ends; `name` tells whose it was if it does not."""
    return Path(test.enterContext(tempfile.TemporaryDirectory(prefix=f"el1bench-{name}-")))
