"""Reads a console while it is still talking, for progress and for knowing when to stop."""

from typing import Optional

from el1bench_host.log import Line, scan_line
from el1bench_host.log_records import (Malformed, Survivors, parse_baud, parse_end, parse_plan,
                                       parse_raw, parse_survivors)

_KEEP_BYTES = 1 << 16


class LogFollower:
    """Takes the bytes of a console as they come. Never raises; keeps only the unfinished line.

    All attributes are about the current boot, the one that the latest `begin` line started.
    """

    def __init__(self) -> None:
        self.boots = 0
        """Boots begun so far."""
        self.last_line = ""
        """The latest finished line that is not empty, as text."""
        self._partial = b""
        self._number = 0
        self._start()

    def _start(self) -> None:
        self.plan: Optional[dict[str, int]] = None
        """`benchmarks`, `rows`, `samples`, `warmup` and `bound-ms` of the plan, once known."""
        self.timing_over = False
        """True once machine lines have come after the plan: it is not measuring any more."""
        self.status: Optional[str] = None
        """passed, failed or refused; None before the trailer."""
        self.lines = 0
        """Intact machine lines."""
        self.samples_received = 0
        """Samples in the `raw` lines so far."""
        self.survivors: Optional[Survivors] = None
        """What an earlier boot left in memory, if this one has found something."""
        self.survivors_sent = False
        """True once an earlier boot's samples have come, or it is clear that there are none."""
        self.baud = 0
        """The console's speed as the image has set it; 0: as it was before."""

    @property
    def began(self) -> bool:
        """True once there has been a machine line."""
        return self.boots > 0

    @property
    def ended(self) -> bool:
        """True once the boot's trailer has been seen."""
        return self.status is not None

    @property
    def bound_ms(self) -> Optional[int]:
        """The plan's upper bound of the boot's time in milliseconds, once it is known."""
        return None if self.plan is None else self.plan["bound-ms"]

    @property
    def survivors_ms(self) -> int:
        """What sending an earlier boot's samples may take, before the plan; 0: there are none."""
        return 0 if self.survivors is None else self.survivors.bound_ms

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the console."""
        lines = (self._partial + data).split(b"\n")
        self._partial = lines.pop()[-_KEEP_BYTES:]
        for text in lines:
            self._number += 1
            if text.strip():
                self.last_line = text.decode("ascii", "replace").strip()
            for found in scan_line(text, self._number):
                if isinstance(found, Line):
                    self._take(found)

    def _take(self, line: Line) -> None:
        if line.kind == "begin" or self.boots == 0:
            self.boots += 1
            self._start()
        self.lines += 1
        if self.plan is not None:
            self.timing_over = True
        if line.kind in ("was-end", "plan", "end"):
            self.survivors_sent = True
        try:
            if line.kind == "plan":
                plan = parse_plan(line.rest)
                self.plan = {"benchmarks": plan.benchmarks, "rows": plan.rows,
                             "samples": plan.samples, "warmup": plan.warmup,
                             "bound-ms": plan.bound_ms}
            elif line.kind == "raw":
                self.samples_received += parse_raw(line.rest).count
            elif line.kind == "baud":
                self.baud = parse_baud(line.rest)
            elif line.kind == "survivors":
                self.survivors = parse_survivors(line.rest)
            elif line.kind == "end":
                self.status = parse_end(line.rest).status
        except Malformed:
            pass
