"""``docs/rules.md`` is what the registry says."""

from __future__ import annotations

from pathlib import Path

from fourplane.planes.page import rules_page
from fourplane.planes.registry import all_rules

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rules.md"


def test_the_page_is_the_registry() -> None:
    hint = "run: python -m fourplane.planes.page > docs/rules.md"
    assert PAGE.read_text(encoding="utf-8") == rules_page(), hint


def test_every_rule_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [rule.code for rule in all_rules() if f"### `{rule.code}`\n" not in page] == []
