"""Tree of places beside the data of a document, and the look-up of a place by its path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fourplane.base.documents.positions import Place, Positions, join_path

__all__ = ["Branch", "Node", "find_node", "positions_of"]


class Node:
    """Place of one value; shared where an alias shares the value."""

    __slots__ = ("mark",)

    keys: dict[str, tuple[Any, Node]] | None = None
    """Of a mapping: mark of the key and node of the value, by key."""
    items: list[Node] | None = None
    """Of a list: the nodes of its items."""

    def __init__(self, mark: Any) -> None:
        self.mark = mark

    @property
    def place(self) -> Place:
        """Return line and column, 1-based."""
        return (self.mark.line + 1, self.mark.column + 1)


class Branch(Node):
    """Place of a mapping or a list, with the places of what it holds."""

    __slots__ = ("items", "keys", "removed")

    def __init__(self, mark: Any, *, is_map: bool) -> None:
        super().__init__(mark)
        self.keys = {} if is_map else None
        self.items = None if is_map else []
        self.removed: tuple[int, ...] = ()
        """Of a list: the items that were taken out, by their first index, ascending."""

    def remove(self, indices: set[int]) -> None:
        """Take items out, by the indices they have now."""
        self.removed = tuple(sorted({*self.removed, *map(self.first_index, indices)}))
        self.items = [node for index, node in enumerate(self.items or ()) if index not in indices]

    def first_index(self, index: int) -> int:
        """Return the index that an item had before others were taken out."""
        for removed in self.removed:
            if removed <= index:
                index += 1
        return index


def find_node(root: Node | None, parts: tuple[str | int, ...]) -> tuple[Any, Node] | None:
    """Return key mark (None for items and the root) and node at ``parts``, or None."""
    if root is None:
        return None
    key_mark, node = None, root
    for part in parts:
        if isinstance(part, int):
            if node.items is None or not 0 <= part < len(node.items):
                return None
            key_mark, node = None, node.items[part]
        else:
            if node.keys is None or part not in node.keys:
                return None
            key_mark, node = node.keys[part]
    return key_mark, node


class _Places(Mapping[str, Place]):
    """Places by path, looked up in the tree when asked: a path costs nothing until something is cited."""

    def __init__(self, root: Node | None, of_keys: bool) -> None:
        self._root = root
        self._of_keys = of_keys

    def __getitem__(self, path: str) -> Place:
        found = self._find(path)
        if found is None:
            raise KeyError(path)
        key_mark, node = found
        if not self._of_keys:
            return node.place
        if key_mark is None:
            raise KeyError(path)
        return (key_mark.line + 1, key_mark.column + 1)

    def _find(self, path: str) -> tuple[Any, Node] | None:
        found, rest, _ = self._follow(path)
        return None if rest else found

    def written(self, path: str) -> str:
        """Return ``path`` with the indices that its entries have in the file."""
        _, rest, written = self._follow(path)
        return written + rest

    def _follow(self, path: str) -> tuple[tuple[Any, Node] | None, str, str]:
        """Walk along ``path``; return key mark and node where it ends, what is left of it, and the way as written."""
        if self._root is None:
            return None, path, ""
        key_mark, node, rest, written = None, self._root, path, ""
        while rest:
            if node.items is not None:
                match = re.match(r"\[(\d{1,9})\]", rest, re.ASCII)
                if match is None or int(match[1]) >= len(node.items):
                    break
                index = int(match[1])
                written += f"[{node.first_index(index) if isinstance(node, Branch) else index}]"
                key_mark, node, rest = None, node.items[int(match[1])], rest[match.end() :]
                continue
            start = 1 if written and rest.startswith(".") else 0
            step = self._step(node, rest[start:])
            if step is None:
                break
            key_mark, node = node.keys[step]  # type: ignore[index]
            written += rest[: start + len(step)]
            rest = rest[start + len(step) :]
        return (key_mark, node), rest, written

    @staticmethod
    def _step(node: Node, rest: str) -> str | None:
        """Return the key of ``node`` that ``rest`` begins with; keys may hold dots and brackets themselves."""
        for end in (*(m.start() for m in re.finditer(r"[.\[]", rest)), len(rest)):
            if node.keys is not None and rest[:end] in node.keys:
                return rest[:end]
        return None

    def __iter__(self) -> Iterator[str]:
        if self._root is not None:
            yield from self._walk(self._root, None, ())

    def _walk(self, node: Node, key_mark: Any, parts: tuple[str | int, ...]) -> Iterator[str]:
        if not self._of_keys or key_mark is not None:
            yield join_path(parts)
        for key, (mark, child) in (node.keys or {}).items():
            yield from self._walk(child, mark, (*parts, key))
        for index, child in enumerate(node.items or ()):
            yield from self._walk(child, None, (*parts, index))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def positions_of(root: Node | None) -> Positions:
    """Return the places of a document by path."""
    values = _Places(root, of_keys=False)
    return Positions(values=values, keys=_Places(root, of_keys=True), renumber=values.written)
