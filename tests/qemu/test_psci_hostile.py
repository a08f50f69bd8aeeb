"""The PSCI suite with firmware that is hostile: what happened is named, the rest is delivered."""

import unittest
from pathlib import Path

from el1bench_host.run import under_monitor
from tests.qemu.el3 import SUSPENDS, SWEEPS, MonitorTest
from tests.qemu.support import build_folder, dump_tree, put_property, setup_of


class Hostile(MonitorTest):
    """One misbehaviour a boot."""

    def test_suspends_are_refused(self) -> None:
        boot = self.at_el3("refuse-suspend")
        self.assert_passed(boot, 4)
        for name in SUSPENDS + SWEEPS:
            self.assertIn("DENIED", self.reason(boot, name))
        self.assertIn("DENIED", self.reason(boot, "psci.cpu-off.deepest"))
        self.assert_delivers(boot, "psci.suspend", "psci.wake")

    def test_going_off_is_refused(self) -> None:
        boot = self.at_el3("refuse-off")
        for name in ("psci.cpu-off", "psci.cpu-off.parallel", "psci.cpu-off.deepest"):
            self.assertIn("DENIED", self.reason(boot, name))
        self.assert_delivers(boot, "psci.cpu")

    def test_power_downs_return(self) -> None:
        boot = self.at_el3("inline")
        self.assert_passed(boot, 4)
        for row in boot.rows("psci.suspend.deepest.parallel.call-to-resume"):
            self.assertEqual((row["n"], row["excluded"]), (0, {"inline": 20}))
        for counts in self.counts(boot, "psci.suspend.core.serial"):
            self.assertEqual((counts["calls"], counts["returned_inline"],
                              counts["resumed_at_entry"]), (20, 20, 0))
        self.assertIn("comes back to its caller", self.reason(boot, "psci.cpu-off.deepest"))
        self.assert_delivers(boot, "psci.suspend.core", "psci.suspend.deepest")

    def test_wakes_come_early(self) -> None:
        boot = self.at_el3("early=2")
        self.assert_passed(boot, 4)
        for name in SUSPENDS:
            for row in boot.rows(f"{name}.call-to-resume"):
                if row["cpu"] == 2:
                    self.assertGreater(row["excluded"]["early"], 10)
                else:
                    self.assertGreater(row["n"], 0)

    def test_a_core_that_does_not_start(self) -> None:
        boot = self.at_el3("no-start=2")
        self.assertIn("ON_PENDING", self.reason(boot, "cpu.2"))
        self.assert_delivers(boot)
        self.assertEqual([row["cpu"] for row in
                          boot.rows("psci.suspend.core.parallel.wake-to-c")], [0, 1, 3])

    def test_a_core_that_never_wakes(self) -> None:
        boot = self.at_el3("no-wake=3")
        self.assertIn("core 3 did not come back from power state 0x1",
                      " ".join(failure["reason"] for failure in boot.results["failures"]))
        self.assert_delivers(boot, "psci.suspend.standby", "psci.wake.standby")
        rows = boot.rows("psci.suspend.deepest.parallel.wake-latency")
        self.assertEqual([row["cpu"] for row in rows], [0, 1, 2])
        self.assertGreater(min(row["n"] for row in rows), 0)

    def test_a_timer_that_does_not_wake(self) -> None:
        boot = self.at_el3("miss-timer=1")
        for name in SUSPENDS + SWEEPS:
            self.assertIn("core 1 slept on in power state 0x", self.reason(boot, name))
        self.assert_delivers(boot, "psci.suspend", "psci.wake")
        self.assert_passed(self.at_el3("miss-timer=1", wake="sgi"), 4)

    def test_the_booting_core_is_rescued(self) -> None:
        boot = self.at_el3("miss-timer=0")
        for name in SUSPENDS:
            self.assertIn("core 0 slept on", self.reason(boot, name))
        # Found out under a guard, before the guard goes off.
        self.assertIn("core 0 slept on", self.reason(boot, "psci.cpu-off.deepest"))

    def test_firmware_that_counts_less(self) -> None:
        boot = self.at_el3("under-count=2")
        for name in SUSPENDS:
            self.assertIn("core 2 slept 20 times, firmware has counted 1",
                          self.reason(boot, name))
        self.assert_delivers(boot)

    def test_stale_stamps_count_for_nothing(self) -> None:
        boot = self.at_el3("stale=1", suite="psci.suspend.core.serial")
        self.assertEqual(boot.outcome.status, "passed")
        self.assertEqual(boot.results["run"]["checks"]["counter_backwards"], 0)
        for row in boot.rows("psci.suspend.core.serial.wakeup"):
            if row["cpu"] == 1:
                self.assertEqual(row["n"], 0)
                self.assertGreater(row["excluded"]["stale"], 10)
            else:
                self.assertGreater(row["n"], 0)

    def test_an_exit_that_is_stale(self) -> None:
        boot = self.at_el3("stale=1", suite="psci.version.serial")
        self.assertEqual([row["excluded"] for row in boot.rows("psci.version.serial.el3")],
                         [{}, {"stale": 20}, {}, {}])

    def test_interrupts_that_nobody_asked_for(self) -> None:
        """They spoil each sample they come in, not those of other benchmarks."""
        for gic in (2, 3):
            boot = self.at_el3("spurious=1", suite="psci.version.serial,psci.features", gic=gic)
            self.assert_passed(boot, 4)
            for row in boot.rows("psci.version.serial.round-trip"):
                self.assertEqual((row["n"], row["excluded"]), (0, {"spurious": 20}))
            for row in boot.rows("psci.features.round-trip"):
                self.assertEqual((row["n"], row["excluded"]), (20, {}))
            self.assertGreater(boot.results["run"]["checks"]["spurious_interrupts"], 20)

    def test_a_core_that_comes_too_late(self) -> None:
        boot = self.at_el3("late-start=2", suite="psci,ipi.broadcast,smoke.sgi")
        self.assertIn("no sign of it in 1000 ms", self.reason(boot, "cpu.2"))
        self.assertEqual(len(boot.results["failures"]), 1)
        self.assert_delivers(boot)

    def test_a_core_that_comes_back_too_late(self) -> None:
        boot = self.at_el3("late-restart=2")
        self.assert_failed(boot, "psci.cpu-o.*: core 2 did not (go off|come back)")
        self.assertEqual({failure["name"].split(".")[1] for failure in boot.results["failures"]},
                         {"cpu-off", "cpu-on"})
        self.assert_delivers(boot, "psci.cpu")
        self.assertEqual([row["cpu"] for row in
                          boot.rows("psci.suspend.core.parallel.wake-to-c")
                          if row["n"] != 0], [0, 1, 3])

    def test_a_call_that_does_not_return(self) -> None:
        boot = self.at_el3("no-answer=2")
        self.assertIn("core 2 did not make its call", self.reason(boot, "psci.version.serial"))
        self.assert_delivers(boot, "psci.version", "psci.cpu")

    def test_stamps_refused_for_the_mpidr(self) -> None:
        """As TF-A does it: the answer is the call itself. Nothing of it may be a sample."""
        boot = self.at_el3("bad-mpidr=2", suite="psci.version.serial,psci.suspend.core.serial")
        self.assert_passed(boot, 4)
        for name in ("psci.version.serial.el3", "psci.suspend.core.serial.wakeup"):
            rows = boot.rows(name)
            self.assertEqual([row["cpu"] for row in rows if row["n"] == 0], [2], name)
            self.assertGreater(rows[2]["excluded"]["stale"], 10)

    def test_a_core_that_does_not_exist(self) -> None:
        self.assert_passed(self.at_el3(suite="smoke.psci"), 4)
        boot = self.at_el3("bad-mpidr", suite="smoke.psci,psci.version.serial")
        self.assert_failed(boot, "smoke.psci: AFFINITY_INFO of no core answers 1$")
        self.assertEqual(boot.row("psci.version.serial.round-trip")["n"], 20)

    def test_a_core_that_only_the_tree_has(self) -> None:
        tree = self.folder / "core.dtb"
        dump_tree(under_monitor(setup_of("qemu-virt", cpus=4), build_folder("qemu-virt")), tree)
        put_property(tree, "/cpus/cpu@6", "device_type", "cpu")
        put_property(tree, "/cpus/cpu@6", "compatible", "arm,cortex-a53")
        put_property(tree, "/cpus/cpu@6", "reg", "6", kind="x")
        boot = self.at_el3(tree=tree, accel="single")
        self.assert_failed(boot, r"cpu\.\d: CPU_ON of 0x6 returned INVALID_PARAMETERS \(-2\)$")
        self.assertEqual(len(boot.results["failures"]), 1)
        self.assertEqual(boot.fact("cores"), "4/5")
        self.assert_delivers(boot)
        self.assertEqual(len(boot.rows("psci.suspend.deepest.parallel.wake-latency")), 4)

    def test_states_that_do_not_exist(self) -> None:
        boot = self.at_el3(power_state="0x7,0x10003")
        self.assertIn("INVALID_PARAMETERS", self.reason(boot, "psci.suspend.core.serial"))
        self.assertIn("power state 0x7", self.reason(boot, "psci.suspend.standby.parallel"))
        self.assertIn("power_state=", self.reason(boot, "psci.suspend.deepest.serial"))


class Instructions(MonitorTest):
    """A wait in vain must not take its time in instructions, where each takes a nanosecond."""

    def test_each_ends(self) -> None:
        for word in ("refuse-suspend", "refuse-off", "inline", "early=2", "no-start=2",
                     "late-start=2", "late-restart=2", "no-wake=3", "miss-timer=1",
                     "miss-timer=0", "stop-timer=1", "spurious=1", "stale=1", "bad-mpidr=2"):
            with self.subTest(word=word):
                boot = self.at_el3(word, accel="icount", samples=5)
                self.assertIn(boot.outcome.status, ("passed", "failed"), boot.outcome.problem)
                self.assert_delivers(boot, "psci.cpu", "psci.suspend", "psci.wake")


class TimerStops(MonitorTest):
    """Firmware that stops a core's timer in a power-down."""

    def tree_with_states(self, *properties: str) -> Path:
        """The machine's tree with idle states, each power-down with these properties."""
        tree = self.folder / "states.dtb"
        dump_tree(under_monitor(setup_of("qemu-virt", cpus=4), build_folder("qemu-virt")), tree)
        for name, state in (("standby", 0x1), ("core", 0x10002), ("cluster", 0x1010022)):
            node = f"/cpus/idle-states/{name}"
            put_property(tree, node, "compatible", "arm,idle-state")
            put_property(tree, node, "arm,psci-suspend-param", f"{state:#x}", kind="x")
            for word in properties if name != "standby" else ():
                put_property(tree, node, word)
        return tree

    def test_the_tree_says_so(self) -> None:
        """An interrupt wakes instead, without being asked for; standby keeps the timer."""
        boot = self.at_el3("stop-timer", tree=self.tree_with_states("local-timer-stop"))
        self.assert_passed(boot, 4)
        for name in SUSPENDS:
            first = 1 if "standby" not in name and "parallel" in name else 0
            self.assertEqual([row["cpu"] for row in boot.rows(f"{name}.wake-latency")
                              if row["n"] != 0], list(range(first, 4)), name)

    def test_the_tree_does_not(self) -> None:
        boot = self.at_el3("stop-timer", tree=self.tree_with_states())
        for name in SUSPENDS:
            if "standby" not in name:
                self.assertRegex(self.reason(boot, name), "core [1-3] slept on in power state 0x.*, "
                                 "until another core sent it an interrupt")
        self.assert_delivers(boot, *(name for name in SUSPENDS + SWEEPS if "standby" not in name))
        for row in boot.rows("psci.suspend.standby.parallel.wake-latency"):
            self.assertGreater(row["n"], 0)


if __name__ == "__main__":
    unittest.main()
