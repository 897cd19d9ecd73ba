"""Lines that a quote leaves unanswered, each named with its place (B5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from fourplane.base.findings import Finding, Level
from fourplane.base.text import plural, printable
from fourplane.planes.model import Plane
from fourplane.planes.procurement.codes import UNANSWERED
from fourplane.planes.procurement.questions import QUESTIONS, Question, answer, applies
from fourplane.planes.reading import walk
from fourplane.planes.shapes import view_pool
from fourplane.spec.compute import Pool, PoolRole
from fourplane.spec.declaration import Declaration
from fourplane.spec.workspace import QuoteDocument, Workspace

__all__ = ["OpenLine", "open_lines", "unanswered"]

_PLANES = {"compute", "network", "storage", "security"}
_STAND_IN_NAMES = 6
"""Lines of a stand-in's quote that are named: nobody will chase them."""


class OpenLine:
    """One line that a quote leaves open: its path in the quote, and the question behind it."""

    __slots__ = ("path", "question", "stand_in")

    def __init__(self, path: str, question: Question, *, stand_in: bool) -> None:
        self.path = path
        self.question = question
        self.stand_in = stand_in


def unanswered(workspace: Workspace) -> list[Finding]:
    """Return a finding for each part of each quote that leaves lines unanswered, at the first of them.

    Lines of one mapping come as one finding. A pool that only stands in for the target is not bought, so all that its
    quote leaves open is one remark.
    """
    out: list[Finding] = []
    for document in workspace.quotes:
        if "" in document.unreadable:
            continue
        parts: dict[tuple[bool, str], list[OpenLine]] = defaultdict(list)
        for line in open_lines(document, workspace.declaration):
            if not _within(line.path, document.unreadable):
                parts[line.stand_in, "" if line.stand_in else _parent(line.path)].append(line)
        out += [_finding(document, lines) for lines in parts.values()]
    return out


def open_lines(document: QuoteDocument, declaration: Declaration) -> Iterator[OpenLine]:
    """Yield every line that applies to the declared cluster and that the quote leaves open, in its order."""
    quote = document.quote
    declared = {pool.name: (pool, view_pool(pool, index)) for index, pool in enumerate(declaration.pools)}
    roles = [declared[pool.name][0].role for pool in quote.pools if pool.name in declared]
    stand_in = bool(roles) and all(role is PoolRole.STAND_IN for role in roles)
    for question in QUESTIONS:
        if not question.of_pool:
            if applies(question, declaration):
                yield from _open(quote, question, "", stand_in)
            continue
        for index, quoted in enumerate(quote.pools):
            pool, view = declared.get(quoted.name, (None, None))
            if _ours(question, pool, quote.provider):
                continue
            if applies(question, declaration, gpus=view is None or view.has_gpus):
                alone = pool is not None and pool.role is PoolRole.STAND_IN
                yield from _open(quoted, question, f"pools[{index}].", stand_in or alone)


def _ours(question: Question, pool: Pool | None, provider: str) -> bool:
    """Tell whether a layer of software is declared to be kept by somebody else than the provider."""
    head, _, layer = question.below.rpartition(".")[0].partition(".")
    if head != "lifecycle" or pool is None:
        return False
    owner = walk(pool, f"lifecycle.{layer}.owner")
    return owner is not None and provider.casefold() not in owner.casefold()


def _open(model: object, question: Question, prefix: str, stand_in: bool) -> Iterator[OpenLine]:
    for path, value in answer(model, question.below):
        if value is None:
            yield OpenLine(prefix + path, question, stand_in=stand_in)


def _finding(document: QuoteDocument, lines: list[OpenLine]) -> Finding:
    paths = list(dict.fromkeys(line.path for line in lines))
    parent = _parent(paths[0])
    inside = all(_parent(path) == parent for path in paths)
    names = [path[len(parent) :].lstrip(".") if inside and parent else path for path in paths]
    if lines[0].stand_in:
        names = [*names[:_STAND_IN_NAMES], f"and {len(names) - _STAND_IN_NAMES:,} more"][: len(names)]
    where = f" in {parent}" if inside and parent else ""
    provider = printable(document.quote.provider)
    note = ", for a pool that only stands in for the target" if lines[0].stand_in else ""
    path = _written(document, paths)
    line, column = document.positions.keys.get(path) or document.positions.place(path)
    group = lines[0].question.group
    return Finding(
        code=UNANSWERED.code,
        level=Level.INFO if lines[0].stand_in else Level.WARNING,
        message=f"{provider} leaves {plural(len(paths), 'line')} unanswered{where}: {', '.join(names)}{note}",
        file=document.file,
        line=line,
        column=column,
        path=path,
        found="no answer",
        expected=f"such as {lines[0].question.hint}",
        fix=UNANSWERED.fix,
        plane=str(Plane(group)) if group in _PLANES else "",
    )


def _written(document: QuoteDocument, paths: Iterable[str]) -> str:
    """Return the first path whose key stands in the file, empty though it is; the first path where none does."""
    listed = list(paths)
    return next((path for path in listed if path in document.positions.keys), listed[0])


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _within(path: str, left_out: frozenset[str]) -> bool:
    """Tell whether a line lies in a value that was wrong and left out: another finding names it already."""
    return any(path == one or path.startswith((f"{one}.", f"{one}[")) for one in left_out)
