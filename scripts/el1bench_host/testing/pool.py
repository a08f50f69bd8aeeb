"""Runs test jobs side by side, each command with a limit on its time; collects the results."""

import os
import signal
import subprocess
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Mapping, Optional, Sequence

PASS = "PASS"
FAIL = "FAIL"
SKIP = "SKIP"


@dataclass(frozen=True)
class Result:
    """The outcome of one test."""

    name: str  # "group: name"
    status: str  # PASS, FAIL or SKIP
    seconds: float
    output: str = ""  # for a failure all there is to know, for a skip the reason


@dataclass(frozen=True)
class Job:
    """Work that yields one result or more. `names` are the tests it is known to hold.

    `alone`: it compares times, so no other job may run beside it.
    """

    names: tuple[str, ...]
    run: Callable[[], list[Result]]
    alone: bool = False


class _Children:
    """The process groups that are alive, so that an interrupt can end them all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._alive: set[int] = set()
        self._stopped = False

    def start(self, command: Sequence[str], **options: object) -> subprocess.Popen:
        """Start a command in a process group of its own."""
        with self._lock:
            if self._stopped:
                raise InterruptedError
            child = subprocess.Popen(command, start_new_session=True, **options)
            self._alive.add(child.pid)
            return child

    def end(self, child: subprocess.Popen) -> None:
        """Kill what is left of a command's group, and reap it."""
        with self._lock:
            # Not reaped yet, or reaped with its group gone: the number is ours either way.
            if child.pid in self._alive:
                _kill_group(child.pid)
                child.wait()
                self._alive.discard(child.pid)

    def end_all(self) -> None:
        """Kill every group; nothing starts any more."""
        with self._lock:
            self._stopped = True
            for group in self._alive:
                _kill_group(group)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


_children = _Children()


def run_command(command: Sequence[str], seconds: float, *, folder: Optional[Path] = None,
                environment: Optional[Mapping[str, str]] = None) -> tuple[int, str]:
    """Run a command with closed input; returns (exit status, output and errors together).

    After `seconds` it is killed, with all that it started, and the status is 124.
    """
    try:
        child = _children.start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, cwd=folder, env=environment)
    except OSError as error:
        return 127, f"cannot start {command[0]}: {error.strerror}\n"
    status = None
    try:
        data, _ = child.communicate(timeout=seconds)
        status = child.returncode
    except subprocess.TimeoutExpired:
        _kill_group(child.pid)
        data, _ = child.communicate()
        data += f"\nkilled after {seconds:.0f} s\n".encode()
        status = 124
    finally:
        _children.end(child)
    return status, data.decode("utf-8", "replace")


def command_job(name: str, command: Sequence[str], seconds: float, *,
                folder: Optional[Path] = None,
                environment: Optional[Mapping[str, str]] = None) -> Job:
    """A job that is one command, passed when it exits with 0."""

    def run() -> list[Result]:
        started = time.monotonic()
        status, output = run_command(command, seconds, folder=folder, environment=environment)
        if status != 0:
            output += f"exit status {status}: {' '.join(map(str, command))}\n"
        return [Result(name, PASS if status == 0 else FAIL, time.monotonic() - started, output)]

    return Job((name,), run)


def _run_job(job: Job) -> list[Result]:
    """The job's results; an exception in it fails the tests it was to run."""
    started = time.monotonic()
    try:
        return job.run()
    except Exception as error:  # pylint: disable=broad-except  # a broken job is a failed test
        seconds = time.monotonic() - started
        text = f"{type(error).__name__}: {error}\n"
        return [Result(name, FAIL, seconds, text) for name in job.names]


def run_jobs(jobs: Sequence[Job], workers: int, report: Callable[[Result], None]) -> list[Result]:
    """Run the jobs, `workers` at a time, and pass each result to `report` as it comes.

    Those that want to be alone come last, one after the other.
    """
    together = [job for job in jobs if not job.alone]
    results = _run_side_by_side(together, workers, report)
    for job in jobs:
        if job.alone:
            results += _run_side_by_side([job], 1, report)
    return results


def _run_side_by_side(jobs: Sequence[Job], workers: int,
                      report: Callable[[Result], None]) -> list[Result]:
    results: list[Result] = []
    executor = ThreadPoolExecutor(max_workers=workers)
    try:
        order = {executor.submit(_run_job, job): index for index, job in enumerate(jobs)}
        pending = set(order)
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=order.__getitem__):
                for result in future.result():
                    results.append(result)
                    report(result)
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        _children.end_all()
        raise
    executor.shutdown()
    return results
