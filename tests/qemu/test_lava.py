"""The LAVA jobs of scripts/lab/lava, run by LAVA's own dispatcher, without a server.

Debian's package drags in a file system toolbox that no such job uses, so the dispatcher and the
Python modules that it imports are unpacked into the cache, and the toolbox is an empty module.
"""

import os
import re
import subprocess
import threading
import unittest
from pathlib import Path

from tests.folder import temporary_folder
from tests.qemu.support import build_folder, image_of
from el1bench_host import debian_archive, machine, paths, setup
from el1bench_host.bench import HOST_ADDRESS, board_with_u_boot, qemu_command
from el1bench_host.virtual_bench import Bench

MODULES = ("aiohttp", "aiosignal", "async-timeout", "attr", "certifi", "chardet",
           "charset-normalizer", "configobj", "frozenlist", "idna", "jinja2", "magic",
           "markupsafe", "multidict", "netifaces", "pexpect", "ptyprocess", "pyudev", "requests",
           "setproctitle", "six", "tz", "urllib3", "voluptuous", "yaml", "yarl")
JOBS = paths.SOURCE_TREE / "scripts" / "lab" / "lava"
LIMIT_SECONDS = 300
# LAVA answers the countdown just once; a busy host takes its time. A user sets ms_delay_step.
KEY_SECONDS = 10.0
# The package reads where TFTP serves from in a file of tftpd-hpa, which is not to be needed here.
LAVA_RUN = """
import runpy, sys
from lava_dispatcher.utils import filesystem
_, served, *sys.argv = sys.argv
filesystem.tftpd_dir = lambda: served
runpy.run_path(sys.argv[0], run_name="__main__")
"""
# What a server checks before it takes a job or a device.
SCHEMAS = """
import sys, yaml
from lava_common import schemas
from lava_common.schemas import device
for path in sys.argv[1:]:
    with open(path) as stream:
        (device if path.endswith("-device.yaml") else schemas).validate(yaml.safe_load(stream))
"""


def dispatcher() -> Path:
    """The folder that it is unpacked in."""
    architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True,
                                  check=True).stdout.strip()
    return debian_archive.ensure(
        "lava-dispatcher", architecture, quiet=True,
        also=("lava-common", "lava-dispatcher-host", "libmagic1", "libmagic-mgc", "libyaml-0-2",
              *(f"python3-{name}" for name in MODULES)))


@unittest.skipIf(os.geteuid() != 0, "LAVA's dispatcher works in /var/lib/lava and needs root")
class Lava(unittest.TestCase):
    """lava-run."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "lava")
        self.served = self.folder / "tftp"
        for folder in (self.served, self.folder / "modules", self.folder / "bin"):
            folder.mkdir()
        (self.folder / "modules" / "guestfs.py").write_text('"""Not used by these jobs."""\n')
        # They are looked for, and not run.
        for name in ("in.tftpd", "mkimage", "udevadm"):
            (self.folder / "bin" / name).write_text("#!/bin/false\n")
            (self.folder / "bin" / name).chmod(0o755)
        (self.folder / "dispatcher.yaml").write_text(f"dispatcher_ip: {HOST_ADDRESS}\n")

    def adapted(self, name: str, **values: str) -> Path:
        """A file of scripts/lab/lava with what is to be put there."""
        text = (JOBS / name).read_text()
        for old, new in values.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        (self.folder / name).write_text(text)
        return self.folder / name

    def python(self, *words: str) -> str:
        """Run Python with LAVA's modules, which has to succeed; all that was said."""
        root = dispatcher()
        libraries = ":".join(str(path) for path in (root / "usr" / "lib").glob("*-linux-gnu"))
        done = subprocess.run(
            ["/usr/bin/python3", "-s", "-c", *words], capture_output=True, text=True, check=False,
            timeout=LIMIT_SECONDS, cwd=self.folder,
            env={**os.environ, "LD_LIBRARY_PATH": libraries, "EL1BENCH_RELAY_SECONDS": "0",
                 "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                 "PYTHONPATH": f"{self.folder / 'modules'}:"
                               f"{root / 'usr' / 'lib' / 'python3' / 'dist-packages'}"})
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said[-6000:])
        return said

    def lava_run(self, device: Path, job: Path) -> str:
        """Run a job that has to succeed; all that was said."""
        said = self.python(
            LAVA_RUN, str(self.served), str(dispatcher() / "usr" / "bin" / "lava-run"),
            # Its working folder is named after the number.
            "--job-id", str(os.getpid()), "--output-dir", str(self.folder / "out"),
            "--device", str(device), "--dispatcher", str(self.folder / "dispatcher.yaml"), str(job))
        self.assertTrue(re.search(r'"case": "job".*"result": "pass"', said))
        return said

    def assert_results(self, said: str) -> None:
        """Metrics became results with a measurement and a unit."""
        # LAVA's own name of a case has other characters made into underscores.
        found = re.findall(r'"lvl": "results".*"definition": "el1bench".*"test_case_id": '
                           r'"([^"]+)".*"measurement": "([^"]+)", "result": "(\w+)", '
                           r'"units": "(\w+)"', said)
        results = {name: rest for name, *rest in found}
        self.assertIn("ipi.normal.total", results, said[-6000:])
        measurement, result, unit = results["ipi.normal.total"]
        self.assertEqual((result, unit), ("pass", "tick"))
        self.assertRegex(measurement, r"^\d+(\.\d+)?$")

    def test_schemas(self) -> None:
        files = sorted(JOBS.glob("*.yaml"))
        self.assertEqual(len(files), 4)
        self.python(SCHEMAS, *map(str, files))

    def test_qemu(self) -> None:
        job = self.adapted("qemu-job.yaml", IMAGE=str(image_of("qemu-virt")))
        self.assert_results(self.lava_run(self.adapted("qemu-device.yaml"), job))

    def board(self, console: Path, relay: Path) -> tuple[Path, Path]:
        """Device and job of the board, adapted to where they are tried; its image is there."""
        device = self.adapted("odroid-c4-device.yaml", **{
            "/dev/odroid-console": str(console), "/dev/odroid-relay": str(relay),
            '"0x20000000"': '"0x40200000"', "EL1BENCH/": f"{paths.SOURCE_TREE}/"})
        job = self.adapted("odroid-c4-job.yaml", **{
            "url: IMAGE": f"url: file://{image_of('odroid-c4')}",
            "suite=clock,ipi,psci el1bench.samples=1000":
                "emulated=qemu el1bench.suite=ipi.normal el1bench.samples=100"})
        return device, job

    def check_board(self, vendor: bool) -> None:
        """The board's job on the virtual bench."""
        setup.ensure_packages("lab", True)
        (self.folder / "wrong").mkdir()
        emulator = board_with_u_boot(machine.load_board("odroid-c4", build_folder("odroid-c4")),
                                     "u-boot", self.folder)
        bench = Bench(self.folder, qemu_command(emulator, self.served, self.folder / "wrong"),
                      vendor=KEY_SECONDS if vendor else None)
        thread = threading.Thread(target=bench.run)
        thread.start()
        try:
            said = self.lava_run(*self.board(bench.console.link, bench.relay.link))
        finally:
            bench.stop()
            thread.join()
        self.assertEqual(bench.power_ons, 1)
        self.assertIn("odroidc4#" if vendor else "=> ", said)
        self.assert_results(said)

    def test_board(self) -> None:
        self.check_board(vendor=False)

    def test_board_with_the_vendors_u_boot(self) -> None:
        self.check_board(vendor=True)


if __name__ == "__main__":
    unittest.main()
