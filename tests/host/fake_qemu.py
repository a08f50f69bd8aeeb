#!/usr/bin/python3
"""Stands in for QEMU in test_run.py: prints a console as FAKE_QEMU_MODE says.

It answers `--version` and `-cpu help` as QEMU does and notes its command lines in FAKE_QEMU_NOTES,
so that the host's side of a run can be tested without an image.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

# pylint: disable=wrong-import-position
from tests.host.synthetic_log import Boot, Row

ROWS = (Row("clock.floor.pair", [2] * 100, cold=3),)


def put(data: bytes) -> None:
    """Bytes to the console, at once."""
    os.write(1, data)


def hang() -> None:
    """What a QEMU does whose image never ends."""
    while True:
        signal.pause()


def rest(before: bytes, boot: Boot) -> bytes:
    """What `boot` has said since it had said `before`."""
    return boot.text()[len(before):]


def play(mode: str, words: dict[str, str]) -> int:
    """Print what `mode` names; returns the exit status."""
    if mode == "silent" or mode == "silent-once" and words["boot"] == "1":
        hang()
    if mode == "complains":
        print("first line\nqemu: something is wrong with this machine", file=sys.stderr)
        return 1
    if mode == "chatter":
        put(b"\x1b[2JNOTICE:  firmware \xff\xfe\x00 says @el1 hello\r\nno newline ")
    boot = Boot(boot=int(words["boot"]), seed=int(words["seed"]))
    boot.head(emulated=words["emulated"])
    if mode == "refuses":
        boot.line("fail", "name=arguments : samples=7: not today")
        put(boot.end("refused").text())
        return 0
    put(said := boot.text())
    if mode == "no-plan":
        put(b"stuck before the plan\r\n")
        hang()
    put(rest(said, boot.plan(["clock.floor"])))
    said = boot.text()
    if mode == "no-trailer":
        put(b"stuck in the middle")
        hang()
    if mode == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "chatter":
        put(b"ERROR: firmware again: ")
    how = {"fails": "failed", "skips": "skipped"}.get(mode, "passed")
    if mode == "fails-once" and boot.boot == 1:
        how = "failed"
    boot.results(ROWS, outcomes=(f"clock.floor {how} : because",))
    boot.end("failed" if how == "failed" else "passed")
    text = rest(said, boot)
    if mode == "damaged":
        text = text.replace(b"metric", b"metrix", 1)
    put(text)
    if mode == "halts":
        hang()
    return 0


def main() -> int:
    """The fake's command line."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        print("QEMU emulator version 9.8.7 (fake)")
        return 0
    if arguments[-2:] == ["-cpu", "help"]:
        print("Available CPUs:\n  cortex-a53\n  cortex-a72")
        return 0
    with open(os.environ["FAKE_QEMU_NOTES"], "a", encoding="utf-8") as notes:
        print(os.getpid(), *arguments, sep="\t", file=notes)
    words = {"boot": "0", "seed": "1", "emulated": "fake"}
    if "-append" in arguments:
        append = arguments[arguments.index("-append") + 1]
        words |= (word.removeprefix("el1bench.").split("=", 1) for word in append.split())
    return play(os.environ["FAKE_QEMU_MODE"], words)


if __name__ == "__main__":
    sys.exit(main())
