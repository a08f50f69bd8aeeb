"""A campaign on the virtual bench with the real U-Boot and the real image: the board's own way."""

import contextlib
import io
import json
import tempfile
import threading
import unittest
from pathlib import Path

from tests.qemu.support import build_folder
from el1bench_host import campaign, campaign_file, machine, setup
from el1bench_host.bench import Bench, qemu_command
from el1bench_host.campaign_report import write
from el1bench_host.campaign_store import Store

FILE = """
[campaign]
iterations = 1
attempts = 2
out = "out"
[console]
port = "{folder}/console"
[power]
relay = "{folder}/relay"
off_seconds = 0
repeat_seconds = 0
[u-boot]
folder = "{served}"
"""
CONFIGURATION = """
[[configuration]]
name = "{how}"
image = "image"
address = 0x40200000
start = "{how}"
tree = "own"
arguments = ["el1bench.suite=ipi.normal,clock.step", "el1bench.samples=50",
             "el1bench.boot={{iteration}}", "el1bench.baud=921600"]
"""


class VirtualBench(unittest.TestCase):
    """Relay, serial line, U-Boot, TFTP, `go` and `booti`, the bytes of the Odroid-C4's image."""

    def test_go_and_booti(self) -> None:
        served = build_folder("odroid-c4")
        with tempfile.TemporaryDirectory(prefix="el1bench-bench-") as name:
            folder = Path(name)
            file = folder / "campaign.toml"
            file.write_text(FILE.format(folder=folder, served=served)
                            + "".join(CONFIGURATION.format(how=how) for how in ("go", "booti")))
            (folder / "wrong").mkdir()
            board = machine.load_board("odroid-c4", served)
            # The very first try is served a file that is cut short.
            bench = Bench(folder, qemu_command(board, setup.ensure_u_boot(True), served,
                                               folder / "wrong"), faults={0: "wrong-file"})
            thread = threading.Thread(target=bench.run)
            thread.start()
            said = io.StringIO()
            try:
                described = campaign_file.read(file)
                store = Store(described)
                with contextlib.redirect_stderr(said):
                    campaign.Bench(described, store, quiet=False).run()
                tables = write(described, store)
                store.close()
            finally:
                bench.stop()
                thread.join()
            outcomes = {key: [attempt.outcome for attempt in made]
                        for key, made in store.attempts.items()}
            self.assertEqual(outcomes, {("go", 0): ["tftp-failed", "ok"], ("booti", 0): ["ok"]},
                             said.getvalue())
            self.assertIn("1/1", tables)
            # The PL011 of this machine keeps its speed, and the log says so.
            log = (folder / "out" / "booti" / "0000-1" / "console.log").read_bytes()
            self.assertRegex(log, rb"@el1b baud \d+ rate=0 : the UART cannot be set to 921600 ")
            for how in ("go", "booti"):
                results = json.loads((folder / "out" / how / "results.json").read_text())
                names = {row["name"] for row in results["metrics"]}
                self.assertLessEqual({"ipi.normal.total", "clock.step.ticks"}, names)
                self.assertEqual({row["boot"] for row in results["metrics"]}, {0})
                # The way in shows: EL2, as on the board.
                self.assertEqual(results["boots"][0]["entry_el"], 2)


if __name__ == "__main__":
    unittest.main()
