"""A blank quote to fill: every line that is asked, in the quote's own words, with what is needed beside it (B5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourplane.base.errors import ToolError, UsageError
from fourplane.base.text import printable, shorten
from fourplane.report.cells import wrap
from fourplane.report.codes import FILE_EXISTS, NOT_WRITTEN
from fourplane.spec.declaration import Quote

if TYPE_CHECKING:
    from fourplane.planes.procurement.request import Asked, Request

__all__ = ["BLANK_QUOTE", "blank_quote", "write_blank_quote"]

BLANK_QUOTE = "blank-quote.yaml"
"""Name of the file in a workspace: beside ``quotes/``, so that an empty form is not held against anybody."""
_WIDTH = 100

_Tree = dict[str, Any]


def blank_quote(request: Request) -> str:
    """Return the text of a quote whose lines are all empty; it loads as a quote, and ``check`` names each line."""
    lines = [
        f"# Blank quote for {printable(request.name)}, made by 'fourplane report --only request'.",
        "# Write each answer behind its key and leave empty what you do not promise: it counts as unanswered.",
        "# Quantities carry their unit: 80 GB, 400 Gb/s (bits), 20 GB/s (bytes), 4 h. Numbers and letters such as T1",
        "# name the acceptance tests in the request. The filled file goes to quotes/, one file for each provider.",
        "",
        "provider: unnamed provider # write your name here",
        "reference:",
        "received:",
    ]
    root: _Tree = {}
    pools: dict[str, _Tree] = {pool.name: {} for pool in request.pools}
    for one in request.questions:
        _enter(pools[one.pool] if one.pool else root, one.question.below, one)
    for name in Quote.model_fields:
        if name == "pools":
            lines += _pools(request, pools)
        elif name in root:
            node = root[name]
            spaced = [] if not isinstance(node, dict) else [""]
            lines += [*spaced, *_lines(name, node, "")]
    return "\n".join(lines) + "\n"


def write_blank_quote(request: Request, folder: Path) -> Path:
    """Write the blank quote into a workspace and return its path; a file that is there stays as it is.

    Raises:
        UsageError: the file is there already, and holds something else than would be written.
        ToolError: it can't be written.
    """
    path = folder / BLANK_QUOTE
    data = blank_quote(request).encode("utf-8", "backslashreplace")
    try:
        with path.open("xb") as handle:  # exclusive: never over a file or through a link that is there
            handle.write(data)
    except FileExistsError as error:
        if path.is_file() and path.read_bytes() == data:
            return path
        raise UsageError(FILE_EXISTS.code, f"{path} is there already", FILE_EXISTS.fix) from error
    except OSError as error:
        raise ToolError(
            NOT_WRITTEN.code, f"{path} could not be written: {error.strerror or error}", NOT_WRITTEN.fix
        ) from error
    return path


def _enter(tree: _Tree, path: str, one: Asked) -> None:
    """Put a question at its place; a step that ends in ``[]`` holds one entry of a list."""
    *steps, last = path.split(".")
    for step in steps:
        tree = tree.setdefault(step, {})
    tree[last] = one


def _pools(request: Request, pools: dict[str, _Tree]) -> Iterator[str]:
    if not pools:
        return
    yield ""
    yield "pools:"
    for pool in request.pools:
        if pool.wish:
            yield f"  # No pool of target hardware is declared yet: declare one named '{pool.name}' in fourplane.yaml"
            yield "  # before this is checked; what is needed is the brief's wish."
        yield f"  - name: {pool.name}"
        for key, node in pools[pool.name].items():
            yield from _lines(key, node, "    ")


def _lines(key: str, node: Any, indent: str) -> Iterator[str]:
    if not isinstance(node, dict):
        yield from _comment(node, indent)
        yield f"{indent}{key}:"
        return
    name = key.removesuffix("[]")
    yield f"{indent}{name}:"
    inner = indent + "  "
    if name == key:
        for below, child in node.items():
            yield from _lines(below, child, inner)
        return
    yield f"{inner}# one entry for each kind"
    for number, (below, child) in enumerate(node.items()):
        yield from _comment(child, inner if number == 0 else f"{inner}  ")
        yield f"{inner}{'- ' if number == 0 else '  '}{below}:"


def _comment(one: Asked, indent: str) -> Iterator[str]:
    needed = f" Needed: {shorten(one.needed, 160)}." if one.wanted else ""
    example = f" Such as: {one.question.hint}" if one.question.hint != one.wanted else ""
    tests = f" ({', '.join(one.tests)})" if one.tests else ""
    text = f"{one.number} {one.question.text}{needed}{example}{tests}"
    yield from wrap(text, _WIDTH, first=f"{indent}# ", rest=f"{indent}#   ")
