"""`el1bench report`: results as tables, for a terminal, a page or a spreadsheet."""

import argparse
import sys
from pathlib import Path
from typing import Any, Mapping

from el1bench_host import render_csv, render_md, render_term, report_firmware
from el1bench_host.errors import EXIT_OK, UserError
from el1bench_host.report_model import firmware_tables, make_document
from el1bench_host.results import load_results

FORMATS = ("term", "md", "csv")
TABLES = ("all", "firmware")


def render(results: Mapping[str, Any], output_format: str, tables: str = "all") -> str:
    """The report of one results.json (as `load_results` or `make_results` gives it).

    With `tables` "firmware" just what firmware's own stamps give; a UserError if there are none.
    """
    if tables == "firmware" and not report_firmware.tables_of(results):
        raise UserError("no firmware's time stamps are in these results (they come from the psci "
                        "suite, on firmware with run-time instrumentation)")
    if output_format == "csv":
        return (report_firmware.to_csv if tables == "firmware" else render_csv.render)(results)
    blocks = firmware_tables(results) if tables == "firmware" else make_document(results)
    return render_md.render(blocks) if output_format == "md" else render_term.render(blocks)


def register(subparsers: Any) -> None:
    """Adds `report` to the command line."""
    parser = subparsers.add_parser(
        "report", help="show results as tables",
        description="Shows the tables of one or more results.json. Exit codes: 0 shown, 2 the "
        "results cannot be read or the output not be written.")
    parser.add_argument("results", metavar="RESULTS", nargs="+",
                        help="a results.json, or the folder that holds it")
    parser.add_argument("--format", choices=FORMATS, default="term",
                        help="plain text (the default), Markdown, or comma-separated values of "
                        "every row")
    parser.add_argument("--tables", choices=TABLES, default="all",
                        help="all (the default), or just firmware's view of PSCI calls: power-down, "
                        "wake-up and cache flush by cluster and core")
    parser.add_argument("--output", metavar="FILE", help="write here instead of standard output")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Runs `report`."""
    texts = [render(load_results(Path(name)), args.format, args.tables)
             for name in args.results]
    if args.format == "csv":
        # One table: the column names stand once.
        texts[1:] = [text.partition("\n")[2] for text in texts[1:]]
        text = "".join(texts)
    else:
        text = "\n".join(texts)
    if args.output is None:
        sys.stdout.write(text)
        return EXIT_OK
    try:
        Path(args.output).write_text(text, encoding="ascii")
    except OSError as error:
        raise UserError(f"cannot write {args.output}: {error.strerror}") from error
    return EXIT_OK
