"""The LAVA job of scripts/lab/lava, run by LAVA's own dispatcher, without a server.

Debian's package drags in a file system toolbox that no such job uses, so the dispatcher and the
Python modules that it imports are unpacked into the cache, and the toolbox is an empty module.
"""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.qemu.support import image_of
from el1bench_host import debian_archive, paths

MODULES = ("aiohttp", "aiosignal", "async-timeout", "attr", "certifi", "chardet",
           "charset-normalizer", "configobj", "frozenlist", "idna", "jinja2", "magic",
           "markupsafe", "multidict", "netifaces", "pexpect", "ptyprocess", "pyudev", "requests",
           "setproctitle", "six", "tz", "urllib3", "voluptuous", "yaml", "yarl")
JOBS = paths.SOURCE_TREE / "scripts" / "lab" / "lava"
LIMIT_SECONDS = 300


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

    def test_job(self) -> None:
        root = dispatcher()
        with tempfile.TemporaryDirectory(prefix="el1bench-lava-") as name:
            folder = Path(name)
            (folder / "modules").mkdir()
            (folder / "modules" / "guestfs.py").write_text('"""Not used by these jobs."""\n')
            job = (JOBS / "qemu-job.yaml").read_text()
            self.assertIn("file://IMAGE", job)
            (folder / "job.yaml").write_text(job.replace("IMAGE", str(image_of("qemu-virt"))))
            libraries = ":".join(str(path) for path in (root / "usr" / "lib").glob("*-linux-gnu"))
            done = subprocess.run(
                ["/usr/bin/python3", "-s", str(root / "usr" / "bin" / "lava-run"),
                 # Its working folder is named after the number.
                 "--job-id", str(os.getpid()), "--output-dir", str(folder / "out"),
                 "--device", str(JOBS / "qemu-device.yaml"), str(folder / "job.yaml")],
                capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS, cwd=folder,
                env={**os.environ, "LD_LIBRARY_PATH": libraries,
                     "PYTHONPATH": f"{folder / 'modules'}:"
                                   f"{root / 'usr' / 'lib' / 'python3' / 'dist-packages'}"})
            said = done.stdout + done.stderr
            self.assertEqual(done.returncode, 0, said[-6000:])
            # LAVA's own name of a case has other characters made into underscores.
            found = re.findall(r'"lvl": "results".*"definition": "el1bench".*"test_case_id": '
                               r'"([^"]+)".*"measurement": "([^"]+)", "result": "(\w+)", '
                               r'"units": "(\w+)"', said)
            results = {name: rest for name, *rest in found}
            self.assertIn("ipi.normal.total", results, said[-6000:])
            measurement, result, unit = results["ipi.normal.total"]
            self.assertEqual((result, unit), ("pass", "tick"))
            self.assertRegex(measurement, r"^\d+(\.\d+)?$")
            self.assertTrue(re.search(r'"case": "job".*"result": "pass"', said))


if __name__ == "__main__":
    unittest.main()
