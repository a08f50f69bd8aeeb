"""Driving U-Boot's command line, against a U-Boot of a few lines that speaks at once."""

import unittest
from typing import Callable, Optional

from el1bench_host.errors import UserError
from el1bench_host.u_boot import StreamEnded, UBoot, check_arguments

SIZE = 70000
TRANSFER = (b"Using eth0 device\r\nTFTP from server 10.0.2.2\r\nLoading: *####\r\ndone\r\n"
            b"Bytes transferred = %d (%x hex)\r\n" % (SIZE, SIZE))
BOUND = b"BOOTP broadcast 1\r\nDHCP client bound to address 10.42.0.15 (3 ms)\r\n"


class FakeUBoot:
    """Echoes and answers commands; `read` gives at most `piece` bytes, so that words are cut."""

    def __init__(self, prompt: bytes = b"=> ", autoboot: bytes = b"Hit any key to stop autoboot:  2",
                 piece: int = 3, deaf: int = 0, stop_keys: bytes = b"\r") -> None:
        self.prompt = prompt
        self.piece = piece
        self.deaf = deaf
        self.stop_keys = stop_keys
        self.typed: list[str] = []
        self.answers: dict[str, bytes] = {"tftpboot": TRANSFER, "dhcp": BOUND,
                                          "go": b"## Starting application at 0x40200000 ...\r\n",
                                          "booti": b"Starting kernel ...\r\n"}
        self.silent = ""
        self.gone_after: Optional[int] = None
        self._out = b"U-Boot 2025.01\r\nDRAM: 1 GiB\r\n" + autoboot
        self._line = b""
        self._stopped = False
        self._read = 0

    def read(self, timeout: float) -> bytes:
        """As ByteStream.read, except that no time passes."""
        if self.gone_after is not None and self._read >= self.gone_after:
            raise StreamEnded
        data, self._out = self._out[:self.piece], self._out[self.piece:]
        self._read += len(data)
        if not data and timeout > 1:
            raise AssertionError("nothing comes any more, and it waits for that")
        return data

    def write(self, data: bytes) -> None:
        """As ByteStream.write."""
        for byte in data:
            self._take(bytes([byte]))

    def _take(self, byte: bytes) -> None:
        if not self._stopped:
            if self.deaf:
                self.deaf -= 1
            elif byte in self.stop_keys:
                self._stopped = True
                self._out += b"\r\n" + self.prompt
            return
        if byte != b"\r":
            self._line += byte
            self._out += byte
            return
        line, self._line = self._line.decode(), b""
        self._out += b"\r\n"
        if not line:
            self._out += self.prompt
            return
        self.typed.append(line)
        for command in line.split("; "):
            word, _, rest = command.partition(" ")
            if word == self.silent:
                return
            self._out += rest.encode() + b"\r\n" if word == "echo" else self.answers.get(word, b"")
            if word in ("go", "booti") and b"Starting" in self.answers[word]:
                return
        self._out += self.prompt


class Driving(unittest.TestCase):
    """From power-on to the start of the image."""

    def ready(self, **options: object) -> tuple[FakeUBoot, UBoot]:
        """A U-Boot at its prompt."""
        fake = FakeUBoot(**options)
        driver = UBoot(fake)
        driver.wait_prompt(5)
        return fake, driver

    def refused(self, pattern: str, call: Callable[[], object], exit_code: int = 3) -> None:
        """The call fails with one line and the exit code."""
        with self.assertRaisesRegex(UserError, pattern) as caught:
            call()
        self.assertEqual(caught.exception.exit_code, exit_code)
        self.assertNotIn("\n", str(caught.exception))

    def test_both_prompts_and_countdowns(self) -> None:
        for prompt, autoboot in (
                (b"=> ", b"Hit any key to stop autoboot:  2"),
                (b"odroidc4#", b"Hit Enter or space or Ctrl+C key to stop autoboot -- :  1")):
            for piece in (1, 7, 4096):
                with self.subTest(prompt=prompt, piece=piece):
                    fake, driver = self.ready(prompt=prompt, autoboot=autoboot, piece=piece)
                    self.assertEqual(fake.typed, ["echo ready; echo el1bench-1"])
                    driver.ask_addresses("10.0.2.2")
                    driver.fetch(0x20000000, "image", SIZE)
                    driver.start("go", 0x20000000, ["el1bench.boot=0"])
                    self.assertEqual(fake.typed[-1],
                                     "go 0x20000000 ${fdtcontroladdr} el1bench.boot=0")

    def test_a_lost_key(self) -> None:
        self.ready(deaf=2)

    def test_booti(self) -> None:
        fake, driver = self.ready()
        driver.start("booti", 0x40200000, ["el1bench.boot=0", "el1bench.suite=a,b"])
        self.assertTrue(fake.typed[-2].startswith(
            "setenv bootargs el1bench.boot=0 el1bench.suite=a,b;"))
        self.assertEqual(fake.typed[-1], "booti 0x40200000 - ${fdtcontroladdr}")

    def test_an_image_that_is_refused(self) -> None:
        fake, driver = self.ready()
        fake.answers["booti"] = b"Bad Linux ARM64 Image magic!\r\n"
        self.refused("`booti` did not start the image; last line: Bad Linux ARM64 Image magic!",
                     lambda: driver.start("booti", 0x40200000, []))

    def test_a_short_transfer(self) -> None:
        _, driver = self.ready()
        self.refused("fetched 70000 bytes, the image has 70001",
                     lambda: driver.fetch(0x40200000, "image", SIZE + 1))

    def test_a_failed_transfer(self) -> None:
        fake, driver = self.ready()
        fake.answers["tftpboot"] = b"TFTP error: 'File not found' (1)\r\nNot retrying...\r\n"
        self.refused("did not fetch `image`; last line: Not retrying",
                     lambda: driver.fetch(0x40200000, "image", SIZE))

    def test_no_address(self) -> None:
        fake, driver = self.ready()
        fake.answers["dhcp"] = b"BOOTP broadcast 17\r\nAbort\r\n"
        self.refused("dhcp gave no address; last line: Abort",
                     lambda: driver.ask_addresses("10.0.2.2"))

    def test_a_command_that_never_ends(self) -> None:
        fake, driver = self.ready()
        fake.silent = "ping"
        self.refused("`ping` did not end within 0 s",
                     lambda: driver.command("ping", seconds=0.01))

    def test_no_prompt(self) -> None:
        driver = UBoot(FakeUBoot(stop_keys=b"x"))
        self.refused("no prompt within 0 s; last line: Hit any key",
                     lambda: driver.wait_prompt(0.01))

    def test_a_console_that_ends(self) -> None:
        fake = FakeUBoot()
        fake.gone_after = 20
        self.refused("the console ended; last line: ", lambda: UBoot(fake).wait_prompt(5))

    def test_output_of_a_command(self) -> None:
        fake, driver = self.ready()
        fake.answers["printenv"] = b"a=1\r\n=> not a prompt\r\n"
        self.assertIn(b"a=1\r\n=> not a prompt", driver.command("printenv"))

    def test_arguments_that_cannot_be_typed(self) -> None:
        for word in ("el1bench.suite=$x", "a;b", "a'b", 'a"b', "a&b", "a\\b", "a b", ""):
            with self.subTest(word=word):
                self.refused("cannot carry", lambda word=word: check_arguments("booti", [word]), 2)
        self.refused("at most 13 boot arguments", lambda: check_arguments("go", ["a=1"] * 14), 2)
        check_arguments("booti", ["a=1"] * 14)

    def test_a_command_that_is_too_long(self) -> None:
        _, driver = self.ready()
        self.refused("too long", lambda: driver.start("booti", 0, ["a=" + "1" * 1020]), 2)


if __name__ == "__main__":
    unittest.main()
