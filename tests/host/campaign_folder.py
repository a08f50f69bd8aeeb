"""What the tests of campaigns share: a folder with a campaign file and what it serves."""

import json
import subprocess
import unittest
from typing import Any

from tests.folder import temporary_folder
from el1bench_host import paths

COMMAND = ["/usr/bin/python3", "-s", "-m", "el1bench_host"]
FILE = """
[campaign]
name = "test"
out = "out"
iterations = {iterations}
attempts = {attempts}

[console]
port = "{bench}/console"

[power]
relay = "{bench}/relay"
off_seconds = 0
repeat_seconds = 0

[u-boot]
folder = "served"
prompt_seconds = {prompt}
transfer_seconds = 5
"""
CONFIGURATION = """
[[configuration]]
name = "{name}"
image = "image"
arguments = ["el1bench.boot={{iteration}}"]
timeout_seconds = 4
"""
GUEST = """
[[configuration]]
name = "guest"
image = "guest"
start = "booti"
done = "login: $"
fail = ["Kernel panic"]
timeout_seconds = 20

[[configuration.phase]]
name = "kernel"
pattern = "Booting Linux"

[[configuration.phase]]
name = "init"
pattern = "Run /init"

[[configuration.phase]]
name = "login"
pattern = "login:"
"""


class Folder(unittest.TestCase):
    """A folder with a campaign file and what it serves."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "campaign")
        self.served = self.folder / "served"
        self.served.mkdir()
        (self.served / "image").write_bytes(b"image" + bytes(range(256)) * 16)
        (self.served / "guest").write_bytes(b"guest" + bytes(range(256)) * 16)
        self.file = self.folder / "campaign.toml"

    def write(self, *configurations: str, iterations: int = 1, attempts: int = 3,
              prompt: float = 10, also: str = "") -> None:
        """The campaign file."""
        head = FILE.format(bench=self.folder, iterations=iterations, attempts=attempts,
                           prompt=prompt)
        self.file.write_text(head + also + "".join(configurations))

    def start(self, *options: str) -> subprocess.Popen[str]:
        """The campaign, running."""
        child = subprocess.Popen([*COMMAND, "campaign", str(self.file), *options], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 cwd=paths.SOURCE_TREE / "scripts")
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def run_it(self, *options: str) -> tuple[int, str, str]:
        """Exit code, output and errors."""
        child = self.start(*options)
        output, errors = child.communicate(timeout=120)
        return child.returncode, output, errors

    def attempts(self, name: str) -> list[dict[str, Any]]:
        """Every finished attempt of a configuration, in order."""
        return [json.loads(path.read_text()) for path
                in sorted((self.folder / "out" / name).glob("*/attempt.json"))]

    def outcomes(self, name: str) -> list[str]:
        """Their outcomes."""
        return [attempt["outcome"] for attempt in self.attempts(name)]
