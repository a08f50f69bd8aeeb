"""The PSCI suite on TF-A, built from Debian's source with run-time instrumentation."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from el1bench_host import paths, tf_a
from el1bench_host.report_idle_states import states_of
from tests.host import psci_page
from tests.qemu.support import Boot, QemuTest, image_of, setup_of, words_of

FINE_HZ = 1_000_000_000


class TfA(QemuTest):
    """TF-A with the image as its payload."""

    def under(self, gic: int = 2, level: int = 1, **values: object) -> Boot:
        """A boot of four cores, in instructions."""
        flash = self.folder / "flash"
        tf_a.write_flash(tf_a.ensure(gic, quiet=True), image_of("qemu-virt"), flash)
        qemu = setup_of("qemu-virt", accel="icount", counter_hz=FINE_HZ, cpus=4, gic=gic,
                        level=level)
        return self.boot(tf_a.under_tf_a(qemu, flash), words_of("icount", **values))

    def check(self, gic: int, level: int) -> None:
        """Firmware's figures for calls and for standby, on all cores."""
        boot = self.under(gic, level, suite="psci", samples=50)
        self.assert_passed(boot, 4)
        for how in ("serial", "parallel"):
            inner, outer = (boot.rows(f"psci.version.{how}.{metric}")
                            for metric in ("el3", "round-trip"))
            self.assertEqual([row["n"] for row in inner], [50] * 4)
            for row, around in zip(inner, outer):
                self.assertLess(row["max"], around["min"])
            for metric in ("powerdown", "wakeup"):
                rows = boot.rows(f"psci.suspend.standby.{how}.{metric}")
                self.assertEqual([row["cpu"] for row in rows], [0, 1, 2, 3])
                for row in rows:
                    self.assertGreater(row["n"], 0)
        self.assertEqual([row["cpu"] for row in boot.rows("psci.cpu-off.powerdown")], [1, 2, 3])
        self.assertEqual([row["cpu"] for row in boot.rows("psci.cpu-off.parallel.powerdown")],
                         [1, 2, 3])
        self.check_cluster(boot)
        self.check_idle_states(boot)

    def check_idle_states(self, boot: Boot) -> None:
        """What the caller sees of the way in is what TF-A's own stamps say of it, in microseconds:
        its way to the first stamp and, side by side, the wait for other cores come on top."""
        states = states_of(boot.results)
        self.assertEqual([state.kind for state in states], ["standby", "core", "deepest"])
        for state in states:
            inside = max(row["max"] for how in ("serial", "parallel") for row in
                         boot.rows(f"psci.suspend.{state.kind}.{how}.powerdown")) / 1000
            self.assertTrue(inside <= state.measured["entry"] <= inside + 15, (inside, state))
            self.assertGreater(boot.row(f"psci.wake.{state.kind}.serial.wake-latency")["n"], 0)
        for name in ("core", "deepest"):
            # Serially, TF-A gives a power-down up if the wake-up is pending early enough.
            self.assertTrue(boot.rows(f"psci.wake.{name}.serial.inline-return"))

    def check_cluster(self, boot: Boot) -> None:
        """With all others off, core 0 takes its cluster with it: TF-A's own count says so."""
        lead, *others = boot.rows("psci.cpu-off.deepest.powerdown")
        self.assertEqual([row["cpu"] for row in others], [1, 2, 3])
        self.assertGreater(lead["n"], 40)
        self.assertGreater(lead["min"], 10 * others[0]["max"])
        counts = {one["name"]: one["counts"] for one in boot.results["counts"] if one["cpu"] == 0}
        entered = counts["psci.cpu-off.deepest"]
        self.assertGreaterEqual(entered["entered"], entered["resumed_at_entry"])
        self.assertEqual(counts["psci.suspend.deepest.serial"]["entered"], 0)
        self.assertGreater(counts["psci.suspend.deepest.serial"]["entered_core"], 40)
        self.assertGreater(counts["psci.suspend.standby.serial"]["entered"], 40)
        # The last one to call pays for what all share.
        flush = {one["name"]: one for one in boot.results["arrival"]
                 }["psci.suspend.deepest.parallel.cache-flush"]
        self.assertGreater(flush["last"]["p50"], 10 * flush["first"]["p50"])

    def test_gicv2(self) -> None:
        self.check(2, 1)

    def test_gicv3_and_el2(self) -> None:
        self.check(3, 2)

    def check_thousand(self, kind: str) -> None:
        """Power-downs of all cores at once, a thousand times: none is lost, all stamps in order."""
        name = f"psci.suspend.{kind}.parallel"
        boot = self.under(suite=name, samples=1000)
        self.assert_passed(boot, 4)
        for row in boot.rows(f"{name}.call-to-resume"):
            self.assertEqual(row["n"] + sum(row["excluded"].values()), 1000)
            self.assertNotIn("lost", row["excluded"])
            self.assertGreater(row["n"], 900)
        counts = [one["counts"] for one in boot.results["counts"]]
        self.assertEqual(len(counts), 4)
        for one in counts:
            self.assertEqual(one["resumed_at_entry"] + one["returned_inline"], 1000)
            self.assertGreater(one["resumed_at_entry"], 900)
            self.assertEqual(one["stamps_out_of_order"], 0)
            self.assertGreaterEqual(one["entered_core" if kind == "deepest" else "entered"],
                                    one["resumed_at_entry"])
        for metric in ("powerdown", "wakeup", "cache-flush"):
            for row in boot.rows(f"{name}.{metric}"):
                self.assertGreater(row["n"], 900)
                self.assertNotIn("backwards", row["excluded"])

    def test_a_thousand_power_downs_of_the_core(self) -> None:
        self.check_thousand("core")

    def test_a_thousand_deepest_power_downs(self) -> None:
        self.check_thousand("deepest")


class Page(unittest.TestCase):
    """docs/psci-tables.md, measured again by its own commands."""

    # Another compiler builds another TF-A: the page is right, not equal.
    TOLERANCE = 0.1

    def test_tables(self) -> None:
        run, report = psci_page.commands()
        tool = str(paths.SOURCE_TREE / "scripts" / "el1bench")
        with tempfile.TemporaryDirectory() as out:
            for words in ([tool, *run, "--quiet"], [tool, *report]):
                done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True,
                                      text=True, check=False, cwd=out)
                self.assertEqual(done.returncode, 0, done.stderr)
        measured = psci_page.tables_in(done.stdout)
        page = psci_page.tables_in(psci_page.PAGE.read_text("utf-8"))
        self.assertEqual(list(measured), list(page))
        for title, lines in page.items():
            self.assertEqual(measured[title][0], lines[0])
            self.assertEqual([line[:3] for line in measured[title]], [line[:3] for line in lines])
            for line, new in zip(lines[1:], measured[title][1:]):
                for column, cell, found in list(zip(lines[0], line, new))[3::2]:
                    # In parallel, a core that wakes up waits for others: for how long is chance.
                    if column != "wakeup" or "parallel" not in title:
                        self.assertAlmostEqual(int(found), int(cell), msg=(title, line, column),
                                               delta=max(self.TOLERANCE * int(cell), 5))


class CommandLine(unittest.TestCase):
    """`run --firmware tf-a` as a user types it."""

    def run_with(self, *words: str) -> dict[str, object]:
        """The results of a run."""
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run(
                [str(paths.SOURCE_TREE / "scripts" / "el1bench"), "run", *words, "--suite",
                 "psci.version.serial", "--samples", "20", "--out", out, "--quiet"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse((Path(out) / ".tf-a-flash").exists())
            return json.loads((Path(out) / "results.json").read_text(encoding="utf-8"))

    def test_by_itself_and_from_a_folder(self) -> None:
        for words in (("--firmware", "tf-a"), ("--firmware-image", str(tf_a.ensure(2, True)))):
            results = self.run_with(*words)
            self.assertEqual(results["machine"]["firmware"], "tf-a")
            self.assertIn("psci.version.serial.el3", {row["name"] for row in results["metrics"]})

    def test_with_u_boot_as_on_a_board(self) -> None:
        results = self.run_with("--firmware", "tf-a+u-boot")
        self.assertEqual(results["machine"]["firmware"], "tf-a+u-boot")
        self.assertIn("psci.version.serial.el3", {row["name"] for row in results["metrics"]})


if __name__ == "__main__":
    unittest.main()
