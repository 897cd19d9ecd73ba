"""docs/review.md holds the table of conditions as the code has it."""

from __future__ import annotations

import re
from pathlib import Path

from fourplane.base.codes import find
from fourplane.review import codes
from fourplane.review.staleness import CHANGE_METRICS, CLOCK_TOLERANCE, DEFAULT_MAX_AGE
from fourplane.review.table import AREAS, all_conditions

PAGE = Path(__file__).resolve().parents[2] / "docs" / "review.md"
ROW = re.compile(r"^\| `(R\d\.[a-z_]+)` \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def test_the_page_lists_every_condition_as_the_code_does() -> None:
    listed = [match.groups() for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]
    assert listed == [(key, spec.title, spec.passes, spec.proof) for key, spec in all_conditions()]


def test_the_page_has_every_area_as_a_heading() -> None:
    headings = re.findall(r"^### (R\d) (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [(area.id, area.title) for area in AREAS]


def test_the_page_names_limits_and_codes_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"{DEFAULT_MAX_AGE.days} days" in text
    assert f"{CLOCK_TOLERANCE.seconds // 60} minutes" in text
    for metric in CHANGE_METRICS:
        assert f"`{metric}`" in text
    for name in codes.__all__:
        code = getattr(codes, name).code
        assert find(code) is not None
        assert f"`{code}`" in text
