"""The audit of an image, on made-up disassembly: what is found, and what is not."""

import struct
import unittest
from pathlib import Path

from el1bench_host import paths
from el1bench_host.auditing import (compiler_graph, counter_reads, declarations, disassembly,
                                    frames, lines, reach)
from el1bench_host.auditing.elf import Elf, read_elf
from el1bench_host.auditing.embedded import embedded_findings
from el1bench_host.auditing.finding import Finding
from el1bench_host.auditing.graph import Image, stale_declarations
from el1bench_host.auditing.image_audit import DECLARATIONS
from el1bench_host.auditing.source_index import Name, SourceIndex
from el1bench_host.auditing.stack import StackAudit
from el1bench_host.errors import UserError
from tests.folder import temporary_folder

FORBIDDEN = """
[[forbidden]]
what = "the console"
files = ["src/console.c"]
functions = ["console_*"]
"""


def listing(**functions: str) -> str:
    """objdump's output: functions 0x1000 apart, one instruction a line, `@name` for an address."""
    starts = {name: 0x1000 * (number + 1) for number, name in enumerate(functions)}
    out = []
    for name, body in functions.items():
        out.append(f"{starts[name]:016x} <{name}>:")
        for number, line in enumerate(body.strip().splitlines()):
            mnemonic, _, operands = line.strip().partition(" ")
            before, at, goal = operands.partition("@")
            if at:
                base, _, offset = goal.partition("+")
                operands = f"{before}{starts[base] + int(offset or '0', 16):x} <{goal}>"
            out.append(f"{starts[name] + 4 * number:16x}:\t{mnemonic}\t{operands}")
        out.append("")
    return "\n".join(out)


class FakeLines(lines.Lines):
    """Every function in a file of its own, src/<name>.c, an instruction a line."""

    def __init__(self, program: disassembly.Program) -> None:
        super().__init__(Path("no.elf"), "no-tool")
        for function in program.functions:
            for number, one in enumerate(function.instructions, 1):
                name = function.name.partition("+")[0]
                self._known[one.address] = (lines.Place(name, f"src/{name}.c", number),)


class ImageTest(unittest.TestCase):
    """Makes images of text."""

    def image(self, timed: int = 1, declared: str = FORBIDDEN, sources: str = "",
              data: bytes = b"", **functions: str) -> Image:
        """An image whose first `timed` functions are in the timed section."""
        root = temporary_folder(self, "audit")
        (root / "a.toml").write_text(declared, encoding="utf-8")
        (root / "a.c").write_text(sources, encoding="utf-8")
        loaded = declarations.load(root / "a.toml", "a.toml")
        program = disassembly.parse(listing(**functions), loaded.slots)
        elf = Elf(root / "no.elf", {"timed_text_start": 0x1000,
                                    "timed_text_end": 0x1000 * (timed + 1)}, ((0x100000, data),))
        return Image(elf, program, FakeLines(program), SourceIndex(root, [root / "a.c"]), loaded)

    def walk(self, **arguments: object) -> reach.Walk:
        return reach.Walk(self.image(**arguments))

    def texts(self, findings: list[Finding]) -> list[str]:
        return [f"{one.file}:{one.line}: {one.text}" for one in findings]


class Reach(ImageTest):
    """Ways from timed code into what it must not reach."""

    def test_timed_code_alone(self) -> None:
        walk = self.walk(timed=2, one="bl @two\nret", two="b.ne @one\nret", console_write="ret")
        self.assertEqual(walk.findings, [])
        self.assertEqual([one.name for one in walk.functions], ["one", "two"])

    def test_every_way_of_branching(self) -> None:
        for way in ("bl @console_write", "b @console_write", "b.eq @console_write",
                    "cbnz w3, @console_write", "tbz x1, #3, @console_write+4"):
            with self.subTest(way):
                walk = self.walk(one=f"nop\n{way}\nret", console_write="nop\nret")
                self.assertEqual(self.texts(walk.findings), [
                    "src/one.c:2: the console can be reached from timed code: console_write"])
                self.assertEqual(walk.findings[0].path,
                                 ("src/one.c:2: one calls console_write",
                                  "src/console_write.c:1: console_write"))

    def test_falling_through(self) -> None:
        text = listing(one="nop\nnop", console_write="ret").replace("2000", "1008")
        program = disassembly.parse(text)
        self.assertTrue(frames.frame_of(program.functions[0]).runs_on)
        image = self.image(one="ret")
        image.program = program
        self.assertEqual([edge.callee.name for edge in image.edges(program.functions[0])],
                         ["console_write"])

    def test_call_at_the_end_does_not_return(self) -> None:
        program = disassembly.parse(listing(one="nop\nbl @two", two="ret"))
        self.assertFalse(frames.frame_of(program.functions[0]).runs_on)

    def test_long_way(self) -> None:
        walk = self.walk(one="bl @helper\nret", helper="nop\nb @second", second="bl @print\nret",
                         print="bl @console_write\nret", console_write="ret")
        self.assertEqual(self.texts(walk.findings), [
            "src/one.c:1: timed code calls helper, which is not TIMED and not listed as "
            "[[outside]] in a.toml",
            "src/one.c:1: the console can be reached from timed code: console_write"])
        self.assertEqual(walk.findings[1].path,
                         ("src/one.c:1: one calls helper", "src/helper.c:2: helper calls second",
                          "src/second.c:1: second calls print",
                          "src/print.c:1: print calls console_write",
                          "src/console_write.c:1: console_write"))

    def test_listed(self) -> None:
        declared = FORBIDDEN + '[[outside]]\nin = "src/helper.c:helper"\nwhy = "measured"\n'
        walk = self.walk(declared=declared, one="bl @helper\nret", helper="ret")
        self.assertEqual(walk.findings, [])
        self.assertEqual(stale_declarations(walk.image), [])
        walk = self.walk(declared=declared, one="ret", helper="ret")
        self.assertEqual(self.texts(stale_declarations(walk.image)), [
            "a.toml:6: stale: the image has nothing that [[outside]] src/helper.c:helper is about"])

    def test_names_that_compilers_change(self) -> None:
        text = listing(one="bl @two\nret", two="ret").replace("two", "console_put.isra.0")
        image = self.image(one="ret")
        image.program = disassembly.parse(text)
        self.assertEqual(image.name_of(image.program.functions[1]), "console_put")

    def test_interrupts_are_timed(self) -> None:
        declared = FORBIDDEN + ('[slots]\nvectors = 8\n[[interrupt]]\nin = "vectors+0x8"\n'
                                'why = "taken while timing"\n')
        slots = "b @console_write\nnop\nnop\nb @console_write\nb @console_write\nnop"
        walk = self.walk(declared=declared, one="ret", vectors=slots, console_write="ret")
        self.assertEqual(self.texts(walk.findings), [
            "src/vectors.c:2: the console can be reached from timed code: console_write"])

    def test_locks(self) -> None:
        for taken in ("ldaxr w0, [x1]", "ldxrb w0, [x1]", "swpal w0, w1, [x2]",
                      "casa x0, x1, [x2]", "ldaddal w1, w0, [x2]", "ldset x1, x0, [x2]"):
            with self.subTest(taken):
                walk = self.walk(one=f"nop\n{taken}\nret")
                self.assertEqual(len(reach.lock_findings(walk)), 1)
        walk = self.walk(one="ldr w0, [x1]\nldar w0, [x1]\nldapr w0, [x1]\nstlr w0, [x1]\nret")
        self.assertEqual(reach.lock_findings(walk), [])
        walk = self.walk(declared='[[atomic]]\nin = "src/one.c:one"\nwhy = "measured"\n',
                         one="ldaxr w0, [x1]\nret")
        self.assertEqual(reach.lock_findings(walk), [])


class IndirectCalls(ImageTest):
    """Calls through pointers: declared or not, and where they lead."""

    SOURCES = """
typedef void (*handler)(unsigned int intid, const char *name);

static void good(unsigned int number, const char *text)
{
}
static int other(unsigned int number, const char *text)
{
}
struct operations ops = {
    .send = good,
    .name = other,
};
"""

    def test_undeclared(self) -> None:
        for way in ("blr x3", "br x3"):
            walk = self.walk(one=f"nop\n{way}\nret")
            self.assertEqual(self.texts(reach.indirect_findings(walk)), [
                f"src/one.c:2: one makes an indirect call ({way}) that is not declared: [[call]] "
                "in a.toml"])

    def test_return_is_none(self) -> None:
        self.assertEqual(reach.indirect_findings(self.walk(one="ret\nret x3\neret")), [])

    def declared(self, to: str) -> str:
        return FORBIDDEN + f'[[call]]\nin = "src/one.c:one"\nto = ["{to}"]\nwhy = "so"\n'

    def goals(self, to: str, **arguments: object) -> list[str]:
        walk = self.walk(declared=self.declared(to), one="blr x1\nret", **arguments)
        self.assertEqual(reach.indirect_findings(walk), [])
        return [one.name for one in walk.image.goals(walk.image.declared.calls[0])]

    def test_function(self) -> None:
        self.assertEqual(self.goals("src/two.c:two", two="ret"), ["two"])

    def test_field(self) -> None:
        self.assertEqual(self.goals(".send", sources=self.SOURCES, good="ret", other="ret"),
                         ["good"])

    def test_way_leads_on(self) -> None:
        walk = self.walk(declared=self.declared("src/two.c:two"), one="blr x1\nret",
                         two="b @console_write", console_write="ret")
        self.assertIn("src/one.c:1: one through a pointer calls two", walk.findings[-1].path)
        self.assertEqual(walk.findings[-1].text,
                         "the console can be reached from timed code: console_write")

    def test_typedef_and_address_taken(self) -> None:
        """A function counts if it has the type and its address is somewhere."""
        sources = self.SOURCES.replace("static void good", "static void two")
        index_file = "a.c"
        for how, arguments in (
                ("data", {"two": "ret", "data": struct.pack("<QQ", 7, 0x2000)}),
                ("adr", {"two": "ret", "three": "adr x0, @two\nret"}),
                ("adrp", {"two": "ret", "three": "adrp x0, @two\nadd x1, x0, #0x0\nret"})):
            with self.subTest(how):
                image = self.image(declared=self.declared("handler"), sources=sources,
                                   one="blr x1\nret", **arguments)
                # The index knows the function by its file.
                signature = image.index.signatures[Name(index_file, "two")]
                image.index.signatures[Name("src/two.c", "two")] = signature
                self.assertEqual([one.name for one in image.goals(image.declared.calls[0])],
                                 ["two"])
        image = self.image(declared=self.declared("handler"), sources=sources, one="blr x1\nret",
                           two="ret")
        self.assertEqual(image.goals(image.declared.calls[0]), ())

    def test_not_while_timing(self) -> None:
        declared = self.declared(".send") + ('[[not_timed]]\nin = "src/good.c:good"\n'
                                             'why = "before it"\n')
        walk = self.walk(declared=declared, sources=self.SOURCES + "\nvoid f(void)\n{\n"
                         "\tops->send = two;\n}\n", one="blr x1\nret", good="ret", two="ret")
        self.assertEqual([one.name for one in walk.image.goals(walk.image.declared.calls[0])],
                         ["two"])

    def test_stale(self) -> None:
        walk = self.walk(declared=self.declared("src/two.c:two"), one="ret", two="ret")
        self.assertEqual(len(stale_declarations(walk.image)), 1)
        walk = self.walk(declared=self.declared("src/gone.c:gone"), one="blr x0\nret")
        self.assertEqual(len(stale_declarations(walk.image)), 1)

    def test_switch_is_no_call(self) -> None:
        walk = self.walk(one="adr x1, @one+0x14\nldrb w0, [x2, w0, uxtw]\n"
                             "add x0, x1, w0, sxtb #2\nbr x0\nret\nsub sp, sp, #0x400\n"
                             "add sp, sp, #0x400\nret")
        self.assertEqual(reach.indirect_findings(walk), [])
        # Its cases are looked into.
        self.assertEqual(walk.image.frame(walk.functions[0]).deepest, 0x400)


class CounterReads(ImageTest):
    """An ISB right before each."""

    def texts_of(self, body: str, declared: str = "") -> list[str]:
        return self.texts(counter_reads.counter_findings(self.image(one="ret", two=body,
                                                                    declared=declared)))

    def test_ordered(self) -> None:
        for body in ("isb\nmrs x0, cntpct_el0\nret", "dsb ish\nisb\nmrs x0, cntvct_el0\nret",
                     "mrs x0, cntpctss_el0\nret", "mrs x0, s3_3_c14_c0_5\nret",
                     "mrs x0, cntfrq_el0\nret"):
            self.assertEqual(self.texts_of(body), [], body)

    def test_unordered_anywhere(self) -> None:
        for body in ("nop\nmrs x7, cntpct_el0\nret", "isb\nmrs x7, cntvct_el0\n"
                     "mrs x7, cntpct_el0\nret", "isb\nnop\nmrs x7, cntpct_el0\nret",
                     "mrs x7, s3_3_c14_c0_1\nret"):
            found = self.texts_of(body)
            self.assertEqual(len(found), 1, body)
            self.assertIn("unordered counter read: mrs x7, ", found[0])

    def test_jumping_past_the_barrier(self) -> None:
        self.assertEqual(len(self.texts_of("cbz x0, @two+8\nisb\nmrs x7, cntpct_el0\nret")), 1)

    def test_declared(self) -> None:
        self.assertEqual(self.texts_of("mrs x7, cntpct_el0\nret",
                                       '[[unordered]]\nin = "src/two.c:two"\nwhy = "entry"\n'), [])


class Frames(ImageTest):
    """Bytes of stack, from the instructions."""

    def deepest(self, body: str) -> "int | None":
        return frames.frame_of(disassembly.parse(listing(one=body)).functions[0]).deepest

    def test_fixed(self) -> None:
        for body, expected in (
                ("ret", 0), ("stp x29, x30, [sp, #-48]!\nldp x29, x30, [sp], #48\nret", 48),
                ("sub sp, sp, #0x20\nadd sp, sp, #0x20\nret", 32),
                ("sub sp, sp, #0x3, lsl #12\nsub sp, sp, #0x10\nret", 0x3010),
                ("str x30, [sp, #-16]!\nsub sp, sp, #0x10\nadd sp, sp, #0x10\nret", 32),
                ("mov x16, #0x2ee0\nsub sp, sp, x16\nret", 12000),
                ("mov x16, #0x86a0\nmovk x16, #0x1, lsl #16\nsub sp, sp, x16\nret", 100000),
                ("stp x29, x30, [sp, #-32]!\nmov x29, sp\nsub sp, sp, #0x40\nmov sp, x29\n"
                 "sub sp, sp, #0x10\nret", 96)):
            self.assertEqual(self.deepest(body), expected, body)

    def test_paths_do_not_add_up(self) -> None:
        self.assertEqual(self.deepest("cbz x0, @one+14\nsub sp, sp, #0x40\nadd sp, sp, #0x40\n"
                                      "ret\nnop\nsub sp, sp, #0x60\nret"), 0x60)

    def test_not_fixed(self) -> None:
        for body in ("sub sp, sp, x1\nret", "ldr x1, [x0]\nmov sp, x1\nret",
                     "and sp, x1, #0xfffffffffffffff0\nret"):
            self.assertIsNone(self.deepest(body), body)


class Stack(ImageTest):
    """Budgets, and the deepest way."""

    DECLARED = ('[stack]\nframe_bytes = 64\nentries = ["start"]\n[slots]\nvectors = 16\n'
                '[[interrupt]]\nin = "vectors+0x0"\nwhy = "so"\n')

    def audit(self, limit: int = 4096, declared: str = "", **functions: str) -> StackAudit:
        audit = StackAudit(self.walk(declared=self.DECLARED + declared, **functions))
        audit.run(limit)
        return audit

    def test_deepest_way(self) -> None:
        functions = {
            "one": "sub sp, sp, #0x30\nbl @two\nadd sp, sp, #0x30\nb @two",
            "two": "sub sp, sp, #0x20\nadd sp, sp, #0x20\nret",
            "start": "sub sp, sp, #0x100\nbl @one\nbl @elsewhere\nret",
            "elsewhere": "sub sp, sp, #0x800\nret",  # leads to no timed code
            "vectors": "stp x2, x30, [sp, #-64]!\nbl @two\neret\nnop"}
        audit = self.audit(timed=2, **functions)
        self.assertEqual(audit.findings, [])
        self.assertEqual(audit.worst.bytes, 0x100 + 0x30 + 0x20 + 64 + 0x20)
        self.assertEqual([step.split()[0] for step in audit.worst.steps],
                         ["256", "48", "32", "64", "32"])
        audit = self.audit(timed=2, limit=400, **functions)
        self.assertEqual(self.texts(audit.findings), [
            "src/start.c:1: the deepest way through timed code from start takes 432 bytes of "
            "stack, 400 are there"])

    def test_budget(self) -> None:
        functions = {"one": "sub sp, sp, #0x50\nret", "start": "bl @one\nret",
                     "vectors": "eret\nnop\nnop\nnop"}
        found = self.audit(**functions).findings
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].text.startswith("one uses 80 bytes of stack, its budget is 64"))
        more = '[[frame]]\nin = "src/one.c:one"\nbytes = 80\nwhy = "a table"\n'
        self.assertEqual(self.audit(declared=more, **functions).findings, [])

    def test_recursion(self) -> None:
        for way in ("bl @one\nret", "bl @two\nret"):
            audit = self.audit(timed=2, one=way, two="bl @one\nret", start="bl @one\nret",
                               vectors="eret\nnop\nnop\nnop")
            self.assertTrue(any("its stack has no bound" in one.text for one in audit.findings))

    def test_unknown_size(self) -> None:
        functions = {"one": "ret", "start": "sub sp, sp, x1\nbl @one\nret",
                     "vectors": "eret\nnop\nnop\nnop"}
        self.assertIn("on the way to timed code is not of a fixed size",
                      self.audit(**functions).findings[0].text)
        told = '[[frame]]\nin = "src/start.c:start"\nbytes = 512\nwhy = "drawn"\n'
        audit = self.audit(declared=told, **functions)
        self.assertEqual((audit.findings, audit.worst.bytes), ([], 512))
        functions["one"], functions["start"] = functions["start"], "bl @one\nret"
        functions["one"] = "sub sp, sp, x1\nret"
        self.assertIn("one uses is not of a fixed size", self.audit(**functions).findings[0].text)


class CompilerGraph(ImageTest):
    """What the compiler knows and the audit does not see."""

    GRAPH = (
        'graph: { title: "/t/src/one.c"\n'
        'node: { title: "/t/src/one.c:one" label: "one\\n/t/src/one.c:7:3\\n'
        '32 bytes (static)" }\n'
        'node: { title: "two" label: "two\\n/t/include/two.h:1:1" shape : ellipse }\n'
        'edge: { sourcename: "/t/src/one.c:one" targetname: "two" label: "/t/src/one.c:9:1" }\n'
        'node: { title: "__indirect_call" label: "Indirect Call Placeholder" shape : ellipse }\n'
        'edge: { sourcename: "/t/src/one.c:one" targetname: "__indirect_call" label: "x" }\n}\n')

    def compare(self, body: str) -> list[str]:
        image = self.image(one=body, two="ret")
        image.elf.symbols["two"] = 0x2000
        return self.texts(compiler_graph.graph_findings(image,
                                                        compiler_graph.parse_graph(self.GRAPH)))

    def test_agree(self) -> None:
        self.assertEqual(self.compare("sub sp, sp, #0x20\nbl @two\nblr x1\nret"), [])
        self.assertEqual(self.compare("sub sp, sp, #0x30\nblr x1\nb @two"), [])

    def test_differ(self) -> None:
        self.assertEqual(self.compare("sub sp, sp, #0x10\nret"), [
            "src/one.c:7: the audit sees 16 bytes of stack in one, the compiler 32",
            "src/one.c:7: the compiler knows of a call from one to two that the audit does not "
            "see",
            "src/one.c:7: the compiler knows of an indirect call in one that the audit does not "
            "see"])

    def test_parse(self) -> None:
        node, = compiler_graph.parse_graph(self.GRAPH)
        self.assertEqual((node.name, node.file, node.line, node.bytes, node.calls),
                         ("one", "/t/src/one.c", 7, 32, {"two", "__indirect_call"}))
        moving = self.GRAPH.replace("(static)", "(dynamic)")
        self.assertIsNone(compiler_graph.parse_graph(moving)[0].bytes)
        self.assertEqual(compiler_graph.parse_graph("graph: { rubbish"), [])


class Embedded(unittest.TestCase):
    """Counter reads in programs that the image carries."""

    ISB, READ, NOP = 0xd5033fdf, 0xd53be021, 0xd503201f

    def findings(self, *code: int, entry: int = 0) -> tuple[list[str], int]:
        words = struct.pack(f"<{len(code)}I", *code)
        program = (b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 2, 183, 1, 0x400000 + entry, 64, 0, 0, 64, 56, 1, 64, 0, 0)
            + struct.pack("<IIQQQQQQ", 1, 5, 120, 0x400000, 0, len(words), len(words), 8) + words)
        elf = Elf(Path("image.elf"), {"a_program": 0x1008}, ((0x1000, bytes(8) + program),))
        found, reads = embedded_findings(elf)
        return [one.text for one in found], reads

    def test_ordered(self) -> None:
        self.assertEqual(self.findings(self.NOP, self.ISB, self.READ, self.NOP), ([], 1))
        self.assertEqual(self.findings(self.NOP, self.READ, entry=4), ([], 1))

    def test_unordered(self) -> None:
        virtual = 0xd53be047
        for code in ((self.NOP, self.NOP, self.READ), (self.ISB, self.NOP, virtual)):
            found, reads = self.findings(*code)
            self.assertEqual((len(found), reads), (1, 1))
            self.assertRegex(found[0], r"^unordered counter read: .* at 0x1088, a_program\+0x80$")

    def test_what_only_looks_like_a_program(self) -> None:
        elf = Elf(Path("image.elf"), {}, ((0, b"\x7fELF\x02\x01" + b"\xff" * 60),
                                          (0x1000, b"\x7fELF\x02\x01")))
        self.assertEqual(embedded_findings(elf), ([], 0))


class Files(unittest.TestCase):
    """Declarations, ELF files and addr2line's answers that are not as they should be."""

    def setUp(self) -> None:
        self.folder = temporary_folder(self, "audit")

    def test_own_declarations(self) -> None:
        declared = declarations.load(DECLARATIONS, "src/audit.toml")
        self.assertEqual({one.what for one in declared.forbidden},
                         {"the console", "a UART", "stdio", "malloc"})
        for what, file, function in (
                ("the console", "src/runtime/console.c", "x"),
                ("a UART", "src/drivers/uart/pl011.c", "x"),
                ("stdio", "?", "printf"), ("stdio", "?", "_vsnprintf_r"), ("stdio", "?", "puts"),
                ("stdio", "?", "fflush"), ("malloc", "?", "malloc"), ("malloc", "?", "_free_r"),
                ("malloc", "?", "calloc")):
            self.assertTrue(any(one.what == what and one.matches(file, function)
                                for one in declared.forbidden), function)
        for function in ("sample", "memcpy", "memset", "sample_record", "ipi_send_to_one"):
            self.assertFalse(any(one.matches("?", function) for one in declared.forbidden))

    def test_bad_declarations(self) -> None:
        path = self.folder / "a.toml"
        for text in ("[[call]]\n", '[[call]]\nin = "a:b"\nwhy = "c"\n', "[[cal]]\n", "x = [",
                     '[[atomic]]\nin = "a:b"\nwhy = " "\n', "[slots]\nvectors = 0\n",
                     '[[frame]]\nin = "a:b"\nwhy = "c"\nbytes = "many"\n', "call = 1\n"):
            path.write_text(text, encoding="utf-8")
            with self.assertRaises(UserError, msg=text) as caught:
                declarations.load(path, "a.toml")
            self.assertEqual(caught.exception.exit_code, 2)
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaises(UserError):
            declarations.load(self.folder / "none", "none")

    def test_bad_elf_files(self) -> None:
        path = self.folder / "image.elf"
        good = (b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 2, 183, 1, 0, 64, 120, 0, 64, 56, 1, 64, 0, 0)
            + struct.pack("<IIQQQQQQ", 1, 5, 120, 0x1000, 0, 16, 16, 8) + struct.pack("<QQ", 1, 2))
        path.write_bytes(good)
        self.assertEqual(list(read_elf(path).words()), [1, 2])
        for data in (b"", b"\x7fELF", good[:40], good[:70], good.replace(b"\xb7", b"\x3e"),
                     b"!<arch>\n" + bytes(100)):
            path.write_bytes(data)
            with self.assertRaises(UserError):
                read_elf(path)

    def test_places(self) -> None:
        text = ("0xffff800000001188\nfinish\n/b/./src/bench/engine.c:37\n"
                "0x10\ninner\n./src/a.c:5 (discriminator 2)\nouter\n./src/b.c:?\n0x20\n??\n??:0\n")
        self.assertEqual(lines.parse_places(text), {
            0xffff800000001188: (lines.Place("finish", "src/bench/engine.c", 37),),
            0x10: (lines.Place("inner", "src/a.c", 5), lines.Place("outer", "src/b.c", 0)),
            0x20: (lines.Place("??", "?", 0),)})

    def test_source_index(self) -> None:
        path = self.folder / "a.c"
        path.write_text("/* .x = no, */\nTIMED static uint64_t *find(const struct a *b, size_t n)\n"
                        "{\n\tb->done = find;\n}\n", encoding="utf-8")
        index = SourceIndex(self.folder, [path])
        self.assertEqual(index.signatures[Name("a.c", "find")],
                         ("uint64_t *", "const struct a *", "size_t"))
        self.assertEqual(index.fields, {"done": {Name("a.c", "find")}})

    def test_stack_limit_is_in_a_header(self) -> None:
        text = (paths.SOURCE_TREE / "include/el1bench/cpu.h").read_text("utf-8")
        self.assertIn("#define CPU_STACK_BYTES ", text)


if __name__ == "__main__":
    unittest.main()
