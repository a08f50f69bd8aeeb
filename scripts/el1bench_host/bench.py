"""`el1bench bench`: a virtual bench, so that a campaign runs, and is tested, without a board.

QEMU is the board: U-Boot, alone or started by TF-A, with a network of its own (10.42.0.0/24, the
host being 10.42.0.1 with DHCP and TFTP). The relay and the serial line are those of virtual_bench.
"""

import argparse
import os
import shutil
import signal
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from el1bench_host import build, machine, setup, tf_a
from el1bench_host.errors import EXIT_OK, UserError
from el1bench_host.serial_port import BAUD_DEFAULT
from el1bench_host.u_boot_dialect import COUNTDOWN_SECONDS
from el1bench_host.virtual_bench import FAULTS, Bench, Command

SUBNET = "10.42.0.0/24"
HOST_ADDRESS = "10.42.0.1"
DIALECTS = ("mainline", "vendor")
# What starts U-Boot: nothing, with QEMU's own PSCI, or TF-A.
FIRMWARE = ("u-boot", "tf-a+u-boot")
GIC = 2


def _cut_copies(served: Path, folder: Path) -> None:
    """Copies of the served files without their last kibibyte."""
    for path in served.iterdir():
        if path.is_file():
            shutil.copyfile(path, folder / path.name)
            os.truncate(folder / path.name, max(0, path.stat().st_size - 1024))


def board_with_u_boot(board: machine.Board, firmware: str, folder: Path,
                      quiet: bool = True) -> machine.Setup:
    """A machine that stands in for the board, entered at EL2 as the board is. `folder` is where
    firmware for its flash goes, of which several machines may start.
    """
    if board.firmware_load_address is None:
        raise UserError(f"QEMU's U-Boot does not run on {board.name}")
    u_boot = setup.ensure_u_boot(quiet)
    emulator = machine.Setup(board, firmware=u_boot, gic=GIC, level=2)
    if firmware == "u-boot":
        return emulator
    flash = folder / "flash"
    tf_a.write_flash(tf_a.ensure(GIC, quiet), u_boot, flash)
    return tf_a.under_tf_a(emulator, flash)


def qemu_command(emulator: machine.Setup, served: Path, wrong: Path) -> Command:
    """QEMU with network, DHCP and TFTP; `wrong` is an empty folder of the caller's."""
    def command(fault: str) -> list[str]:
        network = f"user,id=net0,net={SUBNET},host={HOST_ADDRESS},restrict=on"
        if fault == "wrong-file":
            _cut_copies(served, wrong)
        if fault != "tftp-stall":
            folder = wrong if fault == "wrong-file" else served
            network += f",tftp={str(folder).replace(',', ',,')}"
        return machine.command_line(replace(
            emulator, options=("-netdev", network, "-device", "virtio-net-device,netdev=net0")))
    return command


def _fault(text: str) -> tuple[int, str]:
    """An argparse type: N=KIND."""
    number, _, kind = text.partition("=")
    if not number.isdigit() or kind not in FAULTS:
        raise argparse.ArgumentTypeError(f"`{text}` is not NUMBER=FAULT, one of {', '.join(FAULTS)}")
    return int(number), kind


def register(subparsers: Any) -> None:
    """Adds `bench` to the command line."""
    parser = subparsers.add_parser(
        "bench", help="stand in for a board, its relay and its serial line",
        description="Offers DIR/console and DIR/relay, pseudo-terminals that behave as the serial "
        "line and the CH340 relay of a board that runs U-Boot and finds what --serve holds by TFTP "
        f"on {HOST_ADDRESS}, until Ctrl-C. QEMU is the board, with GICv2, entered at EL2. Faults, by the number of the "
        "power-on, from 0: " + "; ".join(f"{kind}: {what}" for kind, what in FAULTS.items()) + ".")
    parser.add_argument("folder", metavar="DIR", help="folder for console and relay")
    parser.add_argument("--board", default="odroid-c4", help="a folder of boards/; its image is "
                        "built and served (default: odroid-c4)")
    parser.add_argument("--serve", metavar="FOLDER", help="serve this instead of the board's build "
                        "folder")
    parser.add_argument("--firmware", choices=FIRMWARE, default=FIRMWARE[0],
                        help="tf-a+u-boot: TF-A with power-down suspends starts U-Boot; else QEMU "
                        "itself answers PSCI calls (default: %(default)s)")
    parser.add_argument("--dialect", choices=DIALECTS, default=DIALECTS[0],
                        help="vendor: prompt, countdown and keys of Hardkernel's U-Boot "
                        "(default: %(default)s)")
    parser.add_argument("--baud", type=int, default=BAUD_DEFAULT,
                        help="speed of the serial line (default: %(default)s)")
    parser.add_argument("--fault", type=_fault, action="append", default=[], metavar="N=FAULT",
                        help="may be repeated")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Runs `bench`."""
    if args.baud < 1:
        raise UserError(f"--baud: {args.baud} is no speed")
    setup.ensure_packages("run", args.quiet)
    machine.find_qemu(machine.DEFAULT_QEMU)
    folder, served = Path(args.folder), Path(args.serve) if args.serve else None
    if served is not None and not served.is_dir():
        raise UserError(f"--serve: no folder {served}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror}") from error
    build_folder = build.build_board(args.board, quiet=args.quiet)
    board = machine.load_board(args.board, build_folder)
    with tempfile.TemporaryDirectory(prefix="el1bench-bench-") as scratch:
        wrong = Path(scratch) / "wrong"
        wrong.mkdir()
        emulator = board_with_u_boot(board, args.firmware, Path(scratch), args.quiet)
        bench = Bench(folder, qemu_command(emulator, (served or build_folder).absolute(), wrong),
                      baud=args.baud, faults=dict(args.fault),
                      vendor=COUNTDOWN_SECONDS if args.dialect == "vendor" else None)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: bench.stop())
        if not args.quiet:
            print(f"console {bench.console.link}, relay {bench.relay.link}, images load at "
                  f"{board.firmware_load_address:#x}; Ctrl-C ends", flush=True)
        bench.run()
    return EXIT_OK
