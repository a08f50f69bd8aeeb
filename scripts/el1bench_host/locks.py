"""Locks between processes: one command at a time fills the cache or builds in a folder."""

import contextlib
import fcntl
from pathlib import Path
from typing import Iterator


@contextlib.contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, waiting for whoever has it; OSError if it cannot be created."""
    with path.open("w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
