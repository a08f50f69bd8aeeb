"""`el1bench report`: results as tables, for a terminal, a page or a spreadsheet."""

import argparse
import sys
from pathlib import Path
from typing import Any, Mapping

from el1bench_host import (render_csv, render_md, render_term, report_firmware,
                           report_idle_states)
from el1bench_host.errors import EXIT_FAILED, EXIT_OK, UserError
from el1bench_host.report_model import firmware_tables, idle_states, make_document
from el1bench_host.results_file import load_results

FORMATS = ("term", "md", "csv")
NODE_FORMAT = "dts"
TABLES = ("all", "firmware", "idle-states")


def render(results: Mapping[str, Any], output_format: str, tables: str = "all") -> str:
    """The report of one results.json (as `load_results` or `make_results` gives it).

    With `tables` "firmware" just what firmware's own stamps give, with "idle-states" just what Linux
    is to be told of power states, with the format "dts" the node for its device tree alone; a
    UserError if there is none of it.
    """
    if tables == "firmware" and not report_firmware.tables_of(results):
        raise UserError("no firmware's time stamps are in these results (they come from the psci "
                        "suite, on firmware with run-time instrumentation)")
    if tables == "idle-states" and not report_idle_states.states_of(results):
        raise UserError("no sweeps of power states are in these results (they come from "
                        "psci.wake, in the psci suite)")
    if output_format == NODE_FORMAT:
        return _dts(results)
    if output_format == "csv":
        return {"all": render_csv.render, "firmware": report_firmware.to_csv,
                "idle-states": report_idle_states.to_csv}[tables](results)
    blocks = {"all": make_document, "firmware": firmware_tables,
              "idle-states": idle_states}[tables](results)
    return render_md.render(blocks) if output_format == "md" else render_term.render(blocks)


def _dts(results: Mapping[str, Any]) -> str:
    lines = report_idle_states.node_lines(results)
    if not lines:
        raise UserError("; ".join(f"{state.title}: {state.why}"
                                  for state in report_idle_states.states_of(results))
                        or "no sweeps of power states are in these results")
    return "\n".join(lines) + "\n"


def judge(results: Mapping[str, Any]) -> int:
    """Says on standard error what a device tree claims too little of; the exit code for it."""
    texts = report_idle_states.shortfalls(results)
    for text in texts:
        print(f"el1bench: failed: {text}", file=sys.stderr)
    return EXIT_FAILED if texts else EXIT_OK


def register(subparsers: Any) -> None:
    """Adds `report` to the command line."""
    parser = subparsers.add_parser(
        "report", help="show results as tables",
        description="Shows the tables of one or more results.json. Exit codes: 0 shown, 1 shown, "
        "but a device tree claims shorter latencies of a power state than were measured, 2 the "
        "results cannot be read or the output not be written.")
    parser.add_argument("results", metavar="RESULTS", nargs="+",
                        help="a results.json, or the folder that holds it")
    parser.add_argument("--format", choices=(*FORMATS, NODE_FORMAT), default="term",
                        help="plain text (the default), Markdown, comma-separated values of "
                        "every row, or the idle states as device tree source")
    parser.add_argument("--tables", choices=TABLES, default="all",
                        help="all (the default), just firmware's view of PSCI calls: power-down, "
                        "wake-up and cache flush by cluster and core; or just the idle states "
                        "for Linux, as measured and as claimed")
    parser.add_argument("--output", metavar="FILE", help="write here instead of standard output")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Runs `report`."""
    contents = [load_results(Path(name)) for name in args.results]
    texts = [render(content, args.format, args.tables) for content in contents]
    if args.format == "csv":
        # One table: the column names stand once.
        texts[1:] = [text.partition("\n")[2] for text in texts[1:]]
        text = "".join(texts)
    else:
        text = "\n".join(texts)
    if args.output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        try:
            Path(args.output).write_text(text, encoding="ascii")
        except OSError as error:
            raise UserError(f"cannot write {args.output}: {error.strerror}") from error
    return max(judge(content) for content in contents)
