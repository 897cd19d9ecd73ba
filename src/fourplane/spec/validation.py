"""From data to a model: every error at once, and what is right stays usable.

A wrong value is dropped and the rest validated again: a dropped optional value is a fact nobody stated, a dropped
required one takes its entry with it. Only the first look is reported; what falls out later has the same cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import ValidationError

from fourplane.base.documents.positions import join_path
from fourplane.base.documents.tree import Branch, Node
from fourplane.base.documents.yaml_tree import MOST_FINDINGS, Document
from fourplane.base.findings import Finding
from fourplane.spec import codes
from fourplane.spec.problems import problem
from fourplane.spec.schema import model_at, nearest_key
from fourplane.spec.types import Model

__all__ = ["Validated", "validate"]

_ROUNDS = 16  # an entry can lose its required key, then its parent, and so on up to the root: 7 levels

M = TypeVar("M", bound=Model)
Parts = tuple[str | int, ...]


class Validated:
    """What became of one document.

    Attributes:
        data: the data that is left; None where nothing is.
        findings: what was wrong.
        dropped: paths of what was left out, as they stand in the file; "" for the whole.
    """

    def __init__(self, data: Any, findings: list[Finding], dropped: set[str]) -> None:
        self.data = data
        self.findings = findings
        self.dropped = dropped


def validate(model: type[M], document: Document, file: str, required: dict[str, Any]) -> tuple[M, Validated]:
    """Return the model of what is right in ``document``; never raises on content.

    Args:
        model: root model.
        document: as read; its data and places are cut down to what is right.
        file: name by which findings cite it.
        required: stand-ins for the root's required keys where they are missing or wrong.
    """
    result = Validated(document.data, list(document.findings), set())
    if document.root is None or document.data is None:
        if not result.findings:
            empty = codes.finding(
                codes.EMPTY, "the file says nothing", file=file, line=1, column=1, found="nothing",
                expected="a mapping with " + ", ".join(f"'{key}'" for key in required),
                fix="write " + ", ".join(f"'{key}: …'" for key in required) + " and what else is known",
            )  # fmt: skip
            result.findings.append(empty)
        result.dropped.add("")
        return model.model_validate(required), result
    for turn in range(_ROUNDS):
        try:
            return model.model_validate(result.data), result
        except ValidationError as error:
            errors = error.errors(include_url=False)
        if turn == 0:
            _report(model, document.root, errors, file, result)
        if any(not one["loc"] for one in errors):
            break  # the document is not a mapping at all
        _prune(result.data, document.root, _locations(errors, result.data, required))
    result.dropped.add("")
    return model.model_validate(required), result


def _report(model: type[Model], root: Node, errors: Iterable[Any], file: str, result: Validated) -> None:
    """Add one finding a cause: an aliased value is wrong once, however often it is used."""
    seen: set[tuple[object, ...]] = set()
    hidden = 0
    for error in errors:
        if len(seen) >= MOST_FINDINGS:
            hidden += 1
            continue
        one = problem(model, root, error, file)
        if one is None:
            continue
        result.dropped.update(_dropped(model, error))
        identity = (one.code, one.line, one.column, one.found, one.expected)
        if identity not in seen:
            seen.add(identity)
            result.findings.append(one)
    if hidden:
        message = f"{hidden:,} more findings are not shown"
        found, most = f"{hidden:,} more", f"at most {MOST_FINDINGS:,}"
        more = codes.finding(codes.TOO_MANY, message, file=file, line=1, column=1, found=found, expected=most)
        result.findings.append(more)


def _dropped(model: type[Model], error: Any) -> Iterable[str]:
    """Return the paths that an error leaves out; a misspelt key also leaves out the one that was meant."""
    parts = tuple(error["loc"])
    yield join_path(parts)
    if error["type"] == "extra_forbidden" and (owner := model_at(model, parts[:-1])) is not None:
        near = nearest_key(owner, str(parts[-1]))
        if near:
            yield join_path((*parts[:-1], near))


def _prune(data: Any, root: Node, locations: Iterable[Parts]) -> None:
    """Remove the values at ``locations`` from data and places alike."""
    items: dict[int, tuple[list[Any], Branch, set[int]]] = {}
    for parts in locations:
        holder, node = _descend(data, root, parts[:-1])
        last = parts[-1]
        if isinstance(holder, dict) and node is not None:
            holder.pop(last, None)
        elif isinstance(holder, list) and isinstance(node, Branch) and isinstance(last, int):
            items.setdefault(id(holder), (holder, node, set()))[2].add(last)
    for values, branch, indices in items.values():
        branch.remove(indices)
        values[:] = [value for index, value in enumerate(values) if index not in indices]


def _locations(errors: Iterable[Any], data: Any, required: dict[str, Any]) -> list[Parts]:
    """Return what has to go; a missing key takes its entry with it, one of the root gets its stand-in."""
    locations = []
    for error in errors:
        parts = tuple(error["loc"])
        if error["type"] != "missing":
            locations.append(parts)
        elif len(parts) > 1:
            locations.append(parts[:-1])
        else:
            data[parts[0]] = required[str(parts[0])]
    return locations


def _descend(data: Any, node: Node, parts: Parts) -> tuple[Any, Node | None]:
    for part in parts:
        if isinstance(data, dict) and part in data and node.keys is not None and part in node.keys:
            data, node = data[part], node.keys[str(part)][1]
        elif isinstance(data, list) and isinstance(part, int) and part < len(data) and node.items is not None:
            data, node = data[part], node.items[part]
        else:
            return None, None
    return data, node
