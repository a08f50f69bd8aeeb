"""A finding: where it is, what is wrong, and how execution gets there."""

from dataclasses import dataclass
from typing import Iterator


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is wrong. `path` has a line for each step from timed code to the culprit."""

    file: str
    line: int  # 0: not known
    text: str
    path: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """As compilers print it, the path below it."""
        yield f"{self.file}:{self.line or '?'}: {self.text}"
        for step in self.path:
            yield f"    {step}"


def printable(text: str) -> str:
    """Text that any terminal or pipe takes: bytes that are no UTF-8 come out escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
