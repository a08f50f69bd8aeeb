"""What Linux is to be told of power states: planted latencies are found, and the node that the
report prints is one that a device tree can carry and that keeps what it promises.
"""

import subprocess
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any, Optional

from el1bench_host import machine, paths, results_file
from el1bench_host.report_idle_states import states_of
from el1bench_host.run import under_monitor
from tests.qemu.support import (Boot, QemuTest, build_folder, dump_tree, put_property,
                                remove_property, setup_of, words_of)

FINE_HZ = 1_000_000_000
SUITE = ",".join(f"psci.{what}.core.{how}" for what in ("wake", "suspend")
                 for how in ("serial", "parallel"))
# Of the monitor (tests/el3-monitor/monitor.c), in microseconds of icount.
ENTRY, EXIT, LOOK = 50, 30, 20


def compile_tree(source: str, path: Path) -> str:
    """Compile a device tree; returns what dtc says of it."""
    return subprocess.run(["dtc", "-I", "dts", "-O", "dtb", "-o", str(path), "-"], input=source,
                          check=True, capture_output=True, text=True, timeout=60).stderr


def property_of(tree: Path, node: str, name: str) -> int:
    """A cell of a compiled tree."""
    found = subprocess.run(["fdtget", "-t", "u", str(tree), node, name], check=True,
                           capture_output=True, text=True, timeout=60)
    return int(found.stdout)


class IdleStates(QemuTest):
    """Under the project's own firmware, in instructions."""

    def machine(self) -> machine.Setup:
        """Two cores."""
        return under_monitor(setup_of("qemu-virt", accel="icount", counter_hz=FINE_HZ, cpus=2),
                             build_folder("qemu-virt"))

    def under(self, *words: str, tree: Optional[Path] = None, **values: Any) -> Boot:
        """A boot under the monitor, told `words`."""
        boot = self.boot(replace(self.machine(), tree=tree),
                         [*words_of("icount", **{"suite": SUITE, "samples": 100, **values}),
                          *(f"el3-monitor.{word}" for word in words)])
        self.assert_passed(boot, 2)
        return boot

    def measured(self, boot: Boot) -> dict[str, int]:
        """The latencies of the core's power-down."""
        state = next(state for state in states_of(boot.results) if state.kind == "core")
        self.assertEqual((state.why, state.n_least, state.cores, state.how),
                         ("", 100, 2, ["serial", "parallel"]))
        return dict(state.measured)

    def report_on(self, boot: Boot, *words: str) -> tuple[int, str, str]:
        """`report` as a user types it: its exit code, what it shows and what it complains of."""
        results_file.write_results(boot.decoded, self.folder)
        done = subprocess.run([str(paths.SOURCE_TREE / "scripts" / "el1bench"), "report",
                               str(self.folder), *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_planted_latencies(self) -> None:
        plain = self.measured(self.under())
        for word, entry, out in (("slow-entry=1", ENTRY, 0), ("slow-exit=1", 0, EXIT)):
            found = self.measured(self.under(word))
            self.note(f"{plain} {word} {found}")
            # One core has it, and the worst core counts. In parallel, others' turns add a little.
            self.assertAlmostEqual(found["entry"] - plain["entry"], entry, delta=2)
            self.assertAlmostEqual(found["exit"] - plain["exit"], out, delta=2)
            self.assertAlmostEqual(found["wakeup"] - plain["wakeup"], entry + out, delta=2)

    def test_an_entry_that_can_be_given_up(self) -> None:
        """Until firmware's last look a wake-up waits for the look alone."""
        boot = self.under("slow-entry", "gives-up")
        found = self.measured(boot)
        self.assertGreaterEqual(found["entry"], ENTRY + LOOK)
        self.assertAlmostEqual(found["wakeup"], found["entry"] + found["exit"] - LOOK, delta=4)
        for row in boot.rows("psci.wake.core.serial.inline-return"):
            self.assertTrue(2 < row["n"] < 90, row["n"])

    def test_standby(self) -> None:
        suite = SUITE.replace("core", "standby")
        plain, slow = (next(state.measured for state in states_of(boot.results)
                            if state.kind == "standby")
                       for boot in (self.under(suite=suite), self.under("slow-entry", suite=suite)))
        self.assertAlmostEqual(slow["entry"] - plain["entry"], ENTRY, delta=2)

    def test_what_comes_back_to_its_caller_is_no_power_down(self) -> None:
        boot = self.under("inline")
        self.assertEqual([(state.kind, state.measured) for state in states_of(boot.results)
                          if state.kind == "core"], [("core", {})])
        code, shown, _ = self.report_on(boot, "--tables", "idle-states")
        self.assertEqual(code, 0)
        self.assertIn("nothing is powered down", shown)
        self.assertNotIn("arm,psci-suspend-param", shown)
        code, shown, complaint = self.report_on(boot, "--format", "dts")
        self.assertEqual((code, shown), (2, ""))
        self.assertIn("nothing is powered down", complaint)

    def test_the_node_keeps_what_it_promises(self) -> None:
        """Compiled and booted with, no sample breaks it; with a microsecond less, the report
        fails."""
        code, node, _ = self.report_on(self.under("slow-entry"), "--format", "dts")
        self.assertEqual(code, 0)
        alone = self.folder / "node.dtb"
        self.assertEqual(compile_tree(f"/dts-v1/;\n{node}", alone), "")
        tree = self.folder / "tree.dtb"
        dump_tree(self.machine(), tree)
        whole = subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dts", str(tree)], check=True,
                               capture_output=True, text=True, timeout=60).stdout
        compile_tree(whole + node, tree)
        place = "/cpus/idle-states/cpu-power-down"
        self.assertEqual(property_of(alone, place, "arm,psci-suspend-param"), 0x10002)
        self.assertEqual(property_of(alone, place, "min-residency-us"), 1000)

        boot = self.under("slow-entry", tree=tree)
        state = next(state for state in states_of(boot.results) if state.kind == "core")
        self.assertEqual((state.tree, state.name), ("used", "cpu-power-down"))
        for key in ("entry", "exit", "wakeup"):
            self.assertEqual(state.claims[key], property_of(alone, place, f"{key}-latency-us"))
            self.assertEqual(state.claims[key], state.measured[key])
        self.assertEqual(self.report_on(boot)[0], 0)

        for key in ("entry", "exit", "wakeup"):
            claim = state.claims[key]
            put_property(tree, place, f"{key}-latency-us", str(claim - 1), kind="u")
            code, shown, complaint = self.report_on(self.under("slow-entry", tree=tree))
            put_property(tree, place, f"{key}-latency-us", str(claim), kind="u")
            text = (f"cpu-power-down (core, power state 0x10002): the device tree claims "
                    f"{key}-latency-us {claim - 1}, measured {claim}")
            self.assertEqual((code, complaint), (1, f"el1bench: failed: {text}\n"))
            self.assertIn("CLAIMS TOO LITTLE", shown)
        # Without a word on wake-ups, they are promised within entry and exit together.
        remove_property(tree, place, "wakeup-latency-us")
        self.assertEqual(self.report_on(self.under("slow-entry", tree=tree))[0], 0)

    def test_a_timer_that_stops(self) -> None:
        """The tree says so, and an interrupt of another core wakes; the node says so too."""
        tree = self.folder / "tree.dtb"
        dump_tree(self.machine(), tree)
        whole = subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dts", str(tree)], check=True,
                               capture_output=True, text=True, timeout=60).stdout
        compile_tree(whole + "/ { cpus { idle-states { cpu-x { arm,psci-suspend-param = <0x10002>;"
                     "local-timer-stop; }; }; }; };", tree)
        boot = self.under("miss-timer", "slow-entry", tree=tree)
        code, node, _ = self.report_on(boot, "--format", "dts")
        self.assertEqual(code, 0)
        self.assertIn("CPU_X: cpu-x {", node)
        self.assertIn("local-timer-stop;", node)
        found = self.measured(boot)
        self.assertTrue(ENTRY <= found["entry"] < ENTRY + 10, found)
        self.assertIn(f"min-residency-us = <{found['entry'] + found['exit']}>", node)

    def test_too_few_samples(self) -> None:
        code, _, complaint = self.report_on(self.under(samples=20), "--format", "dts")
        self.assertEqual(code, 2)
        self.assertIn("20 samples on some core are too few for a worst case; it takes 30",
                      complaint)


if __name__ == "__main__":
    unittest.main()
