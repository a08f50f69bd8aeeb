"""docs/psci-tables.md against the code that makes such tables; tests/qemu measures it again."""

import unittest

from tests.host import psci_page
from el1bench_host import cli, report_firmware

CORES = 4
NARROW = 4
"""Instructions that the width of an interval may have: little depends on when a core is woken."""


class PsciPage(unittest.TestCase):
    """Its shape, and what follows from the definitions of the figures."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.text = psci_page.PAGE.read_text("utf-8")
        cls.tables = psci_page.tables_in(cls.text)

    def test_a_table_for_each_test(self) -> None:
        self.assertEqual(list(self.tables), [f"{title} (instructions, EMULATED)"
                                             for _, title, _ in report_firmware.TESTS])

    def test_columns_and_cores(self) -> None:
        for (name, _, figures), lines in zip(report_firmware.TESTS, self.tables.values()):
            if "standby" in name:
                figures = figures[:2]
            columns = report_firmware.TestTable(name, "", figures, ()).columns()
            self.assertEqual(lines[0], columns, name)
            first = 1 if name in ("psci.cpu-off", "psci.cpu-off.parallel") else 0
            cores = [str(core) for core in range(first, CORES)]
            if "parallel" in name and "version" not in name:
                cores += ["first", "last"]
            self.assertEqual([line[:3] for line in lines[1:]],
                             [["0", core, "50"] for core in cores], name)
            self.assertTrue(all(len(line) == len(columns) for line in lines))

    def test_figures_hang_together(self) -> None:
        for lines in self.tables.values():
            for line in lines[1:]:
                named = dict(zip(lines[0], line))
                for middle, spread in zip(line[3::2], line[4::2]):
                    low, high = map(int, spread.split(".."))
                    self.assertTrue(low <= int(middle) <= high <= low + NARROW, line)
                if "cache flush" in named:
                    self.assertLess(int(named["cache flush"]), int(named["powerdown"]))

    def test_commands_are_the_tools(self) -> None:
        run, report = psci_page.commands()
        parser = cli.make_parser()
        self.assertEqual(parser.parse_args(run).accel, "icount")
        args = parser.parse_args(report)
        self.assertEqual((args.tables, args.format), ("firmware", "md"))
        self.assertEqual(args.results, [parser.parse_args(run).out])


if __name__ == "__main__":
    unittest.main()
