"""The audit of somebody's C sources: switches that are always on, and prints between markers."""

import contextlib
import io
import os
import shutil
import time
import unittest

from el1bench_host import cli, paths
from el1bench_host.auditing.tree import blank
from tests.folder import temporary_folder


class TreeTest(unittest.TestCase):
    """Makes a tree and audits it through the command line."""

    def setUp(self) -> None:
        self.root = temporary_folder(self, "audit")

    def write(self, name: str, text: "str | bytes") -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def audit(self, *options: str) -> tuple[int, list[str], str]:
        """(exit code, lines on standard output, standard error)."""
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            try:
                status = cli.main(["audit", *options])
            except SystemExit as end:
                status = end.code
        return status, output.getvalue().splitlines(), errors.getvalue()

    def found(self, *options: str) -> list[str]:
        """The lines of findings; the exit code must fit."""
        status, lines, errors = self.audit(str(self.root), *options)
        self.assertEqual(status, 1 if lines else 0, errors)
        return lines


class Switches(TreeTest):
    """#ifdef X where X is defined as 0."""

    def switches(self, text: str) -> list[int]:
        """Line numbers of the findings in one file."""
        self.write("a.c", text)
        return [int(line.split(":")[1]) for line in self.found()]

    def test_header_and_source(self) -> None:
        self.write("include/debug.h", "#pragma once\n\n#define PD_DEBUG 0\n")
        self.write("src/pd.c", '#include "debug.h"\nvoid f(void)\n{\n#ifdef PD_DEBUG\n'
                               "\tprintf(\"x\");\n#endif\n}\n")
        self.assertEqual(self.found(), [
            "src/pd.c:4: tests whether PD_DEBUG is defined; it is, as 0, at include/debug.h:3: "
            "test its value with #if"])

    def test_planted_in_our_own_sources(self) -> None:
        """One fault in a copy of the image's sources is the one finding."""
        for name in ("src", "include"):
            shutil.copytree(paths.SOURCE_TREE / name, self.root / name)
        self.assertEqual(self.found(), [])
        header = self.root / "include" / "el1bench" / "poll.h"
        header.write_text(header.read_text("utf-8") + "\n#define POLL_TRACE 0\n", "utf-8")
        source = self.root / "src" / "smp" / "poll.c"
        text = source.read_text("utf-8")
        line = text.count("\n") + 1
        source.write_text(text + "#ifdef POLL_TRACE\nint trace;\n#endif\n", "utf-8")
        found = self.found()
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith(f"src/smp/poll.c:{line}: tests whether POLL_TRACE "))
        self.assertIn("at include/el1bench/poll.h:", found[0])

    def test_forms_of_the_test(self) -> None:
        for test in ("#ifdef X", "#ifndef X", "# ifdef X", "\t#\tifdef X /* y */", "#if defined(X)",
                     "#if defined X", "#if !defined(X)", "#if defined ( X ) && Y",
                     "#if Y || \\\n\tdefined(X)", "#if A\n#elif defined(X)", "#ifdef X\r"):
            self.assertEqual(len(self.switches(f"#define X 0\n{test}\n#endif\n")), 1, test)

    def test_forms_of_zero(self) -> None:
        for zero in ("0", "0U", "0x0", "(0)", "( 0 )", "00", "0ul", "0 // off", "0 /* off */",
                     "false", "\\\n\t0", "0\r"):
            self.assertEqual(len(self.switches(f"#define X {zero}\n#ifdef X\n#endif\n")), 1, zero)
        for other in ("1", "", "0x10", "10", "zero", "0 + 1", "\"0\"", "(1)"):
            self.assertEqual(self.switches(f"#define X {other}\n#ifdef X\n#endif\n"), [], other)

    def test_what_does_as_it_says(self) -> None:
        for good in ("#ifndef X\n#define X 0\n#endif\n#if X\n#endif\n",
                     "#if !defined(X)\n#define X 0\n#endif\n",
                     "#ifdef X\n#else\n#define X 0\n#endif\n",
                     "#ifdef X\n#elif Y\n#define X 1\n#else\n#define X 0\n#endif\n",
                     "#define X 0\n#if defined(X) && X\n#endif\n",
                     "#define X 0\n#if defined(X) && (X > 1)\n#endif\n",
                     "#define X 0\n#ifdef X\n#if X\n#endif\n#endif\n",
                     "#define X 0\n#ifdef X\n#undef X\n#endif\n",
                     "#define X 0\n#if X\n#endif\n", "#define X 0\n#ifdef XY\n#endif\n",
                     "/*\n#define X 0\n*/\n#ifdef X\n#endif\n",
                     "#define X 0\n/* #ifdef X */\n// #ifdef X\n/*\n#ifdef X\n#endif\n*/\n",
                     "#define X 0\nchar *s = \"\\\n#ifdef X\\\n\";\n"):
            self.assertEqual(self.switches(good), [], good)

    def test_who_sees_a_definition(self) -> None:
        self.write("a.c", "#define X 0\n")
        self.write("b.c", "#ifdef X\n#endif\n")
        self.assertEqual(self.found(), [])  # another source's own
        self.write("c.h", "#define X 0\n")
        self.assertEqual(len(self.found()), 1)

    def test_build_files(self) -> None:
        source = "#ifdef X\n#endif\n"
        for name, text in (("Makefile", "CFLAGS += -Wall -DX=0\n"), ("a/b.mk", "D := -D X=0 \\\n"),
                           ("CMakeLists.txt", "target_compile_definitions(a PRIVATE\n  Y=1 X=0)\n"),
                           ("c.cmake", "add_compile_options(\"-DX=0\")\n")):
            self.write("a.c", source)
            self.write(name, "\n" + text)
            found = self.found()
            self.assertEqual(len(found), 1, name)
            self.assertIn(f"at {name}:{3 if 'target' in text else 2}: ", found[0])
            (self.root / name).unlink()
        self.write("Makefile", "# -DX=0\nCFLAGS += -DX=01 -DXY=0 -DX=10\n")
        self.assertEqual([line for line in self.found() if "Makefile:1" in line], [])

    def test_one_file(self) -> None:
        self.write("a.c", "#define X 0\n#ifdef X\n#endif\n")
        status, lines, _ = self.audit(str(self.root / "a.c"))
        self.assertEqual((status, len(lines)), (1, 1))


class Prints(TreeTest):
    """Print calls between markers."""

    MARKERS = ("--begin", r"TIMER_START\(", "--end", r"TIMER_STOP\(")

    def prints(self, body: str, *options: str) -> list[str]:
        self.write("a.c", f"void f(void)\n{{\n{body}\n}}\n")
        return self.found(*self.MARKERS, *options)

    def test_between(self) -> None:
        found = self.prints('printf("before");\nTIMER_START(t);\nwork();\nprintf("in");\n'
                            'TIMER_STOP(t);\nprintf("after");\n')
        self.assertEqual(found, ["a.c:6: printf() prints between a.c:4 and a.c:7"])

    def test_names(self) -> None:
        for name in ("printf", "puts", "printk", "pr_info", "pr_debug_ratelimited", "dev_err",
                     "LOG", "LOG_INF", "INFO", "NOTICE", "VERBOSE", "console_puts", "console_write",
                     "uart_putc", "uart_write_byte", "tf_printf", "fwrite", "ZF_LOGE", "dlog_info",
                     "vprintf", "serial_puts", "log_debug"):
            self.assertEqual(len(self.prints(f"TIMER_START(t);\n{name} (1);\nTIMER_STOP(t);")), 1,
                             name)
        for name in ("sprintf", "snprintf", "vsnprintf", "sputs", "uart_init", "input", "blog",
                     "printer", "INFORM"):
            self.assertEqual(self.prints(f"TIMER_START(t);\n{name}(1);\nTIMER_STOP(t);"), [], name)

    def test_own_names(self) -> None:
        body = "TIMER_START(t);\nsay(1);\nprintf(1);\nTIMER_STOP(t);"
        self.assertEqual(len(self.prints(body, "--print", "say|shout")), 1)

    def test_comments_and_strings(self) -> None:
        self.assertEqual(self.prints('TIMER_START(t);\n/* printf(1); */\n// puts(2);\n'
                                     's = "printf(3)";\nTIMER_STOP(t);'), [])

    def test_markers_may_be_comments(self) -> None:
        self.write("a.c", "/* TIMED BEGIN */\nputs(x);\n/* TIMED END */\nputs(y);\n")
        self.assertEqual(len(self.found("--begin", "TIMED BEGIN", "--end", "TIMED END")), 1)

    def test_definition_of_a_marker_is_none(self) -> None:
        self.write("timer.h", "#define TIMER_START(t) \\\n\tstart(t)\n"
                              "#define TIMER_STOP(t) stop(t)\n"
                              "static inline void f(void) { puts(1); }\n")
        self.assertEqual(self.prints("TIMER_START(t);\nTIMER_STOP(t);"), [])

    def test_macros(self) -> None:
        self.write("log.h", "#define TRACE(...) \\\n\tdo { printk(__VA_ARGS__); } while (0)\n"
                            "#define SAY puts\n#define QUIET(x) ((void)(x))\n")
        found = self.prints("TIMER_START(t);\nTRACE(1);\nSAY(2);\nQUIET(3);\nTIMER_STOP(t);")
        self.assertEqual(found, [
            "a.c:4: the macro TRACE prints (through printk, at log.h:1) between a.c:3 and a.c:7",
            "a.c:5: the macro SAY prints (through puts, at log.h:3) between a.c:3 and a.c:7"])

    def test_several_regions_and_no_end(self) -> None:
        found = self.prints("TIMER_START(t); puts(1); TIMER_STOP(t);\nputs(2);\nTIMER_START(t);\n"
                            "puts(3);")
        self.assertEqual([line.split(": ")[0] for line in found], ["a.c:3", "a.c:5", "a.c:6"])
        self.assertIn("no end marker", found[1])

    def test_no_region_is_an_error(self) -> None:
        self.write("a.c", "printf(1);\n")
        status, lines, errors = self.audit(str(self.root), *self.MARKERS)
        self.assertEqual((status, lines, errors.count("\n")), (2, [], 1))
        self.assertIn("matches --begin", errors)


class Robustness(TreeTest):
    """Trees as they come."""

    def test_odd_files(self) -> None:
        self.write("latin.c", "/* caf\xe9 */\n#define X 0\n".encode("latin-1"))
        self.write("a.h", b"\xef\xbb\xbf#pragma once\n\0\xff\n#define X 0\n#ifdef X\n#endif")
        self.write("unterminated.c", "/* #ifdef X\n#ifdef X\n")
        self.write("quote.c", "#error don't\n#ifdef X\n#endif\n")
        self.write("unbalanced.c", "#endif\n#else\n#elif 1\n#ifdef X\n")
        (self.root / "loop").symlink_to(self.root)
        (self.root / "dangling.c").symlink_to("nowhere")
        (self.root / "self.c").symlink_to("self.c")
        (self.root / "again.h").symlink_to("a.h")
        (self.root / "folder.c").mkdir()
        os.mkfifo(self.root / "pipe.c")
        bad_name = os.fsencode(self.root) + b"/\xff.c"
        with open(bad_name, "wb") as file:
            file.write(b"#ifdef X\n#endif\n")
        status, lines, errors = self.audit(str(self.root))
        self.assertEqual(status, 1, errors)
        self.assertEqual(sorted(line.split(": ")[0] for line in lines),
                         ["\\udcff.c:1", "a.h:4", "quote.c:2", "unbalanced.c:4"])

    def test_bad_usage(self) -> None:
        self.write("a.c", "int a;\n")
        tree = str(self.root)
        for options in (("/no/such/folder",), (tree, "--begin", "x"), (tree, "--end", "x"),
                        (tree, "--begin", "(", "--end", "x"), (tree, "--print", "x"),
                        (tree, "--begin", "int", "--end", "x", "--print", "("),
                        (tree, "--elf", "x"), ("--elf", "/no/such/file"),
                        ("--elf", str(self.root / "a.c")), ("--board", "none"),
                        ("--elf", "x", "--board", "qemu-virt"), ("--begin", "x", "--end", "y"),
                        ("--declarations", "/no/such/file", "--elf", "x"), (tree, "x"),
                        (str(self.root / "empty"),)):
            (self.root / "empty").mkdir(exist_ok=True)
            status, lines, errors = self.audit(*options)
            self.assertEqual((status, lines), (2, []), options)
            self.assertEqual(errors.count("\n"), 1, errors)

    def test_quiet(self) -> None:
        self.write("a.c", "int a;\n")
        self.assertEqual(self.audit(str(self.root), "--quiet"), (0, [], ""))
        self.assertIn("0 findings; 1 source file looked through", self.audit(str(self.root))[2])

    def test_time_grows_with_size(self) -> None:
        """Text that could send a pattern astray takes no longer than other text."""
        def seconds(text: str) -> float:
            self.write("a.c", "#define X 0\n#ifdef X\n#endif\n/* TIMER_START( */\n" + text)
            started = time.process_time()
            self.audit(str(self.root), *Prints.MARKERS)
            return time.process_time() - started

        plain = seconds("int a;\n" * 40000)
        for odd in ("/*" * 140000, "\"" * 280001, "\\\n" * 140000, "#define X(" * 28000,
                    "defined " * 35000, "(" * 280000, "#if " + "defined(X) || " * 20000,
                    "a" * 280000, "#define a " + "b\\\n" * 90000, "'\\" * 140000,
                    "-D" * 140000, "_" * 280000):
            self.assertLess(seconds(odd), 20 * plain + 1, odd[:20])

    def test_blank_keeps_offsets(self) -> None:
        text = "a /* b\nc */ \"d\\\"e\" 'f' // g\\\nh\ni \"j\n"
        blanked = blank(text)
        self.assertEqual(len(blanked), len(text))
        self.assertEqual([blanked[i] for i, byte in enumerate(text) if byte == "\n"],
                         ["\n"] * text.count("\n"))
        self.assertEqual(blanked.split(), ["a", "\"", "\"", "'", "'", "i", "\"j"])


if __name__ == "__main__":
    unittest.main()
