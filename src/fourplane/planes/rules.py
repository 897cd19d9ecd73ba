"""Entry point of the rules on paper: every rule of every plane over one workspace."""

from __future__ import annotations

from datetime import date

from fourplane.base.clock import utc_now
from fourplane.base.findings import Finding, sorted_findings
from fourplane.catalog.facts import Catalog
from fourplane.planes import cross
from fourplane.planes.compute import lifecycle_rules, shape_rules
from fourplane.planes.compute import rules as compute
from fourplane.planes.control import ownership_rules, scheduler_rules
from fourplane.planes.control import rules as control
from fourplane.planes.design import Design
from fourplane.planes.network import rail_rules
from fourplane.planes.network import rules as network
from fourplane.planes.procurement.unanswered import unanswered
from fourplane.planes.registry import all_rules
from fourplane.planes.security import decision_rules
from fourplane.planes.security import rules as security
from fourplane.planes.storage import protection_rules
from fourplane.planes.storage import rules as storage
from fourplane.spec.workspace import Workspace

__all__ = ["RULE_MODULES", "check", "check_all"]

RULE_MODULES = (
    compute, lifecycle_rules, shape_rules, network, rail_rules, storage, protection_rules, control, scheduler_rules,
    ownership_rules, security, decision_rules, cross,
)  # fmt: skip
"""Modules whose import registers the rules."""


def check(workspace: Workspace, catalog: Catalog, today: date | None = None) -> list[Finding]:
    """Run every rule over the declared design and return all findings, heaviest first.

    What is wrong with the workspace's own catalogue is among them: an entry that was left out changes what rules say.

    Args:
        workspace: the loaded files.
        catalog: what the field knows; a fact it lacks silences the rules that need it.
        today: day against which dates are held; today by default.
    """
    design = Design(workspace, catalog, today or utc_now().date())
    ruled = (found for rule in all_rules() for found in rule.findings(design))
    return sorted_findings([*catalog.findings, *ruled])


def check_all(workspace: Workspace, catalog: Catalog, today: date | None = None) -> list[Finding]:
    """Return what ``check`` does, and the lines that the quotes leave unanswered (B5): all that is wrong on paper."""
    return sorted_findings([*check(workspace, catalog, today), *unanswered(workspace)])
