"""A shell over a serial line, against a login and a real shell behind the virtual bench."""

import os
import subprocess
import threading
import unittest
from pathlib import Path

from el1bench_host import paths, relay
from el1bench_host.virtual_bench import Bench
from el1bench_host.serial_port import SerialPort
from tests.folder import temporary_folder

FAKE_LINUX = Path(__file__).with_name("fake_linux.py")


class Shell(unittest.TestCase):
    """The command."""

    def board(self, password: str = "") -> None:
        """A board that has power."""
        self.folder = temporary_folder(self, "shell")
        bench = Bench(self.folder, lambda _: ["/usr/bin/python3", "-s", str(FAKE_LINUX), password],
                      baud=1_000_000)
        thread = threading.Thread(target=bench.run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(bench.stop)
        with SerialPort(str(self.folder / "relay"), relay.BAUD) as port:
            port.write(relay.frame(True))

    def run_it(self, *arguments: str, password: str = "", text: str = "",
               options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Run `el1bench shell`."""
        return subprocess.run(
            ["/usr/bin/python3", "-s", "-m", "el1bench_host", "shell", *options,
             str(self.folder / "console"), *arguments], capture_output=True, text=True,
            check=False, timeout=120, cwd=paths.SOURCE_TREE / "scripts", input=text,
            env={**os.environ, **({"EL1BENCH_PASSWORD": password} if password else {})})

    def test_output_and_status(self) -> None:
        self.board()
        for command, output, status in (
                ("echo one; echo two", "one\ntwo\n", 0),
                ("printf unfinished", "unfinished\n", 0),
                ("exit 7", "", 7),
                ("false", "", 1),
                ("echo 'it'\"'s quoted # $HOME\"", "it's quoted # /\n", 0),
                ("seq 300 | tail -n 1; echo begin: end:", "300\nbegin: end:\n", 0),
                ("printf '\\n\\n'", "\n\n", 0)):
            with self.subTest(command=command):
                done = self.run_it(command)
                self.assertEqual((done.stdout, done.returncode, done.stderr), (output, status, ""))

    def test_several_commands(self) -> None:
        self.board()
        done = self.run_it(text="cd /tmp && pwd\n\necho end; exit 3\n")
        self.assertEqual((done.stdout, done.returncode), ("/tmp\nend\n", 3))

    def test_password(self) -> None:
        self.board("secret")
        done = self.run_it("true")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^el1bench: `root` needs a password.*\n$")
        self.assertEqual(self.run_it("echo in", password="wrong").returncode, 1)
        done = self.run_it("echo in", password="secret")
        self.assertEqual((done.stdout, done.returncode), ("in\n", 0), done.stderr)

    def test_refusals(self) -> None:
        self.board()
        for options, command, code, pattern in (
                (("--timeout", "0.2"), "sleep 2", 3, "did not end within 0.2 s"),
                (("--timeout", "0"), "true", 2, "is not a time"),
                ((), "a\x07b", 2, "one line of printable characters")):
            with self.subTest(command=command):
                done = self.run_it(command, options=options)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertRegex(done.stderr, f"^el1bench: .*{pattern}.*\n$")


if __name__ == "__main__":
    unittest.main()
