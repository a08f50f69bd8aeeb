"""Runs long commands out of sight: progress on a terminal, their output only if they fail."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Mapping, Optional, Sequence

from el1bench_host.errors import EXIT_FAILED, UserError

PROGRESS_PERIOD_SECONDS = 0.5
LINES_SHOWN_ON_FAILURE = 30


class Progress:
    """One line on standard error that is redrawn on a terminal, and printed once elsewhere."""

    def __init__(self, what: str, quiet: bool = False) -> None:
        self.what = what
        self.quiet = quiet
        self.redraw = sys.stderr.isatty() and not quiet
        self.started = time.monotonic()
        if not quiet and not self.redraw:
            print(f"el1bench: {what}", file=sys.stderr, flush=True)

    def update(self) -> None:
        """Show how long the work has taken so far."""
        if self.redraw:
            elapsed = time.monotonic() - self.started
            print(f"\r\033[Kel1bench: {self.what} ({elapsed:.0f} s)", end="", file=sys.stderr,
                  flush=True)

    def finish(self) -> None:
        """Take the line away."""
        if self.redraw:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def tail(text: str, count: int = LINES_SHOWN_ON_FAILURE) -> str:
    """The last lines of a command's output, for an error report."""
    return "\n".join(text.rstrip().splitlines()[-count:])


def run_logged(command: Sequence[str], log: Path, what: str, *, folder: Optional[Path] = None,
               environment: Optional[Mapping[str, str]] = None, quiet: bool = False,
               exit_code: int = EXIT_FAILED) -> None:
    """Run `command` with its output appended to `log`.

    `what` names the work on the progress line and in the error. Standard input is closed, so that
    nothing can wait for an answer. Raises UserError when the command cannot start or fails; the
    end of its output goes to standard error first.
    """
    progress = Progress(what, quiet)
    try:
        with log.open("ab") as output:
            start = output.tell()
            try:
                child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                         stderr=subprocess.STDOUT, cwd=folder, env=environment)
            except OSError as error:
                raise UserError(f"{what}: cannot start {command[0]}: {error.strerror}") from error
            try:
                while True:
                    try:
                        status = child.wait(PROGRESS_PERIOD_SECONDS)
                        break
                    except subprocess.TimeoutExpired:
                        progress.update()
            except BaseException:
                child.terminate()
                child.wait()
                raise
    finally:
        progress.finish()
    if status != 0:
        with log.open("rb") as output:
            output.seek(start)
            print(tail(output.read().decode("utf-8", "replace")), file=sys.stderr)
        raise UserError(f"{what}: failed with status {status} ({command[0]})", exit_code)
