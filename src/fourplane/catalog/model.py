"""What a catalogue is made of: sources, subjects with facts, expected figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

__all__ = ["Expected", "Fact", "Source", "Subject", "format_number"]


def format_number(value: float) -> str:
    """Return a figure without trailing zeros: ``3.35``, ``989``, ``1,978``."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,g}"


@dataclass(frozen=True, slots=True)
class Source:
    """Where figures were read: title precise enough to find it again, link, date.

    The date is the source's own; where it carries none, the day on which it was read.
    """

    key: str
    title: str
    link: str
    date: date


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of one subject.

    Attributes:
        subject: key of the subject, such as ``h100-sxm``.
        name: what it states, such as ``memory_bandwidth``.
        low: the figure, or the lowest of disagreeing sources, in ``unit``.
        high: the figure, or the highest.
        unit: unit as written; ``count`` for plain numbers.
        sources: at least one.
        conditions: what else holds: density, direction, kind, day; ``standing`` says why it decides nothing.
        note: remark, such as why sources differ.
        place: file:line:column of the workspace's own catalogue, "" for what is shipped.
        overrides: what the shipped catalogue says instead, with its source; "" where it says nothing.
    """

    subject: str
    name: str
    low: float
    high: float
    unit: str
    sources: tuple[Source, ...]
    conditions: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    place: str = ""
    overrides: str = ""

    @property
    def date(self) -> date:
        """Return the date of the oldest source: the fact is no fresher than that."""
        return min(source.date for source in self.sources)

    @property
    def decides(self) -> bool:
        """Tell whether rules and judgements may rest on it: not on gates, estimates and what was not re-read."""
        return "standing" not in self.conditions

    @property
    def shown(self) -> str:
        """Return the figure with its unit, such as ``7.7–8 TB/s``."""
        unit = "" if self.unit == "count" else f" {self.unit}"
        low, high = format_number(self.low), format_number(self.high)
        return f"{low}{unit}" if low == high else f"{low}–{high}{unit}"

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "subject": self.subject,
            "name": self.name,
            "value": self.low if self.low == self.high else [self.low, self.high],
            "unit": self.unit,
            "conditions": dict(self.conditions),
            "decides": self.decides,
            "note": self.note,
            "date": self.date.isoformat(),
            "sources": [_source_json(source) for source in self.sources],
            "place": self.place,
            "overrides": self.overrides,
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that facts are about: a GPU board, a node shape, a fabric, a release, a way of training.

    Attributes:
        key: kebab-case name.
        kind: ``gpu``, ``node``, ``fabric``, ``transport``, ``software``, ``storage``, ``training`` or ``reliability``.
        title: name for people.
        aliases: other spellings, the vendor tool's own among them.
        family: name shared by boards that people mix up, such as ``h100``.
        form_factor: how a GPU sits in the node, "" for other kinds.
        gpu: key of the GPU in a node, "" for other kinds.
        facts: by name; several where conditions differ.
    """

    key: str
    kind: str
    title: str
    aliases: tuple[str, ...] = ()
    family: str = ""
    form_factor: str = ""
    gpu: str = ""
    facts: tuple[Fact, ...] = ()

    def fact(self, name: str) -> Fact | None:
        """Return the fact of that name that may decide something, or None; see ``Fact.decides``."""
        return next((fact for fact in self.facts if fact.name == name and fact.decides), None)


@dataclass(frozen=True, slots=True)
class Expected:
    """A published figure of a collective, and what it holds for.

    Attributes:
        op: collective, such as ``all_reduce``.
        gpu: key of the GPU.
        gpus_per_node: GPUs that took part on each node.
        nodes: how many nodes took part.
        transport: what carried the data, such as nvlink, nvls, ib, roce; several where the source leaves it open.
        size_bytes: size of the message; bus bandwidth holds at this size only. 0 where the source names none.
        low: bus bandwidth in GB/s, or the lowest of disagreeing sources.
        high: or the highest.
        kind: ``measured``, or ``gate`` for a threshold that somebody ships.
        sources: at least one.
        nics: network interfaces of one node, as published.
        note: remark.
        statistic: "" for the figure at ``size_bytes``; else what it is, such as an average over all sizes.
        place: file:line:column of the workspace's own catalogue, "" for what is shipped.
        overrides: what the shipped catalogue says instead, with its source.
    """

    op: str
    gpu: str
    gpus_per_node: int
    nodes: int
    transport: tuple[str, ...]
    size_bytes: int
    low: float
    high: float
    kind: str
    sources: tuple[Source, ...]
    nics: str = ""
    note: str = ""
    statistic: str = ""
    place: str = ""
    overrides: str = ""

    @property
    def decides(self) -> bool:
        """Tell whether a measurement may be held against it: a figure that was measured at a size of its own."""
        return self.kind == "measured" and self.size_bytes > 0 and not self.statistic

    @property
    def case(self) -> tuple[str, str, int, int, tuple[str, ...], str, int, str, str]:
        """Return what two figures must share to speak of the same thing; a later one then overrides."""
        transports = tuple(sorted(self.transport))
        return (
            self.op, self.gpu, self.gpus_per_node, self.nodes, transports, self.nics, self.size_bytes, self.kind,
            self.statistic,
        )  # fmt: skip

    @property
    def date(self) -> date:
        """Return the date of the oldest source."""
        return min(source.date for source in self.sources)

    @property
    def shown(self) -> str:
        """Return the figure with its unit."""
        low, high = format_number(self.low), format_number(self.high)
        return f"{low} GB/s" if low == high else f"{low}–{high} GB/s"

    @property
    def source_titles(self) -> str:
        """Return the titles of the sources in one line."""
        return "; ".join(source.title for source in self.sources)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "op": self.op,
            "gpu": self.gpu,
            "gpus_per_node": self.gpus_per_node,
            "nodes": self.nodes,
            "transport": list(self.transport),
            "size_bytes": self.size_bytes,
            "busbw_gbps": self.low if self.low == self.high else [self.low, self.high],
            "kind": self.kind,
            "statistic": self.statistic,
            "decides": self.decides,
            "nics": self.nics,
            "note": self.note,
            "date": self.date.isoformat(),
            "sources": [_source_json(source) for source in self.sources],
            "place": self.place,
            "overrides": self.overrides,
        }


def _source_json(source: Source) -> dict[str, str]:
    return {"title": source.title, "link": source.link, "date": source.date.isoformat()}
