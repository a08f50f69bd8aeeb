"""The image fetched by U-Boot over TFTP and started with `booti` and with `go`."""

import json
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Sequence

from el1bench_host import paths, run
from tests.qemu.support import Boot, QemuTest, ensure_u_boot, image_of, setup_of, words_of

SAMPLES = 40


class UBoot(QemuTest):
    """U-Boot leaves the MMU off with `booti`, on with `go`, at EL1 or at EL2."""

    def start(self, how: str, level: int = 1, board: str = "qemu-virt",
              words: Sequence[str] = (), gic: int = 2) -> Boot:
        """Fetch the board's image and start it with `how`."""
        served = self.folder / "served"
        served.mkdir()
        qemu = setup_of(board, kernel=None, level=level, gic=gic, firmware=ensure_u_boot(),
                        served=served)
        launch = run.launcher(image_of(board), served, how, qemu.board.firmware_load_address,
                              [*words_of(samples=SAMPLES), *words])
        return self.boot(qemu, launch=launch)

    def check(self, boot: Boot, mmu: str, level: int, tree: str) -> None:
        """The boot passed and was entered as expected."""
        self.assert_passed(boot, 2)
        self.assertEqual(boot.fact("entry-mmu"), mmu)
        self.assertEqual(boot.fact("entry-el"), str(level))
        self.assertEqual(boot.fact("tree"), tree)
        self.assertEqual(boot.fact("load-address"), "0x40200000")
        self.assertEqual(boot.row("ipi.normal.total")["n"], SAMPLES)

    def test_booti(self) -> None:
        self.check(self.start("booti"), "off", 1, "x0")

    def test_booti_at_el2(self) -> None:
        self.check(self.start("booti", 2), "off", 2, "x0")

    def test_go(self) -> None:
        self.check(self.start("go"), "on", 1, "go argument")

    def test_go_at_el2(self) -> None:
        self.check(self.start("go", 2), "on", 2, "go argument")

    def test_go_with_gicv3(self) -> None:
        self.check(self.start("go", 2, gic=3), "on", 2, "go argument")

    def test_go_hands_arguments_over(self) -> None:
        boot = self.start("go", words=["el1bench.suite=clock.floor", "console=ttyAML0"])
        self.assertEqual(boot.outcome.status, "passed", boot.outcome.problem)
        self.assertEqual([one["name"] for one in boot.results["outcomes"]], ["clock.floor"])
        self.assertEqual(boot.decoded.boots[0].ignored, ["console=ttyAML0"])

    def test_the_odroid_image(self) -> None:
        self.check(self.start("go", 2, "odroid-c4"), "on", 2, "go argument")

    def test_the_odroid_image_by_booti(self) -> None:
        self.check(self.start("booti", 2, "odroid-c4"), "off", 2, "x0")


class CommandLine(QemuTest):
    """`run --firmware u-boot` as a user types it."""

    def test_run(self) -> None:
        firmware = self.folder / "mine.bin"
        shutil.copyfile(ensure_u_boot(), firmware)
        out = self.folder / "out"
        done = subprocess.run(
            [str(paths.SOURCE_TREE / "scripts" / "el1bench"), "run", "--firmware-image",
             str(firmware), "--boot-command", "go", "--suite", "clock", "--samples", "20",
             "--cpus", "2", "--boots", "2", "--quiet", "--out", str(out)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        self.note(f"{done.returncode} {done.stdout} {done.stderr}")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        results = json.loads((out / "results.json").read_text("utf-8"))
        self.assertEqual([boot["index"] for boot in results["boots"]], [0, 1])
        self.assertEqual(results["machine"]["firmware"], "u-boot")
        self.assertEqual({boot["entry_mmu"] for boot in results["boots"]}, {"on"})

    def test_a_firmware_without_a_prompt(self) -> None:
        blank = self.folder / "blank.bin"
        blank.write_bytes(bytes(4096))
        done = subprocess.run(
            [str(paths.SOURCE_TREE / "scripts" / "el1bench"), "run", "--firmware-image",
             str(blank), "--quiet", "--timeout", "3", "--out", str(self.folder / "out")],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        self.note(f"{done.returncode} {done.stdout} {done.stderr}")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "timed out: no output at all within 3 s")


class NotFetched(QemuTest):
    """What TFTP can get wrong."""

    def test_a_missing_file(self) -> None:
        served = self.folder / "served"
        served.mkdir()
        qemu = setup_of("qemu-virt", kernel=None, firmware=ensure_u_boot(), served=served)
        launch = run.launcher(image_of("qemu-virt"), served, "go", 0x40200000, [])
        (served / "image").unlink()
        boot = self.boot(qemu, launch=launch)
        self.assertRegex(boot.outcome.problem, "tftpboot did not fetch `image`")

    def test_a_file_that_changed(self) -> None:
        served = self.folder / "served"
        served.mkdir()
        qemu = setup_of("qemu-virt", kernel=None, firmware=ensure_u_boot(), served=served)
        launch = run.launcher(image_of("qemu-virt"), served, "go", 0x40200000, [])
        fetched: Path = served / "image"
        fetched.write_bytes(fetched.read_bytes()[:-8])
        boot = self.boot(qemu, launch=launch)
        self.assertRegex(boot.outcome.problem, r"fetched \d+ bytes, the image has \d+")

    def test_a_damaged_file_returns_to_u_boot(self) -> None:
        served = self.folder / "served"
        served.mkdir()
        qemu = setup_of("qemu-virt", kernel=None, firmware=ensure_u_boot(), served=served)
        launch = run.launcher(image_of("qemu-virt"), served, "go", 0x40200000, [])
        fetched: Path = served / "image"
        data = bytearray(fetched.read_bytes())
        data[-1] ^= 1
        fetched.write_bytes(data)
        boot = self.boot(qemu, launch=launch, limits=run.Limits(total=20.0))
        self.assertNotIn(b"@el1b begin", boot.log)
        self.assertIn(b"Application terminated, rc = 0xFFFFFFFFFFFFFFFF", boot.log)


if __name__ == "__main__":
    unittest.main()
