"""The test runner: what passes, fails, is skipped, crashes or hangs is reported as what it is."""

import contextlib
import io
import tempfile
import textwrap
import time
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from el1bench_host import cli, paths, setup, test
from el1bench_host.errors import UserError
from el1bench_host.testing import junit, lint, pool, python_cases
from el1bench_host.testing.pool import FAIL, PASS, SKIP, Job, Result
from tests.folder import temporary_folder

CASES = '''
    import os
    import unittest

    class Case(unittest.TestCase):
        def test_pass(self):
            pass

        def test_fail(self):
            print("measured: 17")
            self.assertEqual(1, 2)

        def test_error(self):
            raise OSError("no such thing")

        def test_skip(self):
            self.skipTest("not today")

        def test_subtests(self):
            for value in (1, 2, 3):
                with self.subTest(value=value):
                    self.assertNotEqual(value, 2)

        @unittest.expectedFailure
        def test_unexpected(self):
            pass

    class Shared(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            cls.pid = os.getpid()

        def test_one(self):
            self.assertEqual(self.pid, os.getpid())

        def test_two(self):
            self.assertEqual(self.pid, os.getpid())

    class Broken(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            raise OSError("cannot begin")

        def test_never(self):
            pass
    '''


class PythonCases(unittest.TestCase):
    """Python tests of a folder, in processes of their own."""

    def setUp(self) -> None:
        self.tree = temporary_folder(self, "testing")
        # Where the real package is found must not change with the tree.
        scripts = self.tree / "scripts"
        scripts.symlink_to(paths.SOURCE_TREE / "scripts")
        self.enterContext(mock.patch.object(paths, "SOURCE_TREE", self.tree))

    def run_cases(self, text: str, together: bool, seconds: float = 60) -> dict[str, Result]:
        # A package of another name each time: modules stay loaded in this process.
        folder = self.tree / f"cases_{self.id().rsplit('.', 1)[1]}"
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "test_it.py").write_text(textwrap.dedent(text), encoding="utf-8")
        jobs = python_cases.jobs("group", folder, seconds, together)
        results = pool.run_jobs(jobs, 2, lambda result: None)
        self.assertEqual(len(results), len({result.name for result in results}))
        return {result.name.removeprefix("group: test_it."): result for result in results}

    def check(self, together: bool) -> None:
        results = self.run_cases(CASES, together)
        self.assertEqual({name: result.status for name, result in results.items()}, {
            "Case.test_pass": PASS, "Case.test_fail": FAIL, "Case.test_error": FAIL,
            "Case.test_skip": SKIP, "Case.test_subtests": FAIL, "Case.test_unexpected": FAIL,
            "Shared.test_one": PASS, "Shared.test_two": PASS, "Broken.test_never": FAIL})
        self.assertIn("1 != 2", results["Case.test_fail"].output)
        self.assertIn("measured: 17", results["Case.test_fail"].output)
        self.assertIn("(value=2)", results["Case.test_subtests"].output)
        self.assertNotIn("(value=3)", results["Case.test_subtests"].output)
        self.assertEqual(results["Case.test_skip"].output, "not today")
        self.assertIn("cannot begin", results["Broken.test_never"].output)

    def test_each_on_its_own(self) -> None:
        self.check(together=False)

    def test_together(self) -> None:
        self.check(together=True)

    def test_crash_fails_what_did_not_end(self) -> None:
        results = self.run_cases('''
            import os
            import unittest

            class Case(unittest.TestCase):
                def test_1(self):
                    pass

                def test_2(self):
                    os._exit(7)

                def test_3(self):
                    pass
            ''', together=True)
        self.assertEqual({name: result.status for name, result in results.items()},
                         {"Case.test_1": PASS, "Case.test_2": FAIL, "Case.test_3": FAIL})
        self.assertIn("exit status 7", results["Case.test_2"].output)

    def test_clean_exit_in_the_middle_is_no_pass(self) -> None:
        results = self.run_cases('''
            import os
            import unittest

            class Case(unittest.TestCase):
                def test_1(self):
                    pass

                def test_2(self):
                    os._exit(0)
            ''', together=True)
        self.assertEqual(results["Case.test_2"].status, FAIL)

    def test_what_a_killed_test_leaves_goes(self) -> None:
        results = self.run_cases(f'''
            import os
            import signal
            import tempfile
            import unittest

            class Case(unittest.TestCase):
                def test_killed(self):
                    with open("{self.tree}/left", "w") as left:
                        left.write(tempfile.mkdtemp())
                    os.kill(os.getpid(), signal.SIGKILL)
            ''', together=True)
        self.assertEqual(results["Case.test_killed"].status, FAIL)
        left = Path((self.tree / "left").read_text("utf-8"))
        self.assertFalse(left.exists() or left.parent.exists(), left)

    def test_hang_is_ended(self) -> None:
        started = time.monotonic()
        results = self.run_cases('''
            import subprocess
            import unittest

            class Case(unittest.TestCase):
                def test_hang(self):
                    subprocess.run(["sleep", "60"])
            ''', together=False, seconds=1)
        self.assertLess(time.monotonic() - started, 30)
        self.assertEqual(results["Case.test_hang"].status, FAIL)
        self.assertIn("killed after 1 s", results["Case.test_hang"].output)

    def test_module_that_cannot_be_imported(self) -> None:
        results = self.run_cases("import no_such_module\n", together=True)
        self.assertEqual([result.status for result in results.values()], [FAIL])
        self.assertIn("no_such_module", next(iter(results.values())).output)


class Command(unittest.TestCase):
    """`el1bench test` around its groups."""

    def run_groups(self, results: list[Result], *arguments: str) -> tuple[int, str]:
        jobs = [Job((result.name,), lambda result=result: [result]) for result in results]
        output = io.StringIO()
        with mock.patch.object(test, "_groups", return_value={"lint": lambda: jobs}), \
                mock.patch.object(setup, "ensure"), contextlib.redirect_stdout(output):
            status = cli.main(["test", "--jobs", "1", *arguments])
        return status, output.getvalue()

    def test_all_well(self) -> None:
        self.assertEqual(self.run_groups([Result("lint: a", PASS, 0.04)]),
                         (0, "PASS lint: a (0.0 s)\n1 passed, 0 failed\n"))

    def test_failure(self) -> None:
        status, output = self.run_groups([
            Result("lint: a", PASS, 1), Result("lint: b", FAIL, 2, "one\ntwo\n"),
            Result("lint: c", SKIP, 0, "why\n")])
        self.assertEqual(status, 1)
        self.assertEqual(output, "PASS lint: a (1.0 s)\nFAIL lint: b (2.0 s)\n    one\n    two\n"
                                 "SKIP lint: c (0.0 s)\n    why\n1 passed, 1 failed, 1 skipped\n")

    def test_pattern(self) -> None:
        results = [Result("lint: one", PASS, 0), Result("lint: two", FAIL, 0)]
        self.assertEqual(self.run_groups(results, "-k", "one")[0], 0)
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(self.run_groups(results, "-k", "three")[0], 2)
        self.assertEqual(errors.getvalue(), "el1bench: no test matches `three`\n")

    def test_group_that_cannot_be_prepared(self) -> None:
        def refuse() -> list[Job]:
            raise UserError("the build failed")

        output = io.StringIO()
        with mock.patch.object(test, "_groups", return_value={"unit": refuse}), \
                mock.patch.object(setup, "ensure"), contextlib.redirect_stdout(output):
            self.assertEqual(cli.main(["test"]), 1)
        self.assertIn("FAIL unit: preparation", output.getvalue())
        self.assertIn("the build failed", output.getvalue())

    def test_job_that_raises(self) -> None:
        def fail() -> list[Result]:
            raise ValueError("a broken job")

        results = pool.run_jobs([Job(("x: y",), fail)], 1, lambda result: None)
        self.assertEqual([(result.name, result.status) for result in results], [("x: y", FAIL)])

    def test_junit(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.xml"
            junit.write(path, [Result("a: one", PASS, 1.5), Result("b: two", FAIL, 0, "\0<x>\nend"),
                               Result("b: three", SKIP, 0, "why")])
            suite = ElementTree.parse(path).getroot()
            with self.assertRaisesRegex(UserError, "cannot write"):
                junit.write(Path(folder) / "no" / "x.xml", [])
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("skipped")),
                         ("3", "1", "1"))
        self.assertEqual(suite.find("testcase[@name='two']/failure").get("message"), "end")


class Lint(unittest.TestCase):
    """The checks of the sources that are our own."""

    def setUp(self) -> None:
        self.tree = temporary_folder(self, "lint")
        self.enterContext(mock.patch.object(paths, "SOURCE_TREE", self.tree))

    def write(self, name: str, text: str) -> None:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_layers(self) -> None:
        self.write("src/suites/x/good.c", '#include "el1bench/benchmark.h"\n')
        self.write("src/suites/x/bad.c", '\n#include "el1bench/console.h"\n')
        self.write("src/drivers/gic/bad.c", '#include "el1bench/benchmark.h"\n')
        self.assertEqual([problem.split(": ")[0] for problem in lint.layer_problems()],
                         ["src/suites/x/bad.c:2", "src/drivers/gic/bad.c:1"])

    def test_text(self) -> None:
        self.write("src/a.c", "x" * 101 + "\n" + "\t" * 12 + "12345\n" + "good\n" + "blank \n")
        self.write("scripts/a.py", "if x:\n\tpass\n")
        self.assertEqual([problem.split(": ")[0] for problem in lint.text_problems()],
                         ["scripts/a.py:2", "src/a.c:1", "src/a.c:2", "src/a.c:4"])


if __name__ == "__main__":
    unittest.main()
