"""The campaign file, the examples and the guide, and the figures of a campaign's report."""

import os
import re
import select
import subprocess
import unittest
from pathlib import Path

from tests.host.campaign_folder import CONFIGURATION, GUEST, Folder
from el1bench_host import campaign_file, campaign_report, paths, relay
from el1bench_host.errors import UserError
from el1bench_host.terminal import Terminal


class File(Folder):
    """What is refused in a campaign file, in one line."""

    def refused(self, pattern: str, old: str = "", new: str = "") -> None:
        """The file, with `old` replaced, is refused."""
        self.write(CONFIGURATION.format(name="a"), GUEST)
        text = self.file.read_text()
        self.assertIn(old, text)
        self.file.write_text(text.replace(old, new, 1) if old else text + new)
        with self.assertRaisesRegex(UserError, pattern) as caught:
            campaign_file.read(self.file)
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertNotIn("\n", str(caught.exception))

    def test_mistakes(self) -> None:
        for pattern, old, new in (
                ("not TOML", "", "[[["),
                ("unknown key `timeout_second`, did you mean `timeout_seconds`",
                 "timeout_seconds", "timeout_second"),
                (r"unknown key `nonsense`", "", "\n[nonsense]\n"),
                (r"\[campaign\]: `iterations` is not a whole number", "iterations = 1",
                 "iterations = 0"),
                (r"\[campaign\]: `iterations` is not a whole number", "iterations = 1",
                 "iterations = true"),
                ("`image` cannot be read: .*/none: No such file", '"image"', '"none"'),
                ("`image` is `../x`, which U-Boot cannot", '"image"', '"../x"'),
                (r"\[u-boot\]: `folder` names no folder", '"served"', '"absent"'),
                (r"\[console\]: `port` is missing", "port =", "baud = 9600 #"),
                (r"\[power\]: `relay` is missing", "relay =", "channel = 1 #"),
                ("two configurations are called `a`", '"guest"\nimage', '"a"\nimage'),
                ("`name` is not of letters", 'name = "a"', 'name = "../a"'),
                ("`done` is not a regular expression", '"login: $"', '"("'),
                ("`done` is missing", 'image = "guest"\nstart = "booti"\ndone',
                 'start = "none"\ntree_address = 1\n#'),
                ("phase 1: `pattern` is not a regular", '"Booting Linux"', '"["'),
                ("`phase` has a name twice", 'name = "init"', 'name = "kernel"'),
                ("cannot carry the argument `a;b`", "el1bench.boot={iteration}", "a;b"),
                ("`start` is `jump`, not one of", '"booti"', '"jump"'),
                (r"\[campaign\]: `out` holds a NUL", '"out"', '"o\\u0000"'),
                (r"\[power\]: `on` names no program that can be run: /none/x", "relay =",
                 'on = "/none/x 1"\noff = "true"\n#'),
                ("cannot be none", 'start = "booti"', 'start = "booti"\ntree = "none"')):
            with self.subTest(pattern=pattern, new=new):
                self.refused(pattern, old, new)

    def test_an_empty_image(self) -> None:
        (self.served / "image").write_bytes(b"")
        self.refused("`image` is an empty file")

    def test_no_file(self) -> None:
        with self.assertRaisesRegex(UserError, "cannot read .*: No such file"):
            campaign_file.read(self.folder / "none.toml")

    def test_check_powers_nothing(self) -> None:
        self.write(CONFIGURATION.format(name="a"), GUEST)
        code, output, errors = self.run_it("--check")
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("2 configurations, 1 iterations each", output)


class Examples(Folder):
    """scripts/lab/*.toml, with the files that they name."""

    def test_examples(self) -> None:
        found = sorted((paths.SOURCE_TREE / "scripts" / "lab").glob("*.toml"))
        self.assertEqual(len(found), 4)
        for name in ("vm-tracked", "vm-untracked"):
            (self.served / name).write_bytes(b"guest")
        for path in found:
            with self.subTest(path=path.name):
                text = re.sub(r'(?m)^folder = ".*"', 'folder = "served"', path.read_text())
                self.file.write_text(text)
                campaign_file.read(self.file)

    def test_the_guide(self) -> None:
        page = (paths.SOURCE_TREE / "docs" / "lab.md").read_text()
        text = re.search(r"```toml\n(.*?)```", page, re.S).group(1)
        self.file.write_text(text.replace("/srv/tftp", "served"))
        self.assertEqual([one.name for one in campaign_file.read(self.file).configurations], ["ipi"])
        self.assertEqual(re.findall(r"scripts/lab/relay /dev/odroid-relay (\w+)", page),
                         ["on", "off"])

    def test_the_relay_command(self) -> None:
        terminal = Terminal(self.folder / "relay")
        self.addCleanup(terminal.unplug)
        command = str(paths.SOURCE_TREE / "scripts" / "lab" / "relay")

        def switch(what: str, port: Path = terminal.link) -> tuple[int, str]:
            done = subprocess.run([command, str(port), what], capture_output=True, text=True,
                                  env={**os.environ, "EL1BENCH_RELAY_SECONDS": "0"}, check=False)
            return done.returncode, done.stderr

        for what, frames in (("on", [True] * 2), ("off", [False] * 2),
                             ("cycle", [False] * 2 + [True] * 2)):
            self.assertEqual(switch(what), (0, ""))
            said = b""
            while len(said) < relay.FRAME_BYTES * len(frames):
                self.assertTrue(select.select([terminal.master], [], [], 60)[0], said)
                said += terminal.read()
            self.assertEqual(relay.frames_in(said), (frames, b""))
            self.assertEqual(terminal.speed, relay.BAUD)
        for what, port, pattern in (("up", terminal.link, "`up` is neither on, off nor cycle"),
                                    ("on", self.folder / "none", "none is no port")):
            code, errors = switch(what, port)
            self.assertEqual(code, 2)
            self.assertRegex(errors, f"^.*{pattern}\n$")
        self.assertEqual(terminal.read(), b"")

    def test_names_by_role(self) -> None:
        """Each rule is whole, and gives a name that the examples use."""
        folder = paths.SOURCE_TREE / "scripts"
        names = set()
        for line in (folder / "udev" / "70-el1bench.rules").read_text().splitlines():
            if line and not line.startswith("#"):
                for part in line.split(", "):
                    self.assertRegex(part, r'^[A-Z]+(\{\w+\})?(==|=|\+=)"[^"]+"$')
                names.add(re.search(r'SYMLINK\+="([^"]+)"', line).group(1))
        self.assertEqual(names, {"odroid-console", "odroid-relay"})
        for name in names:
            self.assertIn(f'"/dev/{name}"', (folder / "lab" / "process-spawn.toml").read_text())

    def test_every_key_is_documented(self) -> None:
        page = (paths.SOURCE_TREE / "docs" / "campaign.md").read_text()
        code = Path(campaign_file.__file__).read_text()
        keys = set(re.findall(r'(?:table|one|head|top)\.(?:text|integer|seconds|flag|texts|address|'
                              r'command|tables|table)\("([a-z0-9_-]+)"', code))
        self.assertGreater(len(keys), 25)
        for key in keys:
            self.assertRegex(page, rf"[`\[.]{key}[`\]]")


class Figures(unittest.TestCase):
    """Statistics of the report."""

    def test_interval(self) -> None:
        found = campaign_report.figure([1.0, 2.0, 3.0])
        self.assertEqual((found.n, found.mean, found.low, found.high), (3, 2.0, 1.0, 3.0))
        self.assertAlmostEqual(found.half, 4.303 / 3 ** 0.5, places=3)
        self.assertIsNone(campaign_report.figure([5.0]).half)

    def test_frames(self) -> None:
        self.assertEqual(relay.frame(True), bytes.fromhex("a00101a2"))
        self.assertEqual(relay.frame(False), bytes.fromhex("a00100a1"))
        self.assertEqual(relay.frames_in(b"\x00\xa0" + relay.frame(True) * 2 + b"\xa0\x01"),
                         ([True, True], b"\xa0\x01"))


if __name__ == "__main__":
    unittest.main()
