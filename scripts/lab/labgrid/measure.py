"""Measures once on a board that labgrid knows.

    python3 measure.py ENVIRONMENT LOG [BOOT_ARGUMENT ...]

What the image says goes to LOG, which `el1bench decode` takes. The board is off afterwards.
"""

import sys
from pathlib import Path

from labgrid import Environment


def main(environment: str, log: str, *arguments: str) -> None:
    """Boot once, write the log, switch off."""
    target = Environment(environment).get_target("main")
    strategy = target.get_driver("El1benchStrategy", activate=False)
    try:
        Path(log).write_bytes(strategy.measure(arguments))
    finally:
        strategy.transition("off")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} ENVIRONMENT LOG [BOOT_ARGUMENT ...]")
    main(*sys.argv[1:])
