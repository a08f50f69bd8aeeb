"""Boot arguments and exit codes, as a user of `run` sees them."""

import json
import subprocess
import unittest
from typing import Any

from el1bench_host import paths
from tests.qemu.support import QemuTest, build_folder, image_of, setup_of, words_of

SECONDS = 120


class RunCommand(QemuTest):
    """`scripts/el1bench run` with the real QEMU and image."""

    def command(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        build_folder("qemu-virt")
        done = subprocess.run(
            [str(paths.SOURCE_TREE / "scripts" / "el1bench"), "run", "--quiet", "--cpus", "2",
             "--image", str(image_of("qemu-virt")), "--out", str(self.folder / "out"), *options],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False)
        self.note(f"{' '.join(options)}: status {done.returncode}, out {done.stdout!r}, "
                  f"err {done.stderr!r}")
        return done

    def results(self) -> dict[str, Any]:
        """What the command wrote."""
        return json.loads((self.folder / "out" / "results.json").read_text("utf-8"))


class Refused(RunCommand):
    """Arguments that the image refuses: named, exit code 2, nothing hung."""

    def check(self, pattern: str, *options: str) -> None:
        """The run is refused in one line."""
        done = self.command(*options)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(self.results()["boots"][0]["status"], "refused")
        self.assertEqual(self.results()["metrics"], [])

    def test_an_unknown_key(self) -> None:
        self.check("el1bench.sample=5: unknown", "--args", "sample=5")

    def test_power_states(self) -> None:
        for value in ("", "deep", "1,", "1,,2", "0x100000000", "-1", "1,2,3,4"):
            with self.subTest(value=value):
                self.check(rf"el1bench\.power_state={value}: needs one to three numbers of 32 bits",
                           "--suite", "psci", "--args", f"power_state={value}")

    def test_no_samples(self) -> None:
        self.check("el1bench.samples=0", "--args", "samples=0")

    def test_samples_that_are_no_number(self) -> None:
        self.check("el1bench.samples=many", "--args", "samples=many")

    def test_a_number_with_a_tail(self) -> None:
        self.check("el1bench.samples=10x", "--args", "samples=10x")

    def test_more_samples_than_memory_holds(self) -> None:
        self.check("samples=10000000 needs [0-9]+ bytes, memory holds [0-9]+", "--samples",
                   "10000000")

    def test_more_samples_than_a_row_can_hold(self) -> None:
        self.check("samples=100000000 is more than", "--samples", "100000000")

    def test_an_unknown_suite(self) -> None:
        self.check("suite=nonsense selects no benchmark", "--suite", "clock,nonsense")

    def test_a_bad_way_to_end(self) -> None:
        self.check("el1bench.on_exit=explode", "--args", "on_exit=explode")

    def test_a_key_without_a_value(self) -> None:
        self.check("el1bench.seed", "--args", "seed")


class Accepted(RunCommand):
    """Arguments that the image takes."""

    def test_foreign_words_are_no_error(self) -> None:
        boot = self.boot(setup_of("qemu-virt"), ["console=ttyAML0", *words_of(suite="clock.step")])
        self.assertEqual(boot.outcome.status, "passed", boot.outcome.problem)
        self.assertEqual(boot.results["boots"][0]["ignored"], ["console=ttyAML0"])

    def test_bad_factors_and_pairs(self) -> None:
        for word, pattern in (("recevier=spin", "unknown argument"),
                              ("receiver=sleep", "needs spin, wfe, wfi or busy"),
                              ("receiver=spin,spin", "each once"),
                              ("payload=0", "needs none or 1 to 64 cache lines"),
                              ("payload=65", "needs none or 1 to 64 cache lines"),
                              ("cache=hot", "needs warm or cold"),
                              ("load=cpu", "needs none or memory"),
                              ("barrier=dmb", "needs ishst, sy or none"),
                              ("barrier=none payload=1", "barrier=none takes payload=none"),
                              ("pair=0>5", "pair= names core 5, which is not online"),
                              ("pair=1>1", "two different cores"),
                              ("pair=0-1", "two different cores"),
                              ("budget=0", "milliseconds from 1")):
            with self.subTest(word=word):
                done = self.command("--suite", "ipi.matrix", "--samples", "5", "--args", word)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertRegex(done.stderr, pattern)

    def test_a_summary_has_no_samples(self) -> None:
        done = self.command("--suite", "ipi", "--samples", "50", "--args", "dump=summary")
        self.assertEqual(done.returncode, 0)
        self.assertIsNone(self.results()["samples"])
        self.assertNotIn(b"@el1b raw", (self.folder / "out" / "console.log").read_bytes())
        self.assertEqual({row["n"] for row in self.results()["metrics"]
                          if row["name"] == "ipi.normal.total"}, {50})

    def test_ways_to_end(self) -> None:
        for how in ("off", "reset", "halt", "semihost"):
            with self.subTest(how=how):
                done = self.command("--suite", "clock.step", "--samples", "5", "--args",
                                    f"on_exit={how}")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(len(self.results()["boots"]), 1)

    def test_boots_and_seeds(self) -> None:
        done = self.command("--samples", "20", "--boots", "4", "--seed", "77")
        self.assertEqual(done.returncode, 0)
        boots = self.results()["boots"]
        self.assertEqual([(boot["index"], boot["seed"]) for boot in boots],
                         [(0, 77), (1, 77), (2, 77), (3, 77)])
        self.assertGreater(len({(boot["stack_offset"], boot["buffer_offset"], tuple(boot["order"]))
                                for boot in boots}), 1, "all boots drew the same")

    def test_a_boot_can_be_repeated(self) -> None:
        drawn = []
        for _ in range(2):
            self.assertEqual(self.command("--samples", "20", "--seed", "5").returncode, 0)
            boot = self.results()["boots"][0]
            drawn.append((boot["order"], boot["stack_offset"], boot["buffer_offset"]))
        self.assertEqual(drawn[0], drawn[1])


class Command(QemuTest):
    """`run` as typed, building what it needs."""

    def command(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        done = subprocess.run(
            [str(paths.SOURCE_TREE / "scripts" / "el1bench"), "run", "--out",
             str(self.folder / "out"), *options],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False)
        self.note(f"{' '.join(options)}: status {done.returncode}, out {done.stdout!r}, "
                  f"err {done.stderr!r}")
        return done

    def test_every_board(self) -> None:
        for board in paths.board_names():
            with self.subTest(board=board):
                done = self.command("--board", board, "--samples", "100")
                self.assertEqual(done.returncode, 0)
                self.assertRegex(done.stdout, r"normal\.total")
                for name in ("console.log", "results.json", "report.md"):
                    self.assertGreater((self.folder / "out" / name).stat().st_size, 0)

    def test_what_a_board_cannot_do(self) -> None:
        for pattern, *options in (("zcu102 has 4 cores, not 2", "--cpus", "2"),
                                  ("zcu102 has no GICv3", "--gic", "3"),
                                  ("zcu102 has its own cores", "--counter-hz", "1000000"),
                                  ("--firmware u-boot does not run on zcu102", "--firmware",
                                   "u-boot")):
            with self.subTest(options=options):
                done = self.command("--board", "zcu102", "--quiet", *options)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1)
                self.assertRegex(done.stderr, pattern)

    def test_the_zcu102_at_el2(self) -> None:
        done = self.command("--board", "zcu102", "--el", "2", "--samples", "50", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Semihosting(QemuTest):
    """QEMU's own exit code with on_exit=semihost."""

    def status(self, **values: Any) -> int:
        """QEMU's status for these arguments."""
        boot = self.boot(setup_of("qemu-virt", semihosting=True, cpus=values.pop("cpus", 2)),
                         words_of(on_exit="semihost", suite="smoke.cores", **values))
        self.assertIsNotNone(boot.outcome.status, boot.outcome.problem)
        return boot.outcome.qemu_status

    def test_passed(self) -> None:
        self.assertEqual(self.status(), 0)

    def test_refused(self) -> None:
        self.assertEqual(self.status(samples=0), 2)

    def test_failed(self) -> None:
        boot = self.boot(setup_of("zcu102", semihosting=True, tree=self.short_tree()),
                         words_of(on_exit="semihost", suite="smoke.cores"))
        self.assertEqual(boot.outcome.status, "failed", boot.outcome.problem)
        self.assertEqual(boot.outcome.qemu_status, 1)

    def short_tree(self) -> Any:
        """The ZCU102's tree with a core that is not there."""
        tree = self.folder / "short.dtb"
        tree.write_bytes((build_folder("zcu102") / "board.dtb").read_bytes())
        subprocess.run(["fdtput", "-t", "x", str(tree), "/cpus/cpu@3", "reg", "9"], check=True,
                       capture_output=True, timeout=60)
        return tree

    def test_it_falls_back_where_there_is_none(self) -> None:
        boot = self.boot(setup_of("qemu-virt"), words_of(on_exit="semihost", suite="clock.step"))
        self.assertEqual((boot.outcome.status, boot.outcome.qemu_status), ("passed", 0),
                         boot.outcome.problem)


if __name__ == "__main__":
    unittest.main()
