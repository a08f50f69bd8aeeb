"""`el1bench run` against a fake QEMU: exit codes, time-outs, early ends, options, clean-up."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from el1bench_host import paths
from tests.folder import temporary_folder

LAUNCHER = paths.SOURCE_TREE / "scripts" / "el1bench"
FAKE = Path(__file__).resolve().parent / "fake_qemu.py"
BOARD = {
    "load_address": "0x40200000",
    "qemu": {"machine": "virt", "cpu": "cortex-a53", "gics": [2, 3], "levels": [1, 2],
             "memory_mib": 256, "firmware_load_address": "0x40200000"},
}
SECONDS = 60
STALE = ("results.json", "results.samples.jsonl.gz", "report.md")


class RunTest(unittest.TestCase):
    """Runs the command in a folder of its own, with an image that nobody looks into."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "run")
        (self.folder / "image").write_bytes(bytes(4096))
        (self.folder / "board.json").write_text(json.dumps(BOARD), encoding="ascii")
        self.out = self.folder / "out"
        self.notes = self.folder / "notes"

    def command(self, *options: str) -> list[str]:
        """The command line of a run with the fake."""
        return [str(LAUNCHER), "run", "--qemu", str(FAKE), "--image", str(self.folder / "image"),
                "--out", str(self.out), *options]

    def environment(self, mode: str) -> dict[str, str]:
        """Tells the fake what to play."""
        return {**os.environ, "FAKE_QEMU_MODE": mode, "FAKE_QEMU_NOTES": str(self.notes)}

    def run_fake(self, mode: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Run to the end; the streams as text."""
        return subprocess.run(self.command(*options), env=self.environment(mode), text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, cwd=self.folder,
                              timeout=SECONDS, check=False)

    def started(self) -> list[list[str]]:
        """The command lines of the fakes that were started, each with its process number first."""
        if not self.notes.exists():
            return []
        return [line.split("\t") for line in self.notes.read_text("utf-8").splitlines()]

    def append(self, index: int = 0) -> list[str]:
        """The boot arguments that a fake was given."""
        command = self.started()[index]
        return command[command.index("-append") + 1].split()

    def assert_gone(self) -> None:
        """No fake is left."""
        for command in self.started():
            with self.assertRaises(ProcessLookupError, msg=f"{command} still runs"):
                os.kill(int(command[0]), 0)

    def assert_one_line(self, done: subprocess.CompletedProcess[str], status: int,
                        pattern: str) -> None:
        """One line on standard error, nothing else, no trace of Python."""
        what = f"status {done.returncode}, out {done.stdout!r}, err {done.stderr!r}"
        self.assertEqual(done.returncode, status, what)
        self.assertEqual(done.stdout, "", what)
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(len(done.stderr.splitlines()), 1, what)


class Endings(RunTest):
    """How a run can end, and the exit code of each."""

    def test_passes(self) -> None:
        done = self.run_fake("passes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("clock.floor.pair", done.stdout)
        results = json.loads((self.out / "results.json").read_text("utf-8"))
        self.assertEqual(results["machine"]["emulator"], "qemu-9.8.7-single")
        self.assertTrue(results["machine"]["emulated"])
        self.assertTrue(results["run"]["complete"])
        self.assertIn("clock.floor.pair", (self.out / "report.md").read_text("utf-8"))
        self.assertIn(b"@el1b end ", (self.out / "console.log").read_bytes())
        self.assert_gone()

    def test_skips_are_no_failure(self) -> None:
        self.assertEqual(self.run_fake("skips").returncode, 0)

    def test_a_failed_benchmark(self) -> None:
        self.assertEqual(self.run_fake("fails").returncode, 1)

    def test_one_failed_boot_of_several(self) -> None:
        done = self.run_fake("fails-once", "--boots", "3", "--seed", "9")
        self.assertEqual(done.returncode, 1, done.stderr)
        results = json.loads((self.out / "results.json").read_text("utf-8"))
        self.assertEqual([(boot["index"], boot["seed"]) for boot in results["boots"]],
                         [(0, 9), (1, 9), (2, 9)])
        self.assertEqual(len(self.started()), 3)
        self.assertIn("el1bench.boot=2", self.append(2))

    def test_refused_arguments_end_the_run(self) -> None:
        done = self.run_fake("refuses", "--boots", "5")
        self.assertEqual(done.returncode, 2)
        self.assertIn("samples=7: not today", done.stderr)
        self.assertEqual(len(self.started()), 1)

    def test_no_trailer(self) -> None:
        done = self.run_fake("no-trailer", "--timeout", "1")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"timed out.*within 1 s.*stuck in the middle")
        results = json.loads((self.out / "results.json").read_text("utf-8"))
        self.assertFalse(results["run"]["complete"])
        self.assert_gone()

    def test_no_plan(self) -> None:
        done = self.run_fake("no-plan", "--timeout", "1")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"timed out.*stuck before the plan")
        self.assert_gone()

    def test_silence(self) -> None:
        done = self.run_fake("silent", "--timeout", "0.5", "--boots", "4")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no output at all within 0.5 s", done.stderr)
        self.assertEqual(len(self.started()), 1)
        self.assert_gone()

    def test_one_silent_boot_of_several(self) -> None:
        done = self.run_fake("silent-once", "--timeout", "2", "--boots", "3")
        self.assertEqual(done.returncode, 3)
        self.assertIn("boot 2/3: timed out", done.stderr)
        results = json.loads((self.out / "results.json").read_text("utf-8"))
        self.assertEqual([boot["index"] for boot in results["boots"]], [0])

    def test_dying(self) -> None:
        done = self.run_fake("dies")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "killed by signal 9 before the trailer")

    def test_complaining(self) -> None:
        done = self.run_fake("complains")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "ended with status 1 .*something is wrong with this machine")

    def test_halting_after_the_trailer(self) -> None:
        started = time.monotonic()
        self.assertEqual(self.run_fake("halts").returncode, 0)
        self.assertLess(time.monotonic() - started, 30)
        self.assert_gone()

    def test_chatter(self) -> None:
        done = self.run_fake("chatter")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_damaged_line(self) -> None:
        done = self.run_fake("damaged")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "damaged")

    def test_an_earlier_result_does_not_survive(self) -> None:
        self.assertEqual(self.run_fake("passes").returncode, 0)
        self.run_fake("silent", "--timeout", "0.2")
        results = self.out / "results.json"
        self.assertFalse(results.exists() and json.loads(results.read_text("utf-8"))["metrics"])


class Interruption(RunTest):
    """Ctrl-C, other signals, and the death of the program itself: what is left behind."""

    BY_U_BOOT = ("--firmware", "u-boot", "--firmware-image", str(FAKE))

    @staticmethod
    def heed_signals() -> None:
        """As in a terminal. A shell ignores the first for what it runs in the background, `nohup`
        the second, and both are inherited."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Start a run and wait until it has passed on what its fake said last."""
        self.out.mkdir()
        for name in STALE:
            (self.out / name).write_text("of an earlier run", encoding="ascii")
        log = self.out / "console.log"
        os.mkfifo(log)
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        environment = {**self.environment("no-trailer"), "TMPDIR": str(self.temporary)}
        process = subprocess.Popen(self.command(*options), env=environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=self.folder,
                                   preexec_fn=self.heed_signals)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        # Opened for both, so that it waits for nobody.
        console = os.open(log, os.O_RDWR)
        self.addCleanup(os.close, console)
        said = b""
        while b"stuck in the middle" not in said:
            ready, _, _ = select.select([console], [], [], SECONDS)
            self.assertTrue(ready, f"status {process.poll()}, the log ends after {said!r}")
            said += os.read(console, 4096)
        return process

    def check_signal(self, number: int, *options: str) -> None:
        """A run that is ended by a signal leaves its log and nothing else."""
        process = self.start(*options)
        process.send_signal(number)
        _, errors = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 130)
        self.assertRegex(errors, r"\Ael1bench: interrupted.*console\.log\n\Z")
        self.assertEqual([path.name for path in self.out.iterdir()], ["console.log"])
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assert_gone()

    def test_control_c(self) -> None:
        self.check_signal(signal.SIGINT)

    def test_told_to_end_while_it_serves_files(self) -> None:
        self.check_signal(signal.SIGTERM, *self.BY_U_BOOT)

    def test_the_terminal_goes(self) -> None:
        self.check_signal(signal.SIGHUP)

    def test_killed(self) -> None:
        process = self.start(*self.BY_U_BOOT)
        fake = os.pidfd_open(int(self.started()[0][0]))
        self.addCleanup(os.close, fake)
        process.kill()
        process.wait(SECONDS)
        ended, _, _ = select.select([fake], [], [], SECONDS)
        self.assertTrue(ended, "the fake outlives its parent")
        # What it served is where the next run clears it away.
        self.assertEqual(list(self.temporary.iterdir()), [])
        (self.out / "console.log").unlink()
        self.run_fake("passes")
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         sorted(["console.log", *STALE]))


class Progress(RunTest):
    """What is printed while QEMU works."""

    def on_terminal(self, *options: str) -> bytes:
        """Standard error of a run that times out, when it is a terminal."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        with subprocess.Popen(self.command("--timeout", "1", *options), cwd=self.folder,
                              env=self.environment("no-trailer"), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=theirs) as process:
            os.close(theirs)
            seen = b""
            try:
                while data := os.read(ours, 4096):
                    seen += data
            except OSError:
                pass
            process.wait(SECONDS)
        return seen

    def test_a_line_on_a_terminal(self) -> None:
        seen = self.on_terminal("--boots", "1")
        self.assertRegex(seen, rb"boot 1/1: measuring, [0-9]+ % of the time planned, [0-9]+ bytes")

    def test_none_when_quiet(self) -> None:
        seen = self.on_terminal("--quiet")
        self.assertNotIn(b"measuring", seen)
        self.assertNotIn(b"\x1b", seen)

    def test_none_in_a_pipe(self) -> None:
        done = self.run_fake("passes")
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\r", done.stdout)

    def test_quiet_prints_nothing(self) -> None:
        done = self.run_fake("passes", "--quiet")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))


class Options(RunTest):
    """Options that are refused before anything starts, and where the others go."""

    def refuse(self, pattern: str, *options: str) -> None:
        """The options are refused in one line, with nothing started."""
        done = self.run_fake("passes", *options)
        self.assert_one_line(done, 2, pattern)
        self.assertEqual(self.started(), [])

    def test_bad_values(self) -> None:
        for pattern, *options in (
                ("no board `nowhere`.*qemu-virt", "--board", "nowhere"),
                ("--samples.*0 is not from 1", "--samples", "0"),
                ("--ci needs --samples auto", "--ci", "1%"),
                ("--ci needs --samples auto", "--ci", "1%", "--samples", "100"),
                ("--ci: `x` is not per cent", "--ci", "x", "--samples", "auto"),
                ("--ci: `1e-3` is not per cent", "--ci", "1e-3", "--samples", "auto"),
                ("--samples.*`many` is not a whole number", "--samples", "many"),
                ("--cpus.*65 is not from 1 to 64", "--cpus", "65"),
                ("--boots.*-1 is not from 1", "--boots", "-1"),
                ("--timeout.*`never` is not a time", "--timeout", "never"),
                ("--counter-hz.*is not from", "--counter-hz", "1000000001"),
                ("--accel.*invalid choice", "--accel", "warp"),
                ("--gic.*invalid choice", "--gic", "4"),
                ("--el.*invalid choice", "--el", "3"),
                ("--gic 2 takes at most 8 cores", "--gic", "2", "--cpus", "9"),
                ("--args: no closing quotation", "--args", "suite='ipi"),
                ("--args:.*cannot be a boot argument", "--args", "suite='a b'"),
                ("--args:.*cannot be a boot argument", "--args", "suite=\u00e4"),
                ("--suite", "--suite", "ipi clock"),
                ("--cpu: `,` is not", "--cpu", ","),
                ("no core `cortex-z9`", "--cpu", "cortex-z9"),
                ("cannot read /nonexistent/image", "--image", "/nonexistent/image"),
                ("no such file", "--qemu", "/nonexistent/qemu"),
                ("is not an executable file", "--qemu", "/etc/passwd"),
                ("no `qemu-system-none` in PATH", "--qemu", "qemu-system-none"),
                ("does not look like QEMU", "--qemu", "/bin/true"),
                ("--firmware-image needs", "--firmware", "none", "--firmware-image", "/bin/true"),
                ("--firmware el3-monitor starts", "--firmware", "el3-monitor", "--board", "zcu102"),
                ("cannot write to --out /proc/nowhere", "--out", "/proc/nowhere"),
                ("cannot write to --out.*File exists|Not a directory", "--out", "/etc/passwd"),
        ):
            with self.subTest(options=options):
                self.refuse(pattern, *options)

    def test_an_unwritable_folder(self) -> None:
        self.out.symlink_to("/proc/self/fd")
        self.refuse("cannot write to --out")

    def test_an_inexact_counter_is_warned_of(self) -> None:
        done = self.run_fake("passes", "--counter-hz", "24e6")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Ael1bench: warning: 24000000 Hz .*41 ns, \+1\.63% off \[counter-hz\]\n\Z")
        self.assertIn("cortex-a53,cntfrq=24000000", self.started()[0])

    def test_an_exact_counter_is_not(self) -> None:
        self.assertEqual(self.run_fake("passes", "--counter-hz", "25e6").stderr, "")

    def test_the_command_line(self) -> None:
        self.run_fake("passes", "--accel", "icount", "--el", "2", "--cpus", "2", "--suite",
                      "ipi,clock.floor", "--samples", "5", "--seed", "18446744073709551615",
                      "--args", "warmup=3 el1bench.dump=summary")
        command = self.started()[0]
        self.assertIn("virt,gic-version=2,virtualization=on", command)
        self.assertEqual(command[command.index("-icount") + 1], "shift=0,sleep=off")
        self.assertEqual(command[command.index("-smp") + 1], "2")
        self.assertEqual(command[command.index("-nic") + 1], "none")
        self.assertEqual(self.append(), [
            "el1bench.emulated=qemu-9.8.7-icount", "el1bench.seed=18446744073709551615",
            "el1bench.suite=ipi,clock.floor", "el1bench.samples=5", "el1bench.warmup=3",
            "el1bench.dump=summary", "el1bench.boot=0"])

    def test_many_cores_take_gicv3(self) -> None:
        self.run_fake("passes", "--cpus", "9", "--accel", "multi")
        self.assertIn("virt,gic-version=3", self.started()[0])
        self.assertIn("tcg,thread=multi", self.started()[0])


if __name__ == "__main__":
    sys.exit(unittest.main())
