"""Fetches single packages from the machine's own Debian mirror and unpacks them into the cache.

apt does the work, with a configuration and folders of its own: neither the machine's package lists,
nor its sources, nor its architectures change, and no privilege is needed. The mirror is the one the
machine is set up with; apt checks signatures as always.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, Optional

from el1bench_host import cache
from el1bench_host.errors import EXIT_FAILED, UserError
from el1bench_host.process import Progress, tail

APT_FOLDER = Path("/etc/apt")
OS_RELEASE = Path("/etc/os-release")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def _sources_from_list(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """(mirror, suites, components) of each `deb` line in a one-line-style file."""
    for line in text.splitlines():
        found = re.match(r"\s*deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+([^#]*)", line)
        if found:
            yield found.group(1), [found.group(2)], found.group(3).split()


def _sources_from_deb822(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """(mirror, suites, components) of each stanza and mirror in a deb822 file."""
    for stanza in re.split(r"\n\s*\n", text):
        fields: dict[str, list[str]] = {}
        name = ""
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace():
                fields.get(name, []).extend(line.split())
            elif ":" in line:
                name, value = line.split(":", 1)
                name = name.lower()
                fields[name] = value.split()
        enabled = fields.get("enabled", ["yes"])
        if "deb" in fields.get("types", []) and enabled != ["no"]:
            for mirror in fields.get("uris", []):
                yield mirror, fields.get("suites", []), fields.get("components", [])


def release_name(os_release: Path = OS_RELEASE) -> str:
    """The machine's Debian release, for instance `bookworm`."""
    try:
        found = re.search(r'^VERSION_CODENAME="?(\w+)', os_release.read_text(encoding="utf-8"),
                          re.MULTILINE)
    except OSError as error:
        raise UserError(f"cannot read {os_release}: {error.strerror}") from error
    if not found:
        raise UserError(f"{os_release} names no release; Debian 12 or later is needed")
    return found.group(1)


def find_mirror(release: str, apt_folder: Path = APT_FOLDER) -> str:
    """The mirror from which apt installs the machine's own release."""
    folder = apt_folder / "sources.list.d"
    for path in [apt_folder / "sources.list", *sorted(folder.glob("*.list")),
                 *sorted(folder.glob("*.sources"))]:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError:
            continue
        read = _sources_from_deb822 if path.suffix == ".sources" else _sources_from_list
        for mirror, suites, components in read(text):
            if release in suites and "main" in components:
                return mirror
    raise UserError(f"no Debian mirror for {release} in {apt_folder}/sources.list"
                    f" or {folder}")


def _apt(command: list[str], folder: Path, architecture: str) -> Optional[str]:
    """Run apt-get inside `folder`; returns what it complained about, None if all went well."""
    options = {
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        # apt would otherwise hand the download to a user who cannot enter the cache.
        "APT::Sandbox::User": "root",
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        # A list that cannot be fetched is an error, not a warning.
        "APT::Update::Error-Mode": "any",
    }
    arguments = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    try:
        done = subprocess.run(["apt-get", "-q", *arguments, *command], cwd=folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              env={**os.environ, "LC_ALL": "C"})
    except OSError as error:
        return f"cannot start apt-get: {error.strerror}"
    return None if done.returncode == 0 else done.stderr or done.stdout


def _first_dependency(archive: Path) -> str:
    """The package that a metapackage stands for."""
    done = subprocess.run(["dpkg-deb", "-f", str(archive), "Depends"], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    found = re.match(r"[a-z0-9][a-z0-9.+-]+", done.stdout)
    if not found:
        raise UserError(f"{archive.name} depends on no package", EXIT_FAILED)
    return found.group(0)


def _download(package: str, suite: str, architecture: str, folder: Path,
              metapackage: bool = False, also: tuple[str, ...] = ()) -> list[Path]:
    """Fetch the packages' archive files into `folder`; of a metapackage, what it depends on."""
    mirror = find_mirror(release_name())
    signed = f" [signed-by={KEYRING}]" if KEYRING.exists() else ""
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "cache" / "archives" / "partial").mkdir(parents=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(f"deb{signed} {mirror} {suite} main\n", encoding="utf-8")
    commands = [["update"], ["download", package, *also]]
    for command in commands:
        complaint = _apt(command, folder, architecture)
        if complaint is not None:
            lines = [line for line in complaint.splitlines() if line.startswith("E:")]
            reason = lines[0][2:].strip() if lines else tail(complaint, 1)
            raise UserError(f"cannot fetch {package}:{architecture} of {suite} from {mirror}: "
                            f"{reason}", EXIT_FAILED)
        if metapackage and command[0] == "download":
            metapackage = False
            archive = next(folder.glob("*.deb"))
            package = _first_dependency(archive)
            archive.unlink()
            commands.append(["download", package])
    found = sorted(folder.glob("*.deb"))
    if len(found) != 1 + len(also):
        raise UserError(f"apt-get download {package} left {len(found)} packages", EXIT_FAILED)
    return found


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack a package's files."""
    done = subprocess.run(["dpkg", "-x", str(archive), str(folder)], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise UserError(f"dpkg -x {archive.name}: {tail(done.stderr, 1)}", EXIT_FAILED)


def ensure(package: str, architecture: str, suite: Optional[str] = None, quiet: bool = False,
           metapackage: bool = False, without: tuple[str, ...] = (),
           also: tuple[str, ...] = ()) -> Path:
    """The folder that the package is unpacked in, fetched when it is not in the cache.

    Of a metapackage it is the one that it depends on. `without`: folders that are left out.
    `also`: packages that are unpacked into the same folder.

    `suite` is the machine's own release unless given. The folder's name ends in the hash of the
    package; a link without the hash is how it is found again without asking the mirror.
    """
    suite = suite or release_name()
    name = f"{package}-{architecture}-{suite}"
    link = cache.cache_root() / name
    if link.is_dir():
        return link.resolve()
    with cache.lock(name) as root:
        if link.is_dir():
            return link.resolve()
        progress = Progress(f"fetching {package} ({architecture}, {suite})", quiet)
        progress.update()
        try:
            with cache.scratch(root) as work:
                archives = _download(package, suite, architecture, work, metapackage, also)
                key = hashlib.sha256(b"".join(archive.read_bytes() for archive in archives)
                                     ).hexdigest()[:16]
                final = root / f"{name}-{key}"
                if not final.is_dir():
                    unpacked = work / "entry"
                    unpacked.mkdir()
                    for archive in archives:
                        _unpack(archive, unpacked)
                    for name_left_out in without:
                        shutil.rmtree(unpacked / name_left_out, ignore_errors=True)
                    shutil.move(unpacked, final)
                fresh = work / "link"
                fresh.symlink_to(final.name)
                fresh.rename(link)
        finally:
            progress.finish()
    return final


def ensure_source(package: str, suite: str, quiet: bool = False) -> Path:
    """The upstream tarball of a source package, fetched when it is not in the cache."""

    def fetch(folder: Path) -> None:
        mirror = find_mirror(release_name())
        signed = f" [signed-by={KEYRING}]" if KEYRING.exists() else ""
        with cache.scratch(folder.parent) as work:
            (work / "lists" / "partial").mkdir(parents=True)
            (work / "cache" / "archives" / "partial").mkdir(parents=True)
            (work / "status").touch()
            (work / "sources.list").write_text(f"deb-src{signed} {mirror} {suite} main\n",
                                               encoding="utf-8")
            progress = Progress(f"fetching {package} ({suite}, source)", quiet)
            progress.update()
            try:
                for command in (["update"], ["source", "--download-only", package]):
                    complaint = _apt(command, work, "arm64")
                    if complaint is not None:
                        raise UserError(f"cannot fetch the source of {package} of {suite} from "
                                        f"{mirror}: {tail(complaint, 1)}", EXIT_FAILED)
            finally:
                progress.finish()
            found = list(work.glob("*.orig.tar.*"))
            found = [path for path in found if path.suffix != ".asc"]
            if len(found) != 1:
                raise UserError(f"the source of {package} has {len(found)} upstream tarballs",
                                EXIT_FAILED)
            shutil.move(found[0], folder / found[0].name)

    folder = cache.entry(f"{package}-source-{suite}", fetch)
    return next(folder.iterdir())


def ensure_libfdt(quiet: bool = False) -> Path:
    """A folder with libfdt's `include` and `lib` for the image."""
    folder = ensure("libfdt-dev", "arm64", quiet=quiet) / "usr"
    library = folder / "lib" / "aarch64-linux-gnu" / "libfdt.a"
    if not library.is_file():
        raise UserError(f"the package libfdt-dev holds no {library.relative_to(folder)}")
    return folder


def ensure_u_boot(quiet: bool = False) -> Path:
    """U-Boot for QEMU's `virt` machine, as -bios takes it.

    From trixie: the one of bookworm hangs in `go` on a PL011.
    """
    folder = ensure("u-boot-qemu", "arm64", "trixie", quiet)
    binary = folder / "usr" / "lib" / "u-boot" / "qemu_arm64" / "u-boot.bin"
    if not binary.is_file():
        raise UserError(f"the package u-boot-qemu holds no {binary.relative_to(folder)}")
    return binary


def ensure_kernel(quiet: bool = False) -> Path:
    """Debian's own Linux for arm64, without its modules: `boot/vmlinuz-*`, and the device trees of
    boards below `usr/lib/linux-image-*`."""
    folder = ensure("linux-image-arm64", "arm64", quiet=quiet, metapackage=True,
                    without=("lib/modules", "usr/lib/modules"))
    if not list(folder.glob("boot/vmlinuz-*")):
        raise UserError("the package linux-image-arm64 brings no kernel")
    return folder
