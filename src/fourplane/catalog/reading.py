"""Reading the catalogue's YAML: whatever lacks unit, source or date is refused, and all faults are told at once.

The shipped files and a workspace's own ``catalog/*.yaml`` are read by the same code. A fault in a shipped file stops
the program; a fault in a workspace's file is a finding with line and column, and the entry is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from fourplane.base.codes import Code, similar
from fourplane.base.documents.codes import finding
from fourplane.base.documents.positions import Positions
from fourplane.base.errors import ToolError
from fourplane.base.findings import Finding
from fourplane.base.text import shorten
from fourplane.base.units import Dimension, UnitError, parse_quantity
from fourplane.catalog import codes
from fourplane.catalog.model import Expected, Fact, Source, Subject

__all__ = ["CatalogFile", "Reader", "read_shipped"]

_KINDS = {
    "gpus": "gpu", "nodes": "node", "fabrics": "fabric", "transports": "transport", "software": "software",
    "storage": "storage", "training": "training", "reliability": "reliability",
}  # fmt: skip
"""Kind of subject by section."""
_EXPECTED_KINDS = ("measured", "gate")
STANDINGS = ("not re-read", "gate", "estimate")
"""Why a fact decides nothing: known but not read again, a threshold that somebody ships, scaled or guessed."""

_TOP = (*_KINDS, "sources", "facts", "expected")
_SOURCE = ("title", "link", "date")
_SUBJECT = ("title", "aliases", "family", "form_factor", "gpu", "facts")
_FACT = ("name", "value", "range", "unit", "source", "sources", "conditions", "note")
_FIGURE = (
    "op", "gpu", "gpus_per_node", "nodes", "transport", "nics", "size", "busbw", "kind", "statistic", "source",
    "sources", "note",
)  # fmt: skip


class CatalogFile:
    """One file as read: its name, its data, and the places of what it says."""

    def __init__(self, name: str, data: dict[str, Any], positions: Positions) -> None:
        self.name = name
        self.data = data
        self.positions = positions


def read_shipped(folder: Path) -> Reader:
    """Read every ``*.yaml`` of ``folder``.

    Raises:
        ToolError: a file can't be read, or any entry lacks unit, source, date or value.
    """
    reader = Reader(shipped=True)
    files = [_load(path) for path in sorted(folder.glob("*.yaml"))]
    if not files:
        raise ToolError("catalog-unreadable", f"no catalogue in {folder}", "install Fourplane again")
    reader.read(files)
    if reader.findings:
        told = "; ".join(f"{one.place} {one.path}: {one.message}" for one in reader.findings)
        raise ToolError("catalog-invalid", told, "give each entry a value, a unit and a dated source")
    return reader


def _load(path: Path) -> CatalogFile:
    from fourplane.base.documents.tree import positions_of
    from fourplane.base.documents.yaml_tree import read_yaml

    try:
        document = read_yaml(path.read_bytes(), path.name)
    except OSError as error:
        raise ToolError("catalog-unreadable", f"{path.name}: {error}", "install Fourplane again") from error
    if document.findings or not isinstance(document.data, dict):
        why = document.findings[0].message if document.findings else "not a mapping"
        raise ToolError("catalog-unreadable", f"{path.name}: {why}", "install Fourplane again")
    return CatalogFile(path.name, document.data, positions_of(document.root))


class Reader:
    """Collects sources, subjects, expected figures, and faults as findings.

    Args:
        shipped: entries carry no place: they are what the program brings.
        base: the reader of the shipped catalogue, whose entries the files may add to and override.
    """

    def __init__(self, *, shipped: bool = False, base: Reader | None = None) -> None:
        self.shipped = shipped
        self.sources: dict[str, Source] = dict(base.sources) if base else {}
        self.subjects: dict[str, Subject] = dict(base.subjects) if base else {}
        self.expected: list[Expected] = list(base.expected) if base else []
        self.findings: list[Finding] = []
        self._own_subjects: set[str] = set()
        self._file = CatalogFile("", {}, Positions())

    def read(self, files: Iterable[CatalogFile]) -> None:
        """Read all files: sources first, then subjects, then what is said of subjects."""
        listed = list(files)
        for file in listed:
            self._file = file
            self._known("", file.data, _TOP)
            for key, entry in self._mapping("sources", file.data.get("sources")):
                self._source(key, entry)
        for file in listed:
            self._file = file
            for section, kind in _KINDS.items():
                for key, entry in self._mapping(section, file.data.get(section)):
                    self._subject(f"{section}.{key}", key, kind, entry)
        for file in listed:
            self._file = file
            for key, entries in self._mapping("facts", file.data.get("facts")):
                self._more_facts(f"facts.{key}", key, entries)
            for number, entry in enumerate(self._list("expected", file.data.get("expected"))):
                self._figure(f"expected[{number}]", entry)
            self._check_gpus()

    # what is wrong

    def _find(self, code: Code, path: str, message: str, found: Any = "", expected: str = "", fix: str = "") -> None:
        positions = self._file.positions
        of_key = positions.keys.get(path) if code in (codes.UNKNOWN, codes.NO_SUBJECT) else None
        line, column = of_key or positions.place(path)
        self.findings.append(
            finding(
                code,
                message,
                file=self._file.name,
                line=line,
                column=column,
                path=path,
                found=shorten(str(found), 80),
                expected=expected,
                fix=fix,
            )
        )

    def _known(self, path: str, entry: dict[str, Any], keys: tuple[str, ...]) -> None:
        for key in entry:
            if key not in keys:
                near = similar(key, list(keys), limit=1)
                hint = f"did you mean '{near[0]}'?" if near else ""
                at = f"{path}.{key}" if path else key
                shown = shorten(key, 60)
                self._find(codes.UNKNOWN, at, f"there is no key '{shown}' here", shown, ", ".join(keys), hint)

    def _mapping(self, path: str, value: Any) -> list[tuple[str, Any]]:
        if value is None:
            return []
        if not isinstance(value, dict):
            self._find(codes.INCOMPLETE, path, f"{path} is not a mapping", type(value).__name__, "a mapping")
            return []
        return list(value.items())

    def _list(self, path: str, value: Any) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list):
            self._find(codes.INCOMPLETE, path, f"{path} is not a list", type(value).__name__, "a list")
            return []
        return value

    def _entry(self, path: str, entry: Any, keys: tuple[str, ...]) -> dict[str, Any] | None:
        if not isinstance(entry, dict):
            self._find(codes.INCOMPLETE, path, f"{path} is not a mapping", type(entry).__name__, "a mapping")
            return None
        self._known(path, entry, keys)
        return entry

    # sources and subjects

    def _source(self, key: str, entry: Any) -> None:
        path = f"sources.{key}"
        raw = self._entry(path, entry, _SOURCE)
        if raw is None:
            return
        title, day = raw.get("title"), raw.get("date")
        if not title:
            self._find(codes.SOURCELESS, path, f"source {key} has no title", "no title", "a title to find it again by")
        elif not isinstance(day, date):
            self._find(codes.SOURCELESS, f"{path}.date", f"source {key} has no date", day or "no date", "a day")
        elif key in self.sources:
            self._find(codes.TWICE, path, f"source {key} stands there twice", key, "another name")
        else:
            self.sources[key] = Source(key, str(title), str(raw.get("link", "")), day)

    def _subject(self, path: str, key: str, kind: str, entry: Any) -> None:
        raw = self._entry(path, entry, _SUBJECT)
        if raw is None:
            return
        if key in self._own_subjects:
            self._find(codes.TWICE, path, f"{key} stands there twice", key, "one entry")
            return
        self._own_subjects.add(key)
        old = self.subjects.get(key)
        if old is not None and old.kind != kind:
            self._find(codes.TWICE, path, f"{key} is a {old.kind} in the shipped catalogue", kind, old.kind)
            return
        old = old or Subject(key, kind, key)
        aliases = [str(alias) for alias in self._list(f"{path}.aliases", raw.get("aliases"))]
        self.subjects[key] = replace(
            old,
            title=str(raw.get("title", old.title)),
            aliases=tuple(dict.fromkeys((*old.aliases, *aliases))),
            family=str(raw.get("family", old.family)),
            form_factor=str(raw.get("form_factor", old.form_factor)),
            gpu=str(raw.get("gpu", old.gpu)),
        )
        self._add_facts(f"{path}.facts", key, raw.get("facts"))

    def _more_facts(self, path: str, key: str, entries: Any) -> None:
        if key not in self.subjects:
            near = similar(key, list(self.subjects), limit=1)
            hint = f"did you mean '{near[0]}'?" if near else ""
            self._find(codes.NO_SUBJECT, path, f"the catalogue knows no {shorten(key, 60)}", key, "a subject", hint)
            return
        self._add_facts(path, key, entries)

    def _add_facts(self, path: str, key: str, entries: Any) -> None:
        subject = self.subjects[key]
        facts = list(subject.facts)
        for number, entry in enumerate(self._list(path, entries)):
            fact = self._fact(f"{path}[{number}]", key, entry)
            if fact is None:
                continue
            same = [i for i, one in enumerate(facts) if _same(one, fact)]
            if same and facts[same[0]].place == "" and not self.shipped:
                old = facts[same[0]]
                facts[same[0]] = replace(fact, overrides=f"{old.shown} ({old.sources[0].title}, {old.date})")
            elif same:
                self._find(codes.TWICE, f"{path}[{number}]", f"{fact.name} of {key} stands there twice", fact.name)
            else:
                facts.append(fact)
        self.subjects[key] = replace(subject, facts=tuple(facts))

    # facts and figures

    def _fact(self, path: str, subject: str, entry: Any) -> Fact | None:
        before = len(self.findings)
        raw = self._entry(path, entry, _FACT)
        if raw is None:
            return None
        for key in ("name", "unit"):
            if not raw.get(key):
                self._find(codes.INCOMPLETE, path, f"the fact has no {key}", f"no {key}", f"a {key}")
        bounds = self._bounds(path, raw, "value")
        sources = self._sources_of(path, raw)
        conditions = {k: str(v) for k, v in self._mapping(f"{path}.conditions", raw.get("conditions"))}
        standing = conditions.get("standing")
        if standing is not None and standing not in STANDINGS:
            expected = " or ".join(STANDINGS)
            at = f"{path}.conditions.standing"
            self._find(codes.INCOMPLETE, at, f"the standing {shorten(standing, 40)!r} is not known", standing, expected)
        if bounds is None or len(self.findings) > before:
            return None
        return Fact(
            subject, str(raw["name"]), *bounds, str(raw["unit"]), sources, conditions, str(raw.get("note", "")),
            self._place(path),
        )  # fmt: skip

    def _figure(self, path: str, entry: Any) -> None:
        before = len(self.findings)
        raw = self._entry(path, entry, _FIGURE)
        if raw is None:
            return
        kind, statistic = raw.get("kind", "measured"), str(raw.get("statistic", ""))
        needed = ["op", "gpu", "gpus_per_node", "nodes", "transport"]
        # the size is what a measurement is held against; a gate or an average often has none
        needed += ["size"] if kind == "measured" and not statistic else []
        for key in (key for key in needed if not raw.get(key)):
            self._find(codes.INCOMPLETE, path, f"the figure has no {key}", f"no {key}", f"a {key}")
        if kind not in _EXPECTED_KINDS:
            expected = " or ".join(_EXPECTED_KINDS)
            message = f"kind is {shorten(str(kind), 40)!r}, not {expected}"
            self._find(codes.INCOMPLETE, f"{path}.kind", message, kind, expected)
        numbers = [raw.get("gpus_per_node"), raw.get("nodes")]
        if any(n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 1) for n in numbers):
            message = "gpus_per_node and nodes are whole numbers above zero"
            self._find(codes.INCOMPLETE, path, message, numbers, "whole numbers")
        transports = [str(one) for one in self._list(f"{path}.transport", raw.get("transport"))]
        bounds = self._bounds(path, raw, "busbw")
        sources = self._sources_of(path, raw)
        size = self._size(path, raw.get("size"))
        if bounds is None or len(self.findings) > before:
            return
        self._take(
            path,
            Expected(
                op=str(raw["op"]),
                gpu=str(raw["gpu"]),
                gpus_per_node=raw["gpus_per_node"],
                nodes=raw["nodes"],
                transport=tuple(transports),
                size_bytes=size,
                low=bounds[0],
                high=bounds[1],
                kind=kind,
                sources=sources,
                nics=str(raw.get("nics", "")),
                note=str(raw.get("note", "")),
                statistic=statistic,
                place=self._place(path),
            ),
        )

    def _take(self, path: str, figure: Expected) -> None:
        same = [i for i, one in enumerate(self.expected) if one.case == figure.case and one.place == ""]
        if same and not self.shipped:
            old = self.expected[same[0]]
            self.expected[same[0]] = replace(figure, overrides=f"{old.shown} ({old.source_titles}, {old.date})")
        elif any(one.case == figure.case and one.sources == figure.sources for one in self.expected):
            self._find(codes.TWICE, path, f"the figure of {figure.op} stands there twice", figure.shown)
        else:
            self.expected.append(figure)

    def _size(self, path: str, value: Any) -> int:
        if value is None:
            return 0
        try:
            return int(parse_quantity(str(value), Dimension.SIZE).amount)
        except UnitError as error:
            self._find(codes.INCOMPLETE, f"{path}.size", str(error), value, error.expected, error.fix)
            return 0

    def _bounds(self, path: str, raw: dict[str, Any], key: str) -> tuple[float, float] | None:
        value = raw.get("range", raw.get(key))
        pair = value if isinstance(value, list) else [value, value]
        numbers = [float(v) for v in pair if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(pair) != 2 or len(numbers) != 2:
            message = f"it has no {key}, or one that is not a number or a pair of numbers"
            self._find(codes.INCOMPLETE, path, message, "nothing" if value is None else value, "a number, or a range")
            return None
        if numbers[0] > numbers[1]:
            self._find(codes.INCOMPLETE, path, "the range runs downwards", value, "[low, high]")
            return None
        return numbers[0], numbers[1]

    def _sources_of(self, path: str, raw: dict[str, Any]) -> tuple[Source, ...]:
        listed = raw.get("sources") or ([raw["source"]] if raw.get("source") else [])
        keys = [str(key) for key in self._list(f"{path}.sources", listed)]
        if not keys:
            self._find(codes.SOURCELESS, path, "it has no source", "no source", "a dated source")
        for key in (key for key in keys if key not in self.sources):
            near = similar(key, list(self.sources), limit=1)
            message = f"source {shorten(key, 60)} is not among the sources, or it has no title or date"
            self._find(
                codes.SOURCELESS, path, message, key, "a dated source", f"did you mean '{near[0]}'?" if near else ""
            )
        return tuple(self.sources[key] for key in keys if key in self.sources)

    def _place(self, path: str) -> str:
        return "" if self.shipped else self._file.positions.cite(self._file.name, path)

    def _check_gpus(self) -> None:
        """Find GPUs that are named and not described, in this file's nodes and figures."""
        gpus = {key for key, subject in self.subjects.items() if subject.kind == "gpu"}
        named = [
            (f"nodes.{key}.gpu", entry.get("gpu"))
            for key, entry in self._mapping("nodes", self._file.data.get("nodes"))
            if isinstance(entry, dict)
        ]
        figures = self._file.data.get("expected")
        for number, entry in enumerate(figures if isinstance(figures, list) else ()):
            if isinstance(entry, dict):
                named.append((f"expected[{number}].gpu", entry.get("gpu")))
        wrong = {str(gpu) for _, gpu in named if gpu and str(gpu) not in gpus}
        for path, gpu in named:
            if gpu and str(gpu) in wrong:
                near = similar(str(gpu), sorted(gpus), limit=1)
                hint = f"did you mean '{near[0]}'?" if near else ""
                shown = shorten(str(gpu), 60)
                self._find(codes.NO_SUBJECT, path, f"no GPU {shown} in the catalogue", shown, "a GPU", hint)
        self.expected = [one for one in self.expected if one.gpu not in wrong]


def _same(one: Fact, other: Fact) -> bool:
    """Tell whether two facts state the same thing; the sources differ where one provider's price is meant."""
    return one.name == other.name and dict(one.conditions) == dict(other.conditions)
