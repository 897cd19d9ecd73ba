"""Comparison of a reading with a row of the truth table; see tests/importers/truth/README.md for its rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from fourplane.formats.model import Reading, Status

TRUTH = Path(__file__).resolve().parents[1] / "importers" / "truth"

# the table gives these for the first GPU of each socket only
_PARTIAL = {"cpu_affinity"}


def rows_of(table: str) -> dict[str, dict[str, Any]]:
    """Return the rows of one table by file name."""
    with (TRUTH / table).open(encoding="utf-8") as file:
        rows = yaml.safe_load(file)
    assert isinstance(rows, dict)
    return rows


def agrees(found: Any, expected: Any, *, partial: bool = False) -> bool:
    """Tell whether a figure is what the table says; entries of lists may say more than the table asks."""
    if isinstance(expected, dict):
        if not isinstance(found, dict) or not (partial or set(found) == set(expected)):
            return False
        return all(key in found and agrees(found[key], value, partial=partial) for key, value in expected.items())
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return False
        return all(agrees(one, other, partial=True) for one, other in zip(found, expected, strict=True))
    if isinstance(expected, bool) or isinstance(found, bool) or expected is None or found is None:
        return found is expected
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return bool(found == pytest.approx(expected, rel=1e-9, abs=1e-12))
    return type(found) is type(expected) and bool(found == expected)


def differences(
    row: dict[str, Any], kind: str | None, reading: Reading[Any] | None, summary: dict[str, Any]
) -> list[str]:
    """Return where a reading differs from a row and from every other answer that the row accepts."""
    accept: dict[str, list[Any]] = row.get("accept", {})
    status = str(reading.status) if reading is not None else str(Status.REFUSED)
    found: dict[str, Any] = {"kind": kind or "unknown", "status": status}
    wanted: dict[str, Any] = {"kind": row["kind"], "status": row["status"]}
    if status != Status.REFUSED and reading is not None:
        refused = sorted(refusal.line for refusal in reading.refusals)
        listed = row["refusals"]
        found |= {
            "records": reading.count,
            "refusals": refused if isinstance(listed, list) and refused else len(refused),
        }
        wanted |= {"records": row["records"]}
        wanted |= {"refusals": sorted(one["line"] for one in listed) if isinstance(listed, list) else listed}
        if found["refusals"] != wanted["refusals"]:
            found["refusals"] = len(refused)
        found |= {key: summary.get(key, "(not given)") for key in row["figures"]}
        wanted |= row["figures"]
    return [
        f"{key}: {found[key]!r}, the table says {value!r}"
        for key, value in wanted.items()
        if not any(agrees(found[key], other, partial=key in _PARTIAL) for other in (value, *accept.get(key, [])))
    ]
