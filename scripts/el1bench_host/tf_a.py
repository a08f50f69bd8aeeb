"""TF-A for QEMU's `virt` machine: Debian's source package, built with run-time instrumentation,
and with hooks for the power-down suspends that its port to QEMU lacks.

It is built once for each version of the GIC, into the cache, keyed by the source and by how it is
built. The payload (BL33) goes into a flash image with it: BL1 at 0, the firmware image package
(FIP) at 256 KiB.
"""

import hashlib
import shutil
import struct
import subprocess
import uuid
from dataclasses import replace
from pathlib import Path

from el1bench_host import cache, debian_archive, machine, paths
from el1bench_host.errors import EXIT_FAILED, UserError
from el1bench_host.process import run_logged

SUITE = "trixie"
PACKAGE = "arm-trusted-firmware"
# Where TF-A's port to QEMU puts BL33.
LOAD_ADDRESS = 0x60000000
# Half a gibibyte before it, and as much from it on.
MEMORY_MIB = 1024
FIP_OFFSET = 256 * 1024
FLASH_BYTES_MAX = 64 * 1024 * 1024
FIP_MAGIC = 0xAA640001
FIP_SERIAL = 0x12345678
# In the order of the file; UUIDs as TF-A has them (include/tools_share).
PARTS = {
    "bl2": uuid.UUID("5ff9ec0b-4d22-3e4d-a544-c39d81c73f0a"),
    "bl31": uuid.UUID("47d4086d-4cfe-9846-9b95-2950cbbd5a00"),
    "bl33": uuid.UUID("d6d0eea7-fcea-d54b-9782-9934f234b6e4"),
}
# ven_el3_svc.c answers the calls that read the stamps; the port to QEMU does not name it itself.
BUILD = ("PLAT=qemu", "CROSS_COMPILE=aarch64-linux-gnu-", "DEBUG=0",
         "ENABLE_RUNTIME_INSTRUMENTATION=1", "ENABLE_PSCI_STAT=1",
         "VENDOR_EL3_SRCS=services/el3/ven_el3_svc.c lib/pmf/pmf_smc.c "
         "plat/qemu/common/qemu_suspend.c")
# The port's own hooks for a suspend are empty: they give way to those of this project.
HOOKS = Path("tests/tf-a/qemu_suspend.c")
HOOKED = "plat/qemu/common/qemu_pm.c"
HOOKS_WEAK = ("void qemu_suspend_wait(void);\n"
              "#pragma weak qemu_pwr_domain_suspend\n"
              "#pragma weak qemu_pwr_domain_suspend_finish\n")
HOOK_BEFORE = "\tdisable_mmu_el3();\n"
GIC_OPTIONS = {2: ("QEMU_USE_GIC_DRIVER=QEMU_GICV2",), 3: ("QEMU_USE_GIC_DRIVER=QEMU_GICV3",)}


def _add_hooks(tree: Path) -> None:
    """Gives the port to QEMU its power-down suspend."""
    hooked = tree / HOOKED
    text = hooked.read_text(encoding="utf-8")
    if text.count(HOOK_BEFORE) != 1:
        raise UserError(f"{HOOKED} of this TF-A is not as expected", EXIT_FAILED)
    hooked.write_text(HOOKS_WEAK + text.replace(HOOK_BEFORE, "\tqemu_suspend_wait();\n"
                                                + HOOK_BEFORE), encoding="utf-8")
    shutil.copyfile(paths.SOURCE_TREE / HOOKS, hooked.parent / HOOKS.name)


def _build(source: Path, gic: int, folder: Path, quiet: bool) -> None:
    """Unpacks and builds TF-A into `folder`."""
    with cache.scratch(folder.parent) as work:
        tree = work / "source"
        tree.mkdir()
        done = subprocess.run(["tar", "-xf", str(source), "-C", str(tree), "--strip-components=1"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(f"cannot unpack {source.name}: {done.stderr.strip()[:200]}",
                            EXIT_FAILED)
        _add_hooks(tree)
        run_logged(["make", "-C", str(tree), "-j2", *BUILD, *GIC_OPTIONS[gic], "bl1", "bl2",
                    "bl31"], work / "log", "building TF-A", quiet=quiet)
        for name in ("bl1", "bl2", "bl31"):
            shutil.copyfile(tree / "build" / "qemu" / "release" / f"{name}.bin",
                            folder / f"{name}.bin")


def ensure(gic: int, quiet: bool = False) -> Path:
    """The folder with bl1.bin, bl2.bin and bl31.bin for that GIC, built when not in the cache."""
    source = debian_archive.ensure_source(PACKAGE, SUITE, quiet)
    hooks = (paths.SOURCE_TREE / HOOKS).read_text(encoding="utf-8")
    recipe = "\n".join((*BUILD, *GIC_OPTIONS[gic], hooks, HOOKS_WEAK))
    key = hashlib.sha256(source.read_bytes() + recipe.encode()).hexdigest()[:16]
    return cache.entry(f"tf-a-gicv{gic}-{key}",
                       lambda folder: _build(source, gic, folder, quiet))


def check_folder(folder: Path) -> Path:
    """A folder of the user's own with what TF-A's build for QEMU leaves."""
    for name in ("bl1", "bl2", "bl31"):
        if not (folder / f"{name}.bin").is_file():
            raise UserError(f"{folder} holds no {name}.bin; --firmware-image takes a folder with "
                            "bl1.bin, bl2.bin and bl31.bin")
    return folder


def make_fip(parts: dict[str, bytes]) -> bytes:
    """A firmware image package of the parts in PARTS."""
    header = struct.pack("<IIQ", FIP_MAGIC, FIP_SERIAL, 0)
    offset = len(header) + 40 * (len(PARTS) + 1)
    entries, body = b"", b""
    for name, identifier in PARTS.items():
        entries += identifier.bytes + struct.pack("<QQQ", offset + len(body), len(parts[name]), 0)
        body += parts[name]
        body += b"\0" * (-len(body) % 8)
    entries += b"\0" * 16 + struct.pack("<QQQ", offset + len(body), 0, 0)
    return header + entries + body


def write_flash(folder: Path, payload: Path, path: Path) -> None:
    """Writes the flash image with TF-A from `folder` and BL33 to `path`."""
    bl1 = (folder / "bl1.bin").read_bytes()
    parts = {name: (folder / f"{name}.bin").read_bytes() for name in ("bl2", "bl31")}
    flash = bl1.ljust(FIP_OFFSET, b"\0") + make_fip({**parts, "bl33": payload.read_bytes()})
    if len(bl1) > FIP_OFFSET or len(flash) > FLASH_BYTES_MAX:
        raise UserError(f"TF-A with {payload} does not fit into the flash")
    path.write_bytes(flash)


def under_tf_a(emulator: machine.Setup, flash: Path) -> machine.Setup:
    """The same machine with TF-A and its payload in the flash."""
    board = replace(emulator.board, memory_mib=max(emulator.board.memory_mib, MEMORY_MIB))
    return replace(emulator, board=board, firmware=flash, secure=True)
