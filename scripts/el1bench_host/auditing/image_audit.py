"""The audit of an image: everything that timed code reaches, from the final instructions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from el1bench_host import paths
from el1bench_host.auditing import compiler_graph, counter_reads, declarations, disassembly, reach
from el1bench_host.auditing.elf import read_elf
from el1bench_host.auditing.embedded import embedded_findings
from el1bench_host.auditing.finding import Finding
from el1bench_host.auditing.graph import Image, stale_declarations
from el1bench_host.auditing.lines import Lines, run_tool
from el1bench_host.auditing.source_index import SourceIndex
from el1bench_host.auditing.stack import Deepest, StackAudit, constant
from el1bench_host.errors import UserError

DECLARATIONS = paths.SOURCE_TREE / "src" / "audit.toml"
# Where a build leaves the compiler's call graphs, next to image.elf. An image.elf that has none
# around it is audited without.
COMPILER_GRAPHS = "CMakeFiles/image_objects.dir"
OBJDUMP = "aarch64-linux-gnu-objdump"
ADDR2LINE = "aarch64-linux-gnu-addr2line"


@dataclass
class ImageReport:
    """What an audit of an image has looked at, and found."""

    findings: list[Finding]
    timed: int  # functions in the timed section
    reached: int  # functions that timed code reaches
    counter_reads: int  # those of the programs at EL0 included
    stack: Optional[Deepest]
    stack_limit: int
    compared: int  # functions that the compiler has told of


def load_image(elf: Path, declared: declarations.Declarations, root: Path) -> Image:
    """Disassemble an image and join it with the sources that it was made of."""
    parsed = read_elf(elf)
    for name in ("timed_text_start", "timed_text_end"):
        if name not in parsed.symbols:
            raise UserError(f"{elf} has no symbol {name}: it is no image of this project")
    program = disassembly.parse(
        run_tool([OBJDUMP, "--disassemble", "--no-show-raw-insn", str(elf)]), declared.slots)
    files = sorted(path for folder in ("src", "include", "tests/plants")
                   for path in (root / folder).rglob("*.[ch]"))
    return Image(parsed, program, Lines(elf, ADDR2LINE), SourceIndex(root, files), declared)


def audit_image(elf: Path, declared_in: Path = DECLARATIONS,
                root: Path = paths.SOURCE_TREE) -> ImageReport:
    """Every check of an image."""
    try:
        shown = str(declared_in.resolve().relative_to(root))
    except ValueError:
        shown = str(declared_in)
    declared = declarations.load(declared_in, shown)
    limit = constant(declared.stack_constant, sorted((root / "include").rglob("*.h")))
    if limit is None:
        raise UserError(f"{shown}: no header defines {declared.stack_constant} as a number")
    image = load_image(elf, declared, root)
    walk = reach.Walk(image)
    stack = StackAudit(walk)
    stack.run(limit)
    findings = (walk.findings + reach.indirect_findings(walk) + reach.lock_findings(walk)
                + counter_reads.counter_findings(image) + stack.findings)
    embedded, embedded_reads = embedded_findings(image.elf)
    findings += embedded + stale_declarations(image)
    nodes = compiler_graph.read_graphs(elf.parent / COMPILER_GRAPHS)
    findings += compiler_graph.graph_findings(image, nodes)
    return ImageReport(sorted(set(findings)), sum(map(image.is_timed, image.program.functions)),
                       len(walk.functions), counter_reads.count(image) + embedded_reads,
                       stack.worst, limit, len(nodes))
