"""What the planes work on and what they return."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from fourplane.base.findings import Finding
from fourplane.base.verdicts import Verdict
from fourplane.catalog.facts import Catalog
from fourplane.records.index import ObservationIndex
from fourplane.spec.declaration import Declaration
from fourplane.spec.workspace import QuoteDocument, Workspace

__all__ = ["Case", "FactRow", "Judgement", "Plane"]


class Plane(StrEnum):
    """The four planes, and security across them."""

    COMPUTE = "compute"
    NETWORK = "network"
    STORAGE = "storage"
    CONTROL = "control"
    SECURITY = "security"


@dataclass(frozen=True)
class Case:
    """Everything a judgement may look at: the cluster declared, promised and found.

    Attributes:
        workspace: the loaded files, with positions for citing.
        observations: evidence, newest word first; empty before anything was measured.
        catalog: what the field knows.
        now: the moment of judgement, UTC.
        damage: what is wrong with the evidence store; while there is any, nothing in it may be judged on.
    """

    workspace: Workspace
    observations: ObservationIndex
    catalog: Catalog
    now: datetime
    damage: tuple[Finding, ...] = ()

    @property
    def declaration(self) -> Declaration:
        """Return the declared cluster."""
        return self.workspace.declaration

    @property
    def quotes(self) -> tuple[QuoteDocument, ...]:
        """Return the quotes on file."""
        return self.workspace.quotes


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact of one subject, three times: declared, promised, found ("" where nobody said or looked).

    Attributes:
        plane: plane of the fact.
        subject: ``pool:NAME``, ``node:NAME`` or ``cluster``.
        fact: dotted name in the specification's words, such as ``gpu.count``.
        declared: as written in the declaration.
        promised: as written in the quote, prefixed by the provider where there are several.
        found: as measured.
        verdict: passed when found answers declared and promised; failed when it contradicts one of them.
        reason: one sentence, naming what would prove an unproven fact.
        evidence: spec places (file:line:col) and observation references.
    """

    plane: Plane
    subject: str
    fact: str
    declared: str
    promised: str
    found: str
    verdict: Verdict
    reason: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What measurements say about one capability.

    Attributes:
        id: dotted name, such as ``network.allreduce``; the review looks it up by this.
        plane: plane it belongs to.
        title: what was judged, in a few words.
        verdict: what the evidence decides.
        reason: the figure, the bound, and which gate decided (target, quote, catalogue, derived need).
        evidence: observation references and spec places.
        measured_at: newest observation behind it, None without one.
        fix: what would prove or mend it.
    """

    id: str
    plane: Plane
    title: str
    verdict: Verdict
    reason: str
    evidence: tuple[str, ...] = ()
    measured_at: datetime | None = None
    fix: str = field(default="")
