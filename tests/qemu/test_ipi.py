"""Every pair of cores, the factors, broadcasts to any count of targets, and contention."""

import re
import struct
import subprocess
import unittest
from typing import Any, Mapping, Optional

from el1bench_host import report
from el1bench_host.results_file import to_text
from tests.qemu.support import (Boot, QemuTest, build_folder, plain_image_of, setup_of,
                                words_of)
from tests.qemu.test_faults import IMAGE_ADDRESS, symbols

RET = 0xD65F03C0
HZ = 10**9


def exact(test: QemuTest, cpus: int = 3, gic: int = 2, **values: Any) -> Boot:
    """A boot in which a tick is an instruction."""
    boot = test.boot(setup_of("qemu-virt", accel="icount", counter_hz=HZ, cpus=cpus, gic=gic),
                     words_of("icount", **{"samples": 24, **values}))
    test.assert_passed(boot, cpus)
    return boot


def note_of(boot: Boot, name: str) -> str:
    """What a benchmark says besides its samples, a line a note."""
    return "\n".join(one["text"] for one in boot.results["notes"] if one["name"] == name)


def p50(boot: Boot, name: str, cpu: int = 0, peer: Optional[int] = 1, **factors: str) -> float:
    """The median of the one row that has these factors."""
    found = [row["p50"] for row in boot.rows(name)
             if (row["cpu"], row["peer"]) == (cpu, peer)
             and all(row["factors"].get(key) == value for key, value in factors.items())]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} rows of {name} {cpu}>{peer} {factors}")
    return found[0]


class Pairs(QemuTest):
    """ipi.matrix, ipi.line and ipi.event."""

    def check(self, cpus: int, gic: int, samples: int) -> Boot:
        """Every pair is there, with all of its samples."""
        boot = self.boot(setup_of("qemu-virt", cpus=cpus, gic=gic),
                         words_of(suite="ipi.matrix,ipi.line,ipi.event", samples=samples,
                                  budget=120000))
        self.assert_passed(boot, cpus)
        ordered = {(one, other) for one in range(cpus) for other in range(cpus) if one != other}
        for name in ("ipi.matrix.delivery", "ipi.matrix.total"):
            rows = boot.rows(name)
            self.assertEqual({(row["cpu"], row["peer"]) for row in rows}, ordered)
            self.assertEqual(len(rows), len(ordered))
            self.assertEqual({row["n"] for row in rows}, {samples})
            self.assertEqual({tuple(row["factors"]) for row in rows}, {()})
        for name in ("ipi.line.round-trip", "ipi.event.round-trip"):
            rows = boot.rows(name)
            self.assertEqual({(row["cpu"], row["peer"]) for row in rows},
                             {pair for pair in ordered if pair[0] < pair[1]})
            self.assertEqual({row["n"] for row in rows}, {samples})
        for one, other in ordered:
            self.assertLessEqual(p50(boot, "ipi.matrix.delivery", one, other),
                                 p50(boot, "ipi.matrix.total", one, other))
        return boot

    def test_four_cores(self) -> None:
        for gic in (2, 3):
            with self.subTest(gic=gic):
                boot = self.check(4, gic, 43)
                console = boot.text.partition("ipi.matrix.total, p50 in ticks\n")[2]
                self.assertRegex(console, r"^ +from>to +0 +1 +2 +3\n +0> +- +\d+ +\d+ +\d+\n")
                self.assertRegex(report.render(boot.results, "term"),
                                 r"matrix\.total: ticks from core to core\nfrom>to +0 +1 +2 +3\n"
                                 r"0> +\. +\S+ +\S+ +\S+\n")

    def test_sixty_four_cores(self) -> None:
        boot = self.boot(setup_of("qemu-virt", cpus=64, gic=3),
                         words_of(suite="ipi.matrix", samples=8, budget=120000))
        self.assert_passed(boot, 64)
        self.assertEqual(len(boot.results["metrics"]), 8064)
        self.assertEqual({row["n"] for row in boot.results["metrics"]}, {8})
        self.assertLess(len(to_text(boot.results)), 3_000_000)
        self.assertNotIn("from>to", boot.text)
        self.assertIn("all 4032 rows; medians from", boot.text)

    def test_a_pair_is_like_any_other(self) -> None:
        """Core 0 disturbs nobody: who arranges makes no difference, to the instruction."""
        for gic in (2, 3):
            with self.subTest(gic=gic):
                boot = exact(self, 6, gic, suite="ipi.matrix,ipi.line,ipi.normal")
                for name in ("ipi.matrix.delivery", "ipi.matrix.total", "ipi.line.round-trip"):
                    self.assertEqual(len({row["p50"] for row in boot.rows(name)}), 1, name)
                self.assertLess(p50(boot, "ipi.line.round-trip"), p50(boot, "ipi.matrix.total"))

    def test_it_leaves_the_counter_to_others(self) -> None:
        """Event streams come and go; processes at EL0 can read the counter afterwards."""
        for seed in (1, 2, 3):
            boot = self.boot(setup_of("qemu-virt"),
                             words_of(suite="ipi.event,spawn.floor", samples=10, seed=seed))
            self.assert_passed(boot, 2)

    def test_pairs_that_are_selected(self) -> None:
        boot = self.boot(setup_of("qemu-virt", cpus=4),
                         words_of(suite="ipi.matrix,ipi.line", samples=9, pair="1>*,3>0"))
        self.assert_passed(boot, 4)
        self.assertEqual({(row["cpu"], row["peer"]) for row in boot.rows("ipi.matrix.total")},
                         {(1, 0), (1, 2), (1, 3), (3, 0)})
        self.assertEqual({(row["cpu"], row["peer"]) for row in boot.rows("ipi.line.round-trip")},
                         {(0, 1), (1, 2), (1, 3), (0, 3)})

    def test_the_budget(self) -> None:
        """What does not fit ends in time, whole, and says so."""
        boot = self.boot(setup_of("qemu-virt", cpus=8),
                         words_of(suite="ipi.matrix", samples=5000, budget=300, dump="summary"))
        self.assert_passed(boot, 8)
        counts = {row["n"] for row in boot.rows("ipi.matrix.total")}
        self.assertLess(max(counts), 5000)
        self.assertLessEqual(max(counts) - min(counts), 8)
        self.assertRegex(note_of(boot, "ipi.matrix"),
                         rf"budget of 300 ms ended it with {min(counts)} of 5000 samples a row")
        self.assertRegex(report.render(boot.results, "md"), r"ipi\.matrix: its budget of 300 ms")

    def test_warm_up_is_as_long_as_asked(self) -> None:
        boot = self.boot(setup_of("qemu-virt"),
                         words_of(suite="ipi.matrix", samples=11, warmup=10))
        self.assert_passed(boot, 2)
        self.assertEqual({(row["n"], row["warmup_n"]) for row in boot.rows("ipi.matrix.total")},
                         {(11, 10)})


class Factors(QemuTest):
    """Each factor that emulation can show moves its metric, and only where it should."""

    def test_receiver(self) -> None:
        boot = exact(self, suite="ipi.matrix", receiver="spin,wfe,wfi", pair="0>1,1>2,1>0")
        for pair in ((0, 1), (1, 2), (1, 0)):
            spin, wfi = (p50(boot, "ipi.matrix.delivery", *pair, receiver=state)
                         for state in ("spin", "wfi"))
            self.assertGreater(wfi, spin, "waking up from WFI costs nothing")
            spin, wfi = (p50(boot, "ipi.matrix.total", *pair, receiver=state)
                         for state in ("spin", "wfi"))
            self.assertGreater(wfi, spin)
            self.assertEqual(p50(boot, "ipi.matrix.total", *pair, receiver="wfe"), spin,
                             "an emulator's WFE is a hint like yield")

    def test_payload(self) -> None:
        boot = exact(self, suite="ipi.matrix", payload="none,8,64", pair="0>1,1>2")
        for pair in ((0, 1), (1, 2)):
            none, few, many = (p50(boot, "ipi.matrix.total", *pair, payload=lines)
                               for lines in ("none", "8", "64"))
            self.assertGreaterEqual(few - none, 2 * 8)
            self.assertGreaterEqual(many - few, 2 * 56)
            self.assertEqual(len({p50(boot, "ipi.matrix.delivery", *pair, payload=lines)
                                  for lines in ("none", "8", "64")}), 1)
        self.assertRegex(note_of(boot, "ipi.matrix"), r"^\d+ lines of payload verified, none")

    def test_barrier(self) -> None:
        for gic in (2, 3):
            with self.subTest(gic=gic):
                boot = exact(self, gic=gic, suite="ipi.matrix", barrier="ishst,sy,none",
                             pair="0>1")
                for name in ("ipi.matrix.delivery", "ipi.matrix.total"):
                    with_one = p50(boot, name, barrier="ishst")
                    self.assertEqual(p50(boot, name, barrier="none"), with_one - 1)
                    self.assertEqual(p50(boot, name, barrier="sy"), with_one)

    def test_load(self) -> None:
        boot = exact(self, suite="ipi.matrix", load="none,memory", pair="0>1,1>2")
        for pair in ((0, 1), (1, 2)):
            none, memory = (p50(boot, "ipi.matrix.total", *pair, load=load)
                            for load in ("none", "memory"))
            self.assertGreater(memory, none + 64)

    def test_cold_caches_stay_out_of_the_interval(self) -> None:
        boot = exact(self, suite="ipi.matrix", cache="warm,cold", pair="0>1")
        warm, cold = (p50(boot, "ipi.matrix.total", cache=cache) for cache in ("warm", "cold"))
        self.assertEqual(warm, cold)

    def test_what_the_row_says(self) -> None:
        boot = self.boot(setup_of("qemu-virt", cpus=3),
                         words_of(suite="ipi.matrix", samples=3, pair="0>1", receiver="wfi,spin",
                                  payload="2", cache="cold", load="memory", barrier="sy"))
        self.assert_passed(boot, 3)
        self.assertEqual([row["factors"] for row in boot.rows("ipi.matrix.total")],
                         [{"receiver": state, "payload": "2", "cache": "cold", "load": "memory",
                           "barrier": "sy"} for state in ("wfi", "spin")])

    def test_busy_is_left_out_by_name(self) -> None:
        for accel in ("single", "icount"):
            with self.subTest(accel=accel):
                boot = self.boot(setup_of("qemu-virt", accel=accel),
                                 words_of(accel, suite="ipi.matrix", samples=3, receiver="busy"))
                self.assertEqual(boot.outcome.status, "passed", boot.outcome.problem)
                self.assertEqual([one["name"] for one in boot.results["skipped"]], ["ipi.matrix"])
                self.assertRegex(boot.results["skipped"][0]["reason"], "^receiver=busy ")
        boot = self.boot(setup_of("qemu-virt"), words_of(suite="ipi.matrix", samples=3,
                                                         receiver="busy,spin"))
        self.assert_passed(boot, 2)
        self.assertEqual({row["factors"]["receiver"] for row in boot.results["metrics"]}, {"spin"})
        self.assertRegex(note_of(boot, "ipi.matrix"), "^receiver=busy is left out")

    def test_load_takes_three_cores(self) -> None:
        boot = self.boot(setup_of("qemu-virt"), words_of(suite="ipi.matrix", samples=3,
                                                         load="memory"))
        self.assertEqual(boot.outcome.status, "passed", boot.outcome.problem)
        self.assertRegex(boot.results["skipped"][0]["reason"], "third core")


class Busy(QemuTest):
    """What only cores that run side by side can do."""

    serial = True

    def test_every_receiver(self) -> None:
        boot = self.boot(setup_of("qemu-virt", accel="multi"),
                         words_of("multi", suite="ipi.matrix", samples=20, warmup=0,
                                  receiver="busy,spin,wfe,wfi"))
        self.assert_passed(boot, 2)
        counts = {row["factors"]["receiver"]: row["n"] for row in boot.rows("ipi.matrix.total")}
        self.assertEqual(counts, {"busy": 20, "spin": 20, "wfe": 20, "wfi": 20})


class Payload(QemuTest):
    """What the sender stored is what the handler reads."""

    def test_a_hundred_thousand_sends(self) -> None:
        for gic in (2, 3):
            with self.subTest(gic=gic):
                boot = self.boot(setup_of("qemu-virt", gic=gic),
                                 words_of(suite="ipi.matrix", samples=50000, warmup=0, payload=8,
                                          dump="summary", budget=600000))
                self.assert_passed(boot, 2)
                self.assertEqual(sum(row["n"] for row in boot.rows("ipi.matrix.total")), 100000)
                verified = int(re.search(r"^(\d+) lines of payload", note_of(boot, "ipi.matrix"), re.M)[1])
                self.assertGreaterEqual(verified, 800000)

    def disassembly(self) -> Mapping[str, list[str]]:
        """The instructions of each function of the GIC drivers that sends."""
        text = subprocess.run(
            ["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn",
             str(build_folder("qemu-virt") / "image.elf")],
            check=True, capture_output=True, text=True, timeout=60).stdout
        found = {}
        for name, body in re.findall(r"^[0-9a-f]+ <(v[23]_send\w*)>:\n(.*?)\n(?:\n|\Z)", text,
                                     re.M | re.S):
            found[name] = [line.partition("\t")[2].strip() for line in body.splitlines()]
        return found

    def test_the_barrier_stands_before_the_write(self) -> None:
        functions = self.disassembly()
        self.assertEqual(len(functions), 10, functions)
        for name, code in functions.items():
            write = r"str\s.*" if name.startswith("v2") else r"msr\s+(icc_sgi1r_el1|s3_0_c12_c11_5)"
            writes = [at for at, line in enumerate(code) if re.match(write, line)]
            barriers = [at for at, line in enumerate(code) if re.match(r"dsb\s+(ishst|sy)", line)]
            self.assertEqual(len(writes), 1, (name, code))
            if name.endswith("_none"):
                self.assertEqual(barriers, [], (name, code))
            else:
                self.assertEqual(len(barriers), 1, (name, code))
                self.assertLess(barriers[0], writes[0], (name, code))


class Patched(QemuTest):
    """Images with one function that does nothing."""

    def boot_without(self, source: str, function: str, **values: Any) -> Boot:
        """Boot with that function returning at once."""
        image = bytearray(plain_image_of("qemu-virt").read_bytes())
        offset = symbols()[source, function] - IMAGE_ADDRESS
        image[offset:offset + 4] = struct.pack("<I", RET)
        path = self.folder / "image"
        path.write_bytes(image)
        return self.boot(setup_of("qemu-virt", cpus=3, kernel=path), words_of(**values))

    def test_an_interrupt_that_is_not_sent(self) -> None:
        boot = self.boot_without("v2.c", "v2_send_behind_sy", suite="ipi.matrix,ipi.line",
                                 barrier="sy", pair="1>2", samples=5)
        self.assert_failed(boot, r"^ipi\.matrix: core 2 did not answer core 1$")
        self.assertEqual(boot.row("ipi.line.round-trip")["n"], 5)

    def test_a_list_that_is_not_sent(self) -> None:
        boot = self.boot_without("v2.c", "v2_send_list", suite="ipi.broadcast-targets", samples=5)
        self.assert_failed(boot, r"^ipi\.broadcast-targets: core 1 did not acknowledge")


    def test_a_storm_that_nobody_answers(self) -> None:
        boot = self.boot_without("storm.c", "answer_all", suite="ipi.storm", samples=5, warmup=0)
        self.assert_failed(boot, r"^ipi\.storm: 8 of 8 sends were not answered by any interrupt$")
        self.assertEqual(boot.results["boots"][0]["checks"]["lost_interrupts"], 1)
        self.assertEqual(note_of(boot, "ipi.storm"), "")


class Targets(QemuTest):
    """Broadcasts to any count of targets, in instructions."""

    def test_the_cost_of_a_target(self) -> None:
        boot = exact(self, 64, 3, suite="ipi.broadcast,ipi.broadcast-targets", warmup=8, samples=8,
                     budget=600000)
        total, send, first, last = (
            {int(row["factors"]["targets"]): row["p50"]
             for row in boot.rows(f"ipi.broadcast-targets.{metric}")}
            for metric in ("total", "send", "first", "last"))
        self.assertEqual(sorted(total), list(range(1, 64)))
        added = {count: (total[count] - total[1]) / (count - 1) for count in range(3, 64)}
        self.note(f"added cost of a target: {added}")
        self.assertLessEqual(max(added.values()), 1.1 * min(added.values()))
        # Targets 1 to 15 are of the first group of 16 cores, 16 to 31 of the second, ...
        self.note(f"send: {send}")
        step = send[16] - send[15]
        self.assertGreater(step, 0)
        self.assertEqual({count: value for count, value in send.items()},
                         {count: send[1] + step * (count // 16) for count in send})
        self.assertEqual(first[1], last[1])
        self.assertLess(first[63], last[63])
        self.assertLessEqual(last[63], total[63])

    def test_the_cost_of_a_broadcast_is_constant(self) -> None:
        for gic, counts in ((2, (2, 4, 8)), (3, (2, 8, 24))):
            sends = set()
            for cpus in counts:
                boot = exact(self, cpus, gic, suite="ipi.broadcast", samples=8)
                sends.add(boot.row("ipi.broadcast.send")["p50"])
            self.assertEqual(len(sends), 1, (gic, sends))

    def test_a_list_of_gicv2(self) -> None:
        boot = exact(self, 8, 2, suite="ipi.broadcast-targets", samples=8)
        self.assertEqual(len({row["p50"] for row in boot.rows("ipi.broadcast-targets.send")}), 1)


class Storm(QemuTest):
    """All cores send to core 0 at once."""

    def numbers(self, gic: int, cpus: int) -> tuple[int, ...]:
        """Sent, taken and merged."""
        boot = exact(self, cpus, gic, suite="ipi.storm", samples=20, warmup=0)
        self.assertEqual(boot.row("ipi.storm.total")["n"], 20)
        self.assertEqual(boot.results["boots"][0]["checks"]["lost_interrupts"], 0)
        found = re.match(r"(\d+) sent, (\d+) taken, (\d+) merged with one that was pending, "
                             r"none lost", note_of(boot, "ipi.storm"))
        self.assertIsNotNone(found, note_of(boot, "ipi.storm"))
        return tuple(int(number) for number in found.groups())

    def test_merging(self) -> None:
        """On GICv2 each source is pending on its own; on GICv3 all are one."""
        for gic in (2, 3):
            sent, taken, merged = self.numbers(gic, 5)
            self.assertEqual((sent, taken + merged), (20 * 4 * 4, sent))
            self.assertGreater(merged, 0)
            self.assertGreaterEqual(taken, 20 * 4 if gic == 2 else 20)

    def test_many_cores(self) -> None:
        sent, taken, merged = self.numbers(3, 32)
        self.assertEqual((sent, taken + merged), (20 * 4 * 31, sent))

    def test_two_cores(self) -> None:
        self.assertEqual(self.numbers(2, 2)[0], 20 * 4)


if __name__ == "__main__":
    unittest.main()
