"""results.json: its keys, its figures, its size, and what is refused when it is read back."""

import json
import random
import unittest

from tests.folder import temporary_folder
from tests.host.synthetic_log import Boot, Row
from tests.host.test_decode import example_boot
from el1bench_host.decoder import decode_log
from el1bench_host.errors import UserError
from el1bench_host import statistics
from el1bench_host.results import make_results, sample_records
from el1bench_host.results_file import load_results, to_text, write_results

METRIC_KEYS = ("name", "boot", "cpu", "peer", "factors", "unit", "n", "warmup_n", "min", "mean",
               "trimmed_mean", "se", "p50", "p50_low", "p50_high", "p90", "p99", "p999", "max",
               "cold", "floor", "headline", "excluded", "warnings")


def one_row(samples: list, step: int = 1, **keys) -> dict:
    """The record of a single row."""
    rows = [Row("clock.floor.pair", [3] * 10), Row("ipi.normal.total", samples, peer=1, **keys)]
    boot = Boot().head(step=step).plan(["ipi.normal"], 2).results(rows).end()
    decoded = decode_log(boot.text())
    assert decoded.exit_code() == 0, decoded.problems
    return make_results(decoded)["metrics"][1]


class Content(unittest.TestCase):
    """What is in it."""

    def test_keys(self) -> None:
        made = make_results(decode_log(example_boot().text()))
        self.assertEqual(made["format"], "el1bench-results/1")
        for metric in made["metrics"]:
            self.assertLessEqual(set(METRIC_KEYS), set(metric))
            self.assertEqual(metric["unit"], "tick")
        machine = made["machine"]
        self.assertEqual((machine["counter_hz"], machine["counter_step"], machine["gic"]),
                         (62500000, 1, 2))
        self.assertEqual(machine["psci"], {"version": "1.1", "conduit": "hvc"})
        self.assertEqual((machine["emulated"], machine["emulator"]), (True, "qemu-7.2"))
        self.assertEqual([(cpu["index"], cpu["cluster"], cpu["core"]) for cpu in machine["cpus"]],
                         [(0, 0, 0), (1, 0, 1)])
        self.assertEqual(made["boots"][0]["order"][1], "ipi.dry-run")
        self.assertEqual(made["boots"][0]["ignored"], ["console=ttyAML0"])
        self.assertEqual(made["skipped"],
                         [{"name": "ipi.self", "boot": 0, "reason": "no target"}])

    def test_notes(self) -> None:
        boot = Boot().head().plan(["spawn.model"], 0)
        boot.line("note", "name=spawn.model : node,1,cpu,0")
        boot.line("note", "name=spawn.model : edge,holds,1,2")
        made = make_results(decode_log(boot.results([]).end().text()))
        self.assertEqual(made["problems"], [])
        self.assertEqual(made["notes"],
                         [{"name": "spawn.model", "boot": 0, "text": text}
                          for text in ("node,1,cpu,0", "edge,holds,1,2")])

    def test_hardware_is_not_emulated(self) -> None:
        made = make_results(decode_log(Boot().head(emulated=None).end().text()))
        self.assertEqual((made["machine"]["emulated"], made["machine"]["emulator"]), (False, None))

    def test_checks_are_summed(self) -> None:
        text = b"".join(example_boot(boot, spurious_interrupts=boot + 1).text()
                        for boot in range(3))
        made = make_results(decode_log(text))
        self.assertEqual(made["run"]["checks"]["spurious_interrupts"], 6)
        self.assertEqual(made["boots"][2]["checks"]["spurious_interrupts"], 3)

    def test_host_facts(self) -> None:
        facts = {"image": {"sha256": "ab"}, "machine": {"firmware": "u-boot"},
                 "run": {"host": {"qemu": "7.2"}}}
        made = make_results(decode_log(example_boot().text()), facts)
        self.assertEqual(made["image"]["sha256"], "ab")
        self.assertEqual(made["run"]["host"], {"qemu": "7.2"})

    def test_coarse_row(self) -> None:
        metric = one_row([7] * 730 + [8] * 270 + [9000])
        self.assertEqual((metric["p50"], metric["headline_is"]), (7, "trimmed"))
        self.assertAlmostEqual(metric["headline"], 7.27, delta=0.0005)
        self.assertEqual(metric["headline"] * 1024 % 1, 0)
        self.assertIn("coarse", metric["warnings"])
        self.assertEqual(metric["floor"], 3)

    def test_fine_row(self) -> None:
        samples = random.Random(3).sample(range(1000, 1400), 400)
        metric = one_row(samples)
        self.assertEqual((metric["headline"], metric["headline_is"]), (1200, "median"))
        self.assertEqual(metric["warnings"], [])
        self.assertIsInstance(metric["p50"], int)
        self.assertIsNone(metric["p999"])
        self.assertIn("coarse", one_row(samples, step=100)["warnings"])

    def test_batched_row(self) -> None:
        metric = one_row([640 + at % 32 for at in range(320)], ops=64)
        self.assertEqual((metric["min"], metric["ops"]), (10, 64))
        self.assertEqual(metric["max"], 671 / 64)

    def test_batched_mean_is_the_headline_of_a_coarse_row(self) -> None:
        metrics = make_results(decode_log(example_boot().text()))["metrics"]
        plain = next(one for one in metrics if one["name"] == "ipi.normal.total")
        self.assertEqual(plain["headline_is"], "trimmed")  # the batched one has other factors
        rows = [Row("ipi.normal.total", [7, 8] * 50, peer=1),
                Row("ipi.normal.batched.total", [470, 480, 490, 500] * 25, peer=1, ops=64)]
        boot = Boot().head().plan(["ipi.normal"], 2).results(rows).end()
        plain = make_results(decode_log(boot.text()))["metrics"][0]
        self.assertEqual((plain["headline_is"], plain["headline"]), ("batched", 7.578125))

    def test_warnings(self) -> None:
        self.assertEqual(one_row([5] * 40)["warnings"],
                         ["coarse", "quantised", "constant", "near-floor"])
        self.assertEqual(one_row([500, 600, "lost"])["warnings"], ["few", "excluded"])

    def cycles(self, busy: list[int], asleep: list[int], emulated: str | None = None) -> dict:
        """Results of two operations in cycles, and of the cycle counter beside the other one."""
        rows = [Row("clock.cycles.busy", busy, unit="cycle"),
                Row("clock.cycles.busy-ticks", [1000] * len(busy)),
                Row("clock.cycles.wfi", asleep, unit="cycle"),
                Row("clock.cycles.wfi-ticks", [24000] * len(asleep)),
                Row("ipi.normal.total", [7, 8] * 50, peer=1),
                Row("ipi.normal.total.batched", [470, 480] * 50, peer=1, ops=64),
                Row("ipi.normal.total.cycles", list(range(23500, 23700)), peer=1, ops=64,
                    unit="cycle"),
                Row("clock.floor.pair", [3] * 10)]
        boot = Boot().head(step=40, emulated=emulated).plan(["ipi.normal"], 8).results(rows).end()
        decoded = decode_log(boot.text())
        self.assertEqual(decoded.problems, [])
        return make_results(decoded)

    def test_cycles_stand_beside_ticks(self) -> None:
        made = self.cycles([50000] * 40, [1200] * 40)
        plain, batched, cycles = made["metrics"][4:7]
        self.assertEqual((cycles["unit"], cycles["headline_is"]), ("cycle", "median"))
        self.assertEqual(cycles["headline"], 23600 / 64)
        self.assertIsNone(cycles["floor"])
        # The step of 40 ticks is none of 40 cycles.
        self.assertNotIn("coarse", cycles["warnings"])
        self.assertEqual((plain["cycles"], batched["cycles"]), (23600 / 64, 23600 / 64))
        self.assertNotIn("cycles", cycles)
        self.assertEqual(made["machine"]["cycle_counter"],
                         {"busy": 50, "asleep": 0.05, "virtual": False})

    def test_a_cycle_counter_that_counts_time(self) -> None:
        same = self.cycles([50000] * 40, [1_200_000] * 40)["machine"]["cycle_counter"]
        self.assertEqual(same, {"busy": 50, "asleep": 50, "virtual": True})
        close = self.cycles([50000] * 40, [1_180_000] * 40)["machine"]["cycle_counter"]
        self.assertFalse(close["virtual"])
        emulated = self.cycles([50000] * 40, [1200] * 40, "qemu-7.2")["machine"]["cycle_counter"]
        self.assertTrue(emulated["virtual"])
        none = make_results(decode_log(example_boot().text()))["machine"]["cycle_counter"]
        self.assertIsNone(none)

    def test_ci(self) -> None:
        self.assertIsNone(make_results(decode_log(example_boot().text()))["run"]["ci"])
        boot = Boot().head().plan(["ipi.normal"], 1, ci=2500).end()
        self.assertEqual(make_results(decode_log(boot.text()))["run"]["ci"], 0.0025)

    def test_step_seen(self) -> None:
        self.assertIsNone(make_results(decode_log(example_boot().text()))["machine"]["step_seen"])
        boot = Boot().head(step=4).plan(["clock.step"], 1)
        boot.results([Row("clock.step.ticks", [12, 8, 20, "backwards", 8])]).end()
        machine = make_results(decode_log(boot.text()))["machine"]
        self.assertEqual(machine["step_seen"], {"smallest": 8, "divisor": 4})
        self.assertEqual(machine["counter_step"], 4)

    def test_outliers_are_marked_and_kept(self) -> None:
        """Quartiles 112 and 118: fences at 103 and 127, 94 and 136."""
        samples = [110, 112, 112, 114, 116, 118, 118, 120] * 40 + [128, 136, 102, 137, 93, 9000]
        boot = Boot().head().plan(["ipi.normal"], 1)
        boot.results([Row("ipi.normal.total", ["lost"] + samples, peer=1)]).end()
        decoded = decode_log(boot.text())
        metric = make_results(decoded)["metrics"][0]
        self.assertEqual(metric["outliers"], {"mild": 3, "far": 3})
        self.assertEqual((metric["n"], metric["max"]), (326, 9000))
        record = next(sample_records(decoded))
        self.assertEqual([record["values"][place] for place in record["far"]], [137, 93, 9000])

    def test_a_file_of_many_rows_stays_small(self) -> None:
        rows = [Row("ipi.matrix.total", [5, 6, 7, 900] * 100, cpu=cpu, peer=1)
                for cpu in range(4097)]
        for count, expected in ((4096, True), (4097, False)):
            boot = Boot().head().plan(["ipi.matrix"], count).results(rows[:count], raw=False).end()
            decoded = decode_log(boot.text())
            row = next(iter(decoded.boots[0].rows.values()))
            row.figures = statistics.compute([5, 6, 7, 900] * 100)
            metric = make_results(decoded)["metrics"][0]
            self.assertEqual("p99_low" in metric, expected)
            self.assertEqual("outliers" in metric, expected)

    def test_derived_row(self) -> None:
        metric = make_results(decode_log(example_boot().text()))["metrics"][3]
        self.assertEqual((metric["minuend"], metric["subtrahend"]),
                         ("ipi.normal.total", "ipi.dry-run.total"))
        self.assertNotIn("from", metric)

    def test_derived_row_without_its_samples(self) -> None:
        lines = example_boot().text().splitlines(keepends=True)
        at = next(at for at, line in enumerate(lines)
                  if line.startswith(b"@el1b raw") and line.split()[3] == b"1")
        made = make_results(decode_log(b"".join(lines[:at] + lines[at + 1:])))
        self.assertEqual([metric.get("from") for metric in made["metrics"]],
                         [None, "summary", None, "summary", None, None])
        self.assertEqual(made["metrics"][1]["warnings"],
                         ["coarse", "near-floor", "samples-lost"])


class File(unittest.TestCase):
    """Bytes and size."""

    def test_one_metric_a_line(self) -> None:
        text = to_text(make_results(decode_log(example_boot().text())))
        self.assertEqual(sum(line.startswith('{"name":"ipi.') and '"unit"' in line
                             for line in text.splitlines()), 5)
        self.assertEqual(json.loads(text)["format"], "el1bench-results/1")

    def test_matrix_of_64_cores(self) -> None:
        """8,064 rows of figures as wide as they get stay under 3 MB."""
        generator = random.Random(4)
        boot = Boot(samples=3000, warmup=16).head(cpus=64)
        boot.plan(["ipi.matrix"], 8064)
        samples = [[generator.randrange(10, 14) + (generator.random() < 0.01) * 70000
                    for _ in range(3000)] for _ in range(8)]
        rows = [Row("clock.floor.pair", [2] * 100, cpu=cpu) for cpu in range(64)]
        rows += [Row(f"ipi.matrix.{metric}", samples[(cpu * 5 + peer) % 8], cpu=cpu, peer=peer,
                     cold=12345)
                 for metric in ("delivery", "total") for cpu in range(64) for peer in range(64)
                 if cpu != peer]
        # One row in 64 with its raw samples would do as well, but takes much longer to encode.
        boot.results(rows, raw=False)
        decoded = decode_log(boot.end().text())
        self.assertEqual(decoded.exit_code(), 0)
        made = make_results(decoded)
        with_samples = one_row(samples[0])
        for index, metric in enumerate(made["metrics"]):
            for key in ("trimmed_mean", "se", "p50_low", "p50_high", "headline", "headline_is",
                        "warnings"):
                metric[key] = with_samples[key]
            del metric["from"]
            metric["boot"] = index % 2
        size = len(to_text(made))
        print(f"results.json of {len(made['metrics'])} rows: {size} bytes")
        self.assertGreaterEqual(len(made["metrics"]), 8064)
        self.assertLess(size, 3_000_000)


class Loading(unittest.TestCase):
    """Reading back, hostile files too."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "results")

    def test_round_trip(self) -> None:
        decoded = decode_log(example_boot().text())
        path = write_results(decoded, self.folder / "new" / "out")
        self.assertEqual(load_results(path), load_results(path.parent))
        self.assertEqual(load_results(path), make_results(decoded))

    def test_stale_sidecar_is_removed(self) -> None:
        write_results(decode_log(example_boot().text()), self.folder)
        write_results(decode_log(Boot().head().end().text()), self.folder)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["results.json"])

    def test_bad_files(self) -> None:
        good = to_text(make_results(decode_log(example_boot().text())))
        path = self.folder / "results.json"
        for text in ("", "{}", "[]", "null", "{" * 100000, "[" * 100000, good[:-20],
                     good.replace("results/1", "results/2"),
                     good.replace('"n":120', '"n":"120"', 1),
                     good.replace('"n":120', '"n":NaN', 1), good.replace('"n":120', '"n":true', 1),
                     good.replace('"max":2,', '"max":1e400,', 1), good.replace('"max":2,', "", 1),
                     good.replace('"n":120', '"n":' + "9" * 5000, 1), "\ud800"):
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            with self.subTest(text[:40]), self.assertRaises(UserError) as caught:
                load_results(path)
            self.assertEqual(caught.exception.exit_code, 2)
            self.assertNotIn("\n", str(caught.exception))
        for missing in (self.folder / "no", self.folder / "no" / "results.json"):
            with self.assertRaises(UserError):
                load_results(missing)


if __name__ == "__main__":
    unittest.main()
