"""The cache of things built or fetched once: a folder outside the source tree, keyed by content.

An entry is a folder that appears whole or not at all: it is filled under a temporary name and
renamed into place, under a lock, so that two commands started together share the work.
"""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Callable, Iterator

from el1bench_host.errors import UserError
from el1bench_host.locks import file_lock


def cache_root() -> Path:
    """The cache folder: EL1BENCH_CACHE, or `el1bench` in the user's cache folder."""
    named = os.environ.get("EL1BENCH_CACHE")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "el1bench"


@contextlib.contextmanager
def lock(name: str) -> Iterator[Path]:
    """Hold the cache's lock `name` (one per kind of entry); yields the cache folder."""
    root = cache_root()
    with contextlib.ExitStack() as held:
        try:
            root.mkdir(parents=True, exist_ok=True)
            held.enter_context(file_lock(root / f".{name}.lock"))
        except OSError as error:
            raise UserError(f"cannot write to the cache folder {root}: {error.strerror}; "
                            "set EL1BENCH_CACHE to another one") from error
        yield root


def entry(name: str, fill: Callable[[Path], None]) -> Path:
    """The cache entry `name`; when it is missing, `fill` is called with an empty folder for it."""
    final = cache_root() / name
    if final.is_dir():
        return final
    with lock(name) as root:
        if not final.is_dir():
            with scratch(root) as folder:
                filled = folder / "entry"
                filled.mkdir()
                fill(filled)
                filled.rename(final)
    return final


@contextlib.contextmanager
def scratch(root: Path) -> Iterator[Path]:
    """A temporary folder inside the cache, so that a rename into place stays on one file system."""
    folder = Path(tempfile.mkdtemp(prefix=".work-", dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
