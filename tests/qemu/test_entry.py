"""Ways in: EL3, any 2 MiB-aligned address, and no valid tree at all."""

import unittest
from dataclasses import replace

from el1bench_host import run
from tests.qemu.support import (QemuTest, build_folder, image_of, loaded, plain_image_of,
                                setup_of, words_of)

TREE_MAGIC = bytes.fromhex("d00dfeed")
EL3_SECONDS = 20.0


class El3(QemuTest):
    """An ELF given to QEMU with `secure=on` starts at EL3, on every core at once."""

    def test_it_says_so_and_stops(self) -> None:
        qemu = setup_of("qemu-virt", kernel=build_folder("qemu-virt") / "image.elf",
                        machine_options=("secure=on",))
        boot = self.boot(qemu, limits=run.Limits(total=EL3_SECONDS))
        self.assert_failed(boot, "entry: entered at EL3")
        self.assertEqual(boot.fact("entry-el"), "3")
        self.assertEqual(boot.text.count("entered at EL3"), 1, "more than one core speaks")
        self.assertEqual(boot.lines("plan"), [])

    def test_with_el2_below_it(self) -> None:
        qemu = setup_of("qemu-virt", kernel=build_folder("qemu-virt") / "image.elf", level=2,
                        machine_options=("secure=on",))
        boot = self.boot(qemu, limits=run.Limits(total=EL3_SECONDS))
        self.assert_failed(boot, "entry: entered at EL3")


class Position(QemuTest):
    """The same bytes at any address that is a multiple of 2 MiB."""

    def check(self, address: int) -> None:
        """Load the image there as a boot loader would, with the tree at the start of RAM."""
        qemu = setup_of("qemu-virt", kernel=None)
        qemu = replace(qemu, board=replace(qemu.board, memory_mib=1024))
        boot = self.boot(replace(qemu, options=loaded(self.folder, image_of("qemu-virt"), address,
                                                      0)))
        self.assert_passed(boot, 2)
        self.assertEqual(boot.fact("load-address"), f"{address:#x}")
        self.assertEqual(boot.fact("tree"), "load address")

    def test_low(self) -> None:
        self.check(0x40400000)

    def test_high(self) -> None:
        self.check(0x6FE00000)

    def test_an_elf_by_kernel(self) -> None:
        boot = self.boot(setup_of("qemu-virt", kernel=build_folder("qemu-virt") / "image.elf"))
        self.assert_passed(boot, 2)


class Packed(QemuTest):
    """The raw image is packed; the one it was made from starts as well."""

    def test_the_plain_image(self) -> None:
        boot = self.boot(setup_of("qemu-virt", kernel=plain_image_of("qemu-virt")))
        self.assert_passed(boot, 2)
        self.assertEqual(boot.fact("load-address"), "0x40200000")

    def test_a_damaged_file_is_not_entered(self) -> None:
        data = bytearray(image_of("qemu-virt").read_bytes())
        data[len(data) // 2] ^= 0x10
        damaged = self.folder / "damaged"
        damaged.write_bytes(data)
        boot = self.boot(setup_of("qemu-virt", kernel=damaged), limits=run.Limits(total=2.0))
        self.assertEqual(boot.log, b"")
        self.assertRegex(boot.outcome.problem, "no output at all")


class NoTree(QemuTest):
    """Nothing that could be a tree: neither x0, nor the start of the GiB, nor the image's own."""

    def check(self, x0: int, semihosting: bool) -> None:
        """Boot an image whose embedded tree is broken, in a GiB where QEMU left none."""
        data = plain_image_of("qemu-virt").read_bytes()
        self.assertEqual(data.count(TREE_MAGIC), 1)
        broken = self.folder / "broken"
        broken.write_bytes(data.replace(TREE_MAGIC, b"\xd0\x0d\xfe\xee"))
        qemu = setup_of("qemu-virt", kernel=None, semihosting=semihosting)
        qemu = replace(qemu, board=replace(qemu.board, memory_mib=3072),
                       options=loaded(self.folder, broken, 0x80200000, x0))
        boot = self.boot(qemu, limits=run.Limits(total=EL3_SECONDS if semihosting else 2.0))
        self.assertEqual(boot.log, b"", "there is no console to write to")
        if semihosting:
            self.assertRegex(boot.outcome.problem, "status 1 before .*no device tree")
        else:
            self.assertRegex(boot.outcome.problem, "no output at all")

    def test_garbage_that_is_not_aligned(self) -> None:
        self.check(0x12345677, True)

    def test_garbage_that_is_not_memory(self) -> None:
        self.check(0x00FF_FFFF_FFFF_FFF8, True)

    def test_garbage_that_is_a_device(self) -> None:
        self.check(0x09000000, True)

    def test_without_semihosting_it_stands_still(self) -> None:
        self.check(0, False)

    def test_garbage_alone_is_no_error(self) -> None:
        qemu = setup_of("qemu-virt", kernel=None)
        boot = self.boot(replace(qemu, options=loaded(self.folder, image_of("qemu-virt"),
                                                      0x40200000, 0xDEADBEEFDEADBEEF)))
        self.assert_passed(boot, 2)
        self.assertEqual(boot.fact("tree"), "load address")

    def test_the_embedded_tree_is_the_last_resort(self) -> None:
        qemu = setup_of("qemu-virt", kernel=None, cpus=4)
        qemu = replace(qemu, board=replace(qemu.board, memory_mib=3072),
                       options=loaded(self.folder, image_of("qemu-virt"), 0x80200000, 7))
        boot = self.boot(qemu)
        self.assert_passed(boot, 4)
        self.assertEqual(boot.fact("tree"), "embedded")


class Words(QemuTest):
    """Arguments that reach the image by -append."""

    def test_foreign_words_are_listed_once(self) -> None:
        boot = self.boot(setup_of("qemu-virt"), ["console=ttyAML0", "quiet",
                                                 *words_of(samples=20, suite="clock")])
        self.assertEqual(boot.outcome.status, "passed", boot.outcome.problem)
        self.assertEqual(boot.decoded.boots[0].ignored, ["console=ttyAML0", "quiet"])
        self.assertEqual(len(boot.lines("ignored")), 1)


if __name__ == "__main__":
    unittest.main()
