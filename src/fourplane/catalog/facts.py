"""The catalogue as one object: ``load_catalog()`` for what is shipped, ``load_catalog(workspace)`` with its own facts.

A workspace adds and overrides by ``catalog/*.yaml`` in the form of the shipped files: what it adds needs unit, source
and date as well. Faults there are findings; the entry is left out, and the rest holds.

Names of GPUs are matched by alias, case and punctuation aside. A name that stands for several boards, such as
``H100`` for SXM, PCIe and NVL, gives all of them; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from fourplane.base.documents.codes import finding
from fourplane.base.findings import Finding
from fourplane.catalog import codes
from fourplane.catalog.model import Expected, Fact, Subject
from fourplane.catalog.reading import CatalogFile, Reader, read_shipped

__all__ = ["OVERLAY", "Catalog", "load_catalog"]

OVERLAY = "catalog"
"""Folder of the workspace that holds its own facts."""
_MOST_FILES = 50
_MOST_BYTES = 2**20

_NOISE = re.compile(r"\b(?:nvidia|amd|instinct|tesla|tensor core|gpus?)\b")
_MIG = re.compile(r"\s+mig\s.*$")


class Catalog:
    """Facts and expected figures, with look-up by name.

    Attributes:
        subjects: what facts are about, by key.
        expected_figures: published figures of collectives, gates among them.
        findings: what is wrong in the workspace's own files.
    """

    def __init__(
        self, subjects: Iterable[Subject] = (), expected: Iterable[Expected] = (), findings: Iterable[Finding] = ()
    ) -> None:
        self.findings: tuple[Finding, ...] = tuple(findings)
        self.subjects: dict[str, Subject] = {subject.key: subject for subject in subjects}
        self.expected_figures: tuple[Expected, ...] = tuple(expected)
        self._exact: dict[str, str] = {}
        self._plain: dict[str, set[str]] = {}
        for subject in self.subjects.values():
            for name in (subject.key, subject.title, *subject.aliases):
                self._exact[name.casefold()] = subject.key
                self._plain.setdefault(_plain(name), set()).add(subject.key)
        for subject in self.subjects.values():
            if subject.family:
                # a family name never stands for one board only by the accident of another's alias
                members = {s.key for s in self.subjects.values() if s.family == subject.family}
                self._plain.setdefault(_plain(subject.family), set()).update(members)

    def find(self, name: str) -> Subject | None:
        """Return the one subject of that name or alias; None if there is none, or several."""
        found = self._keys(name)
        return self.subjects[next(iter(found))] if len(found) == 1 else None

    def candidates(self, name: str, form_factor: str = "") -> tuple[Subject, ...]:
        """Return every GPU that ``name`` may stand for, in order of key; empty when it is unknown.

        Args:
            name: as written in a specification, a quote, or by the vendor's tool.
            form_factor: sxm, pcie, nvl, oam, superchip; "" when nobody said.
        """
        found = [self.subjects[key] for key in sorted(self._keys(name))]
        boards = [subject for subject in found if subject.kind == "gpu"]
        fitting = [subject for subject in boards if subject.form_factor == form_factor]
        return tuple(fitting if form_factor else boards)

    def gpu(self, name: str | None, form_factor: str = "") -> Subject | None:
        """Return the one GPU that ``name`` stands for; None when it is unknown or ambiguous."""
        found = self.candidates(name, form_factor) if name else ()
        return found[0] if len(found) == 1 else None

    def fact(self, subject: str, name: str) -> Fact | None:
        """Return one fact of one subject, or None."""
        entry = self.subjects.get(subject)
        return entry.fact(name) if entry else None

    def expected(self, op: str, gpu: str, *, gpus_per_node: int, nodes: int, transport: str) -> tuple[Expected, ...]:
        """Return the measured figures published for exactly this case, by size; empty when nobody published any."""
        found = [
            figure
            for figure in self.expected_figures
            if figure.decides
            and (figure.op, figure.gpu) == (op, gpu)
            and (figure.gpus_per_node, figure.nodes) == (gpus_per_node, nodes)
            and transport in figure.transport
        ]
        return tuple(sorted(found, key=lambda figure: figure.size_bytes))

    def names(self) -> list[str]:
        """Return keys, titles and aliases of all subjects: what ``find`` understands."""
        return sorted({name for s in self.subjects.values() for name in (s.key, s.title, *s.aliases)})

    def _keys(self, name: str) -> set[str]:
        trimmed = _MIG.sub("", name.strip().casefold())
        if trimmed in self._exact:
            return {self._exact[trimmed]}
        return self._plain.get(_plain(trimmed), set())


@lru_cache(maxsize=1)
def _shipped() -> tuple[Reader, Catalog]:
    reader = read_shipped(Path(__file__).parent / "data")
    return reader, Catalog(reader.subjects.values(), reader.expected)


def load_catalog(overlay: Path | None = None) -> Catalog:
    """Return the catalogue that is shipped with the program, read once; with a workspace's own facts on top.

    Args:
        overlay: folder of a workspace; its ``catalog/*.yaml`` add to the shipped facts and override them.

    Raises:
        ToolError: a shipped file is damaged. Faults in the workspace's files are ``Catalog.findings``.
    """
    base, catalog = _shipped()
    folder = overlay / OVERLAY if overlay is not None else None
    if folder is None or not folder.is_dir():
        return catalog
    findings: list[Finding] = []
    files = [read for path in _overlay_files(folder, findings) if (read := _read(path, findings)) is not None]
    reader = Reader(base=base)
    reader.read(files)
    return Catalog(reader.subjects.values(), reader.expected, [*findings, *reader.findings])


def _overlay_files(folder: Path, findings: list[Finding]) -> list[Path]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".yaml")
    except OSError as error:
        findings.append(_unreadable(folder, error.strerror or str(error)))
        return []
    if len(paths) > _MOST_FILES:
        findings.append(_unreadable(folder, f"{len(paths):,} files, and {_MOST_FILES} are read"))
    return paths[:_MOST_FILES]


def _read(path: Path, findings: list[Finding]) -> CatalogFile | None:
    from fourplane.base.documents.tree import positions_of
    from fourplane.base.documents.yaml_tree import Limits, read_yaml

    try:
        if not path.is_file():
            raise OSError("it is not a regular file")
        with path.open("rb") as handle:
            content = handle.read(_MOST_BYTES + 1)
    except OSError as error:
        findings.append(_unreadable(path, error.strerror or str(error)))
        return None
    document = read_yaml(content, str(path), Limits(size=_MOST_BYTES, nodes=100_000))
    findings.extend(document.findings)
    if document.data is None and not document.findings:
        return None  # an empty file, or one of comments only, adds nothing
    if not isinstance(document.data, dict):
        if not document.findings:
            findings.append(_unreadable(path, "it is not a mapping"))
        return None
    return CatalogFile(str(path), document.data, positions_of(document.root))


def _unreadable(path: Path, reason: str) -> Finding:
    code = codes.UNREADABLE
    message = f"{path} can't be read as a whole: {reason}"
    return finding(code, message, file=str(path), line=1, column=1, found=reason, expected="YAML of the catalogue")


def _plain(name: str) -> str:
    """Return the name without vendor words, case and punctuation: ``a100 sxm4 80gb``."""
    words = _NOISE.sub(" ", name.casefold())
    return " ".join(re.findall(r"[a-z0-9]+", words))
