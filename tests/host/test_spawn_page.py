"""docs/spawn-overhead.md against the numbers of the instruction gate."""

import json
import re
import unittest
from pathlib import Path

SOURCE_TREE = Path(__file__).resolve().parents[2]
PAGE = (SOURCE_TREE / "docs" / "spawn-overhead.md").read_text("utf-8")
EXPECTED = SOURCE_TREE / "tests" / "qemu" / "expectations" / "gicv2-2-cores.json"
KINDS = ("untracked", "tracked", "tracked-server")
# A new compiler, or a better loader, moves the numbers a little: the page is right, not equal.
TOLERANCE = 0.1


class SpawnPage(unittest.TestCase):
    """The table in instructions."""

    def setUp(self) -> None:
        self.metrics = json.loads(EXPECTED.read_text("utf-8"))["metrics"]
        section = re.search(r"^## In instructions\n(.*?)^## ", PAGE, re.M | re.S).group(1)
        rows = re.findall(r"^\| ([a-z0-9 -]+) \| (.*) \|$", section, re.M)
        self.rows = {name: cells.split(" | ") for name, cells in rows}

    def test_steps(self) -> None:
        steps = [name for name in self.rows if f"spawn.process.tracked.{name} 0" in self.metrics]
        self.assertEqual(len(steps), 8)
        for step in steps:
            for kind, cell in zip(KINDS, self.rows[step]):
                measured = self.metrics[f"spawn.process.{kind}.{step} 0"][1]
                self.assertAlmostEqual(int(cell), measured, delta=max(TOLERANCE * measured, 2),
                                       msg=f"{kind} {step}")

    def test_differences(self) -> None:
        totals = [int(cell) for cell in self.rows["total"]]
        more = self.rows["more than untracked"][1:]
        per_cent = self.rows["in per cent"][1:]
        each = self.rows["for each of the 8 requests"][1:]
        for index, total in enumerate(totals[1:]):
            difference = total - totals[0]
            self.assertEqual(int(more[index]), difference)
            self.assertEqual(per_cent[index], f"{difference / totals[0]:.1%}".replace("%", " %"))
            self.assertEqual(int(each[index]), round(difference / 8))


if __name__ == "__main__":
    unittest.main()
