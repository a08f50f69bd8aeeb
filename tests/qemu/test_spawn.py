"""The spawn suite: steps that add up, nothing lost, and what tracking costs."""

import re
import struct
import unittest

from tests.qemu.support import Boot, QemuTest, plain_image_of, setup_of, words_of
from tests.qemu.test_faults import IMAGE_ADDRESS, symbols

STEPS = ("address-space", "image-load", "stack-arguments", "thread", "first-switch",
         "first-instruction")
KINDS = ("untracked", "tracked", "tracked-server")
INNER_STAMPS = 4
SPAWNS = 10000
DELAY = 40
NOP = 0xD503201F


def notes(boot: Boot, name: str) -> list[str]:
    """What a benchmark has noted."""
    return [note["text"] for note in boot.results["notes"] if note["name"] == name]


def branch(at: int, target: int) -> int:
    """The instruction at `at` that branches to `target`."""
    return 0x14000000 | (target - at >> 2) & 0x3FFFFFF


def depends_on_place(word: int) -> bool:
    """True for branches, and for what takes addresses relative to itself."""
    return (word & 0x1F000000 == 0x10000000  # adr, adrp
            or word & 0x3B000000 == 0x18000000  # ldr literal
            or word & 0x1C000000 == 0x14000000)  # branches, system instructions


class Icount(QemuTest):
    """In instructions."""

    def spawned(self, suite: str = "spawn.process.untracked", **options: object) -> Boot:
        """A run that passes."""
        boot = self.boot(setup_of("qemu-virt", accel="icount", counter_hz=10**9, **options),
                         words_of("icount", suite=suite, samples=20, dump="summary"))
        self.assert_passed(boot)
        return boot

    def medians(self, boot: Boot, kind: str = "untracked") -> dict[str, int]:
        """Of the spawns on core 0, by metric."""
        prefix = f"spawn.process.{kind}."
        return {row["name"][len(prefix):]: row["p50"] for row in boot.results["metrics"]
                if row["name"].startswith(prefix) and row["peer"] is None}

    def test_steps_add_up_and_stamps_are_cheap(self) -> None:
        boot = self.spawned("spawn.process.untracked,spawn.process.tracked,"
                            "spawn.process.tracked-server,spawn.process.unstamped")
        totals = {}
        for kind in KINDS:
            found = self.medians(boot, kind)
            self.assertEqual(sum(found[step] for step in STEPS), found["total"], kind)
            totals[kind] = found["total"]
        self.note(f"totals {totals}")
        self.assertLess(totals["untracked"], totals["tracked"])
        self.assertLess(totals["tracked"], totals["tracked-server"])
        for kind in KINDS[1:]:
            self.assertEqual(self.medians(boot, kind)["net"], totals[kind] - totals["untracked"])
        probes = -self.medians(boot, "unstamped")["net"]
        self.note(f"{INNER_STAMPS} stamps take {probes} instructions")
        self.assertGreater(probes, 0)
        self.assertLessEqual(probes, 3 * INNER_STAMPS)

    def test_a_slower_step_shows_in_that_step_alone(self) -> None:
        # process_thread() gets a detour over code that this run does not use.
        known = symbols()
        image = bytearray(plain_image_of("qemu-virt").read_bytes())
        at = known["", "process_thread"]
        spare = known["image_size.c", "sample"]
        while True:
            word, = struct.unpack_from("<I", image, at - IMAGE_ADDRESS)
            if not depends_on_place(word):
                break
            at += 4
        detour = [NOP] * (DELAY - 2) + [word]
        detour.append(branch(spare + 4 * len(detour), at + 4))
        struct.pack_into(f"<{len(detour)}I", image, spare - IMAGE_ADDRESS, *detour)
        struct.pack_into("<I", image, at - IMAGE_ADDRESS, branch(at, spare))
        slower = self.folder / "image"
        slower.write_bytes(image)
        before = self.medians(self.spawned(kernel=plain_image_of("qemu-virt")))
        after = self.medians(self.spawned(kernel=slower))
        added = {name: after[name] - before[name] for name in before if after[name] != before[name]}
        self.assertEqual(added, {"thread": DELAY, "total": DELAY})


class Leaks(QemuTest):
    """What is spawned is torn down, all of it."""

    def spawn_many(self, cpus: int, samples: int) -> None:
        """Spawns and counts."""
        name = "spawn.process.tracked"
        boot = self.boot(setup_of("qemu-virt", cpus=cpus),
                         words_of(suite=name, samples=samples, dump="summary"))
        self.assert_passed(boot, cpus)
        said = "\n".join(notes(boot, name))
        spawned, before, after = map(int, re.search(
            r"(\d+) spawned; pages free (\d+) before, (\d+) after", said).groups())
        self.assertGreaterEqual(spawned, SPAWNS)
        self.assertEqual(before, after)
        for what in ("ASIDs free", "model nodes", "model edges"):
            counts = re.search(rf"{what} (\d+) before, (\d+) after", said).groups()
            self.assertEqual(counts[0], counts[1], what)
        self.assertIn("; 0 requests refused", said)

    def test_one_core(self) -> None:
        self.spawn_many(1, SPAWNS)

    def test_four_cores(self) -> None:
        # Each sample spawns one on core 0 and one on another core.
        self.spawn_many(4, SPAWNS // 2)


START = (0xD53BE020,  # mrs x0, cntpct_el0
         0xD2800028,  # mov x8, #1
         0xD4000001)  # svc #0
EXIT = (0xD2800000,  # mov x0, #0
        0xD5033FDF,  # isb
        0xD53BE021,  # mrs x1, cntpct_el0
        0xD2800048,  # mov x8, #2
        0xD4000001)  # svc #0
SPIN = 0x14000000  # b .
ADDRESS = 0x400000
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")


def program(*code: int, machine: int = 183, second_at: int = 0x600000,
            second_bytes: int = 16) -> bytes:
    """An ELF file with a segment of code and one of zeros."""
    start = HEADER.size + 2 * SEGMENT.size
    text = struct.pack(f"<{len(code)}I", *code)
    return (HEADER.pack(b"\x7fELF\x02\x01\x01" + bytes(9), 2, machine, 1, ADDRESS, HEADER.size, 0, 0,
                        HEADER.size, SEGMENT.size, 2, 0, 0, 0)
            + SEGMENT.pack(1, 5, start, ADDRESS, 0, len(text), len(text), 8)
            + SEGMENT.pack(1, 6, 0, second_at, 0, 0, second_bytes, 8) + text)


class Initrd(QemuTest):
    """A program that the boot loader brings."""

    def spawn(self, content: bytes) -> Boot:
        """Boot with the file as initrd."""
        path = self.folder / "program"
        path.write_bytes(content)
        return self.boot(setup_of("qemu-virt", options=("-initrd", str(path))),
                         words_of(suite="spawn.process.untracked", samples=20))

    def test_it_is_spawned(self) -> None:
        content = program(*START, *EXIT)
        boot = self.spawn(content)
        self.assert_passed(boot)
        self.assertIn(f"the program is the one at initrd, {len(content)} bytes",
                      notes(boot, "spawn.process.untracked"))
        self.assertEqual([row["n"] for row in boot.rows("spawn.process.untracked.total")], [20, 20])

    def test_refused_by_name(self) -> None:
        good = program(*START, *EXIT)
        for content, reason in (
                (good[:-4], "truncated in a segment"), (good[:100], "truncated in its program head"),
                (program(*START, machine=62), "for another machine"),
                (program(*START, second_at=ADDRESS), "two segments of the program overlap"),
                (program(*START, second_bytes=1 << 40), "the program is too large"),
                (bytes(1000), "the program is no ELF file")):
            self.assert_failed(self.spawn(content), f"spawn.process.untracked: .*{reason}")

    def test_killed_by_name(self) -> None:
        for code, reason in (
                ((*START, 0xD2800800, 0xF9400000),  # mov x0, #64; ldr x0, [x0]
                 "data abort, address 0x40"),
                ((0x1E604000,), "process killed at 0x400000: exception"),  # fmov d0, d0
                ((*START, 0xD2800008, 0xD4000001, 0x17FFFFFF),  # mov x8, #0; svc #0; b .-4
                 "process killed at 0x40001[0-9a-f]: (too many system|it did not exit)"),
                ((*START, SPIN), "process killed at 0x40000c: it did not exit in time")):
            boot = self.spawn(program(*code))
            self.assert_failed(boot, f"spawn.process.untracked: .*{reason}")
            self.assertRegex("\n".join(notes(boot, "spawn.process.untracked")),
                             r"pages free (\d+) before, \1 after")


class Checks(QemuTest):
    """Misbehaving programs, and the model's content."""

    def test_killed_with_a_clear_line(self) -> None:
        boot = self.boot(setup_of("qemu-virt"), words_of(suite="spawn.hostile"))
        self.assert_passed(boot)
        killed = [note for note in notes(boot, "spawn.hostile") if "killed" in note]
        for index, what in enumerate((
                "data abort, address 0xffff800000000000", "data abort, address 0x8",
                "instruction abort, address 0x1fff", "data abort, address 0x1fef",
                "it did not exit in time", "unknown system call 99")):
            self.assertRegex(killed[index], rf"^process killed at 0x[0-9a-f]+: {what}")

    def test_model(self) -> None:
        boot = self.boot(setup_of("qemu-virt"), words_of(suite="spawn.model"))
        self.assert_passed(boot)
        lines = [note for note in notes(boot, "spawn.model")
                 if note.startswith(("node,", "edge,"))]
        kinds = re.findall(r"node,\d+,([a-z-]+),", "\n".join(lines))
        self.assertEqual(sorted(kinds), ["address-space", "cpu", "cpu", "memory", "memory",
                                         "process", "process", "thread"])
        handles = {line.split(",")[1] for line in lines if line.startswith("node,")}
        for line in lines:
            if line.startswith("edge,"):
                self.assertLessEqual(set(line.split(",")[2:]), handles)

    def test_the_rest_of_the_suite(self) -> None:
        for gic, cpus in ((2, 1), (3, 4)):
            boot = self.boot(setup_of("qemu-virt", gic=gic, cpus=cpus),
                             words_of(suite="spawn", samples=3))
            self.assert_passed(boot, cpus)
            self.assertEqual({row["factors"]["alive"] for row in boot.rows("spawn.alive.total")},
                             {"1", "2", "4", "8", "16", "32", "64"})
            self.assertEqual(len(boot.rows("spawn.image-size.total")), 6)
            self.assertEqual(len(boot.rows("spawn.cpu.total")), int(cpus > 1))
            self.assertEqual(len(boot.rows("spawn.thread.total")), 1 + int(cpus > 1))


if __name__ == "__main__":
    unittest.main()
