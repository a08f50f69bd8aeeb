"""Being woken at once when a byte arrives, where the host allows it."""

import contextlib
import os
from typing import Iterator


@contextlib.contextmanager
def prompt() -> Iterator[None]:
    """Within it this thread runs before all that is not of real time, if this user may have that
    (root, or an `rtprio` limit); else as before. What it starts does not inherit it.
    """
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK,
                              os.sched_param(os.sched_get_priority_min(os.SCHED_RR)))
    except OSError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)
