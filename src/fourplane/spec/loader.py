"""Loading a workspace, or one file of it: everything that is wrong with the files comes back as findings, at once."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from fourplane.base.clock import utc_now
from fourplane.base.documents.positions import Positions
from fourplane.base.documents.tree import positions_of
from fourplane.base.documents.yaml_tree import LIMITS, Document, read_yaml
from fourplane.base.errors import UsageError
from fourplane.base.findings import Finding, Level, sorted_findings
from fourplane.spec import codes
from fourplane.spec.declaration import Declaration, Quote
from fourplane.spec.references import check_declaration, check_quote
from fourplane.spec.validation import validate
from fourplane.spec.workspace import QuoteDocument, Workspace

__all__ = ["DECLARATION", "QUOTES", "declaration_of", "is_folder", "load_file", "load_quote", "load_workspace"]

DECLARATION = "fourplane.yaml"
"""File name of a declaration in its workspace."""
QUOTES = "quotes"
"""Folder of the quotes beside it."""

_MOST_QUOTES = 200


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the cycle collector: a tree of 100,000 parts has no cycles, and looking for them doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True, slots=True)
class _Read:
    """One file as read: name for citing, bytes, document."""

    file: str
    content: bytes
    document: Document


def load_workspace(path: Path, *, today: date | None = None) -> Workspace:
    """Load a declaration with its quotes.

    Args:
        path: a folder that holds ``fourplane.yaml``, or that file itself (any name), with ``quotes/`` beside it.
        today: the day against which end dates are held; the present day in UTC by default.

    Raises:
        UsageError: there is no such folder or file.
    """
    file = _declaration_file(path)
    with _no_collection():
        day = today or utc_now().date()
        read = _read(file)
        workspace, pool_names = _declaration(read, file.parent, day)
        paths, findings = _quote_files(file.parent / QUOTES)
        reads = [_read(one) for one in paths]
        quotes = tuple(_quote(one, pool_names, day) for one in reads)
    findings = [*workspace.findings, *findings, *(f for quote in quotes for f in quote.findings)]
    return Workspace(
        root=workspace.root,
        declaration=workspace.declaration,
        file=workspace.file,
        positions=workspace.positions,
        quotes=quotes,
        findings=tuple(sorted_findings(findings)),
        sha256=_digest([read, *reads]),
        unreadable=workspace.unreadable,
    )


def load_quote(path: Path, *, today: date | None = None) -> QuoteDocument:
    """Load one quote; its pools are held against the declaration that ``declaration_of`` finds.

    Raises:
        UsageError: there is no such file.
    """
    with _no_collection():
        read = _read(_existing(path))
        return _quote(read, _beside(path), today or utc_now().date())


def declaration_of(quote: Path) -> Path | None:
    """Return the declaration that a quote answers: one folder above ``quotes/``, else beside it; None without one."""
    folder = quote.resolve().parent
    file = (folder.parent if folder.name == QUOTES else folder) / DECLARATION
    return file if file.is_file() else None


def _beside(quote: Path) -> frozenset[str] | None:
    declaration = declaration_of(quote)
    return _pool_names(_read(declaration).document.data) if declaration is not None else None


def load_file(path: Path, *, today: date | None = None) -> Workspace | QuoteDocument:
    """Load one file alone: a quote lies in ``quotes/`` or names a ``provider``, everything else is a declaration.

    Raises:
        UsageError: there is no such file.
    """
    day = today or utc_now().date()
    with _no_collection():
        read = _read(_existing(path))
        data = read.document.data
        in_quotes = path.resolve().parent.name == QUOTES
        if in_quotes or (isinstance(data, dict) and "provider" in data and "brief" not in data):
            return _quote(read, _beside(path), day)
        return _declaration(read, path.parent, day)[0]


def _declaration_file(path: Path) -> Path:
    if not is_folder(path):
        return _existing(path)
    file = path / DECLARATION
    if _kind(file) != "nothing":
        return file
    other = next((name for name in ("fourplane.yml", "Fourplane.yaml") if _kind(path / name) == "file"), "")
    fix = f"rename {other} to {DECLARATION}" if other else f"write one with 'fourplane init {path}'"
    raise UsageError(codes.NO_WORKSPACE.code, f"there is no {DECLARATION} in {path}", fix)


def _existing(path: Path) -> Path:
    kind = _kind(path)
    if kind == "folder":
        raise UsageError(codes.NO_FILE.code, f"{path} is a folder, not a file", "name a YAML file")
    if kind == "nothing":
        raise UsageError(codes.NO_FILE.code, f"there is no file {path}", codes.NO_FILE.fix)
    return path


def is_folder(path: Path) -> bool:
    """Tell whether ``path`` is a folder.

    Raises:
        UsageError: the system refuses the path: too long, or no permission to look.
    """
    return _kind(path) == "folder"


def _kind(path: Path) -> str:
    """Return folder, file or nothing; a path that the system refuses is an error of the call."""
    try:
        return "folder" if path.is_dir() else "file" if path.exists() else "nothing"
    except OSError as error:
        raise UsageError(codes.NO_FILE.code, f"{path}: {error.strerror or error}", codes.NO_FILE.fix) from error


def _read(path: Path) -> _Read:
    """Read a file that exists; what can't be read is a finding of the document."""
    file = str(path)
    try:
        if not path.is_file():
            raise OSError("it is not a regular file")
        with path.open("rb") as handle:
            content = handle.read(LIMITS.size + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        found = codes.finding(
            codes.UNREADABLE, f"{file} can't be read: {reason}", file=file, line=1, column=1, found=reason,
            expected="a readable file",
        )  # fmt: skip
        return _Read(file, b"", Document(None, None, [found]))
    return _Read(file, content, read_yaml(content, file))


def _pool_names(data: Any) -> frozenset[str]:
    """Return every name under ``pools``, right or wrong: what refers to a wrong one has no second fault."""
    pools = data.get("pools") if isinstance(data, dict) else None
    entries = pools if isinstance(pools, list) else []
    return frozenset(str(entry["name"]) for entry in entries if isinstance(entry, dict) and entry.get("name"))


def _declaration(read: _Read, root: Path, today: date) -> tuple[Workspace, frozenset[str] | None]:
    whole = isinstance(read.document.data, dict)
    pool_names = _pool_names(read.document.data)
    declaration, result = validate(Declaration, read.document, read.file, {"name": "unnamed"})
    positions = positions_of(read.document.root) if whole else Positions()
    findings = result.findings
    if whole:
        findings = [*findings, *check_declaration(declaration, read.file, positions, pool_names, today)]
    workspace = Workspace(
        root=root,
        declaration=declaration,
        file=read.file,
        positions=positions,
        findings=tuple(sorted_findings(findings)),
        sha256=_digest([read]),
        unreadable=frozenset(result.dropped),
    )
    return workspace, pool_names if whole else None


def _quote(read: _Read, pool_names: frozenset[str] | None, today: date) -> QuoteDocument:
    whole = isinstance(read.document.data, dict)
    quote, result = validate(Quote, read.document, read.file, {"provider": Path(read.file).stem})
    positions = positions_of(read.document.root) if whole else Positions()
    findings = result.findings
    if whole:
        findings = [*findings, *check_quote(quote, read.file, positions, pool_names, today)]
    return QuoteDocument(quote, read.file, positions, tuple(sorted_findings(findings)), frozenset(result.dropped))


def _quote_files(folder: Path) -> tuple[list[Path], list[Finding]]:
    """Return the quotes of a workspace in order of name, and a finding for each file that is passed over."""
    if not folder.is_dir():
        return [], []
    files: list[Path] = []
    findings: list[Finding] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_dir():
            continue
        if path.suffix == ".yaml" and len(files) < _MOST_QUOTES:
            files.append(path)
        elif path.suffix in (".yaml", ".yml", ".json"):
            expected = f"at most {_MOST_QUOTES} quotes" if path.suffix == ".yaml" else "NAME.yaml"
            findings.append(
                codes.finding(codes.IGNORED_FILE, f"{path} is not read", level=Level.WARNING, file=str(path), line=1,
                              column=1, found=path.name, expected=expected)
            )  # fmt: skip
    return files, findings


def _digest(reads: list[_Read]) -> str:
    """Return one hash over names and contents, the lengths included so that no two layouts share it."""
    total = hashlib.sha256()
    for read in reads:
        name = Path(read.file).name.encode()
        total.update(f"{len(name)}:{len(read.content)}:".encode() + name + read.content)
    return total.hexdigest()
