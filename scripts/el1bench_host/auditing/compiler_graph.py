"""The compiler's own call graph and frames (-fcallgraph-info=su), held against the audit's.

The instructions are the authority. The compiler knows the same facts from the other side, so where
it knows of a call or of stack that the audit did not see, the audit has misread something, and says
so rather than miss it.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from el1bench_host.auditing.disassembly import Function
from el1bench_host.auditing.finding import Finding
from el1bench_host.auditing.graph import Image, source_name

_NODE = re.compile(r'node: \{ title: "([^"]*)" label: "([^"\\]*)\\n([^"]*?):(\d+):\d+'
                   r'\\n(\d+) bytes \(([^)"]*)\)')
_EDGE = re.compile(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"')
_INDIRECT = "__indirect_call"


@dataclass
class Node:
    """A function as the compiler knows it."""

    name: str
    file: str  # as the compiler was given it: mostly an absolute path
    line: int
    bytes: Optional[int]  # of its frame; None: not fixed
    calls: set[str] = field(default_factory=set)


def read_graphs(folder: Path) -> list[Node]:
    """Every function of the graphs that the compiler left below a folder."""
    nodes: list[Node] = []
    for path in sorted(folder.rglob("*.ci")):
        nodes += parse_graph(path.read_text(encoding="utf-8", errors="replace"))
    return nodes


def parse_graph(text: str) -> list[Node]:
    """The functions that one file defines."""
    nodes: dict[str, Node] = {}
    for title, name, file, line, size, kind in _NODE.findall(text):
        nodes[title] = Node(source_name(name), file, int(line),
                            int(size) if kind in ("static", "dynamic,bounded") else None)
    for caller, callee in _EDGE.findall(text):
        if caller in nodes:
            nodes[caller].calls.add(source_name(callee.rpartition(":")[2]))
    return list(nodes.values())


def graph_findings(image: Image, nodes: list[Node]) -> list[Finding]:
    """What the compiler knows and the audit does not."""
    functions: dict[str, list[Function]] = {}
    for function in image.program.functions:
        functions.setdefault(image.name_of(function), []).append(function)
    found = []
    for node in nodes:
        # Several, where the compiler has made variants of one.
        same = [one for one in functions.get(node.name, [])
                if _is_same_file(node.file, image.file_of(one))]
        if same:
            found += _compare(image, node, same)
    return found


def _is_same_file(given: str, recorded: str) -> bool:
    return given == recorded or given.endswith("/" + recorded)


def _compare(image: Image, node: Node, same: list[Function]) -> list[Finding]:
    found = []
    file = image.file_of(same[0])
    sizes = [image.frame(one).deepest for one in same]
    if node.bytes is not None and None not in sizes and max(sizes) < node.bytes:
        found.append(Finding(file, node.line, f"the audit sees {max(sizes)} bytes of stack in "
                                              f"{node.name}, the compiler {node.bytes}"))
    edges = [edge for one in same for edge in image.edges(one)]
    seen = {image.name_of(edge.callee) for edge in edges}
    addresses = {edge.callee.address for edge in edges} | {one.address for one in same}
    for callee in sorted(node.calls - seen - {_INDIRECT}):
        # Two functions with the same instructions may share one body, under either name.
        address = image.elf.symbols.get(callee)
        if address is not None and address not in addresses:
            found.append(Finding(file, node.line, f"the compiler knows of a call from {node.name} "
                                                  f"to {callee} that the audit does not see"))
    if _INDIRECT in node.calls and not any(
            list(image.indirect_sites(one)) for one in same):
        found.append(Finding(file, node.line, f"the compiler knows of an indirect call in "
                                              f"{node.name} that the audit does not see"))
    return found
