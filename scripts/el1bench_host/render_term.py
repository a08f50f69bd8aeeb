"""A report as plain text of at most 100 columns, for a terminal or a pipe: ASCII, no colour."""

import textwrap
from typing import Iterator, Sequence

from el1bench_host.report_model import Block, Facts, Heading, Remark, Source, Table

WIDTH = 100
_GAP = "  "
_NAME_LEAST = 8


def _table(table: Table) -> Iterator[str]:
    """A table; names that leave no room for the figures get a line of their own."""
    rows = [table.columns, *table.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.columns))]
    gap = _GAP
    rest = sum(widths[1:]) + len(gap) * (len(widths) - 1)
    if rest + _NAME_LEAST > WIDTH:
        gap = " "
        rest = sum(widths[1:]) + len(gap) * (len(widths) - 1)
    widths[0] = max(min(widths[0], WIDTH - rest), _NAME_LEAST)

    def line(row: Sequence[str]) -> str:
        cells = [cell.ljust(width) if column < table.left else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        return gap.join(cells).rstrip()

    yield line(table.columns)
    before = ""
    for row in table.rows:
        name, cells = row[0], list(row)
        if name == before:
            cells[0] = ""
        elif len(name) > widths[0]:
            yield name
            cells[0] = ""
        before = name
        yield line(cells)
    for remark in table.remarks:
        yield from _wrap(remark, "  ")


def _wrap(text: str, indent: str = "", further: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent,
                         subsequent_indent=indent + (further or "  "),
                         break_on_hyphens=False) or [indent.rstrip()]


def render(blocks: Sequence[Block]) -> str:
    """The text, with a line end at its end."""
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Heading):
            if lines:
                lines.append("")
            lines += _wrap(block.text)
            if block.level < 3:
                lines.append(("=" if block.level == 1 else "-") * min(len(block.text), WIDTH))
        elif isinstance(block, Facts):
            width = max(len(name) for name, _ in block.facts)
            for name, text in block.facts:
                lines += _wrap(f"{name.ljust(width)}  {text}", further=" " * (width + 2))
        elif isinstance(block, Remark):
            lines += _wrap(f"*** {block.text} ***" if block.loud else block.text)
        elif isinstance(block, Source):
            lines += ["", *block.lines]
        else:
            lines += _table(block)
    return "\n".join(lines) + "\n"
