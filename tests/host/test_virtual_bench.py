"""The parts of the virtual bench: its serial line, and the vendor's U-Boot made of mainline's."""

import random
import unittest

from el1bench_host.serial_line import QUEUE_BYTES, SerialLine
from el1bench_host.u_boot_dialect import VendorDialect

BOOT = (b"U-Boot 2025.01\r\nNet:   eth0\r\nHit any key to stop autoboot:  2 \x08\x08\x08 1 \r\n"
        b"=> echo => ready\r\n=> ready\r\n=> crc32 0 1\r\ncrc32 for 0 ... 1 ==> 00000000\r\n=> ")
VENDOR = (b"U-Boot 2025.01\r\nNet:   eth0\r\n"
          b"Hit Enter or space or Ctrl+C key to stop autoboot -- :  2 \x08\x08\x08 1 \r\n"
          b"odroidc4#echo => ready\r\nodroidc4#ready\r\nodroidc4#crc32 0 1\r\n"
          b"crc32 for 0 ... 1 ==> 00000000\r\nodroidc4#")


class Dialect(unittest.TestCase):
    """VendorDialect."""

    def test_what_the_board_says(self) -> None:
        for piece in (1, 3, 7, 4096):
            with self.subTest(piece=piece):
                dialect = VendorDialect()
                said = b"".join(dialect.says(BOOT[at:at + piece], 0.0)
                                for at in range(0, len(BOOT), piece))
                self.assertEqual(said, VENDOR)

    def test_no_end_of_a_line_is_held_back(self) -> None:
        dialect = VendorDialect()
        for byte in b"DRAM: 1 GiB\r\nHit\r\n":
            said = dialect.says(bytes((byte,)), 0.0)
        self.assertEqual(said, b"\n")

    def test_an_image_is_left_alone(self) -> None:
        for start in (b"## Starting application at 0x20000000 ...\r\n", b"Starting kernel ...\r\n"):
            for piece in (1, 4096):
                dialect = VendorDialect()
                text = start + b"=> x\r\nHit any key to stop autoboot: \r\n="
                said = b"".join(dialect.says(text[at:at + piece], 0.0)
                                for at in range(0, len(text), piece))
                self.assertEqual(said[-len(text):], text)
                self.assertEqual(dialect.hears(b"\nx", 9.0), b"\nx")

    def test_keys(self) -> None:
        dialect = VendorDialect()
        # What waits in the UART when the countdown begins counts.
        self.assertEqual(dialect.hears(b"\nx\r \x03y", 0.0), b"\r \x03")
        dialect.says(b"Hit any key to stop autoboot:", 1.0)
        self.assertEqual(dialect.hears(b"\n", 1.05), b"")
        self.assertEqual(dialect.hears(b"\r", 1.05), b"\r")
        self.assertEqual(dialect.hears(b"\r", 1.2), b"")
        dialect.says(b" 0 \r\n=> ", 3.0)
        self.assertEqual(dialect.hears(b"version\n", 3.1), b"version\n")


class Line(unittest.TestCase):
    """SerialLine."""

    def setUp(self) -> None:
        self.line = SerialLine(1000, "", random.Random(1))

    def test_pace(self) -> None:
        """A byte takes ten bits' time, and room comes back with each."""
        self.line.put(bytes(range(200)), 5.0)
        self.assertEqual(self.line.room, QUEUE_BYTES - 200)
        self.assertEqual(self.line.take(5.005, 1000), b"")
        self.assertEqual(self.line.take(5.011, 1000), b"\x00")
        self.assertEqual(len(self.line.take(5.1051, 1000)), 9)
        self.assertEqual(len(self.line.take(7.5, 1000)), 190)
        self.assertIsNone(self.line.wake_at(7.5))

    def test_a_reader_that_does_not_follow(self) -> None:
        def said(text: bytes, speed: int) -> bytes:
            self.line.put(text, 0.0)
            return self.line.take(1e6, speed)

        self.assertEqual(said(b"@el1b baud 1 rate=2000 : x\n", 1000)[-2:], b"x\n")
        self.assertNotIn(b"raw", said(b"raw\n", 1000))
        self.assertEqual(said(b"raw\n", 2000), b"raw\n")
        self.assertEqual(said(b"@el1b baud 2 rate=0 : y\n", 2000)[-2:], b"y\n")
        self.assertNotIn(b"end", said(b"end\n", 2000))
        self.assertEqual(said(b"end\n", 1000), b"end\n")

    def test_damage_begins_with_the_image(self) -> None:
        text = b"x" * 20000
        for damage in ("", "noise", "lost"):
            line = SerialLine(10**6, damage, random.Random(1))
            line.put(text, 0.0)
            self.assertEqual(line.take(1e6, 0), text)
            for part in (b"Starting kernel ...\r\n", text):
                line.put(part, 0.0)
                line.take(1e6, 0)
            self.assertTrue(line.in_image)
            line.put(text, 0.0)
            found = line.take(1e6, 0)
            self.assertEqual(found == text, damage == "")
            self.assertEqual(len(found) < len(text), damage == "lost")


if __name__ == "__main__":
    unittest.main()
