"""What the rules say, word for word: every case of every rule, and designs that take other ways through them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from rule_cases import CASES, VARIANTS, D

from fourplane.base.findings import Finding, Level
from fourplane.planes.model import Plane
from fourplane.planes.registry import all_rules
from fourplane.planes.rules import check

PLANES = {rule.code: rule.plane for rule in all_rules()}


def told(finding: Finding) -> str:
    place = f"{finding.file.rsplit('/', 1)[-1]}:{finding.line}:{finding.column}"
    text = f"{finding.level} {finding.code} at {finding.path} ({place}): {finding.message}"
    return f"{text}\n      found {finding.found}; expected {finding.expected}" if finding.found else text


def findings(changes: dict[str, Any], build: Any, catalog: Any, delete: object, today: date) -> list[Finding]:
    real = {path: delete if isinstance(value, str) and value == D else value for path, value in changes.items()}
    return check(build(real, None if "pools" in changes else {}), catalog, today)


@pytest.mark.parametrize("plane", list(Plane))
def test_each_rule_says_this(plane: Plane, golden: Any, build: Any, catalog: Any, delete: object, today: date) -> None:
    lines = []
    for code in sorted(code for code in CASES if PLANES[code] is plane):
        fires, near = (findings(changes, build, catalog, delete, today) for changes in CASES[code])
        lines += [f"{code}", *(f"  {told(one)}" for one in fires if one.code == code)]
        lines.append(f"  beside it: {', '.join(sorted({f.code for f in fires if f.code != code}))}")
        lines.append(f"  near miss: {', '.join(sorted({f.code for f in near}))}")
    golden(f"planes/rules-{plane}.txt", "\n".join(lines) + "\n")


GROUPS = 6
USUAL = ("binding-plane", "inter-node-price", "scheduler-fit")
"""Information that most designs get; it is kept where it is alone or differs."""


@pytest.mark.parametrize("group", range(GROUPS))
def test_other_designs_get_this(group: int, golden: Any, build: Any, catalog: Any, delete: object, today: date) -> None:
    usual = {told(one) for one in findings({}, build, catalog, delete, today) if one.code in USUAL}
    lines = []
    for name in [*VARIANTS][group::GROUPS]:
        said = [told(one) for one in findings(VARIANTS[name], build, catalog, delete, today)]
        lines += [name, *(f"  {one}" for one in said if name == "as it is" or one not in usual)]
    golden(f"planes/designs-{group + 1}.txt", "\n".join(lines) + "\n")


def test_levels_of_information_are_rare(build: Any, catalog: Any, delete: object, today: date) -> None:
    found = findings({}, build, catalog, delete, today)
    assert {one.code for one in found if one.level is Level.INFO} == set(USUAL)
