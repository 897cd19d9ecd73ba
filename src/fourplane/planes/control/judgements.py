"""What measurements say about the scheduler (K0)."""

from __future__ import annotations

from collections.abc import Iterator

from fourplane.base.verdicts import Verdict
from fourplane.planes.comparators import version_prefix
from fourplane.planes.found import name_list
from fourplane.planes.gates import Bench, judgement
from fourplane.planes.model import Judgement, Plane

__all__ = ["judge_control"]

_K = Plane.CONTROL


def judge_control(bench: Bench) -> Iterator[Judgement]:
    """Yield the judgements of the control plane."""
    yield _scheduler(bench)


def _scheduler(bench: Bench) -> Judgement:
    key, title = "control.scheduler", "scheduler as declared"
    control = bench.case.declaration.control
    declared = [name for name in ("slurm", "kubernetes") if getattr(control, name)]
    kinds = bench.measured("control.scheduler.kind")
    if not declared:
        fix = "declare control.slurm or control.kubernetes with the reason"
        return judgement(key, _K, title, Verdict.UNPROVEN, "no scheduler is declared", kinds, fix=fix)
    places = [bench.case.workspace.cite(f"control.{name}") for name in declared]
    fix = "run 'fourplane prove' on a node of the cluster"
    if not kinds:
        why = bench.why_not("control.scheduler.kind")
        return judgement(key, _K, title, Verdict.UNPROVEN, why, places=places, fix=fix)
    seen = {node_kind for one in kinds for node_kind in _words(one.value)}
    missing = [name for name in declared if name not in seen]
    nodes = name_list([one.subject.removeprefix("node:") for one in kinds])
    standing = bench.stand_in_note(kinds)
    if missing:
        # a scheduler that does not answer from one node may still run: silence proves neither
        what = "only stands in: it is looked for on the target" if standing else "had no answer from it"
        reason = f"{', '.join(missing)} declared; {nodes} {what}"
        return judgement(key, _K, title, Verdict.UNPROVEN, reason, kinds, places, fix)
    for name in declared:
        wanted = getattr(control, name).version
        versions = bench.measured(f"control.{name}.version")
        odd = [one for one in versions if wanted and version_prefix(wanted, one.value, bench.case.catalog)[0] is False]
        if odd:
            reason = f"{name} {wanted} declared; {name_list([f'{o.subject[5:]} has {o.value}' for o in odd])}"
            return judgement(key, _K, title, Verdict.FAILED, reason, odd, places, f"bring {name} to one version")
        if wanted and not versions:
            why = bench.why_not(f"control.{name}.version")
            return judgement(key, _K, title, Verdict.UNPROVEN, why, kinds, places, fix)
    reason = f"{' and '.join(declared)} answered on {nodes}{standing}"
    return judgement(key, _K, title, Verdict.PASSED, reason, kinds, places)


def _words(value: object) -> list[str]:
    items = value if isinstance(value, list) else str(value).replace(",", " ").split()
    return [str(item).casefold() for item in items]
