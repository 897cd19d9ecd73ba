"""Entry point of the judgements: what measurements say about each capability, plane by plane."""

from __future__ import annotations

from fourplane.planes.compute.judgements import judge_compute
from fourplane.planes.control.judgements import judge_control
from fourplane.planes.design import Design
from fourplane.planes.found import Found
from fourplane.planes.gates import Bench
from fourplane.planes.model import Case, Judgement
from fourplane.planes.network.judgements import judge_network
from fourplane.planes.storage.judgements import judge_storage

__all__ = ["judge"]

_JUDGES = (judge_compute, judge_network, judge_storage, judge_control)


def judge(case: Case) -> list[Judgement]:
    """Return a judgement on every capability, measured or not; what nobody measured is unproven.

    Each names the gate that decided: target, quote, derived need or catalogue. Whether evidence is too old is for
    the review, which reads ``measured_at``.
    """
    bench = Bench(case, Found(case), Design(case.workspace, case.catalog, case.now.date()))
    return [one for judges in _JUDGES for one in judges(bench)]
