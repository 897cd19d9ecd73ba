"""Reading the catalogue's YAML; whatever lacks unit, source or date is refused, and all faults are told at once."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from fourplane.base.errors import ToolError
from fourplane.base.units import Dimension, UnitError, parse_quantity
from fourplane.catalog.model import Expected, Fact, Source, Subject

__all__ = ["read_folder"]

_KINDS = {"gpus": "gpu", "nodes": "node", "training": "training"}
_EXPECTED_KINDS = ("measured", "gate")


def read_folder(folder: Path) -> tuple[dict[str, Subject], list[Expected]]:
    """Read every ``*.yaml`` of ``folder``; return subjects by key and the expected figures.

    Raises:
        ToolError: a file can't be read, or any entry lacks unit, source, date or value.
    """
    reader = _Reader()
    documents = [(path.name, _load(path)) for path in sorted(folder.glob("*.yaml"))]
    if not documents:
        raise ToolError("catalog-unreadable", f"no catalogue in {folder}", "install Fourplane again")
    for name, document in documents:
        reader.read_sources(name, document.get("sources") or {})
    for name, document in documents:
        for section, kind in _KINDS.items():
            for key, entry in (document.get(section) or {}).items():
                reader.read_subject(name, str(key), kind, entry)
        for number, entry in enumerate(document.get("expected") or []):
            reader.read_expected(f"{name}: expected[{number}]", entry)
    reader.finish()
    return reader.subjects, reader.expected


def _load(path: Path) -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - both are safe loaders
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ToolError("catalog-unreadable", f"{path.name}: {error}", "install Fourplane again") from error
    if not isinstance(document, dict):
        raise ToolError("catalog-unreadable", f"{path.name} is not a mapping", "install Fourplane again")
    return document


class _Reader:
    """Collects subjects, expected figures and faults."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}
        self.subjects: dict[str, Subject] = {}
        self.expected: list[Expected] = []
        self.faults: list[str] = []

    def read_sources(self, name: str, entries: dict[str, Any]) -> None:
        for key, entry in entries.items():
            title, link, day = entry.get("title"), entry.get("link", ""), entry.get("date")
            if not title:
                self.faults.append(f"{name}: source {key} has no title")
            elif not isinstance(day, date):
                self.faults.append(f"{name}: source {key} has no date")
            elif key in self.sources:
                self.faults.append(f"{name}: source {key} stands there twice")
            else:
                self.sources[key] = Source(key, title, link, day)

    def read_subject(self, name: str, key: str, kind: str, entry: dict[str, Any]) -> None:
        facts = [self._fact(f"{name}: {key}.facts[{i}]", key, raw) for i, raw in enumerate(entry.get("facts") or [])]
        if key in self.subjects:
            self.faults.append(f"{name}: {key} stands there twice")
        self.subjects[key] = Subject(
            key=key,
            kind=kind,
            title=str(entry.get("title", key)),
            aliases=tuple(str(alias) for alias in entry.get("aliases") or ()),
            family=str(entry.get("family", "")),
            form_factor=str(entry.get("form_factor", "")),
            gpu=str(entry.get("gpu", "")),
            facts=tuple(fact for fact in facts if fact is not None),
        )

    def _fact(self, where: str, subject: str, raw: dict[str, Any]) -> Fact | None:
        before = len(self.faults)
        if not raw.get("name"):
            self.faults.append(f"{where} has no name")
        if not raw.get("unit"):
            self.faults.append(f"{where} has no unit")
        bounds = self._bounds(where, raw, "value")
        sources = self._sources_of(where, raw)
        if bounds is None or len(self.faults) > before:
            return None
        return Fact(
            subject=subject,
            name=str(raw["name"]),
            low=bounds[0],
            high=bounds[1],
            unit=str(raw["unit"]),
            sources=sources,
            conditions={str(k): str(v) for k, v in (raw.get("conditions") or {}).items()},
            note=str(raw.get("note", "")),
        )

    def read_expected(self, where: str, raw: dict[str, Any]) -> None:
        before = len(self.faults)
        missing = [key for key in ("op", "gpu", "gpus_per_node", "nodes", "transport", "size") if not raw.get(key)]
        self.faults.extend(f"{where} has no {key}" for key in missing)
        kind = raw.get("kind", "measured")
        if kind not in _EXPECTED_KINDS:
            self.faults.append(f"{where}: kind is {kind!r}, not one of {', '.join(_EXPECTED_KINDS)}")
        bounds = self._bounds(where, raw, "busbw")
        sources = self._sources_of(where, raw)
        size = 0
        try:
            size = int(parse_quantity(str(raw.get("size", "")), Dimension.SIZE).amount)
        except UnitError as error:
            self.faults.append(f"{where}: {error}")
        if bounds is None or len(self.faults) > before:
            return
        self.expected.append(
            Expected(
                op=str(raw["op"]),
                gpu=str(raw["gpu"]),
                gpus_per_node=int(raw["gpus_per_node"]),
                nodes=int(raw["nodes"]),
                transport=tuple(str(t) for t in raw["transport"]),
                size_bytes=size,
                low=bounds[0],
                high=bounds[1],
                kind=kind,
                sources=sources,
                nics=str(raw.get("nics", "")),
                note=str(raw.get("note", "")),
            )
        )

    def _bounds(self, where: str, raw: dict[str, Any], key: str) -> tuple[float, float] | None:
        value = raw.get("range", raw.get(key))
        pair = value if isinstance(value, list) else [value, value]
        numbers = [float(v) for v in pair if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(pair) != 2 or len(numbers) != 2:
            self.faults.append(f"{where} has no {key}, or one that is not a number or a pair of numbers")
            return None
        if numbers[0] > numbers[1]:
            self.faults.append(f"{where}: the range runs downwards")
            return None
        return numbers[0], numbers[1]

    def _sources_of(self, where: str, raw: dict[str, Any]) -> tuple[Source, ...]:
        keys = raw.get("sources") or ([raw["source"]] if raw.get("source") else [])
        if not keys:
            self.faults.append(f"{where} has no source")
        unknown = [key for key in keys if key not in self.sources]
        self.faults.extend(
            f"{where}: source {key} is not in sources.yaml, or it has no title or date" for key in unknown
        )
        return tuple(self.sources[key] for key in keys if key in self.sources)

    def finish(self) -> None:
        gpus = {key for key, subject in self.subjects.items() if subject.kind == "gpu"}
        named = [(f"{s.key}.gpu", s.gpu) for s in self.subjects.values() if s.gpu]
        named += [(f"expected figure of {e.op}", e.gpu) for e in self.expected]
        self.faults.extend(f"{where}: no GPU {gpu} in the catalogue" for where, gpu in named if gpu not in gpus)
        if self.faults:
            raise ToolError(
                "catalog-invalid", "; ".join(self.faults), "give each entry a value, a unit and a dated source"
            )
