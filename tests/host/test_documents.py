"""The format pages against the code: every name on the page is known, every known name is there."""

import re
import unittest
from pathlib import Path

from tests.host.synthetic_log import Boot, Row
from tests.host.test_decode import example_boot
from tests.host.test_idle_states import IDLE
from el1bench_host import (counter_check, decoder, errors, log, log_records, report_suspend,
                           results, sample_code)
from el1bench_host.decoder import decode_log

SOURCE_TREE = Path(__file__).resolve().parents[2]
LOG_PAGE = (SOURCE_TREE / "docs" / "log-format.md").read_text("utf-8")
METRICS_PAGE = (SOURCE_TREE / "docs" / "metrics.md").read_text("utf-8")
METHOD_PAGE = (SOURCE_TREE / "docs" / "methodology.md").read_text("utf-8")
RESULTS_PAGE = (SOURCE_TREE / "docs" / "results-format.md").read_text("utf-8")


def section(page: str, title: str) -> str:
    """The text between a heading and the next."""
    return re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", page, re.M | re.S).group(1)


def types_on_page() -> dict[str, str]:
    """The body of each type as the page's table has it."""
    rows = re.findall(r"^\| `([a-z]+)` \| (.*) \|$", section(LOG_PAGE, "Types"), re.M)
    return dict(rows)


def keys(text: str) -> list[str]:
    """The keys of `key=value` words in the first code span."""
    return re.findall(r"(?:^| )([A-Za-z0-9_-]+)=", re.search(r"`(.*?)`", text).group(1))


class Links(unittest.TestCase):
    """Every page of the project."""

    def test_they_lead_somewhere(self) -> None:
        pages = {path: path.read_text("utf-8") for folder in ("", "docs", "boards/*")
                 for path in SOURCE_TREE.glob(f"{folder}/*.md" if folder else "*.md")}
        self.assertGreater(len(pages), 15)
        for page, text in pages.items():
            for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
                with self.subTest(page=page.name, target=target, anchor=anchor):
                    path = (page.parent / target).resolve() if target else page
                    self.assertTrue(path.exists(), path)
                    if anchor:
                        self.assertIn(anchor, [
                            re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
                            for title in re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.M)])


class LogFormat(unittest.TestCase):
    """docs/log-format.md."""

    def test_name(self) -> None:
        self.assertIn(f"`{log.FORMAT}`", LOG_PAGE)

    def test_types(self) -> None:
        self.assertEqual(tuple(types_on_page()), log_records.TYPES)

    def test_fields(self) -> None:
        types = types_on_page()
        self.assertEqual(tuple(keys(types["metric"])), log_records.METRIC_FIELDS)
        self.assertEqual(tuple(re.findall(r"(\w+)=ROW", types["derived"])),
                         log_records.DERIVED_FIELDS)
        self.assertEqual(tuple(keys(types["check"])), log_records.CHECK_FIELDS)
        for kind, record in (("begin", log_records.Begin), ("cpu", log_records.Cpu),
                             ("cache", log_records.Cache), ("plan", log_records.Plan),
                             ("idle", log_records.IdleState),
                             ("clock", log_records.Clock), ("end", log_records.End)):
            on_page = [key.replace("-", "_") for key in keys(types[kind])]
            known = [key for key in record.__dataclass_fields__ if key not in ("names", "cut", "node")]
            self.assertEqual(on_page, known, kind)

    def test_counts(self) -> None:
        self.assertEqual(first_column(METRICS_PAGE, "Counts of suspends"),
                         list(log_records.COUNT_FIELDS))
        self.assertEqual(set(report_suspend.TITLES), set(log_records.COUNT_FIELDS))
        source = (SOURCE_TREE / "src/suites/psci/suspend_case.c").read_text("utf-8")
        names = source.partition("count_names[] = {")[2].partition("}")[0]
        self.assertEqual(re.findall(r'"(\w+)"', names), list(log_records.COUNT_FIELDS))

    def test_info_keys(self) -> None:
        text = section(LOG_PAGE, "`info` keys").split("`image-crc` takes")[0]
        found = re.findall(r"`([a-z-]+)`", re.sub(r"\(.*?\)", "", text))
        self.assertEqual(tuple(found), log_records.INFO_KEYS)

    def test_reasons_and_limits(self) -> None:
        found = re.findall(r"`([a-z]+)` \((\d+)\)", section(LOG_PAGE, "`metric` fields"))
        self.assertEqual({int(number): name for name, number in found}, log_records.EXCLUSIONS)
        self.assertIn(f"`v + {sample_code.BIAS}`", LOG_PAGE)
        self.assertIn(f"at most {sample_code.LINE_SAMPLES:,} samples", LOG_PAGE)

    def test_outcomes_and_statuses(self) -> None:
        types = types_on_page()
        self.assertIn(r"\|".join(log_records.OUTCOMES), types["outcome"])
        self.assertIn("mark=" + r"\|".join(log_records.MARKS), types["clock"])
        self.assertIn("status=" + r"\|".join(log_records.STATUSES), types["end"])

    def test_test_farm_pattern(self) -> None:
        """The pattern for LAVA finds each metric line's result."""
        pattern = re.search(r"pattern: '(.*)'", LOG_PAGE).group(1)
        found = re.findall(pattern, example_boot().text().decode())
        self.assertEqual(found[2], ("ipi.normal.total", "pass", "12.000", "tick"))
        # A row without a good sample is no result, and derived rows bear another type.
        self.assertEqual(len(found), 4)


class ResultsFormat(unittest.TestCase):
    """docs/results-format.md."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.made = results.make_results(decode_log(example_boot(
            count=3000, limit=None,
            more=[Row("ipi.dry-run.total.cycles", [900] * 40, unit="cycle")]).text()))
        cls.named = set(re.findall(r"`([a-z0-9_-]+)`", RESULTS_PAGE))

    def test_every_key_is_on_the_page(self) -> None:
        made = self.made
        for key in ("image", "machine", "run"):
            self.assertLessEqual(set(made[key]), self.named)
        self.assertLessEqual(set(made), self.named)
        self.assertLessEqual(set(made["machine"]["psci"]), self.named)
        for key in ("boots", "metrics", "outcomes", "skipped"):
            for record in made[key]:
                self.assertLessEqual(set(record), self.named, key)
        for key in ("caches", "cpus"):
            self.assertLessEqual(set(made["machine"][key][0]), self.named)

    def test_every_key_of_the_page_is_made(self) -> None:
        made = self.made
        rows = re.findall(r"^\| ((?:`[a-z0-9_]+`(?:, )?)+) \|", section(RESULTS_PAGE, "A metric"),
                          re.M)
        on_page = {key for row in rows for key in re.findall(r"`([a-z0-9_]+)`", row)}
        seen = {key for metric in made["metrics"] for key in metric}
        self.assertEqual(on_page - seen, {"from"})
        top = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", section(RESULTS_PAGE, "Top level"),
                         re.M)
        self.assertEqual({key for row in top for key in re.findall(r"`([a-z_]+)`", row)}, set(made))

    def test_power_states(self) -> None:
        rows = re.findall(r"^\| ((?:`[a-z0-9_]+`(?:, )?)+) \|",
                          section(RESULTS_PAGE, "A power state"), re.M)
        boot = Boot().head()
        boot.line("idle", IDLE)
        state, = results.make_results(decode_log(boot.text()))["idle_states"]
        self.assertEqual({key for row in rows for key in re.findall(r"`([a-z0-9_]+)`", row)},
                         set(state))
        self.assertLessEqual(set(state["claims"]), self.named)

    def test_warnings_and_problems(self) -> None:
        page = re.findall(r"^\| `([a-z-]+)` \|", section(RESULTS_PAGE, "Warnings"), re.M)
        self.assertEqual(page, list(results.WARNINGS))
        kinds = set(re.findall(r"^\| `([a-z-]+)` \|", section(RESULTS_PAGE, "Problems"), re.M))
        code = Path(log.__file__).read_text("utf-8") + Path(decoder.__file__).read_text("utf-8")
        used = set(re.findall(r'(?:Problem\(|_problem\()\s*"([a-z-]+)"', code))
        self.assertEqual(kinds, used)


def first_column(page: str, title: str) -> list[str]:
    """The keywords in the first column of a section's tables."""
    rows = re.findall(r"^\| ((?:`[a-z0-9_-]+`(?:, )?)+) \| \S", section(page, title), re.M)
    return [key for row in rows for key in re.findall(r"`([a-z0-9_-]+)`", row)]


class Methodology(unittest.TestCase):
    """docs/methodology.md: whatever the tools can warn of is explained, and nothing else is."""

    def assert_explained(self, title: str, known: list[str]) -> None:
        """A section's tables have exactly these keywords, each once."""
        self.assertEqual(sorted(first_column(METHOD_PAGE, title)), sorted(known))

    def test_warnings(self) -> None:
        self.assert_explained("Warnings", [*results.WARNINGS, *errors.WARNINGS])

    def test_every_warning_has_a_keyword(self) -> None:
        """Warnings of rows are appended by keyword, those of commands go through `warn`."""
        rows, commands = set(), set()
        for path in sorted((SOURCE_TREE / "scripts" / "el1bench_host").rglob("*.py")):
            text = path.read_text("utf-8")
            rows |= set(re.findall(r'warnings\.append\("([a-z-]+)"\)', text))
            commands |= set(re.findall(r'\bwarn\(\s*"([a-z-]+)"', text))
            if path.name != "errors.py":
                self.assertIsNone(re.search(r"[\"' ]warning: ", text), path)
        self.assertEqual(rows, set(results.WARNINGS))
        self.assertEqual(commands, set(errors.WARNINGS))

    def test_verdicts(self) -> None:
        self.assert_explained("Is the counter as fast as it says?", list(counter_check.VERDICTS))
        self.assertIn(f"less than {100 * counter_check.THRESHOLD:g} %", METHOD_PAGE)
        on_page = set(re.findall(r"`([a-z-]+)`", re.search(r"^\| `verdict` \|.*$", RESULTS_PAGE,
                                                           re.M).group(0))) - {"verdict"}
        self.assertEqual(on_page, set(counter_check.VERDICTS))
        record = counter_check.check([], None).record()
        self.assertEqual(first_column(RESULTS_PAGE, "The counter against the host's clock"),
                         list(record))

    def test_exclusions(self) -> None:
        self.assert_explained("Exclusions", list(log_records.EXCLUSIONS.values()))

    def test_checks(self) -> None:
        self.assert_explained("Checks", list(dict.fromkeys([*log_records.CHECK_FIELDS,
                                                            *results.OUTPUT_CHECKS])))

    def test_problems(self) -> None:
        self.assert_explained("Problems of a log", first_column(RESULTS_PAGE, "Problems"))


if __name__ == "__main__":
    unittest.main()
