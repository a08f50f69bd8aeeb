"""Print calls between markers: what is printed while somebody's firmware believes to be timing.

A region starts behind a match of `begin` and ends before the next match of `end`, in the order of
the file. Calls are those of functions, or of macros whose own text has such a call.
"""

import re
from dataclasses import dataclass, field

from el1bench_host.auditing.finding import Finding, printable
from el1bench_host.auditing.tree import LineNumbers, Tree, blank

# sprintf() and its like are not among them: they print nothing.
DEFAULT_PRINT = (
    r"(?:v?f?|v?d|early_|tf_|mp_|debug_|trace_|sys_|semi_?hosting_)printf|v?printk\w*|_?printk"
    r"|puts|putc|putchar|fputs|fputc|fwrite|perror|debug_print\w*|dbg_print\w*"
    r"|(?:dev|netdev|net|pr|trace|drm|kvm)_(?:emerg|alert|crit|err|warn|warning|notice|info|cont"
    r"|debug|dbg|devel|print\w*|puts)(?:_once|_ratelimited)?"
    r"|(?:console|uart|serial|tty)\w*_(?:put\w*|write\w*|print\w*|flush|send\w*|tx\w*)"
    r"|(?:[A-Z]+_)*LOG(?:_[A-Z]+)*|(?:LOG|log)_(?:\w+)|dlog\w*|NOTICE|ERROR|WARN|INFO|VERBOSE"
    r"|EMSG|IMSG|DMSG|FMSG|ZF_LOG\w+|Print|AsciiPrint|DEBUG|debug|dprintf|print_\w+|\w+_print")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)\n]*\))?[ \t]((?:[^\n\\]|\\.|\\\n)*)",
                    re.MULTILINE | re.DOTALL)

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE | re.DOTALL)


@dataclass
class PrintAudit:
    """What was found, and whether there was anything to look into."""

    regions: int = 0
    findings: list[Finding] = field(default_factory=list)


def _calls(pattern: str) -> re.Pattern:
    return re.compile(rf"(?<![\w.])({pattern})[ \t]*\(")


def audit_prints(tree: Tree, begin: re.Pattern, end: re.Pattern, pattern: str) -> PrintAudit:
    """Look into every region of the tree."""
    calls = _calls(f"(?:{pattern})")
    marked = [path for path in tree.sources if begin.search(tree.read(path))]
    macros = _printing_macros(tree, calls) if marked else {}
    result = PrintAudit()
    for path in marked:
        _audit_file(printable(path), tree.read(path), (begin, end), calls, macros, result)
    return result


def _printing_macros(tree: Tree, calls: re.Pattern) -> dict[str, str]:
    """Macros of the tree that have a print call in their text: where, and which."""
    found: dict[str, str] = {}
    for path in tree.sources:
        text = tree.read(path)
        if "define" not in text:
            continue
        for macro in _MACRO.finditer(text):
            call = calls.search(blank(macro[2]))
            alias = re.fullmatch(r"\s*(\w+)\s*", macro[2])
            name = call[1] if call else alias[1] if alias and calls.match(alias[1] + "(") else None
            if name is not None and name != macro[1]:
                line = text.count("\n", 0, macro.start(1)) + 1
                found.setdefault(macro[1], f"{name}, at {printable(path)}:{line}")
    return found


def _without_directives(text: str) -> str:
    """The text with preprocessor directives turned to blanks; no offset changes."""
    return _DIRECTIVE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _audit_file(path: str, text: str, markers: tuple[re.Pattern, re.Pattern], calls: re.Pattern,
                macros: dict[str, str], result: PrintAudit) -> None:
    # A directive is no call and no marker; #define above all.
    text = _without_directives(text)
    code = blank(text)
    numbers = LineNumbers(text)
    begin, end = markers
    position = 0
    while True:
        start = begin.search(text, position)
        if start is None:
            return
        result.regions += 1
        stop = end.search(text, start.end())
        if stop is None:
            result.findings.append(Finding(path, numbers.at(start.start()),
                                           "a begin marker, and no end marker behind it"))
        last = stop.start() if stop else len(text)
        inside = (start.end(), last)
        region = f"between {path}:{numbers.at(start.start())} and " + (
            f"{path}:{numbers.at(last)}" if stop else "the end of the file")
        for call in calls.finditer(code, *inside):
            result.findings.append(Finding(path, numbers.at(call.start(1)),
                                           f"{call[1]}() prints {region}"))
        for word in re.compile(r"(?<![\w.])([A-Za-z_]\w*)\b").finditer(code, *inside):
            if word[1] in macros and not calls.match(code, word.start()):
                result.findings.append(Finding(
                    path, numbers.at(word.start()),
                    f"the macro {word[1]} prints (through {macros[word[1]]}) {region}"))
        if stop is None:
            return
        position = max(stop.end(), start.end() + 1)
