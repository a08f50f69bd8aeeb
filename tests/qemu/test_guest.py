"""A real Linux, booted by a campaign: its phases, and a stall that its own clock cannot show."""

import subprocess
import threading
import time
import unittest

from el1bench_host import campaign, campaign_file, campaign_report, debian_archive, machine, paths
from el1bench_host.virtual_bench import Bench
from el1bench_host.campaign_store import Store
from tests.folder import temporary_folder
from tests.qemu.monitor import Monitor, monitor_options

STALL_SECONDS = 2.0
BAUD = 1_000_000
FILE = """
[campaign]
iterations = 2
attempts = 1
out = "out"
[console]
port = "console"
baud = 1000000
[power]
relay = "relay"
off_seconds = 0
repeat_seconds = 0
[[configuration]]
name = "guest"
start = "none"
done = "guest login: $"
fail = ["Kernel panic"]
timeout_seconds = 240
[[configuration.phase]]
name = "kernel"
pattern = "smp: Brought up"
[[configuration.phase]]
name = "init"
pattern = "Run /init"
[[configuration.phase]]
name = "login"
pattern = "guest login:"
"""


def archive(files: dict[str, bytes]) -> bytes:
    """A cpio archive, "newc", with executable files; what the kernel takes as an initramfs."""
    out = bytearray()
    for number, (name, data) in enumerate([*files.items(), ("TRAILER!!!", b"")], 1):
        fields = (number, 0o100755, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        out += b"070701" + b"".join(b"%08x" % value for value in fields) + name.encode() + b"\0"
        out += bytes(-len(out) % 4) + data
        out += bytes(-len(out) % 4)
    return bytes(out)


class Guest(unittest.TestCase):
    """Debian's kernel with one process."""

    serial = True

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "guest")
        init = self.folder / "init"
        subprocess.run(["aarch64-linux-gnu-gcc", "-Os", "-static", "-nostdlib", "-ffreestanding",
                        "-o", str(init), str(paths.SOURCE_TREE / "tests" / "guest" / "init.c")],
                       check=True)
        (self.folder / "initramfs").write_bytes(archive({"init": init.read_bytes()}))
        self.kernel = next(debian_archive.ensure_kernel(quiet=True).glob("boot/vmlinuz-*"))

    def command(self, _fault: str) -> list[str]:
        """A machine that boots the kernel by itself, as from a card."""
        return [machine.DEFAULT_QEMU, "-machine", "virt", "-cpu", "cortex-a53", "-m", "512",
                "-accel", "tcg,thread=single", "-nodefaults", "-display", "none", "-nic", "none",
                "-serial", "stdio", "-kernel", str(self.kernel),
                "-initrd", str(self.folder / "initramfs"),
                "-append", "console=ttyAMA0 earlycon=pl011,0x9000000 panic=0",
                *monitor_options(self.folder / "qmp")]

    def stall(self) -> None:
        """Stop the second boot's machine for a while, once its kernel has spoken."""
        log = self.folder / "out" / "guest" / "0001-1" / "console.log"
        deadline = time.monotonic() + 500
        while time.monotonic() < deadline:
            if log.exists() and b"smp: Brought up" in log.read_bytes():
                break
            time.sleep(0.01)
        monitor = Monitor(self.folder / "qmp")
        monitor.ask("stop")
        time.sleep(STALL_SECONDS)
        monitor.ask("cont")
        monitor.close()

    def test_a_stall_that_the_guest_cannot_see(self) -> None:
        text = FILE.replace('"console"', f'"{self.folder}/console"').replace(
            '"relay"', f'"{self.folder}/relay"')
        (self.folder / "campaign.toml").write_text(text)
        bench = Bench(self.folder, self.command, baud=BAUD)
        threads = [threading.Thread(target=bench.run), threading.Thread(target=self.stall)]
        for thread in threads:
            thread.start()
        try:
            described = campaign_file.read(self.folder / "campaign.toml")
            store = Store(described)
            campaign.Bench(described, store, quiet=True).run()
            tables = campaign_report.write(described, store)
            store.close()
        finally:
            threads[1].join()
            bench.stop()
            threads[0].join()
        boots = [store.good("guest", number) for number in range(2)]
        self.assertTrue(all(boots), tables)
        unseen = []
        for boot in boots:
            phases = {phase["name"]: phase for phase in boot.phases}
            self.assertEqual(list(phases), ["kernel", "init", "login"], boot.phases)
            kernel, init = phases["kernel"], phases["init"]
            host, guest = (init[clock] - kernel[clock] for clock in ("host", "guest"))
            unseen.append(host - guest)
            print(f"kernel to init: {host:.3f} s by the host's clock, {guest:.3f} s by the "
                  f"guest's, {host - guest:.3f} s unseen")
        self.assertLess(abs(unseen[0]), STALL_SECONDS / 2, tables)
        self.assertGreater(unseen[1] - unseen[0], 0.8 * STALL_SECONDS, tables)
        self.assertLess(unseen[1] - unseen[0], 1.5 * STALL_SECONDS, tables)
        self.assertIn("STALL", tables)


if __name__ == "__main__":
    unittest.main()
