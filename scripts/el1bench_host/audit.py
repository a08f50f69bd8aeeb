"""`el1bench audit`: no output in timed code, ordered clocks, bounded stacks, honest switches."""

import argparse
import re
import sys
import time
from pathlib import Path
from typing import Optional

from el1bench_host import build, paths
from el1bench_host.auditing import image_audit, prints, switches
from el1bench_host.auditing.finding import Finding, printable
from el1bench_host.auditing.tree import Tree
from el1bench_host.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, UserError

OWN_SOURCES = ("src", "include", "linker", "tests")

DESCRIPTION = """\
Without SOURCE_TREE: disassemble the image of a board (built if need be) and walk everything that
timed code can reach. The audit fails, with the way there, if that includes the console, a UART,
stdio, malloc, an undeclared lock or an undeclared indirect call; if a counter read anywhere in the
image is not ordered; if a frame or the deepest way exceeds its stack. Then look through this
project's own sources as below. What is allowed, and why, is in src/audit.toml.

With SOURCE_TREE, a folder (or file) of C sources of whatever project: list each `#ifdef X` or
`defined(X)` where X is defined as 0 (in the same file, a header or a build file), so that what it
was to switch off is on. With --begin and --end also list what is printed between two markers."""

EPILOG = """\
Exit codes: 0 nothing found; 1 something found; 2 bad usage, or something could not be read.

  el1bench audit ~/src/firmware --begin 'PROFILE_START' --end 'PROFILE_STOP'"""


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the command line."""
    parser = subparsers.add_parser(
        "audit", help="prove that timed code prints nothing; find such faults in C sources",
        description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source_tree", nargs="?", type=Path, metavar="SOURCE_TREE",
                        help="C sources to look through, instead of an image")
    image = parser.add_argument_group("an image")
    image.add_argument("--board", default=None,
                       help=f"one of: {', '.join(paths.board_names())} "
                            f"(default: {build.DEFAULT_BOARD})")
    image.add_argument("--elf", type=Path, metavar="FILE",
                       help="this image.elf, as it is, instead of a board's")
    image.add_argument("--declarations", type=Path, metavar="FILE",
                       default=image_audit.DECLARATIONS,
                       help="what is allowed (default: src/audit.toml)")
    sources = parser.add_argument_group("a source tree")
    sources.add_argument("--begin", metavar="REGEX", help="timing begins behind what matches this")
    sources.add_argument("--end", metavar="REGEX", help="and ends before what matches this")
    sources.add_argument("--print", metavar="REGEX", dest="print_pattern",
                         help="names of functions and macros that print, instead of printf, puts, "
                              "printk, pr_*, LOG*, INFO, NOTICE, console_*, uart_* and their like")
    parser.add_argument("--quiet", action="store_true", help="findings alone, no summary")
    parser.set_defaults(main=main)


def _pattern(option: str, text: str) -> re.Pattern:
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as error:
        raise UserError(f"{option} `{text}`: {error}") from error


def _check_usage(args: argparse.Namespace) -> None:
    if args.source_tree is not None and (args.elf is not None or args.board is not None):
        raise UserError("either SOURCE_TREE, or --elf or --board")
    if args.elf is not None and args.board is not None:
        raise UserError("either --elf or --board")
    if (args.begin is None) != (args.end is None):
        raise UserError("--begin and --end go together")
    if args.begin is not None and args.source_tree is None:
        raise UserError("--begin and --end need a SOURCE_TREE")
    if args.print_pattern is not None and args.begin is None:
        raise UserError("--print needs --begin and --end")


def _count(number: int, what: str, plural: Optional[str] = None) -> str:
    return f"{number} {what if number == 1 else plural or what + 's'}"


def _show(findings: list[Finding], summary: str, started: float, quiet: bool) -> int:
    for finding in findings:
        for line in finding.lines():
            print(line)
    sys.stdout.flush()
    if not quiet:
        print(f"el1bench: audit: {_count(len(findings), 'finding')}; {summary}; "
              f"{time.monotonic() - started:.1f} s", file=sys.stderr)
    return EXIT_FAILED if findings else EXIT_OK


def _audit_tree(args: argparse.Namespace) -> int:
    """Somebody's sources."""
    started = time.monotonic()
    markers = None
    if args.begin is not None:
        pattern = args.print_pattern or prints.DEFAULT_PRINT
        _pattern("--print", pattern)
        markers = (_pattern("--begin", args.begin), _pattern("--end", args.end), pattern)
    tree = Tree(args.source_tree)
    if not tree.sources:
        raise UserError(f"no C sources in {printable(str(args.source_tree))}")
    findings = switches.switch_findings(tree)
    summary = f"{_count(len(tree.sources), 'source file')} looked through"
    if markers is not None:
        audited = prints.audit_prints(tree, *markers)
        if audited.regions == 0:
            raise UserError(f"nothing in {printable(str(args.source_tree))} matches --begin "
                            f"`{args.begin}`")
        findings = sorted(findings + audited.findings)
        summary += f", {_count(audited.regions, 'region')} between markers"
    tree.report_unreadable()
    status = _show(findings, summary, started, args.quiet)
    return EXIT_USAGE if tree.unreadable and status == EXIT_OK else status


def own_switches() -> list[Finding]:
    """Switches that are always on, in this project's own sources."""
    return switches.switch_findings(Tree(paths.SOURCE_TREE, OWN_SOURCES))


def _audit_image(args: argparse.Namespace) -> int:
    """An image of this project, and its sources."""
    elf = args.elf
    if elf is None:
        elf = build.build_board(args.board or build.DEFAULT_BOARD, args.quiet) / "image.elf"
    started = time.monotonic()
    report = image_audit.audit_image(elf, args.declarations)
    summary = (f"{_count(report.timed, 'timed function')} and what they reach, "
               f"{report.reached} in all; {_count(report.counter_reads, 'counter read')}")
    if report.stack is not None:
        summary += f"; deepest stack {report.stack.bytes} of {report.stack_limit} bytes"
    return _show(report.findings + own_switches(), summary, started, args.quiet)


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    _check_usage(args)
    return _audit_tree(args) if args.source_tree is not None else _audit_image(args)
