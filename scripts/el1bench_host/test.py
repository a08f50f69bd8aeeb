"""`el1bench test`: every test, one line each, and the totals on the last line."""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Callable

from el1bench_host import paths, setup
from el1bench_host.errors import EXIT_FAILED, EXIT_OK, UserError
from el1bench_host.testing import gate, images, junit, lint, python_cases, unit
from el1bench_host.testing.pool import FAIL, PASS, SKIP, Job, Result, run_jobs

HOST_SECONDS = 600
AUDIT_SECONDS = 600
QEMU_SECONDS = 600


def _audit_jobs() -> list[Job]:
    images.build_for_tests()
    return python_cases.jobs("audit", paths.SOURCE_TREE / "tests" / "audit", AUDIT_SECONDS,
                             together=True)


def _qemu_jobs() -> list[Job]:
    images.build_for_tests()
    return python_cases.jobs("qemu", paths.SOURCE_TREE / "tests" / "qemu", QEMU_SECONDS,
                             together=False)


def _groups(scratch: Path, refresh: bool) -> dict[str, Callable[[], list[Job]]]:
    """What yields the jobs of each group; building comes first, for all that follow."""
    return {
        "build": lambda: images.jobs(scratch),
        "unit": unit.jobs,
        "host": lambda: python_cases.jobs("host", paths.SOURCE_TREE / "tests" / "host",
                                          HOST_SECONDS, together=True),
        "audit": _audit_jobs,
        "qemu": _qemu_jobs,
        "gate": lambda: gate.jobs(refresh),
        "lint": lint.jobs,
    }


GROUPS = ("build", "unit", "host", "audit", "qemu", "gate", "lint")


def _jobs_of(group: str, make: Callable[[], list[Job]]) -> list[Job]:
    """The group's jobs; if there is no making them, a job that fails and says why."""
    try:
        return make()
    except UserError as error:
        name = f"{group}: preparation"
        result = Result(name, FAIL, 0.0, f"{error}\n")
        return [Job((name,), lambda: [result])]


def _print(result: Result) -> None:
    """One line for a test, and for a failure or a skip all of its output."""
    print(f"{result.status} {result.name} ({result.seconds:.1f} s)", flush=True)
    if result.status in (FAIL, SKIP):
        for line in result.output.rstrip().splitlines():
            print(f"    {line}", flush=True)


def totals(results: list[Result]) -> str:
    """The last line."""
    count = {status: sum(result.status == status for result in results)
             for status in (PASS, FAIL, SKIP)}
    text = f"{count[PASS]} passed, {count[FAIL]} failed"
    return text + (f", {count[SKIP]} skipped" if count[SKIP] else "")


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the command line."""
    parser = subparsers.add_parser(
        "test", help="run every test",
        description="Build all images, run the unit tests, the tests of this tool, the audit, the "
                    "image under QEMU, and the checks of the sources. The last line is the totals; "
                    "the exit code is 1 if anything failed.")
    parser.add_argument("--only", choices=GROUPS, action="append", metavar="GROUP",
                        help=f"just this group, may be repeated: {', '.join(GROUPS)}")
    parser.add_argument("-k", metavar="TEXT", dest="parts", action="append", default=[],
                        help="just the tests with TEXT in their name, may be repeated")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="run N at a time (default: one per processor, %(default)s)")
    parser.add_argument("--refresh", action="store_true",
                        help="with --only gate: write what timed paths take, in instructions, to "
                             "tests/qemu/expectations instead of comparing with it")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write JUnit XML")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.refresh and args.only != ["gate"]:
        raise UserError("--refresh goes with --only gate")
    if args.jobs < 1:
        raise UserError("--jobs must be at least 1")
    if args.junit is not None and not args.junit.absolute().parent.is_dir():
        raise UserError(f"no folder {args.junit.absolute().parent} for --junit")
    setup.ensure("test")
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="el1bench-test-") as scratch:
        for group, make in _groups(Path(scratch), args.refresh).items():
            if args.only and group not in args.only:
                continue
            jobs = [job for job in _jobs_of(group, make)
                    if not args.parts or any(part in name for name in job.names
                                             for part in args.parts)]
            results += run_jobs(jobs, args.jobs, _print)
    if args.junit is not None:
        junit.write(args.junit, results)
    if not results:
        wanted = " or ".join(f"`{part}`" for part in args.parts)
        raise UserError(f"no test matches {wanted}" if wanted else "no tests")
    print(totals(results), flush=True)
    return EXIT_FAILED if any(result.status == FAIL for result in results) else EXIT_OK
