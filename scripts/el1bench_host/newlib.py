"""Builds newlib from Debian's newlib-source package into the cache.

The options favour small, portable C: no hand-written assembly (it uses unaligned accesses and
`dc zva`, which fault before the MMU is on), C99 formats, integers only, no C library start-up.
"""

import hashlib
import json
import os
import subprocess
import tarfile
from pathlib import Path

from el1bench_host import cache
from el1bench_host.errors import UserError
from el1bench_host.process import run_logged

TOOL_PREFIX = "aarch64-linux-gnu-"
SOURCE_FOLDER = Path("/usr/src/newlib")
TARGET = "aarch64-none-elf"

COMPILER_FLAGS = (
    "-Os -DPREFER_SIZE_OVER_SPEED -mcpu=cortex-a53 -mstrict-align -mno-outline-atomics"
    " -ffreestanding -fno-pic -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables"
    " -ffunction-sections -fdata-sections"
)
CONFIGURE_OPTIONS = (
    f"--target={TARGET}",
    f"CC_FOR_TARGET={TOOL_PREFIX}gcc",
    f"AS_FOR_TARGET={TOOL_PREFIX}as",
    f"AR_FOR_TARGET={TOOL_PREFIX}ar",
    f"RANLIB_FOR_TARGET={TOOL_PREFIX}ranlib",
    "MAKEINFO=true",
    "--disable-multilib",
    "--disable-libgloss",
    "--disable-newlib-supplied-syscalls",
    "--disable-newlib-multithread",
    "--enable-newlib-io-c99-formats",
    "--enable-newlib-io-long-long",
    "--disable-newlib-io-float",
    "--disable-newlib-wide-orient",
    "--disable-newlib-mb",
    "--enable-newlib-reent-small",
    "--enable-newlib-nano-malloc",
    "--enable-lite-exit",
    "--disable-newlib-fvwrite-in-streamio",
    "--disable-newlib-fseek-optimization",
    "--disable-newlib-unbuf-stream-opt",
)
# Raised when what `_build` does with the above changes, so that old cache entries are left behind.
RECIPE_VERSION = 1


def _tarball() -> Path:
    """The source that the newlib-source package installed."""
    found = sorted(SOURCE_FOLDER.glob("newlib-*.tar.xz"))
    if not found:
        raise UserError(f"no newlib source in {SOURCE_FOLDER}; install the package newlib-source")
    return found[-1]


def _compiler_version() -> str:
    """The cross compiler's own name and version."""
    try:
        return subprocess.run([f"{TOOL_PREFIX}gcc", "--version"], check=True, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(f"cannot run {TOOL_PREFIX}gcc: {error}") from error


def _build(tarball: Path, folder: Path, quiet: bool) -> None:
    """Unpack, configure, make and install into `folder`."""
    work = folder.parent
    log = work / "newlib.log"
    with tarfile.open(tarball) as archive:
        archive.extractall(work)
    sources = [path.parent for path in work.glob("*/configure")]
    if len(sources) != 1:
        raise UserError(f"{tarball} does not look like newlib: {len(sources)} configure scripts")
    source = sources[0]
    build = work / "build"
    build.mkdir()
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR")
                   if name in os.environ}
    environment["LC_ALL"] = "C"
    # The source's path must not reach the objects, or two caches would hold different bytes.
    flags = f"{COMPILER_FLAGS} -ffile-prefix-map={source}=newlib -ffile-prefix-map={build}=build"
    jobs = str(len(os.sched_getaffinity(0)))
    for what, command in (
        ("configuring newlib",
         [f"../{source.name}/configure", f"--prefix={folder}", f"CFLAGS_FOR_TARGET={flags}",
          *CONFIGURE_OPTIONS]),
        ("building newlib, once; takes a minute or two",
         ["make", f"-j{jobs}", "MAKEINFO=true", "all-target-newlib"]),
        ("installing newlib", ["make", "MAKEINFO=true", "install-target-newlib"]),
    ):
        run_logged(command, log, what, folder=build, environment=environment, quiet=quiet)


def ensure(quiet: bool = False) -> Path:
    """The folder with newlib's `include` and `lib`, built when it is not in the cache.

    Its name ends in the key: a hash of the source, the recipe and the compiler.
    """
    tarball = _tarball()
    recipe = {
        "source": hashlib.sha256(tarball.read_bytes()).hexdigest(),
        "compiler": _compiler_version(),
        "flags": COMPILER_FLAGS,
        "configure": CONFIGURE_OPTIONS,
        "recipe": RECIPE_VERSION,
    }
    text = json.dumps(recipe, indent=2, sort_keys=True) + "\n"
    key = hashlib.sha256(text.encode()).hexdigest()[:16]

    def fill(folder: Path) -> None:
        _build(tarball, folder, quiet)
        (folder / "recipe.json").write_text(text, encoding="ascii")

    return cache.entry(f"newlib-{key}", fill) / TARGET
