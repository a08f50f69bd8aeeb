"""A campaign on the virtual bench with the real U-Boot and the real image: the board's own way."""

import contextlib
import io
import json
import threading
import unittest
from typing import Any

from tests.folder import temporary_folder
from tests.qemu.support import build_folder
from el1bench_host import campaign, campaign_file, machine
from el1bench_host.bench import board_with_u_boot, qemu_command
from el1bench_host.campaign_report import write
from el1bench_host.campaign_store import Store
from el1bench_host.u_boot_dialect import COUNTDOWN_SECONDS
from el1bench_host.virtual_bench import Bench

FILE = """
[campaign]
iterations = 1
attempts = {attempts}
out = "out"
[console]
port = "console"
[power]
relay = "relay"
off_seconds = 0
repeat_seconds = 0
[u-boot]
folder = "{served}"
dhcp = {dhcp}
"""
CONFIGURATION = """
[[configuration]]
name = "{how}"
image = "image"
address = 0x40200000
start = "{how}"
tree = "own"
arguments = ["el1bench.suite={suite}", "el1bench.samples={samples}",
             "el1bench.boot={{iteration}}", "el1bench.baud=921600", "el1bench.power_state={state}"]
"""
WAYS = ("go", "booti")
SAMPLES = 20
# Power-down of a core, in the words of TF-A for QEMU; those of the board's tree are the board's.
POWER_STATE = "0x10002"


class OnTheBench(unittest.TestCase):
    """Relay, serial line, U-Boot, TFTP, `go` and `booti`, the bytes of the Odroid-C4's image."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "bench")
        self.served = build_folder("odroid-c4")

    def campaign(self, suite: str, samples: int, *, firmware: str = "u-boot", dhcp: bool = False,
                 attempts: int = 1, **options: Any) -> dict[tuple[str, int], list[str]]:
        """Make a boot of each way on a bench; the outcomes of all attempts."""
        text = FILE.format(served=self.served, dhcp=str(dhcp).lower(), attempts=attempts)
        text += "".join(CONFIGURATION.format(how=how, suite=suite, samples=samples,
                                             state=POWER_STATE)
                        for how in WAYS)
        for device in ("console", "relay"):
            text = text.replace(f'"{device}"', f'"{self.folder}/{device}"')
        file = self.folder / "campaign.toml"
        file.write_text(text)
        (self.folder / "wrong").mkdir()
        emulator = board_with_u_boot(machine.load_board("odroid-c4", self.served), firmware,
                                     self.folder)
        bench = Bench(self.folder, qemu_command(emulator, self.served, self.folder / "wrong"),
                      **options)
        thread = threading.Thread(target=bench.run)
        thread.start()
        said = io.StringIO()
        try:
            described = campaign_file.read(file)
            store = Store(described)
            with contextlib.redirect_stderr(said):
                campaign.Bench(described, store, quiet=False).run()
            self.tables = write(described, store)
            store.close()
        finally:
            bench.stop()
            thread.join()
        self.said = said.getvalue()
        return {key: [attempt.outcome for attempt in made]
                for key, made in store.attempts.items()}

    def log(self, how: str, number: int = 1) -> bytes:
        """The console of an attempt."""
        return (self.folder / "out" / how / f"0000-{number}" / "console.log").read_bytes()

    def results(self, how: str) -> Any:
        """What the image measured."""
        return json.loads((self.folder / "out" / how / "results.json").read_text())

    def test_a_file_that_is_cut_short(self) -> None:
        outcomes = self.campaign("ipi.normal,clock.step", 50, attempts=2,
                                 faults={0: "wrong-file"})
        self.assertEqual(outcomes, {("go", 0): ["tftp-failed", "ok"], ("booti", 0): ["ok"]},
                         self.said)
        self.assertIn("1/1", self.tables)
        # The PL011 of this machine keeps its speed, and the log says so.
        self.assertRegex(self.log("booti"),
                         rb"@el1b baud \d+ rate=0 : the UART cannot be set to 921600 ")
        for how in WAYS:
            results = self.results(how)
            names = {row["name"] for row in results["metrics"]}
            self.assertLessEqual({"ipi.normal.total", "clock.step.ticks"}, names)
            self.assertEqual({row["boot"] for row in results["metrics"]}, {0})
            # The way in shows: EL2, as on the board.
            self.assertEqual(results["boots"][0]["entry_el"], 2)

    def check_chain(self, *, dhcp: bool, vendor: bool) -> None:
        """From power-on to a report with power-downs that TF-A made."""
        outcomes = self.campaign("psci.suspend.core.serial,psci.cpu-off", SAMPLES,
                                 firmware="tf-a+u-boot", dhcp=dhcp,
                                 vendor=COUNTDOWN_SECONDS if vendor else None)
        self.assertEqual(outcomes, {(how, 0): ["ok"] for how in WAYS}, self.said)
        prompt, other = (b"=> ", b"odroidc4#")[::-1 if vendor else 1]
        for how in WAYS:
            log = self.log(how)
            places = [log.find(part) for part in (
                b"NOTICE:  BL31: ", b"to stop autoboot", b"\t" + prompt, b"tftpboot 0x40200000",
                b"Bytes transferred = ", b"\t" + prompt + how.encode() + b" 0x40200000",
                b"@el1b begin ", b"@el1b end ")]
            self.assertNotIn(-1, places, log[:3000])
            self.assertEqual(places, sorted(places))
            self.assertNotIn(b"\t" + other, log)
            self.assertEqual(b"DHCP client bound to address 10.42.0." in log, dhcp)
            self.assertRegex(log, b"TFTP from server 10.42.0.1; our IP address is 10.42.0."
                             + (b"15" if dhcp else b"2\r"))
            rows = {(row["name"], row["cpu"]): row for row in self.results(how)["metrics"]}
            for core in range(4):
                row = rows["psci.suspend.core.serial.call-to-resume", core]
                # Some may return inline, when the interrupt is there already; without firmware
                # that powers down all of them do.
                self.assertGreater(row["n"], SAMPLES / 2)
                # Firmware's own stamps.
                self.assertGreater(rows["psci.suspend.core.serial.powerdown", core]["n"], 0)
            self.assertGreater(rows["psci.cpu-off.powerdown", 1]["n"], 0)

    def test_tf_a_and_dhcp(self) -> None:
        self.check_chain(dhcp=True, vendor=False)

    def test_tf_a_and_the_vendors_dialect(self) -> None:
        self.check_chain(dhcp=False, vendor=True)


if __name__ == "__main__":
    unittest.main()
