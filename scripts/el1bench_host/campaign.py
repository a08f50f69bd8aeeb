"""`el1bench campaign`: boots a board many times, unattended, and keeps everything.

The file is checked as a whole, the images are read, and console and relay are opened before
anything is powered. Each iteration is retried until its numbers count or its attempts are used up;
a campaign that was killed goes on where it was.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Iterator

from el1bench_host import campaign_file, campaign_report
from el1bench_host.attempt import Runner, judge
from el1bench_host.campaign_file import Campaign, Configuration
from el1bench_host.campaign_store import Store
from el1bench_host.errors import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_OK, UserError
from el1bench_host.power import open_switch
from el1bench_host.serial_port import SerialPort

# How long a console that was unplugged is waited for.
REPLUG_SECONDS = 60.0
REPLUG_PAUSE_SECONDS = 0.1


def plan(campaign: Campaign) -> Iterator[tuple[Configuration, int]]:
    """Every iteration in the order in which they are made.

    Interleaved, a drift of the room's temperature meets all configurations alike; the one that
    comes first changes each time.
    """
    configurations = campaign.configurations
    if campaign.order == "sequential":
        for configuration in configurations:
            for iteration in range(campaign.iterations):
                yield configuration, iteration
        return
    for iteration in range(campaign.iterations):
        for place in range(len(configurations)):
            yield configurations[(place + iteration) % len(configurations)], iteration


class Bench:
    """Console and power of a campaign, and its attempts."""

    def __init__(self, campaign: Campaign, store: Store, quiet: bool) -> None:
        """Open what is needed; nothing is powered."""
        self._campaign = campaign
        self._store = store
        self._quiet = quiet
        self._console = SerialPort(campaign.console.port, campaign.console.baud, quiet)
        try:
            self._switch = open_switch(campaign.power)
        except UserError:
            self._console.close()
            raise
        self._runner = Runner(campaign, self._switch)

    def _say(self, text: str) -> None:
        if not self._quiet:
            print(f"el1bench: {text}", file=sys.stderr, flush=True)

    def _attempt(self, configuration: Configuration, iteration: int, place: str) -> None:
        attempt, log = self._store.begin(configuration, iteration)
        with log:
            connected = self._runner.run(configuration, attempt, self._console, log)
            if configuration.el1bench:
                judge(attempt, self._store.log_path(attempt))
            self._store.finish(attempt, log)
        self._switch.set(False)
        self._say(f"{place} {configuration.name} {iteration}: {attempt.outcome}"
                  f" ({attempt.seconds['end']:.1f} s)"
                  + (f": {attempt.reason}" if attempt.reason else ""))
        if not connected:
            self._reconnect()

    def _reconnect(self) -> None:
        self._console.close()
        deadline = time.monotonic() + REPLUG_SECONDS
        while True:
            try:
                self._console = SerialPort(self._campaign.console.port,
                                           self._campaign.console.baud)
                return
            except UserError as error:
                if time.monotonic() >= deadline:
                    raise UserError(f"{error}, for {REPLUG_SECONDS:.0f} s",
                                    EXIT_INCOMPLETE) from error
            # There is no event that tells of a device node with a name of ours.
            time.sleep(REPLUG_PAUSE_SECONDS)

    def run(self) -> None:
        """Make every iteration that is not settled. The board is off when this returns."""
        todo = list(plan(self._campaign))
        left = [one for one in todo if not self._store.settled(one[0].name, one[1])]
        if len(left) < len(todo) and left:
            self._say(f"going on: {len(todo) - len(left)} of {len(todo)} iterations are there")
        try:
            for configuration, iteration in left:
                place = f"[{todo.index((configuration, iteration)) + 1}/{len(todo)}]"
                while not self._store.settled(configuration.name, iteration):
                    self._attempt(configuration, iteration, place)
        finally:
            if left:
                self._switch.set(False)
            self._switch.close()
            self._console.close()


def register(subparsers: Any) -> None:
    """Adds `campaign` to the command line."""
    parser = subparsers.add_parser(
        "campaign", help="boot a board many times, unattended",
        description="Runs the campaign that a TOML file describes: power on, stop U-Boot, fetch by "
        "TFTP, start, follow the console to the end, power off, for each configuration and "
        "iteration. Every attempt is kept with its log. Started again, it goes on where it was. "
        "docs/campaign.md describes the file. Exit codes: 0 every iteration is good, 1 an image "
        "failed, 2 the file or the bench is not as it must be (nothing was powered), 3 an "
        "iteration used up its attempts.")
    parser.add_argument("file", metavar="FILE", help="the campaign")
    parser.add_argument("--check", action="store_true", help="just check the file and its images")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Runs `campaign`."""
    campaign = campaign_file.read(Path(args.file))
    if args.check:
        if not args.quiet:
            print(f"{args.file}: {len(campaign.configurations)} configurations, "
                  f"{campaign.iterations} iterations each")
        return EXIT_OK
    store = Store(campaign)
    try:
        Bench(campaign, store, args.quiet).run()
        tables = campaign_report.write(campaign, store)
    finally:
        store.close()
    if not args.quiet:
        print(tables, end="")
    good = [store.good(configuration.name, iteration) for configuration, iteration
            in plan(campaign)]
    if all(good):
        return EXIT_OK
    failed = any(attempt.outcome == "failed" for made in store.attempts.values()
                 for attempt in made)
    return EXIT_FAILED if failed else EXIT_INCOMPLETE
