"""`el1bench decode`: turns a console log into results.json and its sidecar of samples."""

import argparse
import sys
from pathlib import Path
from typing import Any

from el1bench_host.decoded_log import DecodedLog, problem_text
from el1bench_host.decoder import decode_log
from el1bench_host.errors import UserError
from el1bench_host.results_file import write_results

PROBLEMS_SHOWN = 50


def print_problems(decoded: DecodedLog) -> None:
    """Every problem on standard error, one a line; the first of them if there are very many."""
    problems = decoded.problems
    for problem in problems[:PROBLEMS_SHOWN]:
        print(f"el1bench: {problem_text(problem)}", file=sys.stderr)
    if len(problems) > PROBLEMS_SHOWN:
        print(f"el1bench: and {len(problems) - PROBLEMS_SHOWN} more problems, all in results.json",
              file=sys.stderr)


def register(subparsers: Any) -> None:
    """Adds `decode` to the command line."""
    parser = subparsers.add_parser(
        "decode", help="turn a console log into results.json",
        description="Reads a console log, checks every machine line in it, and writes results.json "
        "and, if the log holds raw samples, results.samples.jsonl.gz. Exit codes: 0 complete, 1 "
        "complete but a benchmark failed, 2 no el1bench log or the run was refused, 3 damaged or "
        "cut off (what is left is decoded).")
    parser.add_argument("log", metavar="LOG", help="the log; `-` for standard input")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the results")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Runs `decode`."""
    decoded = decode_log(sys.stdin.buffer.read() if args.log == "-" else args.log)
    if decoded.empty:
        raise UserError(f"{args.log}: no el1bench line in it")
    path = write_results(decoded, Path(args.out))
    print_problems(decoded)
    if not args.quiet:
        rows = sum(len(boot.rows) for boot in decoded.boots)
        print(f"{path}: {len(decoded.boots)} boot{'' if len(decoded.boots) == 1 else 's'}, "
              f"{rows} metrics, {decoded.status()}")
    return decoded.exit_code()
