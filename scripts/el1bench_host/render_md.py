"""A report as GitHub-flavoured Markdown."""

import re
from typing import Iterator, Sequence

from el1bench_host.report_model import Block, Facts, Heading, Remark, Source, Table

# An underscore inside a word is none of Markdown's.
_SPECIAL = re.compile(r"([\\`*\[\]<|#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _table(table: Table) -> Iterator[str]:
    yield "| " + " | ".join(_escape(title) for title in table.columns) + " |"
    yield "|" + "|".join(" :-- " if column < table.left else " --: "
                         for column in range(len(table.columns))) + "|"
    for row in table.rows:
        yield "| " + " | ".join(_escape(cell) for cell in row) + " |"
    if table.remarks:
        yield ""
        for remark in table.remarks:
            yield f"- {_escape(remark)}"


def render(blocks: Sequence[Block]) -> str:
    """The text, with a line end at its end."""
    lines: list[str] = []
    listed = False
    for block in blocks:
        # Remarks that follow each other make one list.
        plain = isinstance(block, Remark) and not block.loud
        if lines and not (plain and listed):
            lines.append("")
        listed = plain
        if isinstance(block, Heading):
            lines.append(f"{'#' * block.level} {_escape(block.text)}")
        elif isinstance(block, Facts):
            lines += [f"- {_escape(name)}: {_escape(text)}" for name, text in block.facts]
        elif isinstance(block, Remark):
            lines.append(f"**{_escape(block.text)}**" if block.loud else f"- {_escape(block.text)}")
        elif isinstance(block, Source):
            lines += ["```", *block.lines, "```"]
        else:
            lines += _table(block)
    return "\n".join(lines) + "\n"
