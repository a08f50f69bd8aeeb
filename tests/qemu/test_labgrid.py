"""The labgrid environment and strategy of scripts/lab/labgrid, on the virtual bench.

Debian's package drags in Docker, SNMP and a message broker, none of which is used: labgrid and the
Python modules that it imports are unpacked into the cache.
"""

import os
import subprocess
import threading
import unittest
from pathlib import Path
from typing import Optional

from tests.folder import temporary_folder
from tests.qemu.support import build_folder
from el1bench_host import debian_archive, decode, machine, paths, setup
from el1bench_host.bench import board_with_u_boot, qemu_command
from el1bench_host.virtual_bench import Bench

MODULES = ("attr", "certifi", "chardet", "charset-normalizer", "idna", "jinja2", "markupsafe",
           "packaging", "pexpect", "pkg-resources", "ptyprocess", "pyudev", "requests", "six",
           "urllib3", "xmodem", "yaml")
LAB = paths.SOURCE_TREE / "scripts" / "lab"
LIMIT_SECONDS = 300
# labgrid answers the countdown just once; a busy host takes its time. A user sets ms_delay_step.
KEY_SECONDS = 10.0


class Labgrid(unittest.TestCase):
    """The strategy, run as its file says."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "labgrid")
        self.served = build_folder("odroid-c4")
        architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True,
                                      text=True, check=True).stdout.strip()
        self.root = debian_archive.ensure(
            "python3-labgrid", architecture, quiet=True,
            also=("libyaml-0-2", *(f"python3-{name}" for name in MODULES)))
        setup.ensure_packages("lab", True)

    def environment(self) -> Path:
        """The environment file with what is to be put there."""
        text = (LAB / "labgrid" / "odroid-c4.yaml").read_text()
        for old, new in {"/dev/odroid-console": f"{self.folder}/console",
                         "/dev/odroid-relay": f"{self.folder}/relay",
                         "/srv/tftp": str(self.served), "0x20000000": "0x40200000",
                         "scripts/lab/relay": str(LAB / "relay"),
                         "el1bench_strategy.py\n\n":
                             f"{LAB / 'labgrid' / 'el1bench_strategy.py'}\n\n"}.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        (self.folder / "environment.yaml").write_text(text)
        return self.folder / "environment.yaml"

    def check(self, vendor: Optional[float]) -> None:
        """A boot on the bench, its log, and the board off."""
        (self.folder / "wrong").mkdir()
        emulator = board_with_u_boot(machine.load_board("odroid-c4", self.served), "u-boot",
                                     self.folder)
        bench = Bench(self.folder, qemu_command(emulator, self.served, self.folder / "wrong"),
                      vendor=vendor)
        thread = threading.Thread(target=bench.run)
        thread.start()
        libraries = ":".join(str(path) for path
                             in (self.root / "usr" / "lib").glob("*-linux-gnu"))
        try:
            done = subprocess.run(
                ["/usr/bin/python3", "-s", str(LAB / "labgrid" / "measure.py"),
                 str(self.environment()), str(self.folder / "log"), "el1bench.suite=ipi.normal",
                 "el1bench.samples=100", "el1bench.emulated=qemu", "el1bench.on_exit=halt"],
                capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS,
                cwd=self.folder,
                env={**os.environ, "LD_LIBRARY_PATH": libraries, "EL1BENCH_RELAY_SECONDS": "0",
                     "PYTHONPATH": str(self.root / "usr" / "lib" / "python3" / "dist-packages")})
        finally:
            bench.stop()
            thread.join()
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-6000:])
        self.assertEqual(bench.power_ons, 1)
        decoded = decode.decode_log(self.folder / "log")
        self.assertEqual([problem.text for problem in decoded.problems], [])
        self.assertEqual(decoded.status(), "passed")
        self.assertIn("ipi.normal.total", {row.metric.name for row
                                           in decoded.boots[0].rows.values()})

    def test_mainline(self) -> None:
        self.check(None)

    def test_vendor(self) -> None:
        self.check(KEY_SECONDS)


if __name__ == "__main__":
    unittest.main()
