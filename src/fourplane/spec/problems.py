"""From one error of the models to one finding: the right code, the right place, found, expected and the fix."""

from __future__ import annotations

from datetime import date
from typing import Any

from fourplane.base import codes as registry
from fourplane.base.documents.positions import Place, join_path
from fourplane.base.documents.tree import Node, find_node
from fourplane.base.findings import Finding, Level
from fourplane.base.text import shorten
from fourplane.spec import codes
from fourplane.spec.schema import choices_of, field_at, homes_of, model_at, nearest_key, nearest_value
from fourplane.spec.types import Model, written

__all__ = ["describe", "plane_of", "problem"]

_PLANES = {
    "pools": "compute", "network": "network", "fabric": "network", "storage": "storage", "control": "control",
    "teams": "control", "telemetry": "control", "security": "security",
}  # fmt: skip
_STRAYS = {
    "network": "a quote promises its 'fabric' at the top level",
    **dict.fromkeys(
        ("brief", "control", "teams", "security", "telemetry", "alternatives", "targets", "waivers"),
        "it belongs to the declaration; a quote holds what the provider promises",
    ),
    "terms": "it belongs to a quote; the declaration holds what is wanted",
}
_PHRASES = {
    "spec-negative": "is negative",
    "spec-out-of-range": "is out of range",
    "spec-wrong-type": "has the wrong type",
    "spec-wrong-unit": "has the wrong unit",
    "spec-bad-name": "is not a valid name",
    "spec-bad-host-list": "is not a host list",
    "spec-bad-ratio": "is not an oversubscription",
    "spec-bad-date": "is not a day",
    "spec-bad-condition": "is not the id of a condition",
    "spec-blank": "says nothing",
    "spec-unknown-value": "is not known",
    "spec-placeholder": "counts as not stated",
}
_NOT_TEXT_TRUTH = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def plane_of(parts: tuple[str | int, ...]) -> str:
    """Return the plane that a path belongs to, "" for the brief, money and waivers."""
    return _PLANES.get(str(parts[0]), "") if parts else ""


def describe(value: Any) -> str:
    """Return a value in few words; the inside of a collection is never shown."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, date):
        return value.isoformat()
    return shorten(written(value), 80)


def _places(root: Node | None, parts: tuple[str | int, ...]) -> tuple[Place, Place]:
    """Return the places of key and value at ``parts``, or those of the nearest parent."""
    while True:
        found = find_node(root, parts)
        if found is not None:
            key_mark, node = found
            key = node.place if key_mark is None else (key_mark.line + 1, key_mark.column + 1)
            return key, node.place
        if not parts:
            return (1, 1), (1, 1)
        parts = parts[:-1]


class _Case:
    """One error with what the messages are made of."""

    def __init__(self, model: type[Model], root: Node | None, error: Any, file: str) -> None:
        self.model = model
        self.kind: str = error["type"]
        self.parts: tuple[str | int, ...] = tuple(error["loc"])
        self.value = error["input"]
        self.context: dict[str, Any] = error.get("ctx") or {}
        self.message: str = error["msg"]
        self.file = file
        self.path = join_path(self.parts)
        self.key_place, self.value_place = _places(root, self.parts)

    def finding(self, code: codes.Code, message: str, found: str, expected: str, fix: str = "", **more: Any) -> Finding:
        line, column = more.pop("place", self.value_place)
        return codes.finding(
            code,
            message,
            file=self.file,
            line=line,
            column=column,
            path=self.path,
            found=found,
            expected=expected,
            fix=fix,
            plane=plane_of(self.parts),
            **more,
        )


def problem(model: type[Model], root: Node | None, error: Any, file: str) -> Finding | None:
    """Return the finding for one error of ``model``, or None where the file is right as it stands.

    A key without a value, such as ``pools:`` alone, states nothing and is no error.
    """
    case = _Case(model, root, error, file)
    if case.kind == "extra_forbidden":
        return _unknown_key(case)
    if case.kind == "missing":
        return _missing(case)
    if case.value is None and case.parts and isinstance(case.parts[-1], str):
        owner = model_at(model, case.parts[:-1])
        field = owner.model_fields.get(case.parts[-1]) if owner else None
        return _missing(case) if field is not None and field.is_required() else None
    if case.kind == "enum":
        return _unknown_value(case)
    if case.kind.startswith("spec-"):
        return _refused(case)
    return _wrong_type(case)


def _unknown_key(case: _Case) -> Finding:
    key = shorten(str(case.parts[-1]), 60)
    owner = model_at(case.model, case.parts[:-1])
    stray = _STRAYS.get(key, "") if len(case.parts) == 1 else ""
    near = nearest_key(owner, str(case.parts[-1])) if owner and not stray else ""
    fix = f"did you mean '{near}'?" if near else stray
    if not fix and (homes := homes_of(case.model, case.parts)):
        fix = f"'{key}' belongs to {' or '.join(homes)}"
    if case.value is None and " " in key:
        fix = "a comma ends a value inside { }: put the whole text into quotes"
    where = join_path(case.parts[:-1]) or "the top level"
    names = ", ".join(owner.model_fields) if owner else ""
    return case.finding(
        codes.UNKNOWN_KEY,
        f"{where} has no key '{key}'",
        found=f"'{key}'",
        expected=f"one of: {names}",
        fix=fix,
        place=case.key_place,
    )


def _missing(case: _Case) -> Finding:
    key = str(case.parts[-1])
    where = join_path(case.parts[:-1]) or "the file"
    return case.finding(
        codes.MISSING,
        f"{where} has no '{key}'",
        found="nothing",
        expected=f"'{key}'",
        fix=f"add '{key}: …'",
        place=case.key_place if case.value is None else case.value_place,
    )


def _unknown_value(case: _Case) -> Finding:
    choices = choices_of(field_at(case.model, case.parts))
    found = describe(case.value)
    near = nearest_value(choices, case.value) if isinstance(case.value, str) else ""
    return case.finding(
        codes.UNKNOWN_VALUE,
        f"{case.path} is not known: {found}",
        found=found,
        expected="one of: " + ", ".join(choices),
        fix=f"did you mean '{near}'?" if near else "",
    )


def _refused(case: _Case) -> Finding:
    code = registry.find(case.kind)
    assert code is not None, case.kind
    found = shorten(str(case.context["found"]), 80)
    expected = shorten(str(case.context["expected"]), 200)
    level = Level.ERROR
    if code is codes.PLACEHOLDER:  # a field of the brief may be open, the owner of a waiver may not
        owner = model_at(case.model, case.parts[:-1])
        field = owner.model_fields.get(str(case.parts[-1])) if owner else None
        level = Level.ERROR if field is not None and field.is_required() else Level.WARNING
    reason = shorten(str(case.context.get("reason") or found), 160)
    message = f"{case.path} {_PHRASES[case.kind]}: {reason}"
    return case.finding(code, message, found, expected, shorten(str(case.context.get("fix", "")), 120), level=level)


def _wrong_type(case: _Case) -> Finding:
    found = describe(case.value)
    fix = ""
    if case.kind == "bool_type":
        expected = "true or false"
        truth = _NOT_TEXT_TRUTH.get(found.lower()) if isinstance(case.value, str) else None
        fix = f"write {truth}" if truth else ""
    elif case.kind == "tuple_type":
        expected = "a list"
        fix = "begin each entry with '- '" if isinstance(case.value, dict) else f"write [{found}]"
    elif case.kind in ("model_type", "model_attributes_type", "dict_type"):
        owner = model_at(case.model, case.parts)
        keys = ", ".join(owner.model_fields) if owner else "names"
        expected = f"a mapping with keys such as {keys}"
        if isinstance(case.value, list):
            fix = "remove the '- ': one mapping belongs here, not a list"
    else:
        expected = case.message.removeprefix("Input should be ")
    where = case.path or "the file"
    return case.finding(codes.WRONG_TYPE, f"{where} has the wrong type: {found}", found, shorten(expected, 200), fix)
