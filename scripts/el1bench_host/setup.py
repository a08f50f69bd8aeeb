"""`el1bench setup`: puts in place what building, running and testing need.

Debian packages are installed with apt; newlib is built, and libfdt and firmware are fetched, into
the cache. Each part of the tool asks for just what it needs; when that is there, asking is quick.
"""

import argparse
import os
import shutil
import subprocess
import sys

from el1bench_host import cache, debian_archive, newlib
from el1bench_host.debian_archive import ensure_kernel, ensure_u_boot
from el1bench_host.errors import EXIT_FAILED, EXIT_OK, UserError
from el1bench_host.process import run_logged

# Debian packages, by what they are for.
PACKAGES = {
    "build": ("cmake", "ninja-build", "make", "gcc", "libc6-dev", "gcc-aarch64-linux-gnu",
              "newlib-source", "xz-utils", "device-tree-compiler", "python3-lz4"),
    "run": ("qemu-system-arm",),
    "lab": ("python3-serial",),
    "test": ("libcmocka-dev", "libfdt-dev", "clang-format", "clang-tidy", "cppcheck", "shellcheck",
             "pyflakes3"),
}
PURPOSES = tuple(PACKAGES)

__all__ = ["ensure", "ensure_kernel", "ensure_u_boot", "main", "register"]


def packages_for(purpose: str) -> list[str]:
    """Every Debian package that `purpose` needs; tests build and run images too."""
    if purpose == "test":
        return [package for packages in PACKAGES.values() for package in packages]
    return list(PACKAGES[purpose])


def missing_packages(packages: list[str]) -> list[str]:
    """Those of `packages` that are not installed."""
    try:
        done = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status} ${Package}\n",
                               *packages], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
    except OSError as error:
        raise UserError("no dpkg-query here: setup needs Debian 12 or later") from error
    installed = {line.split()[1] for line in done.stdout.splitlines()
                 if line.startswith("installed ")}
    return [package for package in packages if package not in installed]


def _privilege() -> list[str]:
    """What to put before a command to run it as root; raises LookupError if nothing does it."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        done = subprocess.run(["sudo", "-n", "true"], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        if done.returncode == 0:
            return ["sudo", "-n"]
    raise LookupError


def install_packages(packages: list[str], quiet: bool = False) -> None:
    """Install `packages` with apt, or raise UserError with the command for the user to type."""
    try:
        privilege = _privilege()
    except LookupError:
        raise UserError("some packages are missing; please type: sudo apt-get install -y "
                        "--no-install-recommends " + " ".join(packages)) from None
    apt = [*privilege, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "apt-get", "-q"]
    what = "installing " + (packages[0] if len(packages) == 1 else f"{len(packages)} packages")
    install = [*apt, "install", "-y", "--no-install-recommends", *packages]
    with cache.lock("apt") as root, cache.scratch(root) as work:
        # Package lists may be absent or out of date: they are fetched anew only if it takes them.
        known = subprocess.run([*install, "--print-uris"], stdin=subprocess.DEVNULL,
                               capture_output=True, check=False)
        if known.returncode != 0:
            run_logged([*apt, "update"], work / "log", "updating package lists", quiet=quiet)
        try:
            run_logged(install, work / "log", what, quiet=quiet)
        except UserError:
            run_logged([*apt, "update"], work / "log", "updating package lists", quiet=quiet)
            run_logged(install, work / "log", what, quiet=quiet)
    still = missing_packages(packages)
    if still:
        raise UserError(f"apt-get did not install {' '.join(still)}", EXIT_FAILED)


def ensure_packages(purpose: str, quiet: bool = False) -> None:
    """Install the Debian packages that `purpose` needs, where they are missing."""
    missing = missing_packages(packages_for(purpose))
    if missing:
        install_packages(missing, quiet)


def ensure(purpose: str, quiet: bool = False) -> dict[str, str]:
    """Put in place what `purpose` needs: build, run (an image that is there already), lab (serial
    ports) or test.

    Returns where the libraries of the image are, by name, where the purpose needs them.
    """
    ensure_packages(purpose, quiet)
    if purpose in ("run", "lab"):
        return {}
    return {
        "newlib": str(newlib.ensure(quiet)),
        "libfdt": str(debian_archive.ensure_libfdt(quiet)),
    }


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the command line."""
    parser = subparsers.add_parser(
        "setup", help="install what is missing",
        description="Install missing Debian packages (as root, or through sudo) and fill the cache "
                    "with newlib, libfdt and firmware. Other commands do this themselves, for just "
                    "what they need.")
    parser.add_argument("--only", choices=PURPOSES, default="test",
                        help="just what this needs (default: everything)")
    parser.add_argument("--print", action="store_true", dest="show",
                        help="print where the libraries are, one name=folder a line")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    libraries = ensure(args.only, args.quiet)
    if args.only == "test":
        libraries["u-boot"] = str(ensure_u_boot(args.quiet))
        libraries["kernel"] = str(ensure_kernel(args.quiet))
    if args.show:
        for name, folder in libraries.items():
            print(f"{name}={folder}")
    elif not args.quiet:
        print("el1bench: everything is in place", file=sys.stderr)
    return EXIT_OK
