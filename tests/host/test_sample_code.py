"""The decoder of raw samples against the reference encoder, and against nonsense."""

import random
import time
import unittest

from tests.host.sample_encoder import Code, base85
from el1bench_host import sample_code
from el1bench_host.log_records import Malformed


def distributions(generator: random.Random) -> dict[str, list[int]]:
    """Coded values of many shapes."""
    return {
        "one": [16],
        "alike": [40] * 5000,
        "two": [generator.choice((23, 24)) for _ in range(3000)],
        "geometric": [16 + int(generator.expovariate(0.1)) for _ in range(3000)],
        "tail": [16 + (generator.randrange(1 << 40) if generator.random() < 0.01 else 7)
                 for _ in range(3000)],
        "uniform": [16 + generator.randrange(1 << 20) for _ in range(2000)],
        "wide": [16 + generator.randrange(1 << 62) for _ in range(200)],
        "excluded": [generator.choice((1, 2, 5, 100, 101)) for _ in range(1000)],
        "bimodal": [generator.choice((300, 90000)) + generator.randrange(7) for _ in range(3000)],
    }


def round_trip(coded: list[int]) -> tuple[list[int], int]:
    """Encode, decode every line on its own; the values, and the payload bits used."""
    code = Code(coded)
    table = sample_code.parse_table(sample_code.base85(base85(code.table)))
    found: list[int] = []
    bits = len(code.table) * 8
    while len(found) < len(coded):
        count, payload = code.line(coded[len(found):])
        text = base85(payload)
        found += sample_code.decode_line(table, sample_code.base85(text), count)
        bits += len(payload) * 8
    return found, bits


class SampleCode(unittest.TestCase):
    """Round trips and refusals."""

    def test_round_trips(self) -> None:
        for name, coded in distributions(random.Random(1)).items():
            with self.subTest(name):
                self.assertEqual(round_trip(coded)[0], coded)

    def test_known_bytes(self) -> None:
        """Two values, by hand: table G(17) G(1) G(2) 1 leaf(1) leaf(1); low = half of the range."""
        table = sample_code.parse_table(int("000010001" "1" "010" "1" "0010" "0010" "00", 2)
                                        .to_bytes(3, "big"))
        self.assertEqual(table.leaves, [(16, 0, 1, 0), (17, 1, 1, 0)])
        self.assertEqual(sample_code.decode_line(table, b"\x80", 1), [17])
        self.assertEqual(sample_code.decode_line(table, b"", 1), [16])
        self.assertEqual(sample_code.decode_line(table, b"\xa5", 8),
                         [16 + int(bit) for bit in "10100101"])

    def test_a_grid_by_hand(self) -> None:
        """The same two positions, five apart."""
        table = sample_code.parse_table(
            int("000010001" "00101" "010" "1" "0010" "0010" "000000", 2).to_bytes(4, "big"))
        self.assertEqual(table.leaves, [(16, 0, 1, 0), (21, 1, 1, 0)])
        self.assertEqual(sample_code.decode_line(table, b"\x80", 1), [21])

    def test_bad_tables(self) -> None:
        for table in (b"", b"\0", b"\0" * 100, b"\xff" * 3, b"\x80\x80", b"\xc0\x80\x00",
                      bytes(30) + b"\x01" + bytes(40)):
            with self.subTest(table), self.assertRaises(Malformed):
                sample_code.parse_table(table)

    def test_random_bytes_are_refused_or_bounded(self) -> None:
        generator = random.Random(2)
        decoded = 0
        for _ in range(3000):
            try:
                code = sample_code.parse_table(generator.randbytes(generator.randrange(1, 40)))
            except Malformed:
                continue
            decoded += 1
            values = sample_code.decode_line(code, generator.randbytes(20), 300)
            self.assertEqual(len(values), 300)
        good = Code([20, 30, 30, 40000])
        code = sample_code.parse_table(good.table)
        for _ in range(300):
            sample_code.decode_line(code, generator.randbytes(generator.randrange(250)), 4096)
        with self.assertRaises(Malformed):
            sample_code.decode_line(code, b"", 4097)
        for text in ("a", "abc\"d", "~~~~~", "abcdef", "\u00e9b"):
            with self.subTest(text), self.assertRaises(Malformed):
                sample_code.base85(text)

    def test_speed(self) -> None:
        """20 rows of 20,000 samples within a time that a slow, busy machine keeps too."""
        generator = random.Random(3)
        coded = [16 + int(generator.gauss(400, 6)) for _ in range(20000)]
        code = Code(coded)
        lines = []
        at = 0
        while at < len(coded):
            count, payload = code.line(coded[at:])
            lines.append((count, payload))
            at += count
        table = sample_code.parse_table(code.table)
        started = time.process_time()
        for _ in range(20):
            for count, payload in lines:
                sample_code.decode_line(table, payload, count)
        taken = time.process_time() - started
        print(f"decoded 400,000 samples in {taken:.2f} s")
        self.assertLess(taken, 8.0)


if __name__ == "__main__":
    unittest.main()
