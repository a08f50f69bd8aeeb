"""A campaign's folder: every attempt that was ever made, so that it can be resumed.

`CONFIGURATION/ITERATION-ATTEMPT/` holds an attempt's console.log, written through as it comes, and
attempt.json, which appears whole and last, after the log has reached the disk. A folder without it
is an attempt that this program did not live to see the end of: it is kept, and made again.
"""

import dataclasses
import fcntl
import json
import os
import re
from pathlib import Path
from typing import Any, BinaryIO, Optional

from el1bench_host.attempt import Attempt
from el1bench_host.campaign_file import Campaign, Configuration
from el1bench_host.errors import UserError

FORMAT = "el1bench-campaign/1"
CAMPAIGN_NAME = "campaign.json"
ATTEMPT_NAME = "attempt.json"
LOG_NAME = "console.log"
LOCK_NAME = ".lock"
FOLDER = re.compile(r"(\d+)-(\d+)")
# A benchmark that failed is a finding about the image; another try would hide it.
FINAL = ("ok", "failed")


def _write_durably(path: Path, content: Any) -> None:
    """Write JSON so that after a power cut there is either nothing or all of it."""
    fresh = path.with_name(f".{path.name}.new")
    with fresh.open("w", encoding="utf-8") as stream:
        json.dump(content, stream, indent=2)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    fresh.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {error}") from error


class Store:
    """The folder of one campaign, held by this process alone."""

    def __init__(self, campaign: Campaign) -> None:
        """Make the folder, or take up the one that is there."""
        self._campaign = campaign
        self.folder = campaign.out
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / LOCK_NAME).open("w", encoding="ascii")
        except OSError as error:
            raise UserError(f"cannot write to {self.folder}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError(f"another campaign is writing to {self.folder}") from error
        self._check_identity()
        self.attempts: dict[tuple[str, int], list[Attempt]] = {}
        self.broken_off = 0
        """Attempts whose end nobody saw."""
        self._numbers: dict[tuple[str, int], int] = {}
        for configuration in campaign.configurations:
            self._scan(configuration)

    def close(self) -> None:
        """Let go of the folder."""
        self._lock.close()

    def _check_identity(self) -> None:
        path = self.folder / CAMPAIGN_NAME
        ours = {"format": FORMAT, "name": self._campaign.name, **self._campaign.identity}
        if not path.exists():
            _write_durably(path, ours)
            return
        theirs = _read(path)
        # JSON knows no difference between lists and tuples.
        if theirs != json.loads(json.dumps(ours)):
            changed = [key for key in ours if theirs.get(key) != json.loads(json.dumps(ours[key]))]
            raise UserError(f"{self.folder} holds another campaign (not the same: "
                            f"{', '.join(changed)}): name another `out`")

    def _scan(self, configuration: Configuration) -> None:
        folder = self.folder / configuration.name
        for path in sorted(folder.glob("*-*")) if folder.is_dir() else []:
            found = FOLDER.fullmatch(path.name)
            if not found:
                continue
            key = (configuration.name, int(found.group(1)))
            number = int(found.group(2))
            self._numbers[key] = max(self._numbers.get(key, 0), number)
            if not (path / ATTEMPT_NAME).exists():
                self.broken_off += 1
                continue
            try:
                attempt = Attempt(**_read(path / ATTEMPT_NAME))
            except TypeError as error:
                raise UserError(f"{path / ATTEMPT_NAME} is not an attempt: {error}") from error
            self.attempts.setdefault(key, []).append(attempt)
        for made in self.attempts.values():
            made.sort(key=lambda attempt: attempt.number)

    def path(self, attempt: Attempt) -> Path:
        """The attempt's folder."""
        return (self.folder / attempt.configuration
                / f"{attempt.iteration:04}-{attempt.number}")

    def begin(self, configuration: Configuration, iteration: int) -> tuple[Attempt, BinaryIO]:
        """A new attempt and its log."""
        key = (configuration.name, iteration)
        self._numbers[key] = self._numbers.get(key, 0) + 1
        attempt = Attempt(configuration.name, iteration, self._numbers[key], "")
        folder = self.path(attempt)
        try:
            folder.mkdir(parents=True)
            return attempt, (folder / LOG_NAME).open("xb", buffering=0)
        except OSError as error:
            raise UserError(f"cannot write to {folder}: {error.strerror}") from error

    def log_path(self, attempt: Attempt) -> Path:
        """The attempt's log."""
        return self.path(attempt) / LOG_NAME

    def finish(self, attempt: Attempt, log: BinaryIO) -> None:
        """Keep the attempt for good; its log first."""
        os.fsync(log.fileno())
        _write_durably(self.path(attempt) / ATTEMPT_NAME, dataclasses.asdict(attempt))
        self.attempts.setdefault((attempt.configuration, attempt.iteration), []).append(attempt)

    def good(self, configuration: str, iteration: int) -> Optional[Attempt]:
        """The attempt whose numbers count."""
        for attempt in self.attempts.get((configuration, iteration), []):
            if attempt.ok:
                return attempt
        return None

    def settled(self, configuration: str, iteration: int) -> bool:
        """True if the iteration needs no other attempt, or has had all that it may have."""
        made = self.attempts.get((configuration, iteration), [])
        return (any(attempt.outcome in FINAL for attempt in made)
                or len(made) >= self._campaign.attempts)
