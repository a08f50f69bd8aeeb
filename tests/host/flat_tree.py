"""Reads a flattened device tree, as far as comparing two of them needs it."""

import struct
from dataclasses import dataclass, field
from typing import Iterator, Optional

BEGIN, END, PROPERTY, NOTHING, LAST = 1, 2, 3, 4, 9


@dataclass
class Node:
    """A node, its properties as bytes, its children by name."""

    name: str
    parent: Optional["Node"] = None
    properties: dict[str, bytes] = field(default_factory=dict)
    children: list["Node"] = field(default_factory=list)

    def cells(self, name: str) -> list[int]:
        """A property as numbers."""
        data = self.properties[name]
        return list(struct.unpack(f">{len(data) // 4}I", data))

    def texts(self, name: str) -> list[str]:
        """A property as texts."""
        return self.properties.get(name, b"").decode().rstrip("\0").split("\0")

    def walk(self) -> Iterator["Node"]:
        """The node and everything below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def at(self, path: str) -> "Node":
        """The node at a path below this one."""
        node = self
        for name in path.strip("/").split("/"):
            node = next(child for child in node.children if child.name == name)
        return node

    def _size(self, name: str, default: int) -> int:
        return self.cells(name)[0] if name in self.properties else default

    def registers(self) -> list[tuple[int, int]]:
        """(address, bytes) of each range of `reg`, as a core sees it."""
        assert self.parent is not None
        address_cells = self.parent._size("#address-cells", 2)
        size_cells = self.parent._size("#size-cells", 1)
        cells = self.cells("reg")
        width = address_cells + size_cells
        found = []
        for at in range(0, len(cells), width):
            address = _number(cells[at:at + address_cells])
            size = _number(cells[at + address_cells:at + width])
            found.append((self.parent.translate(address), size))
        return found

    def translate(self, address: int) -> int:
        """An address on this node's bus, as a core sees it."""
        if self.parent is None:
            return address
        ours, theirs = self._size("#address-cells", 2), self.parent._size("#address-cells", 2)
        sizes = self._size("#size-cells", 1)
        cells = self.cells("ranges") if self.properties.get("ranges") else []
        for at in range(0, len(cells), ours + theirs + sizes):
            child = _number(cells[at:at + ours])
            parent = _number(cells[at + ours:at + ours + theirs])
            size = _number(cells[at + ours + theirs:at + ours + theirs + sizes])
            if child <= address < child + size:
                address = address - child + parent
                break
        return self.parent.translate(address)


def _number(cells: list[int]) -> int:
    value = 0
    for cell in cells:
        value = value << 32 | cell
    return value


def parse(data: bytes) -> Node:
    """The root of a tree that is known to be sound."""
    structure, strings = struct.unpack(">2I", data[8:16])
    at = structure
    root = node = Node("")
    depth = 0
    while True:
        token, = struct.unpack(">I", data[at:at + 4])
        at += 4
        if token == BEGIN:
            end = data.index(b"\0", at)
            if depth:
                child = Node(data[at:end].decode(), node)
                node.children.append(child)
                node = child
            depth += 1
            at = (end + 4) & ~3
        elif token == END:
            depth -= 1
            node = node.parent or root
        elif token == PROPERTY:
            length, name = struct.unpack(">2I", data[at:at + 8])
            start = strings + name
            key = data[start:data.index(b"\0", start)].decode()
            node.properties[key] = data[at + 8:at + 8 + length]
            at = (at + 8 + length + 3) & ~3
        elif token == LAST:
            return root
