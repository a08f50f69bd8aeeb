"""The command line of `scripts/el1bench`: finds the command and turns errors into exit codes."""

import argparse
import os
import signal
import sys
from typing import NoReturn, Optional, Sequence

from el1bench_host import (audit, bench, build, campaign, capture, compare, decode, report, run,
                           setup, shell, test)
from el1bench_host.errors import EXIT_INTERRUPTED, EXIT_USAGE, UserError

# Each module adds its command with `register` and names the function that runs it.
COMMANDS = (setup, build, run, test, capture, campaign, bench, shell, decode, report, compare,
            audit)


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a command line in one line."""

    def error(self, message: str) -> NoReturn:
        print(f"el1bench: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(EXIT_USAGE)


def make_parser() -> argparse.ArgumentParser:
    """The parser with every command."""
    parser = Parser(
        prog="el1bench",
        description="Measure spawn, IPI and PSCI power paths at EL1, on a board or under QEMU.",
        epilog="Exit codes: 0 all well; 1 a benchmark, check or test failed; 2 bad usage or "
               "unreadable input; 3 incomplete (timed out, truncated, corrupt).")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.register(subparsers)
    return parser


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run one command; returns the exit code."""
    args = make_parser().parse_args(arguments)
    # Whoever ends us gets the same clean-up as Ctrl-C; `nohup` stays what it is.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)
    try:
        return args.main(args)
    except UserError as error:
        print(f"el1bench: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("el1bench: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_INTERRUPTED
