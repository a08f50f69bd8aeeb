"""What docs/psci-tables.md says: its commands, and its tables by title."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "psci-tables.md"


def tables_in(text: str) -> dict[str, list[list[str]]]:
    """The tables of a Markdown text: by the heading, the cells of each line, titles first."""
    found = {}
    for part in re.split(r"^### ", text, flags=re.M)[1:]:
        title, _, rest = part.partition("\n")
        lines = [line for line in rest.splitlines() if line.startswith("|")]
        found[title] = [[cell.strip() for cell in line.strip("|").split("|")]
                        for line in lines[:1] + lines[2:]]
    return found


def commands() -> list[list[str]]:
    """The words of each command, without the program."""
    block = re.search(r"^```\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S).group(1)
    return [line.split()[1:] for line in block.splitlines()]
