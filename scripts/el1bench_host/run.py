"""`el1bench run`: build, start QEMU, wait for the trailer, decode, report.

Everything that can be refused is refused before QEMU starts. QEMU is waited for by events in its
output; the image itself says how long it may take, in the plan line that comes before the first
timed region.
"""

import argparse
import hashlib
import json
import re
import shlex
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Callable, Optional, Sequence

from el1bench_host import build, decode, machine, paths, report, results, results_file, setup, tf_a
from el1bench_host.errors import EXIT_INCOMPLETE, EXIT_INTERRUPTED, UserError, warn
from el1bench_host.follow import LogFollower
from el1bench_host.log import Arrivals
from el1bench_host.u_boot import StreamEnded, UBoot, check_arguments

PREFIX = "el1bench."
REPORT_NAME = "report.md"
# TF-A with its payload, written anew for each run, removed after it.
FLASH_NAME = ".tf-a-flash"
# What U-Boot fetches, likewise.
SERVED_NAME = ".tftp"
TF_A = ("tf-a", "tf-a+u-boot")
BY_U_BOOT = ("u-boot", "tf-a+u-boot")
SAMPLES_MAX = 100_000_000
WORDS_BYTES_MAX = 2000
# From the start of QEMU, or of the image, to the plan line: tens of milliseconds on an idle host.
START_SECONDS = 60.0
# What an image may say up to there, for lines that take their time (pace=).
START_CHARACTERS = 8000
# The image's bound is in its own time. A host that is busy with other things is slower than that,
# and with icount a millisecond of the image is a million instructions.
BOUND_FACTOR = {"single": 4.0, "multi": 4.0, "icount": 20.0}
BOUND_SECONDS = 30.0
# Between the trailer and QEMU's own end; with on_exit=halt it never ends.
GRACE_SECONDS = 2.0
PROGRESS_SECONDS = 0.25
LONGEST_WAIT_SECONDS = 3600.0
# A boot that broke off in the middle of a line must not spoil the next one's first.
BOOT_SEPARATOR = b"\r\n"


@dataclass(frozen=True)
class Limits:
    """How long a boot may take, in seconds of the host."""

    start: float = START_SECONDS
    factor: float = BOUND_FACTOR["single"]
    total: Optional[float] = None  # instead of all of the others


@dataclass(frozen=True)
class Outcome:
    """How a boot ended: its trailer's status, or why there is none."""

    status: Optional[str]
    began: bool
    problem: str = ""
    qemu_status: Optional[int] = None
    arrivals: Arrivals = ()  # of its bytes, counted from the start of the boot


class BootStream:
    """QEMU's serial port; whatever is read from it also reaches the log and the follower."""

    _LINE_KEPT = 512

    def __init__(self, emulator: machine.Emulator, log: BinaryIO, total: Optional[float],
                 watch: Callable[["BootStream"], None]) -> None:
        """`total`: seconds after which reading is an error, whatever is being waited for."""
        self._emulator = emulator
        self._total = total
        self._started = time.monotonic()
        self._log = log
        self._watch = watch
        self._tail = b""
        self.follower = LogFollower()
        self.received = 0
        self.planned_at: Optional[float] = None
        self.arrivals: list[tuple[int, float]] = []

    def read(self, timeout: float) -> bytes:
        """As ByteStream.read."""
        if self._total is not None:
            left = self._started + self._total - time.monotonic()
            if left <= 0:
                raise UserError(f"timed out: no {'trailer' if self.received else 'output at all'} "
                                f"within {self._total:g} s")
            timeout = min(timeout, left)
        data = self._emulator.read(timeout)
        now = time.monotonic()
        if data:
            self._log.write(data)
            self._log.flush()
            self._tail = (self._tail + data)[-8 * self._LINE_KEPT:]
            self.received += len(data)
            self.arrivals.append((self.received, now))
            self.follower.feed(data)
            if self.planned_at is None and self.follower.plan is not None:
                self.planned_at = time.monotonic()
        self._watch(self)
        return data

    def write(self, data: bytes) -> None:
        """As ByteStream.write."""
        self._emulator.write(data)

    @property
    def last_line(self) -> str:
        """The last line of text that arrived, cut to fit a message."""
        for line in reversed(re.split(rb"[\r\n]+", self._tail)):
            text = re.sub(r"[^ -~]", "?", line.decode("latin-1")).strip()
            if text:
                return text if len(text) <= 120 else text[:100] + " ..."
        return "(none)"


class Progress:
    """The line on a terminal that says how far a boot is."""

    def __init__(self, enabled: bool, boots: int) -> None:
        self._boots = boots
        self._shown = 0.0
        # The stream is drawn again this often, in seconds; None if there is no line to draw.
        self.period = PROGRESS_SECONDS if enabled and sys.stderr.isatty() else None

    def show(self, boot: int, stream: BootStream) -> None:
        """Draw the line, at most a few times a second."""
        now = time.monotonic()
        if self.period is None or now - self._shown < self.period:
            return
        self._shown = now
        follower = stream.follower
        if stream.planned_at is None or follower.plan is None:
            state = "starting"
        else:
            bound = max((follower.bound_ms or 0) / 1000, 0.001)
            share = min(99, int(100 * (now - stream.planned_at) / bound))
            state = f"measuring, {share} % of the time planned"
            if follower.timing_over:
                planned = max(follower.plan["rows"] * follower.plan["samples"], 1)
                share = min(99, 100 * follower.samples_received // planned)
                state = f"sending results, {share} % of the samples planned"
        print(f"\r\033[Kel1bench: boot {boot + 1}/{self._boots}: {state}, {stream.received} bytes",
              end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self.period is not None:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _deadline(limits: Limits, entered: float, stream: BootStream) -> tuple[float, str]:
    """When a boot has taken too long by the image's own plan, and the words that say so."""
    if limits.total is not None:
        return float("inf"), ""
    if stream.planned_at is not None:
        seconds = (stream.follower.bound_ms or 0) / 1000 * limits.factor + BOUND_SECONDS
        return stream.planned_at + seconds, f"no trailer within {seconds:.0f} s of the plan line"
    what = "plan line" if stream.received else "output at all"
    seconds = limits.start + stream.follower.survivors_ms / 1000 * limits.factor
    return entered + seconds, f"no {what} within {seconds:.0f} s"


def _follow(stream: BootStream, limits: Limits, launch: Optional[Callable[[BootStream], Any]],
            period: Optional[float]) -> str:
    """Read up to the trailer and QEMU's end. Returns what went wrong; StreamEnded at the end."""
    if launch is not None:
        launch(stream)
    entered = time.monotonic()
    while not stream.follower.ended:
        deadline, words = _deadline(limits, entered, stream)
        left = min(deadline - time.monotonic(), LONGEST_WAIT_SECONDS)
        if left <= 0:
            return f"timed out: {words}"
        stream.read(left if period is None else min(left, period))
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline:
        stream.read(max(0.0, deadline - time.monotonic()))
    return ""


def run_boot(qemu: machine.Setup, log: BinaryIO, limits: Limits = Limits(), *, boot: int = 0,
             launch: Optional[Callable[[BootStream], Any]] = None,
             progress: Optional[Progress] = None) -> Outcome:
    """Start QEMU once and follow it to the trailer, or to where it went wrong.

    `launch` brings firmware to the point where the image starts. QEMU is gone when this returns.
    """
    progress = progress or Progress(False, 1)
    problem = ""
    with machine.Emulator(machine.command_line(qemu), interactive=launch is not None) as emulator:
        stream = BootStream(emulator, log, limits.total,
                            lambda stream: progress.show(boot, stream))
        try:
            problem = _follow(stream, limits, launch, progress.period)
        except StreamEnded:
            if not emulator.wait(GRACE_SECONDS):
                problem = "QEMU closed its console"
        except UserError as error:
            problem = str(error)
        finally:
            progress.clear()
    follower = stream.follower
    if not follower.ended:
        status = emulator.status or 0
        problem = problem or (f"QEMU was killed by signal {-status}" if status < 0 else
                              f"QEMU ended with status {status}") + " before the trailer"
        if emulator.complaint():
            problem += f"; it says: {emulator.complaint()}"
        if "last line: " not in problem:
            problem += f"; last line: {stream.last_line}"
    return Outcome(follower.status, follower.began, problem if not follower.ended else "",
                   emulator.status, stream.arrivals)


def _number(low: int, high: int) -> Callable[[str], int]:
    """An argparse type: an integer from `low` to `high`; 1e9 is taken too."""

    def parse(text: str) -> int:
        try:
            value = int(text, 0)
        except ValueError:
            try:
                value = int(float(text))
                if value != float(text):
                    raise ValueError
            except (ValueError, OverflowError):
                raise argparse.ArgumentTypeError(f"`{text}` is not a whole number") from None
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not from {low} to {high}")
        return value

    return parse


def _samples(text: str) -> int | str:
    """An argparse type: a number of samples, or `auto`."""
    return text if text == "auto" else _number(1, SAMPLES_MAX)(text)


def _seconds(text: str) -> float:
    """An argparse type: a time of more than nothing."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"`{text}` is not a time in seconds")
    return value


def register(subparsers: Any) -> None:
    """Adds `run` to the command line."""
    parser = subparsers.add_parser(
        "run", help="run the image under QEMU and report",
        description="Builds the board's image if needed, runs it under QEMU and reports. Exit "
        "codes: 0 passed (skips are no failure), 1 a benchmark failed, 2 bad usage or arguments "
        "that the image refused, 3 incomplete: timed out, QEMU ended early, or a damaged log.")
    add = parser.add_argument
    add("--board", default="qemu-virt", help="a folder of boards/ (default: qemu-virt)")
    add("--suite", help="suites or benchmarks, comma-separated: smoke, clock, ipi.normal, ... "
        "(default: all)")
    add("--samples", type=_samples, metavar="N", help="samples per row (default: 1000), or auto: "
        "as many as --ci takes")
    add("--ci", metavar="PERCENT", help="with --samples auto: half-width of the confidence interval "
        "of each headline, 0.01%% to 50%% (default: 1%%)")
    add("--cpus", type=_number(1, machine.CORES_MAX), help="cores (default: 4)")
    add("--boots", type=_number(1, 100_000), default=1,
        help="boots, all in one result (default: 1)")
    add("--seed", type=_number(0, 2**64 - 1), default=1,
        help="each boot draws its order of benchmarks from this and its number (default: 1)")
    add("--accel", choices=sorted(machine.ACCELERATORS), default="single",
        help="how QEMU runs the cores: in turn (single, the default), each in a thread of the host "
        "(multi), or counting instructions as nanoseconds (icount)")
    add("--cpu", help="QEMU's name of the core (default: the board's)")
    add("--counter-hz", type=_number(machine.COUNTER_HZ_MIN, machine.COUNTER_HZ_MAX),
        help="frequency of the counter (default: QEMU's)")
    add("--gic", type=int, choices=(2, 3),
        help="GIC version (default: 2, above 8 cores 3)")
    add("--el", type=int, choices=(1, 2), default=1,
        help="exception level that the image is entered at (default: 1)")
    add("--firmware", choices=("none", "u-boot", "tf-a", "tf-a+u-boot", "el3-monitor"),
        help="what starts the image: QEMU (none, the default), U-Boot by TFTP, TF-A with run-time "
        "instrumentation, TF-A and then U-Boot, or this project's own test firmware at EL3")
    add("--boot-command", choices=("booti", "go"), default="booti",
        help="how U-Boot starts the image (default: booti)")
    add("--args", default="", metavar='"K=V ..."',
        help="more boot arguments; each gets the prefix el1bench.")
    add("--timeout", type=_seconds, metavar="SECONDS",
        help="limit for each boot (default: from what the image plans)")
    add("--out", default="el1bench-out", metavar="DIR",
        help="folder for console.log, results.json and report.md (default: el1bench-out)")
    add("--quiet", action="store_true", help="print nothing but errors")
    add("--qemu", metavar="BIN", help=f"QEMU to run (default: {machine.DEFAULT_QEMU})")
    add("--firmware-image", metavar="FILE", help="your own U-Boot binary (means --firmware u-boot), or a folder with your own "
        "bl1.bin, bl2.bin and bl31.bin for QEMU (means --firmware tf-a)")
    add("--image", metavar="FILE", help="a built image, instead of building the board's")
    parser.set_defaults(main=main)


def _words(text: str) -> list[str]:
    """The boot arguments of `--args`, each with the prefix."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"--args: {str(error).lower()}") from error
    return [check_word("--args", PREFIX + word.removeprefix(PREFIX)) for word in words]


def check_word(what: str, word: str) -> str:
    """`word`, if a kernel command line can carry it as one word."""
    if not re.fullmatch(r"[!-~]+", word):
        raise UserError(f"{what}: `{word.encode('unicode_escape').decode()}` cannot be a boot "
                        "argument: it is not one word of printable ASCII")
    return word


def _arguments(args: argparse.Namespace, emulated: str) -> list[str]:
    """Boot arguments of every boot; its number is added later."""
    words = [f"emulated={emulated}", f"seed={args.seed}"]
    if args.suite is not None:
        if not re.fullmatch(r"[A-Za-z0-9._,-]+", args.suite):
            raise UserError(f"--suite: `{args.suite}` is not a list of suites")
        words.append(f"suite={args.suite}")
    if args.samples is not None:
        words.append(f"samples={args.samples}")
    if args.ci is not None:
        if args.samples != "auto":
            raise UserError("--ci needs --samples auto")
        if not re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,4})?%?", args.ci):
            raise UserError(f"--ci: `{args.ci}` is not per cent from 0.01% to 50%")
        words.append(f"ci={args.ci.removesuffix('%')}%")
    words = [PREFIX + word for word in words] + _words(args.args)
    if sum(len(word) + 1 for word in words) > WORDS_BYTES_MAX:
        raise UserError(f"the boot arguments are longer than {WORDS_BYTES_MAX} characters")
    return words


def _file(option: str, name: Optional[str]) -> Optional[Path]:
    """The readable file that an option names."""
    if name is None:
        return None
    path = Path(name)
    try:
        with path.open("rb") as stream:
            stream.read(1)
    except OSError as error:
        raise UserError(f"{option}: cannot read {name}: {error.strerror}") from error
    return path.absolute()


def _output_folder(name: str) -> Path:
    """The folder for results, there and writable; results of an earlier run in it are removed."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for stale in (results_file.RESULTS_NAME, results.SAMPLES_NAME, REPORT_NAME):
            (folder / stale).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot write to --out {name}: {error.strerror}") from error
    return folder


def _check_combination(args: argparse.Namespace) -> None:
    """Refuses what can be refused without knowing more about the board."""
    build.check_board(args.board)
    if args.firmware_image is not None and args.firmware is None:
        args.firmware = "tf-a" if Path(args.firmware_image).is_dir() else "u-boot"
    args.firmware = args.firmware or "none"
    if args.firmware == "el3-monitor" and (args.board != "qemu-virt" or args.image):
        raise UserError("--firmware el3-monitor starts the image built for qemu-virt")
    if args.firmware_image is not None and args.firmware not in ("u-boot", *TF_A):
        raise UserError("--firmware-image needs --firmware u-boot or tf-a")
    if args.firmware in TF_A and args.board != "qemu-virt":
        raise UserError(f"--firmware {args.firmware} runs on qemu-virt alone")
    if args.gic == 2 and (args.cpus or 0) > machine.CORES_MAX_GICV2:
        raise UserError(f"--gic 2 takes at most {machine.CORES_MAX_GICV2} cores; "
                        f"{args.cpus} need --gic 3")
    if args.counter_hz is not None and 10**9 % args.counter_hz != 0:
        period = 10**9 // args.counter_hz
        warn("counter-hz", f"{args.counter_hz} Hz is not a whole number of nanoseconds; QEMU ticks "
             f"every {period} ns, {10**9 / period / args.counter_hz - 1:+.2%} off")
    if args.cpu is not None and not re.fullmatch(r"[A-Za-z0-9._-]+(,[A-Za-z0-9._=-]+)*", args.cpu):
        raise UserError(f"--cpu: `{args.cpu}` is not the name of a core")


def _machine(args: argparse.Namespace, board: machine.Board, qemu: str) -> machine.Setup:
    """The QEMU machine for the options, with what does not fit the board refused."""
    cpus = args.cpus or (board.cores or 4)
    if board.cores is not None and cpus != board.cores:
        raise UserError(f"{board.name} has {board.cores} cores, not {cpus}")
    if board.cpu is None and (args.cpu or args.counter_hz):
        raise UserError(f"{board.name} has its own cores: no --cpu and no --counter-hz")
    gic = args.gic or (2 if 2 in board.gics and cpus <= machine.CORES_MAX_GICV2 else 3)
    if gic not in board.gics:
        raise UserError(f"{board.name} has no GICv{gic}")
    if args.firmware != "none" and board.firmware_load_address is None:
        raise UserError(f"--firmware {args.firmware} does not run on {board.name}")
    if args.cpu is not None:
        machine.check_cpu(qemu, args.cpu, board.machine)
    return machine.Setup(board, qemu=qemu, accel=args.accel, cpus=cpus, cpu=args.cpu,
                         counter_hz=args.counter_hz, gic=gic, level=args.el,
                         semihosting="on_exit=semihost" in args.args)


def under_monitor(emulator: machine.Setup, folder: Path) -> machine.Setup:
    """The same machine with the test firmware, which the build left in `folder`, at EL3."""
    return replace(emulator, firmware=folder / "el3-monitor.bin", secure=True,
                   placed=emulator.board.load_address)


def _image(args: argparse.Namespace) -> tuple[Path, machine.Board]:
    """The image to start, built if it is not the user's own, and the board it is for."""
    image = _file("--image", args.image)
    if image is None:
        folder = build.build_board(args.board, quiet=args.quiet)
        return folder / "image", machine.load_board(args.board, folder)
    # An image of the user's own: the board's data stands beside it, or where the build left it.
    for folder in (image.parent, paths.BUILD / args.board):
        if (folder / "board.json").is_file():
            return image, machine.load_board(args.board, folder)
    return image, machine.load_board(args.board, build.build_board(args.board, quiet=args.quiet))


def launcher(image: Path, served: Path, how: str, address: int,
             words: list[str]) -> Callable[[BootStream], None]:
    """What brings U-Boot from reset to the start of `image`, fetched by TFTP from `served`."""
    name = "image"
    shutil.copyfile(image, served / name)
    size = image.stat().st_size

    def launch(stream: BootStream) -> None:
        boot_loader = UBoot(stream)
        boot_loader.wait_prompt()
        boot_loader.ask_addresses(machine.TFTP_SERVER)
        boot_loader.fetch(address, name, size)
        boot_loader.start(how, address, words)

    return launch


def _start_of_the_line(words: list[str]) -> float:
    """Seconds that a paced line takes for what comes before the plan line."""
    rates = [int(word.removeprefix(f"{PREFIX}pace=")) for word in words
             if re.fullmatch(rf"{re.escape(PREFIX)}pace=[0-9]{{3,7}}", word)]
    return START_CHARACTERS * 10 / max(rates[-1], 1) if rates else 0.0


def _boots(args: argparse.Namespace, qemu: machine.Setup, image: Path, words: list[str],
           served: Path, log: BinaryIO) -> list[Outcome]:
    """All boots of a run, their output in one log. `served`: the folder for TFTP."""
    progress = Progress(not args.quiet, args.boots)
    limits = Limits(START_SECONDS + _start_of_the_line(words), BOUND_FACTOR[args.accel],
                    args.timeout)
    outcomes: list[Outcome] = []
    for boot in range(args.boots):
        boot_words = [*words, f"{PREFIX}boot={boot}"]
        if args.firmware not in BY_U_BOOT:
            this, launch = replace(qemu, kernel=image, arguments=" ".join(boot_words)), None
        else:
            address = qemu.board.firmware_load_address
            assert address is not None
            this = replace(qemu, served=served)
            launch = launcher(image, served, args.boot_command, address, boot_words)
        outcome = run_boot(this, log, limits, boot=boot, launch=launch, progress=progress)
        log.write(BOOT_SEPARATOR)
        outcomes.append(outcome)
        if outcome.problem:
            print(f"el1bench: boot {boot + 1}/{args.boots}: {outcome.problem}", file=sys.stderr)
        # The others would go the same way.
        if outcome.status == "refused" or not outcome.began:
            break
    return outcomes


def log_arrivals(outcomes: Sequence[Outcome]) -> Arrivals:
    """When the bytes of a log of several boots arrived, counted from the start of the log."""
    found: list[tuple[int, float]] = []
    start = 0
    for outcome in outcomes:
        found += [(start + offset, seconds) for offset, seconds in outcome.arrivals]
        start += (outcome.arrivals[-1][0] if outcome.arrivals else 0) + len(BOOT_SEPARATOR)
    return found


def _host_facts(args: argparse.Namespace, version: str, image: Path,
                emulator: machine.Setup) -> dict[str, Any]:
    """What the image cannot know of its run, for results.json."""
    facts = {"emulator": f"QEMU {version}", "accel": args.accel, "qemu_cpu": emulator.cpu or
             emulator.board.cpu, "qemu_machine": emulator.board.machine, "cpus": emulator.cpus,
             "gic": emulator.gic, "el": args.el, "boots": args.boots}
    if args.firmware in BY_U_BOOT:
        facts["boot_command"] = args.boot_command
    return {"image": {"sha256": hashlib.sha256(image.read_bytes()).hexdigest()},
            "machine": {"firmware": None if args.firmware == "none" else args.firmware},
            "run": {"host": facts}}


def _report(args: argparse.Namespace, folder: Path, log_path: Path, arrivals: Arrivals,
            facts: dict[str, Any]) -> int:
    """Decode the log, write the results, show the table; the exit code of what was decoded."""
    decoded = decode.decode_log(log_path, arrivals)
    path = results_file.write_results(decoded, folder, facts)
    content = json.loads(path.read_text(encoding="utf-8"))
    (folder / REPORT_NAME).write_text(report.render(content, "md"), encoding="utf-8")
    decode.print_problems(decoded)
    for failure in content["failures"]:
        where = f" (boot {failure['boot']})" if args.boots > 1 else ""
        print(f"el1bench: failed: {failure['name']}{where}: {failure['reason']}", file=sys.stderr)
    if not args.quiet and content["metrics"]:
        print(report.render(content, "term"), end="")
    return decoded.exit_code() or report.judge(content)


def main(args: argparse.Namespace) -> int:
    """Runs it; returns the exit code."""
    _check_combination(args)
    qemu = machine.find_qemu(args.qemu) if args.qemu else None
    _words(args.args)
    if args.firmware in TF_A and args.firmware_image is not None:
        firmware = tf_a.check_folder(Path(args.firmware_image))
    else:
        firmware = _file("--firmware-image", args.firmware_image)
    _file("--image", args.image)
    if qemu is None:
        setup.ensure("run", quiet=args.quiet)
        qemu = machine.find_qemu(machine.DEFAULT_QEMU)
    version = machine.qemu_version(qemu)
    words = _arguments(args, f"qemu-{version}-{args.accel}")
    folder = _output_folder(args.out)

    image, board = _image(args)
    emulator = _machine(args, board, qemu)
    if args.firmware in BY_U_BOOT:
        check_arguments(args.boot_command, [*words, f"{PREFIX}boot={args.boots}"])
    if args.firmware == "u-boot":
        emulator = replace(emulator, firmware=firmware or setup.ensure_u_boot(args.quiet))
    elif args.firmware in TF_A:
        payload = image if args.firmware == "tf-a" else setup.ensure_u_boot(args.quiet)
        flash = folder / FLASH_NAME
        tf_a.write_flash(firmware or tf_a.ensure(emulator.gic or 2, args.quiet), payload, flash)
        emulator = tf_a.under_tf_a(emulator, flash)
    elif args.firmware == "el3-monitor":
        emulator = under_monitor(emulator, image.parent)

    log_path, served = folder / "console.log", folder / SERVED_NAME
    try:
        if args.firmware in BY_U_BOOT:
            served.mkdir(exist_ok=True)
        with log_path.open("wb", buffering=0) as log:
            outcomes = _boots(args, emulator, image, words, served, log)
    except KeyboardInterrupt:
        print(f"el1bench: interrupted; what arrived is in {log_path}", file=sys.stderr)
        return EXIT_INTERRUPTED
    finally:
        (folder / FLASH_NAME).unlink(missing_ok=True)
        shutil.rmtree(served, ignore_errors=True)
    status = _report(args, folder, log_path, log_arrivals(outcomes),
                     _host_facts(args, version, image, emulator))
    return EXIT_INCOMPLETE if any(outcome.problem for outcome in outcomes) else status
