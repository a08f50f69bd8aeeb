"""Errors that end a command with one line on standard error and a documented exit code.

Exit codes, the same for every command: 0 all well, 1 a benchmark, check or test failed, 2 bad usage
or unreadable input, 3 incomplete (timed out, truncated, corrupt), 130 interrupted by the user.
"""

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
