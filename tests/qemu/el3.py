"""What tests under the project's own firmware at EL3 share (tests/el3-monitor)."""

from pathlib import Path
from typing import Optional

from el1bench_host.run import under_monitor
from tests.qemu.support import Boot, QemuTest, build_folder, setup_of, words_of

FINE_HZ = 1_000_000_000
SUSPENDS = [f"psci.suspend.{kind}.{how}" for kind in ("standby", "core", "deepest")
            for how in ("serial", "parallel")]
SWEEPS = [name.replace("suspend", "wake") for name in SUSPENDS]


class MonitorTest(QemuTest):
    """Boots under firmware that loses everything in a power-down, and misbehaves when told to."""

    def at_el3(self, *words: str, suite: str = "psci", samples: int = 20, cpus: int = 4,
               gic: int = 2, level: int = 1, accel: Optional[str] = None,
               kernel: Optional[Path] = None, tree: Optional[Path] = None,
               **values: object) -> Boot:
        """A boot under the monitor; `words` are the monitor's."""
        accel = accel or ("single" if words else "icount")
        options = {} if kernel is None else {"kernel": kernel}
        qemu = under_monitor(setup_of("qemu-virt", accel=accel, cpus=cpus, gic=gic, level=level,
                                      counter_hz=FINE_HZ if accel == "icount" else None,
                                      tree=tree, **options), build_folder("qemu-virt"))
        return self.boot(qemu, [*words_of(accel, suite=suite, samples=samples, **values),
                                *(f"el3-monitor.{word}" for word in words)])

    def assert_delivers(self, boot: Boot, *failed: str) -> None:
        """Apart from what failed or was skipped, every metric is there."""
        self.assertIsNone(boot.outcome.problem or None)
        for name in ("psci.version.serial.round-trip", "psci.version.parallel.round-trip",
                     "psci.cpu-on.call-to-ready",
                     *(f"{name}.wake-latency" for name in SUSPENDS + SWEEPS)):
            if not name.startswith(failed):
                self.assertTrue(boot.rows(name), name)

    def reason(self, boot: Boot, name: str) -> str:
        """Why it failed or was skipped."""
        found = [entry["reason"] for kind in ("skipped", "failures")
                 for entry in boot.results[kind] if entry["name"] == name]
        self.assertEqual(len(found), 1, (name, found))
        return found[0]

    def counts(self, boot: Boot, name: str) -> list[dict[str, int]]:
        """What was counted of each core."""
        return [one["counts"] for one in boot.results["counts"] if one["name"] == name]
