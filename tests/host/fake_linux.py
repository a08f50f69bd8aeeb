#!/usr/bin/python3
"""Stands in for a Linux on a serial console: a login, then a real shell on a real terminal.

FAKE_LINUX.py PASSWORD; an empty one is not asked for.
"""

import os
import pty
import sys


def log_in(password: str) -> None:
    """Ask until it is root with the password; become the shell."""
    while True:
        print("\r\nDebian GNU/Linux 12 board ttyAML0\r\n\r\nboard login: ", end="", flush=True)
        user = sys.stdin.readline().strip()
        if not user:
            continue
        if password:
            print("Password: ", end="", flush=True)
            if sys.stdin.readline().strip() != password:
                print("\r\nLogin incorrect", flush=True)
                continue
        os.execve("/bin/sh", ["sh", "-i"], {"PS1": f"{user}@board:~# ", "PATH": "/usr/bin:/bin",
                                            "TERM": "vt220", "HOME": "/"})


if __name__ == "__main__":
    if len(sys.argv) > 2:
        log_in(sys.argv[1])
    else:
        pty.spawn(["/usr/bin/python3", "-s", __file__, sys.argv[1], "on the terminal"])
