"""Entry point of `python3 -m el1bench_host`, which the launcher `scripts/el1bench` starts."""

import sys

from el1bench_host.cli import main

if __name__ == "__main__":
    sys.exit(main())
