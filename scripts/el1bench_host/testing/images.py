"""Jobs that build the images: free of warnings, the same bytes each time, and small enough."""

import shutil
import time
from pathlib import Path

from el1bench_host import build, paths
from el1bench_host.testing.pool import FAIL, PASS, Job, Result, run_command

BUILD_SECONDS = 600
# The limit for the image that is sent to others as a smoke test.
IMAGE_BYTES_MAX = {"qemu-virt": 96 * 1024}
SOURCES = ("CMakeLists.txt", "boards", "include", "linker", "scripts", "src", "tests/el3-monitor")


def copy_sources(tree: Path, folder: Path) -> Path:
    """A copy of what an image is built from, at a path of its own."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        source = tree / name
        if source.is_dir():
            shutil.copytree(source, folder / name,
                            ignore=shutil.ignore_patterns("__pycache__", ".*.sw?"))
        else:
            shutil.copy2(source, folder / name)
    return folder


def _build(source: Path, folder: Path, board: str) -> tuple[bytes, str]:
    """Build with warnings as errors; returns (image, output), the image empty on failure."""
    status, output = run_command(
        [str(source / "scripts" / "el1bench"), "build", "--board", board, "--werror", "--quiet",
         "--build-dir", str(folder)], BUILD_SECONDS)
    if status != 0:
        log = folder / "build.log"
        if log.exists():
            output += log.read_text(encoding="utf-8", errors="replace")
        return b"", output
    return (folder / "image").read_bytes(), output


def _check(board: str, scratch: Path, sources: Path) -> list[Result]:
    names = job_names(board)
    started = time.monotonic()
    image, output = _build(sources, scratch / board / "first", board)
    limit = IMAGE_BYTES_MAX.get(board, len(image))
    if len(image) > limit:
        output += f"the image has {len(image)} bytes, at most {limit} are allowed\n"
    good = image and len(image) <= limit
    results = [Result(names[0], PASS if good else FAIL, time.monotonic() - started, output)]
    if not image:
        return results
    started = time.monotonic()
    elsewhere = copy_sources(sources, scratch / board / "elsewhere" / "sources")
    again, output = _build(elsewhere, scratch / board / "second", board)
    if again and again != image:
        differ = [position for position, (one, other) in enumerate(zip(image, again))
                  if one != other]
        where = f"first at {differ[0]:#x}" if differ else "only in length"
        output += (f"two builds differ: {len(image)} and {len(again)} bytes, "
                   f"{len(differ)} of them, {where}\n")
    results.append(Result(names[1], PASS if again == image else FAIL,
                          time.monotonic() - started, output))
    return results


def job_names(board: str) -> tuple[str, str]:
    """The two tests of a board's image."""
    return f"build: {board}", f"build: {board} twice, the same bytes"


def jobs(scratch: Path) -> list[Job]:
    """One job for each board; `scratch` is an empty folder for the builds.

    The sources are copied first, so that editing them meanwhile does not matter.
    """
    sources = copy_sources(paths.SOURCE_TREE, scratch / "sources")
    return [Job(job_names(board), lambda board=board: _check(board, scratch, sources))
            for board in paths.board_names()]


def build_for_tests() -> None:
    """The images that the tests under QEMU start, in their usual place."""
    for board in paths.board_names():
        build.build_board(board)
