"""The pool that runs test jobs: side by side, except those that compare times."""

import threading
import unittest

from el1bench_host.testing.pool import FAIL, PASS, Job, Result, run_command, run_jobs

SECONDS = 30


class Pool(unittest.TestCase):
    """Jobs that watch each other."""

    def test_side_by_side(self) -> None:
        # Each of the two waits for the other: one after the other they would never pass.
        meeting = threading.Barrier(2, timeout=SECONDS)

        def job(name: str) -> Job:
            def run() -> list[Result]:
                meeting.wait()
                return [Result(name, PASS, 0.0)]

            return Job((name,), run)

        results = run_jobs([job("a"), job("b")], 2, lambda result: None)
        self.assertEqual({(result.name, result.status) for result in results},
                         {("a", PASS), ("b", PASS)})

    def test_alone(self) -> None:
        running: set[str] = set()
        seen: dict[str, set[str]] = {}
        order: list[str] = []

        def job(name: str, alone: bool) -> Job:
            def run() -> list[Result]:
                running.add(name)
                seen[name] = set(running)
                order.append(name)
                running.discard(name)
                return [Result(name, PASS, 0.0)]

            return Job((name,), run, alone)

        run_jobs([job("x", True), job("a", False), job("y", True), job("b", False)], 2,
                 lambda result: None)
        self.assertEqual((seen["x"], seen["y"]), ({"x"}, {"y"}))
        self.assertEqual(order[2:], ["x", "y"])

    def test_a_job_that_breaks_fails(self) -> None:
        def run() -> list[Result]:
            raise RuntimeError("no good")

        results = run_jobs([Job(("a", "b"), run)], 1, lambda result: None)
        self.assertEqual([(result.name, result.status) for result in results],
                         [("a", FAIL), ("b", FAIL)])
        self.assertIn("no good", results[0].output)

    def test_a_command_that_takes_too_long(self) -> None:
        status, output = run_command(["/bin/sh", "-c", "echo here; exec sleep 1000"], 0.5)
        self.assertEqual(status, 124)
        self.assertRegex(output, "here\n\nkilled after")


if __name__ == "__main__":
    unittest.main()
