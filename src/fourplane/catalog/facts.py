"""The catalogue as one object, loaded once: ``load_catalog()``.

Names of GPUs are matched by alias, case and punctuation aside. A name that stands for several boards, such as
``H100`` for SXM, PCIe and NVL, gives all of them; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from fourplane.catalog.model import Expected, Fact, Subject

__all__ = ["Catalog", "load_catalog"]

_NOISE = re.compile(r"\b(?:nvidia|amd|instinct|tesla|tensor core|gpus?)\b")
_MIG = re.compile(r"\s+mig\s.*$")


class Catalog:
    """Facts and expected figures, with look-up by name."""

    def __init__(self, subjects: Iterable[Subject] = (), expected: Iterable[Expected] = ()) -> None:
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
            if figure.kind == "measured"
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
def load_catalog() -> Catalog:
    """Return the catalogue that is shipped with the program; read once.

    Raises:
        ToolError: a file is damaged, or a fact lacks unit, source or date.
    """
    from fourplane.catalog.reading import read_folder

    subjects, expected = read_folder(Path(__file__).parent / "data")
    return Catalog(subjects.values(), expected)


def _plain(name: str) -> str:
    """Return the name without vendor words, case and punctuation: ``a100 sxm4 80gb``."""
    words = _NOISE.sub(" ", name.casefold())
    return " ".join(re.findall(r"[a-z0-9]+", words))
