"""A benchmark that hangs, a reset, and the samples that the next boot finds in memory.

The machine's memory is a file of the host, so that a test sees what a watchdog would see, lets a
hung core go on or not, and flips bits. The last pages of memory are no memory to the image: its
tree has a watchdog there, whose registers then are plain words.
"""

import mmap
import os
import re
import struct
import time
import unittest
import zlib
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any, Iterator, Optional

from el1bench_host import decode, machine, paths, run
from el1bench_host.follow import LogFollower
from el1bench_host.decoded_log import Boot
from el1bench_host.results import make_results
from tests.qemu.monitor import Monitor, monitor_options
from tests.qemu.support import (dump_tree, ensure_u_boot, plain_image_of, put_property, setup_of,
                                words_of)
from tests.qemu.test_faults import Fault

RAM = 0x40000000
RAM_BYTES = 256 << 20
REGISTERS = 0x4FE00000
HUNG = REGISTERS + 0x100  # the image sets it when it hangs ...
FREE = REGISTERS + 0x104  # ... until this is set
LINEAR = 0xFFFF000000000000
ENABLE = 1 << 18
STEP_MS = 10
MAGIC = struct.pack("<Q", 0x31627669767275E1)
EXCLUSIONS = int(re.search(r"SAMPLE_EXCLUSIONS = (\d+)", (
    paths.SOURCE_TREE / "include" / "el1bench" / "samples.h").read_text())[1])
ROW_BYTES = 96 + (4 * EXCLUSIONS + 7) // 8 * 8
SECONDS = 120


class Store:
    """What the image leaves in memory for its next boot, found by its magic number."""

    PROGRESS = 40  # bytes, the last four of them its checksum
    PLAN = 64

    def __init__(self, memory: mmap.mmap) -> None:
        self.memory = memory
        self.start = memory.find(MAGIC)
        rows, self.used = struct.unpack_from("<QQ", memory, self.start + self.PLAN)
        self.rows = rows - LINEAR - RAM
        self.row_count, self.stored = struct.unpack_from("<II", memory,
                                                         self.start + self.PLAN + 16)
        self.finished = struct.unpack_from("<I", memory, self.start + 20)[0]

    def row(self, index: int) -> tuple[int, int, int, int]:
        """Of a row: its place, and those of its factors (or -1) and samples, and their number."""
        place = self.rows + index * ROW_BYTES
        factors, = struct.unpack_from("<Q", self.memory, place + 16)
        count, values = struct.unpack_from("<IQ", self.memory, place + 68)
        return place, factors - LINEAR - RAM if factors else -1, values - LINEAR - RAM, count

    def places(self) -> dict[str, tuple[int, Optional[bytes]]]:
        """Bytes of each part, and what a boot says if one of them is spoilt."""
        place, _, values, count = self.row(0)
        last = self.row(self.finished - 1)
        factors = next(found for found in map(self.row, range(self.finished)) if found[1] >= 0)
        found: dict[str, tuple[int, Optional[bytes]]] = {
            "nothing": (self.start + 60, b"whole"),
            "magic": (self.start, None),
            **{f"progress word {index}": (self.start + 8 + 4 * index + index % 4, b"spoilt")
               for index in range(8)},
            "rows' address": (self.start + self.PLAN + 5, b"spoilt"),
            "memory used": (self.start + self.PLAN + 15, b"spoilt"),
            "number of rows": (self.start + self.PLAN + 16, b"spoilt"),
            "a benchmark": (self.start + self.PLAN + 42, b"spoilt"),
            "arguments": (self.start + self.memory[self.start:].find(b"el1bench.watchdog"),
                          b"spoilt"),
            "first row": (place + 8, b"spoilt"),
            "samples' address": (place + 72, b"spoilt"),
            "first sample": (values, b"spoilt"),
            "last sample": (last[2] + 8 * last[3] - 1, b"spoilt"),
            "factors": (factors[1], b"spoilt"),
            "derived row": (self.rows + self.stored * ROW_BYTES + 48, b"spoilt"),
            "a row that was not finished": (self.row(self.finished)[0] + 8, b"whole"),
        }
        return found


class Machine:
    """A running QEMU with its memory within reach."""

    def __init__(self, test: "SurvivorTest", qemu: machine.Setup) -> None:
        self.memory = test.memory
        command = [word for word in machine.command_line(qemu) if word != "-no-reboot"]
        self.emulator = machine.Emulator(command, interactive=qemu.served is not None)
        self.monitor: Optional[Monitor] = None
        self.path = test.folder / "qmp"
        self.log = b""
        self.follower = LogFollower()

    def word(self, address: int) -> int:
        """A word of memory."""
        return struct.unpack_from("<I", self.memory, address - RAM)[0]

    def wait(self, condition: Any, what: str) -> None:
        """Read the console until something is true."""
        deadline = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"no {what}; the console says:\n"
                                     f"{self.log.decode('latin-1')[-3000:]}")
            self.read(0.02)

    def read(self, timeout: float) -> bytes:
        """As ByteStream.read."""
        data = self.emulator.read(timeout)
        self.log += data
        self.follower.feed(data)
        return data

    def write(self, data: bytes) -> None:
        """As ByteStream.write."""
        self.emulator.write(data)

    def wait_hung(self) -> None:
        """Until the benchmark hangs."""
        self.wait(lambda: self.word(HUNG) == 1, "hang")

    def wait_ended(self, boots: int) -> None:
        """Until the trailer of a boot."""
        self.wait(lambda: self.follower.boots == boots and self.follower.ended, "trailer")

    def reset(self, free: bool = True) -> None:
        """As a watchdog would; from then on, the benchmark hangs or not."""
        if self.monitor is None:
            self.monitor = Monitor(self.path)
        self.monitor.ask("stop")
        struct.pack_into("<II", self.memory, HUNG - RAM, 0, int(free))
        self.monitor.ask("system_reset")
        self.monitor.ask("cont")

    def close(self) -> None:
        """End it."""
        if self.monitor is not None:
            self.monitor.close()
        self.emulator.stop()


class SurvivorTest(Fault):
    """Boots an image whose clock.floor hangs."""

    def setUp(self) -> None:
        super().setUp()
        path = self.folder / "ram"
        with path.open("wb") as file:
            file.truncate(RAM_BYTES)
        self.file = os.open(path, os.O_RDWR)
        self.addCleanup(os.close, self.file)
        self.memory = mmap.mmap(self.file, RAM_BYTES)
        self.addCleanup(self.memory.close)
        address = LINEAR + HUNG
        # ldr x0, literal; mov w1, #1; str w1, [x0]; ldr w2, [x0, #4]; cbz w2, .-4;
        # mov w0, #1; ret; nop; literal
        self.image = self.patched(self.target, [
            0x58000100, 0x52800021, 0xB9000001, 0xB9400402, 0x34FFFFE2, 0x52800020, 0xD65F03C0,
            0xD503201F, address & 0xFFFFFFFF, address >> 32])

    def qemu(self, **options: Any) -> machine.Setup:
        """A machine with its memory in the file."""
        return setup_of("qemu-virt", machine_options=("memory-backend=ram",), options=(
            "-object", f"memory-backend-file,id=ram,size={RAM_BYTES},share=on,"
            f"mem-path={self.folder / 'ram'}", *monitor_options(self.folder / "qmp")), **options)

    def qemu_with_watchdog(self) -> machine.Setup:
        """With icount, and a counter that counts instructions; and its tree has a watchdog."""
        qemu = self.qemu(kernel=self.image, accel="icount", counter_hz=10**9)
        tree = self.folder / "tree"
        dump_tree(replace(qemu, options=qemu.options[:2]), tree)
        put_property(tree, "/memory@40000000", "reg", "0", hex(RAM), "0", hex(REGISTERS - RAM),
                     kind="x")
        put_property(tree, "/watchdog@4fe00000", "compatible", "amlogic,meson-gxbb-wdt")
        put_property(tree, "/watchdog@4fe00000", "reg", "0", hex(REGISTERS), "0", "10", kind="x")
        return replace(qemu, tree=tree)

    @contextmanager
    def running(self, **words: Any) -> Iterator[Machine]:
        """The machine, started with boot arguments."""
        words = {"watchdog": "on", "suite": "clock,ipi", "samples": 50, "payload": "none,8",
                 "on_exit": "halt",
                 **words}
        with closing(Machine(self, replace(self.qemu_with_watchdog(), arguments=" ".join(
                words_of("icount", **words))))) as started:
            yield started


class Survivors(SurvivorTest):
    """What is found after a reset."""

    def values(self, boot: Boot) -> dict[tuple[Any, ...], list[int]]:
        """The samples of a boot by row."""
        return {(row.metric.name, row.metric.cpu, row.metric.peer,
                 tuple(sorted(row.metric.factors.items()))): row.values.tolist()
                for row in boot.rows.values() if row.values is not None}

    def test_the_next_boot_finds_what_was_finished_and_the_one_after_nothing(self) -> None:
        with self.running() as board:
            board.wait_hung()
            control, count = board.word(REGISTERS), board.word(REGISTERS + 8)
            self.assertEqual(control & ENABLE, ENABLE)
            self.assertGreater(count * STEP_MS, 10000)
            board.reset()
            board.wait_ended(2)
            board.wait(lambda: board.word(REGISTERS) & ENABLE == 0, "stopped watchdog")
            board.reset()
            board.wait_ended(3)
            log = board.log
        decoded = decode.decode_log(log)
        first, second, third = decoded.boots
        order = list(second.plan.names)
        self.assertEqual(order, list(first.plan.names))
        finished = order[:order.index(self.BENCHMARK)]
        self.assertGreater(len(finished), 5)
        self.assertEqual((first.survived.finished, first.survived.benchmarks),
                         (len(finished), len(order)))
        self.assertIsNone(second.survived)
        self.assertIsNone(third.survivors)
        self.assertNotIn(b"was-", log[log.rindex(b"@el1b begin "):])
        self.assertEqual(decoded.exit_code(), 3)
        self.assertEqual({one.kind for one in decoded.problems}, {"no-trailer", "survived"})
        self.assertEqual([boot.complete for boot in decoded.boots], [False, True, True])
        results = {one.name: (one.result, one.reason) for one in first.outcomes}
        self.assertEqual(list(results), order)
        for name in finished:
            self.assertEqual(results[name], ("passed", ""))
        self.assertEqual(results[self.BENCHMARK],
                         ("failed", "reset while it ran"))
        self.assertEqual({results[name][0] for name in order[len(finished) + 1:]}, {"skipped"})

        found, whole = self.values(first), self.values(second)
        self.assertEqual({name.rpartition(".")[0] for name, *_ in found} & {self.BENCHMARK}, set())
        self.assertEqual(found, {key: values for key, values in whole.items() if key in found})
        self.assertGreater(len(found), 20)
        self.assertTrue(any(key[-1] for key in found), "no row has factors")

        made = make_results(decoded)
        self.assertEqual(made["boots"][0]["survived"],
                         {"finished": len(finished), "benchmarks": len(order)})
        self.assertFalse(made["boots"][0]["complete"])
        self.assertIn({"name": self.BENCHMARK, "boot": 0,
                       "reason": "reset while it ran"}, made["failures"])
        self.assertIn("ipi.self.total", {one["name"] for one in made["metrics"]
                                         if one["boot"] == 0})

    def test_they_are_those_of_an_undisturbed_run(self) -> None:
        with self.running() as board:
            board.wait_hung()
            board.reset()
            board.wait_ended(2)
            disturbed = decode.decode_log(board.log).boots[0]
        self.memory[:] = bytes(RAM_BYTES)
        struct.pack_into("<I", self.memory, FREE - RAM, 1)
        with self.running() as board:
            board.wait_ended(1)
            undisturbed = decode.decode_log(board.log).boots[0]
        self.assertTrue(undisturbed.complete)
        found, whole = self.values(disturbed), self.values(undisturbed)
        self.assertGreater(len(found), 20)
        self.assertEqual(found, {key: values for key, values in whole.items() if key in found})

    def test_what_does_not_check_is_not_believed(self) -> None:
        with self.running() as board:
            board.wait_hung()
            board.reset(free=False)
            board.wait_hung()
            store = Store(self.memory)
            before = self.memory[store.start:store.start + store.used]
            places = store.places()
            for what, (place, verdict) in places.items():
                with self.subTest(what):
                    self.memory[store.start:store.start + store.used] = before
                    self.memory[place] ^= 1 << place % 8
                    at = len(board.log)
                    board.reset(free=False)
                    board.wait_hung()
                    said = board.log[at:]
                    self.assertEqual(re.findall(rb"@el1b survivors \d+ state=([a-z]+)", said),
                                     [verdict] if verdict else [])
                    self.assertEqual(b"@el1b was-metric " in said, verdict == b"whole")
                    self.assertIn(b"@el1b plan ", said)

    def test_those_of_another_image_are_not_believed(self) -> None:
        with self.running() as board:
            board.wait_hung()
            store = Store(self.memory)
            end = store.start + Store.PROGRESS - 4
            # As an image with another build id would have left it.
            build = zlib.crc32(b"0123456789abcdef\0")
            struct.pack_into("<I", self.memory, end,
                             zlib.crc32(self.memory[store.start:end], build))
            board.reset()
            board.wait_ended(2)
            decoded = decode.decode_log(board.log)
        self.assertEqual(decoded.boots[1].survivors.state, "spoilt")
        self.assertTrue(decoded.boots[1].complete)
        self.assertEqual([name for name, _ in decoded.boots[1].notes if name == "survivors"],
                         ["survivors"])

    def test_nothing_is_kept_unless_asked_for(self) -> None:
        with self.running(watchdog="off") as board:
            board.wait_hung()
            self.assertEqual(board.word(REGISTERS), 0)
            board.reset()
            board.wait_ended(2)
            self.assertNotIn(b"survivors", board.log)


class Watchdog(SurvivorTest):
    """What the image asks of a watchdog."""

    def test_longer_than_it_waits_is_refused(self) -> None:
        with self.running(suite="ipi.normal", samples=1000000) as board:
            board.wait_ended(1)
            self.assertEqual(board.follower.status, "refused")
            self.assertRegex(board.log, rb"ipi\.normal may take \d+ ms, the watchdog waits at "
                                        rb"most 655350")

    def test_a_machine_without_one_says_so_and_goes_on(self) -> None:
        boot = self.boot(setup_of("qemu-virt"), words_of(suite="ipi.self", samples=20,
                                                         watchdog="on"))
        self.assert_passed(boot)
        self.assertEqual(boot.fact("watchdog"), "waits 0 ms at most; 0: there is none")


class ThroughUBoot(SurvivorTest):
    """U-Boot between the reset and the next boot: it uses memory too, and fetches the image anew."""

    def test_another_image_of_the_same_build_finds_them(self) -> None:
        served = self.folder / "served"
        served.mkdir()
        qemu = self.qemu(kernel=None, firmware=ensure_u_boot(), served=served, level=2)
        address = qemu.board.firmware_load_address
        words = words_of(watchdog="on", suite="clock,ipi", samples=50)
        hangs = self.patched(self.target, [0x14000000])  # b .
        with closing(Machine(self, qemu)) as board:
            run.launcher(hangs, served, "go", address, words)(board)
            board.wait(lambda: board.follower.plan is not None, "plan line")
            order = list(decode.decode_log(board.log).boots[0].plan.names)
            before = order.index(self.BENCHMARK)
            store = self.memory.find(MAGIC)
            board.wait(lambda: board.word(RAM + store + 12) == before, "benchmark before the hang")
            board.reset()
            run.launcher(plain_image_of("qemu-virt"), served, "go", address,
                         words_of(suite="clock.step", samples=5, on_exit="halt"))(board)
            board.wait_ended(2)
            decoded = decode.decode_log(board.log)
        first, second = decoded.boots
        self.assertEqual(first.survived.finished, before)
        self.assertGreater(before, 5)
        self.assertRegex(first.info["watchdog"], "^waits 0 ms ")
        self.assertEqual({row.metric.samples for row in first.rows.values()
                          if row.metric.name.startswith("ipi.normal.")}, {50})
        self.assertTrue(all(row.complete for row in first.rows.values()))
        self.assertTrue(second.complete)
        self.assertEqual(list(second.plan.names), ["clock.step"])


if __name__ == "__main__":
    unittest.main()
