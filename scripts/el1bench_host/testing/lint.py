"""Jobs that read the sources: format, static analysis, and the rules of the house."""

import re
import time
from pathlib import Path
from typing import Callable, Iterator

from el1bench_host import audit, build, paths, setup
from el1bench_host.testing.pool import FAIL, PASS, Job, Result, command_job

LINT_SECONDS = 300
COLUMNS_MAX = 100

# Who may not include what, and why: (folder, header, reason).
LAYERS = (
    ("src/suites", "console", "a suite cannot see the console"),
    ("src/suites", "uart", "a suite cannot see the console"),
    ("src/suites", "report", "a suite cannot see the report"),
    ("src/drivers", "benchmark", "a driver knows nothing of benchmarks"),
    ("src/drivers", "engine", "a driver knows nothing of benchmarks"),
    ("src/drivers", "console", "a driver does not print"),
    ("src/smp", "console", "core bring-up does not print"),
)


def files(*patterns: str) -> list[Path]:
    """Source files, from the tree's root, sorted; nothing from build folders."""
    return sorted({path for pattern in patterns for path in paths.SOURCE_TREE.glob(pattern)
                   if path.is_file()})


def _shell_scripts() -> list[Path]:
    """Files whose first line says that a shell runs them."""
    found = []
    for path in files("scripts/*", ".ci/*", "tests/**/*.sh"):
        with path.open("rb") as file:
            if re.match(rb"#!\s*/(usr/)?bin/(env )?(ba)?sh\b", file.readline()):
                found.append(path)
    return found


def _lines(paths_to_read: list[Path]) -> Iterator[tuple[Path, int, str]]:
    for path in paths_to_read:
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            yield path.relative_to(paths.SOURCE_TREE), number, line


def layer_problems() -> list[str]:
    """Includes that go against the direction of dependencies."""
    found = []
    for folder, header, reason in LAYERS:
        include = re.compile(rf'\s*#\s*include\s+"(?:el1bench/)?{header}\.h"')
        for path, number, line in _lines(files(f"{folder}/**/*.[chS]")):
            if include.match(line):
                found.append(f"{path}:{number}: {reason}")
    return found


def switch_problems() -> list[str]:
    """`#ifdef X` where X is defined as 0: a switch that cannot be switched off."""
    return [line for finding in audit.own_switches() for line in finding.lines()]


def text_problems() -> list[str]:
    """Lines that are too long, blanks at the end of lines, tabs in Python."""
    found = []
    sources = files("src/**/*.[chS]", "include/**/*.h", "linker/*", "tests/**/*.[ch]",
                    "tests/**/*.py", "scripts/**/*.py", "scripts/**/*.cmake", "scripts/el1bench",
                    "boards/*/*", "CMakeLists.txt", ".ci/*")
    for path, number, line in _lines(sources):
        # A list of sources is one line for its reader; a string literal need not be cut.
        whole = line.startswith("/* sources: ") or (path.suffix in (".c", ".py") and '"' in line)
        if len(line.expandtabs(8)) > COLUMNS_MAX and path.suffix != ".md" and not whole:
            found.append(f"{path}:{number}: longer than {COLUMNS_MAX} columns")
        if line != line.rstrip():
            found.append(f"{path}:{number}: blanks at the end of the line")
        if path.suffix == ".py" and "\t" in line:
            found.append(f"{path}:{number}: a tab")
    return found


def _own_check(name: str, check: Callable[[], list[str]]) -> Job:
    full_name = f"lint: {name}"

    def run() -> list[Result]:
        started = time.monotonic()
        found = check()
        return [Result(full_name, FAIL if found else PASS, time.monotonic() - started,
                       "".join(f"{line}\n" for line in found))]

    return Job((full_name,), run)


def _tidy_jobs(sources: list[Path]) -> list[Job]:
    """clang-tidy, one job a folder of src/: by itself the slowest of the checks.

    It sees what the compiler sees, the generated header of the default board included.
    """
    libraries = setup.ensure("build", quiet=True)
    generated = build.build_board("qemu-virt", quiet=True) / "generated"
    flags = ["--target=aarch64-linux-gnu", "-mcpu=cortex-a53", "-std=gnu11", "-nostdlibinc",
             "-isystem", f"{libraries['newlib']}/include",
             "-isystem", f"{libraries['libfdt']}/include", "-Iinclude", f"-I{generated}"]
    folders: dict[str, list[str]] = {}
    for path in sources:
        relative = path.relative_to(paths.SOURCE_TREE)
        folders.setdefault(relative.parts[1], []).append(str(relative))
    return [command_job(f"lint: clang-tidy {folder}",
                        ["clang-tidy", "--quiet", "--warnings-as-errors=*", *found, "--", *flags],
                        LINT_SECONDS, folder=paths.SOURCE_TREE)
            for folder, found in sorted(folders.items())]


def jobs() -> list[Job]:
    """Every check of the sources."""
    formatted = files("src/**/*.[ch]", "include/**/*.h", "tests/**/*.[ch]")
    analysed = files("src/**/*.c")
    python = files("scripts/**/*.py", "tests/**/*.py")
    root = paths.SOURCE_TREE

    def relative(found: list[Path]) -> list[str]:
        return [str(path.relative_to(root)) for path in found]

    # comparePointers: the ends of a linker section are two symbols, and one array.
    return [
        *_tidy_jobs(analysed),
        command_job("lint: clang-format",
                    ["clang-format", "--dry-run", "-Werror", *relative(formatted)],
                    LINT_SECONDS, folder=root),
        command_job("lint: cppcheck",
                    ["cppcheck", "--quiet", "--std=c11", "--error-exitcode=1", "--inline-suppr",
                     "--enable=warning,portability,performance", "--suppress=unknownMacro",
                     "--suppress=comparePointers", "--platform=unix64", "-D__GNUC__", "-Iinclude",
                     *relative(analysed)],
                    LINT_SECONDS, folder=root),
        command_job("lint: shellcheck", ["shellcheck", *relative(_shell_scripts())],
                    LINT_SECONDS, folder=root),
        command_job("lint: pyflakes", ["pyflakes3", *relative(python)], LINT_SECONDS, folder=root),
        _own_check("layers", layer_problems),
        _own_check("switches", switch_problems),
        _own_check("text", text_problems),
    ]
