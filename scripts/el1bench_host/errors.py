"""Errors that end a command with one line on standard error and a documented exit code.

Exit codes, the same for every command: 0 all well, 1 a benchmark, check or test failed, 2 bad usage
or unreadable input, 3 incomplete (timed out, truncated, corrupt), 130 interrupted by the user.
"""

import sys

WARNINGS = {
    "counter-hz": "QEMU rounds the frequency that was asked for",
}
"""Every warning that a command may print on standard error (docs/methodology.md explains them)."""

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INCOMPLETE = 3
EXIT_INTERRUPTED = 130


class UserError(Exception):
    """Something the user can put right; its text is a single line that says what."""

    def __init__(self, message: str, exit_code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def warn(keyword: str, message: str) -> None:
    """One line on standard error about something that is no error."""
    assert keyword in WARNINGS
    print(f"el1bench: warning: {message} [{keyword}]", file=sys.stderr)
