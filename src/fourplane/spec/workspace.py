"""A workspace on disk: ``fourplane.yaml``, ``quotes/*.yaml`` and where each value was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fourplane.base.documents.positions import Positions
from fourplane.base.findings import Finding
from fourplane.spec.declaration import Declaration, Quote

__all__ = ["QuoteDocument", "Workspace"]


@dataclass(frozen=True)
class QuoteDocument:
    """One quote with its file name and the places of its values.

    Attributes:
        quote: the promised cluster; empty but for its provider where the file can't be read.
        file: name of the file as the user wrote it.
        positions: places of the quote's values.
        findings: what is wrong with the file itself.
        unreadable: paths of values that were left out because they are wrong; "" for the whole file.
    """

    quote: Quote
    file: str
    positions: Positions
    findings: tuple[Finding, ...] = ()
    unreadable: frozenset[str] = frozenset()

    def cite(self, path: str) -> str:
        """Return ``file:line:column`` of a path such as ``pools[0].shape.gpu.count``, or of its nearest parent."""
        return self.positions.cite(self.file, path)


@dataclass(frozen=True)
class Workspace:
    """Everything that was declared and promised.

    Attributes:
        root: folder that holds ``fourplane.yaml``.
        declaration: the declared cluster, without the values that are wrong.
        file: name of the declaration's file as the user wrote it.
        positions: places of the declaration's values.
        quotes: every readable quote, in order of file name.
        findings: what is wrong with the files themselves, quotes included; nothing about the design.
        sha256: hash over the files, to tell whether the declaration changed since a run.
        unreadable: paths of the declaration's values that were left out because they are wrong; "" for the whole.
    """

    root: Path
    declaration: Declaration
    file: str
    positions: Positions
    quotes: tuple[QuoteDocument, ...] = ()
    findings: tuple[Finding, ...] = field(default=())
    sha256: str = ""
    unreadable: frozenset[str] = frozenset()

    def cite(self, path: str) -> str:
        """Return ``file:line:column`` of a path in the declaration, or of its nearest parent."""
        return self.positions.cite(self.file, path)
