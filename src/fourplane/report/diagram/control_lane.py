"""Lane of the control plane: the chosen schedulers, and what they share (K0 to K3, O2, A1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fourplane.base.text import plural
from fourplane.report.diagram.holes import Draft, lines
from fourplane.report.diagram.model import Box, Lane, Panel, Row, RowKind
from fourplane.report.diagram.schedulers import kubernetes_panel, no_scheduler_panel, slurm_panel
from fourplane.review.wording import is_set, listing
from fourplane.spec.control import FailureClass
from fourplane.spec.security import Decision

__all__ = ["control_lane", "needed_runbooks"]


def control_lane(draft: Draft) -> Lane:
    """Return the lane of the control plane; two schedulers stand side by side over one common panel."""
    control = draft.declaration.control
    both = control.slurm is not None and control.kubernetes is not None
    panels: list[Panel] = []
    if control.slurm is not None:
        panels.append(slurm_panel(draft, control.slurm, beside=both))
    if control.kubernetes is not None:
        panels.append(kubernetes_panel(draft, control.kubernetes, beside=both))
    if not panels:
        panels.append(no_scheduler_panel(draft))
    title = "One design for both schedulers" if both else "Cost, security, operations"
    common = Panel("common", tuple(row for row in _common(draft) if row.boxes), title)
    return Lane("control", "Control plane", (*panels, common))


def _common(draft: Draft) -> Iterator[Row]:
    yield Row(tuple(_cost(draft)), RowKind.CHAIN)
    yield Row(tuple(_security(draft)), RowKind.CHAIN)
    yield Row(tuple(_access(draft)), label="Access")
    yield Row(tuple(_telemetry(draft)), label="Telemetry")
    yield Row(tuple(_runbooks(draft)), label="Runbooks")


# ── cost ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _cost(draft: Draft) -> Iterator[Box]:
    declaration = draft.declaration
    telemetry, prices, brief = declaration.telemetry, declaration.prices, declaration.brief
    cost = telemetry.cost
    yield draft.owner("owner:finance", "Finance", [cost.owner if cost else None], "the cost of results",
                      "telemetry.cost.owner", "R6.cost")  # fmt: skip
    bare = [(t.name, f"teams[{i}].cost_label") for i, t in enumerate(declaration.teams) if not is_set(t.cost_label)]
    labelled = len(declaration.teams) - len(bare)
    unlabelled = draft.gap_of(bare, "no cost label on")
    if not is_set(telemetry.labels):
        hole = draft.hole("nobody chose the labels that spend carries", "telemetry.labels", "R6.cost",
                          ("two-schedulers-without-design",))  # fmt: skip
        yield Box("cost:labels", "Labels", hole=hole, gaps=unlabelled)
    else:
        teams = f"cost label on {plural(labelled, 'team')}" if labelled else None
        yield Box("cost:labels", "Labels", lines(listing(telemetry.labels, limit=5), teams), gaps=unlabelled)
    if cost is None or not is_set(cost.source):
        hole = draft.hole("nobody exports usage", "telemetry.cost.source", "R6.cost")
        yield Box("cost:export", "Usage export", hole=hole)
    else:
        kept = f"kept {cost.retention}" if cost.retention else None
        yield Box("cost:export", "Usage export", lines(cost.source, kept), subjects=("telemetry.cost",))
    target = declaration.targets.unit_cost
    yield Box(
        "cost:cost",
        "Cost of a result",
        lines(
            brief.denominator and str(brief.denominator).replace("-", " "),
            f"{prices.gpu_hour} {prices.currency} a GPU hour" if prices.gpu_hour is not None else None,
            f"target {target} {prices.currency}" if target is not None else None,
        ),
        gaps=draft.gap(brief.denominator, "nobody said what money is divided by", "brief.denominator", "R1.denominator")
        + draft.gap(prices.gpu_hour, "nobody states the price of a GPU-hour", "prices.gpu_hour"),
    )


# ── security ────────────────────────────────────────────────────────────────────────────────────────────────────────

_CHAIN = (
    ("identity", "Identity", (("identity", "identity"),), "R7.identity"),
    ("secrets", "Secrets", (("secrets", "secrets"),), "R7.secrets"),
    ("image_policy", "Image policy",
     (("image_registry", "registry"), ("image_signing", "signing"), ("image_scanning", "scanning")), "R7.image_policy"),
    ("network_policy", "Network policy",
     (("isolation", "isolation"), ("network_policy", "policy"), ("egress", "egress")), "R7.network_policy"),
    ("audit_logs", "Audit log", (("audit_retention", "kept"),), "R7.audit_logs"),
)  # fmt: skip
_ACCESS = (
    ("ssh", "SSH", "R7.access"),
    ("break_glass", "Break-glass", "R7.access"),
    ("vendor_access", "Vendor access", "R7.access"),
    ("remote_hands", "Remote hands", "R7.access"),
    ("data_cleanup", "Data clean-up", "R7.data_cleanup"),
)
_SAID = {
    "identity": "identity", "secrets": "secrets", "image_registry": "the image registry",
    "image_signing": "image signing", "image_scanning": "image scanning", "isolation": "isolation",
    "network_policy": "the network policy", "egress": "egress", "audit_retention": "the audit log", "ssh": "SSH access",
    "break_glass": "break-glass access", "vendor_access": "vendor access", "remote_hands": "remote hands",
    "data_cleanup": "data clean-up",
}  # fmt: skip
_CODES = {"isolation": ("teams-without-isolation",), "identity": ("two-schedulers-without-design",)}
"""Findings about a decision that was not taken."""


def _security(draft: Draft) -> Iterator[Box]:
    security = draft.declaration.security
    keys = [key for _, _, parts, _ in _CHAIN for key, _ in parts]
    taken = [decision for key in keys if (decision := getattr(security, key)) is not None]
    often = [name for name, _ in Counter(d.owner for d in taken if is_set(d.owner)).most_common()]
    yield draft.owner("owner:security", "Security", often, "the security decisions", "security", "R7.identity")
    for key, title, parts, condition in _CHAIN:
        yield _decisions(draft, f"security:{key}", title, parts, condition)


def _access(draft: Draft) -> Iterator[Box]:
    for key, title, condition in _ACCESS:
        yield _decisions(draft, f"security:{key}", title, ((key, ""),), condition)


def _decisions(draft: Draft, key: str, title: str, parts: tuple[tuple[str, str], ...], condition: str) -> Box:
    """Return the box of one step: its decisions with their owner; a hole where none of them was taken."""
    made: list[tuple[str, str, Decision]] = []
    gaps = []
    for name, word in parts:
        decision: Decision | None = getattr(draft.declaration.security, name)
        said, path = _SAID[name], f"security.{name}"
        if decision is None or not is_set(decision.choice):
            gaps.append(draft.hole(f"nobody decided on {said}", path, condition, _CODES.get(name, ())))
            continue
        made.append((name, word, decision))
        if not is_set(decision.owner):
            gaps.append(draft.hole(f"nobody owns {said}", f"{path}.owner", condition, ("decision-without-owner",)))
    if not made:
        path = f"security.{parts[0][0]}"
        codes = tuple(code for name, _ in parts for code in _CODES.get(name, ()))
        several = f"nobody decided on the {title.lower()}"
        hole = gaps[0] if len(parts) == 1 else draft.hole(several, path, condition, codes)
        return Box(key, title, hole=hole)
    shown = [f"{word}: {d.choice}" if word and len(parts) > 1 else d.choice for _, word, d in made]
    owners = list(dict.fromkeys(d.owner for _, _, d in made if d.owner is not None and is_set(d.owner)))
    subjects = tuple(f"security.{n}" for n, _, _ in made)
    return Box(key, title, lines(*shown), gaps=tuple(gaps), subjects=subjects, owner=listing(owners, limit=2))


# ── operations ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _telemetry(draft: Draft) -> Iterator[Box]:
    telemetry, ownership = draft.declaration.telemetry, draft.declaration.brief.ownership
    holder = ownership.telemetry if ownership else None
    yield draft.owner("owner:telemetry", "Operators", [holder], "telemetry", "brief.ownership.telemetry",
                      "R1.ownership")  # fmt: skip
    for key, title in (("jobs", "Jobs"), ("gpus", "GPUs"), ("fabric", "Fabric"), ("storage", "Storage"),
                       ("scheduler", "Scheduler")):  # fmt: skip
        signal, path = getattr(telemetry, key), f"telemetry.{key}"
        condition = "" if key == "scheduler" else f"R6.{key}"
        word = {"gpus": "GPUs", "fabric": "the fabric", "scheduler": "the scheduler"}.get(key, key)
        if signal is None or not is_set(signal.source):
            hole = draft.hole(f"nobody watches {word}", f"{path}.source", condition, ("scheduler-is-a-launcher",))
            yield Box(f"telemetry:{key}", title, hole=hole)
            continue
        yield Box(
            f"telemetry:{key}",
            title,
            lines(signal.source),
            gaps=draft.gap(
                signal.owner, f"nobody owns the telemetry of {word}", f"{path}.owner", condition, (), "nobody owns it"
            ),
            owner=signal.owner or "",
            subjects=(path,),
        )


def needed_runbooks(draft: Draft) -> list[FailureClass]:
    """Return the failure classes that can happen here, as the rule on runbooks counts them."""
    declaration = draft.declaration
    needed = list(FailureClass)
    if len(declaration.teams) < 2:
        needed = [f for f in needed if f not in (FailureClass.QUOTA_DISPUTE, FailureClass.TENANT_LEAK)]
    if not (declaration.control.slurm or declaration.control.kubernetes):
        needed.remove(FailureClass.SCHEDULER_DOWN)
    return needed


def _runbooks(draft: Draft) -> Iterator[Box]:
    runbooks = {one.failure: (i, one) for i, one in enumerate(draft.declaration.control.runbooks)}
    codes = ("failure-without-runbook", "scheduler-is-a-launcher")
    needed = needed_runbooks(draft)
    for failure in FailureClass:
        title = str(failure).replace("-", " ").capitalize().replace("Gpu", "GPU")
        if failure not in runbooks:
            if failure in needed:
                hole = draft.hole(f"nobody wrote the runbook for {title.lower()}", "control.runbooks", "", codes,
                                  "nobody wrote its runbook")  # fmt: skip
                yield Box(f"runbook:{failure}", title, hole=hole)
            continue
        index, one = runbooks[failure]
        due = f"within {one.target_recovery}" if one.target_recovery else None
        yield Box(
            f"runbook:{failure}",
            title,
            lines(due),
            gaps=draft.gap(
                one.owner,
                f"nobody owns the runbook for {title.lower()}",
                f"control.runbooks[{index}].owner",
                "",
                codes,
                "nobody owns it",
            ),
            owner=one.owner or "",
            subjects=(f"control.runbooks[{index}]",),
        )
