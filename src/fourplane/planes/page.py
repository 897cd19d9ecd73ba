"""The page of rules, written from the registry: ``python -m fourplane.planes.page > docs/rules.md``."""

from __future__ import annotations

from fourplane.base.codes import find
from fourplane.planes.model import Plane
from fourplane.planes.registry import all_rules
from fourplane.planes.rules import RULE_MODULES

__all__ = ["rules_page"]

_INTRO = """\
# Rules on paper

`fourplane check` runs these rules over `fourplane.yaml` and `quotes/`, before anything was measured. Each finding
carries file, line and column; `fourplane explain CODE` prints the same text. A finding may weigh more or less than its
usual level, as the fault is more or less sure. This page is written by `python -m fourplane.planes.page`; a test holds
it equal to the registry.
"""


def rules_page() -> str:
    """Return the page as Markdown: every rule by plane, with level, requirement, reason, fix and link."""
    assert RULE_MODULES, "importing the rules registers them"
    parts = [_INTRO]
    for plane in Plane:
        rules = [one for one in all_rules() if one.plane is plane]
        parts.append(f"## {plane.capitalize()} ({len(rules)})\n")
        for rule in rules:
            entry = find(rule.code)
            assert entry is not None, f"code {rule.code} is not defined"
            link = f" [upstream]({entry.link})" if entry.link else ""
            parts.append(
                f"### `{rule.code}`\n\n{entry.title}. Usual level: {rule.level}; requirement {entry.requirement}.\n\n"
                f"{entry.reason}\n\nFix: {entry.fix}{link}\n"
            )
    return "\n".join(parts)


if __name__ == "__main__":
    print(rules_page(), end="")
