"""`el1bench compare`: what changed between two sets of results, and what did not."""

import argparse
import math
import sys
from pathlib import Path
from typing import Any

from el1bench_host import render_md, render_term
from el1bench_host.comparing import conditions, tables, verdicts
from el1bench_host.comparing.inputs import Side, load_side
from el1bench_host.errors import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_OK, UserError

FORMATS = ("term", "md", "csv")
FAIL_ON = {"slower": (verdicts.SLOWER,), "none": (),
           "any": (verdicts.SLOWER, verdicts.FASTER, verdicts.CHANGED)}
"""Verdicts that make the exit code 1."""
_DECIDED = (verdicts.SLOWER, verdicts.FASTER, verdicts.CHANGED, verdicts.SAME)


def _share(text: str) -> float:
    """A percentage of the command line, as a share."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text} is no percentage from 0 to 100")
    return value / 100


def register(subparsers: Any) -> None:
    """Adds `compare` to the command line."""
    parser = subparsers.add_parser(
        "compare", help="say what changed between two sets of results",
        usage="el1bench compare BASE NEW | --base BASE... --new NEW... [options]",
        description="Compares results row by row: slower, faster or same, each with its interval. "
        "A side may have several files, whose boots are taken together. Exit codes: 0 no slow-down "
        "(or what --fail-on says), 1 there is one or a benchmark fails in new only, 2 the results "
        "cannot be read or not be compared, 3 results are incomplete or too few for any verdict.")
    parser.add_argument("results", metavar="RESULTS", nargs="*",
                        help="two results.json, or the folders that hold them: base, then new")
    parser.add_argument("--base", metavar="RESULTS", nargs="+", help="results to compare with")
    parser.add_argument("--new", metavar="RESULTS", nargs="+", help="results to judge")
    parser.add_argument("--fail-on", choices=sorted(FAIL_ON), default="slower",
                        help="changes that make the exit code 1 (default: slower)")
    parser.add_argument("--tolerate", metavar="PERCENT", type=_share, default=0.0,
                        help="a change up to this share of base is none (default: 0)")
    parser.add_argument("--format", choices=FORMATS, default="term",
                        help="plain text (the default), Markdown, or comma-separated values of "
                        "every row")
    parser.add_argument("--output", metavar="FILE", help="write here instead of standard output")
    parser.set_defaults(main=main)


def _names(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The files of the two sides, however they were given."""
    if args.base is None and args.new is None and len(args.results) == 2:
        return [args.results[0]], [args.results[1]]
    if args.results or not args.base or not args.new:
        raise UserError("compare takes two results, or --base RESULTS... and --new RESULTS...")
    return args.base, args.new


def _exit_code(made: verdicts.Verdicts, base: Side, new: Side, fail_on: str) -> int:
    whole = all(results["run"]["complete"] for side in (base, new) for results in side.results)
    if not whole or not any(made.count(word) for word in _DECIDED):
        return EXIT_INCOMPLETE
    failed = fail_on != "none" and tables.new_failures(base, new)
    if failed or any(made.count(word) for word in FAIL_ON[fail_on]):
        return EXIT_FAILED
    return EXIT_OK


def main(args: argparse.Namespace) -> int:
    """Runs `compare`."""
    base, new = (load_side(names) for names in _names(args))
    mode = conditions.mode_of(base, new)
    made = verdicts.judge(base, new, mode, args.tolerate)
    if not made.rows:
        raise UserError("no row is on both sides: nothing to compare")
    if args.format == "csv":
        text = tables.make_csv(made)
    else:
        blocks = tables.make_blocks(made, base, new, conditions.warnings(base, new, mode),
                                    args.tolerate)
        text = (render_md if args.format == "md" else render_term).render(blocks)
    if args.output is None:
        sys.stdout.write(text)
    else:
        try:
            Path(args.output).write_text(text, encoding="ascii")
        except OSError as error:
            raise UserError(f"cannot write {args.output}: {error.strerror}") from error
    return _exit_code(made, base, new, args.fail_on)
