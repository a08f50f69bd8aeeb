"""A table of a TOML file, read with care: each key typed, each mistake one line, no key unknown."""

import difflib
import ipaddress
import re
import shlex
import shutil
from typing import Any

from el1bench_host.errors import UserError

SECONDS_MAX = 1e6


class Table:
    """A table of the file: typed access, with every key accounted for."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, dict):
            raise UserError(f"{where} is not a table")
        self._data = data
        self._where = where
        self._known: set[str] = set()

    def wrong(self, key: str, what: str) -> UserError:
        """An error at a key."""
        return UserError(f"{self._where}: `{key}` {what}")

    def _take(self, key: str, default: Any) -> Any:
        self._known.add(key)
        value = self._data.get(key, default)
        if value is ...:
            raise UserError(f"{self._where}: `{key}` is missing")
        return value

    def has(self, key: str) -> bool:
        """True if the key is there."""
        self._known.add(key)
        return key in self._data

    def text(self, key: str, default: Any = ..., choices: tuple[str, ...] = ()) -> Any:
        """A text that is not empty."""
        value = self._take(key, default)
        if value is default and default is not ...:
            return value
        if not isinstance(value, str) or not value:
            raise self.wrong(key, "is not a text")
        if "\0" in value:
            raise self.wrong(key, "holds a NUL")
        if choices and value not in choices:
            raise self.wrong(key, f"is `{value}`, not one of {', '.join(choices)}")
        return value

    def integer(self, key: str, default: Any, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        value = self._take(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(key, f"is not a whole number from {low} to {high}")
        return value

    def seconds(self, key: str, default: Any, low: float = 0.001) -> float:
        """A time in seconds."""
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) \
                or not low <= value <= SECONDS_MAX:
            raise self.wrong(key, f"is not a time in seconds from {low:g}")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "is neither true nor false")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts, empty if it is not there."""
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.wrong(key, "is not a list of texts")
        return value

    def address(self, key: str, default: Any = ...) -> str:
        """An IPv4 address."""
        value = self.text(key, default)
        try:
            return str(ipaddress.IPv4Address(value))
        except ValueError:
            raise self.wrong(key, f"is `{value}`, not an IPv4 address") from None

    def pattern(self, key: str, text: str) -> re.Pattern[bytes]:
        """A regular expression over a line of the console."""
        try:
            return re.compile(text.encode())
        except re.error as error:
            raise self.wrong(key, f"is not a regular expression: {error}") from error

    def command(self, key: str) -> tuple[str, ...]:
        """A command and its arguments."""
        try:
            words = tuple(shlex.split(self.text(key)))
        except ValueError as error:
            raise self.wrong(key, f"is not a command: {str(error).lower()}") from error
        if not words:
            raise self.wrong(key, "is not a command")
        if shutil.which(words[0]) is None:
            raise self.wrong(key, f"names no program that can be run: {words[0]}")
        return words

    def tables(self, key: str) -> list[Any]:
        """The tables of an array of them."""
        value = self._take(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, "is not an array of tables")
        return value

    def table(self, key: str) -> "Table":
        """A table that must be there."""
        return Table(self._take(key, ...), f"{self._where}: [{key}]")

    def done(self) -> None:
        """UserError for a key that nobody asked for."""
        for key in self._data:
            if key not in self._known:
                near = difflib.get_close_matches(key, self._known, 1)
                hint = f", did you mean `{near[0]}`?" if near else ""
                raise UserError(f"{self._where}: unknown key `{key}`{hint}")
