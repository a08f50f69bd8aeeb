"""`el1bench build`: the image for a board, through CMake."""

import argparse
import contextlib
import sys
from pathlib import Path
from typing import Optional, Sequence

from el1bench_host import paths, setup
from el1bench_host.errors import EXIT_OK, UserError
from el1bench_host.locks import file_lock
from el1bench_host.process import run_logged

DEFAULT_BOARD = "qemu-virt"


def check_board(board: str) -> None:
    """Raise UserError, with the boards there are, if `board` is none of them."""
    boards = paths.board_names()
    if board not in boards:
        raise UserError(f"no board `{board}`; boards: {', '.join(boards)}")


def build_board(board: str, quiet: bool = False, werror: bool = False,
                folder: Optional[Path] = None, source: Path = paths.SOURCE_TREE,
                plants: Sequence[str] = ()) -> Path:
    """Build the image for `board`; returns the build folder, which then holds `image`.

    What the build needs is installed first. `folder` is build/<board> unless given. `plants` are
    faults to build in, for tests: tests/plants/NAME.c.
    """
    check_board(board)
    libraries = setup.ensure("build", quiet)
    folder = folder or paths.BUILD / board
    with contextlib.ExitStack() as held:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            held.enter_context(file_lock(folder / ".lock"))
        except OSError as error:
            raise UserError(f"cannot write to {folder}: {error.strerror}") from error
        _run_cmake(board, folder, source, libraries, werror, quiet, plants)
    return folder


def _run_cmake(board: str, folder: Path, source: Path, libraries: dict[str, str], werror: bool,
               quiet: bool, plants: Sequence[str]) -> None:
    """Configure and build, with a log of both in the build folder."""
    log = folder / "build.log"
    log.unlink(missing_ok=True)
    what = f"building the image for {board}"
    run_logged(["cmake", "-S", str(source), "-B", str(folder), "-G", "Ninja",
                f"--toolchain={source}/scripts/cmake/aarch64.cmake",
                f"-DEL1BENCH_BOARD={board}", f"-DEL1BENCH_WERROR={'ON' if werror else 'OFF'}",
                f"-DEL1BENCH_PLANT={';'.join(plants)}",
                f"-DEL1BENCH_NEWLIB={libraries['newlib']}",
                f"-DEL1BENCH_LIBFDT={libraries['libfdt']}"],
               log, what, quiet=quiet)
    run_logged(["cmake", "--build", str(folder)], log, what, quiet=True)


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the command line."""
    parser = subparsers.add_parser(
        "build", help="build the image for a board",
        description="Build build/<board>/image (the raw Image that boot loaders take) and "
                    "build/<board>/image.elf.")
    parser.add_argument("--board", default=DEFAULT_BOARD,
                        help=f"one of: {', '.join(paths.board_names())} (default: %(default)s)")
    parser.add_argument("--werror", action="store_true", help="treat warnings as errors")
    parser.add_argument("--build-dir", type=Path, metavar="DIR",
                        help="build there instead of build/<board>")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    folder = build_board(args.board, args.quiet, args.werror, args.build_dir)
    if not args.quiet:
        image = folder / "image"
        print(f"el1bench: {image} ({image.stat().st_size} bytes)", file=sys.stderr)
    return EXIT_OK
