from __future__ import annotations

from dataclasses import replace

import report_samples as samples

from fourplane.base.findings import Finding, Level
from fourplane.base.verdicts import Verdict
from fourplane.planes.model import Plane
from fourplane.report.view import build, open_conditions, tally


def test_planes_come_in_order_and_the_open_rows_first() -> None:
    view = samples.laptop_view()
    assert [p.plane for p in view.planes] == [Plane.COMPUTE, Plane.NETWORK, Plane.STORAGE, Plane.CONTROL]
    assert [r.verdict for r in view.planes[0].rows] == [
        Verdict.FAILED,
        Verdict.UNPROVEN,
        Verdict.UNPROVEN,
        Verdict.PASSED,
    ]
    assert len(view.rows) == len(samples.laptop_rows())
    assert len(view.judgements) == len(samples.laptop_judgements())


def test_findings_are_the_reviews_own_unless_given() -> None:
    one = Finding("a-code", Level.INFO, "one")
    review = replace(samples.laptop_review(), findings=(one,))
    assert build(samples.laptop_case(), review).findings == (one,)
    assert build(samples.laptop_case(), review, findings=[]).findings == ()


def test_findings_are_heaviest_first() -> None:
    assert [f.level for f in samples.laptop_view().findings] == [Level.ERROR, Level.WARNING, Level.INFO]


def test_the_headline_is_split_after_its_first_sentence() -> None:
    first, rest = samples.laptop_view().headline
    assert first == "Rejected: 2 of 24 conditions failed."
    assert rest.startswith("The brief is incomplete")
    assert " ".join((first, rest)) == samples.laptop_review().headline


def test_a_headline_of_one_sentence_has_no_rest() -> None:
    view = samples.empty_view()
    assert view.headline == (view.review.headline, "")


def test_open_conditions_are_failed_then_unproven_then_stale() -> None:
    verdicts = [c.verdict for c in open_conditions(samples.laptop_areas())]
    assert verdicts == [Verdict.FAILED] * 2 + [Verdict.UNPROVEN] * 9 + [Verdict.STALE]


def test_a_tally_leaves_out_what_nobody_has() -> None:
    assert tally(samples.laptop_rows()) == {Verdict.FAILED: 2, Verdict.UNPROVEN: 4, Verdict.PASSED: 2}


def test_the_same_input_in_another_order_gives_the_same_report() -> None:
    rows, judged, found = samples.laptop_rows(), samples.laptop_judgements(), samples.laptop_findings()
    one = build(samples.laptop_case(), samples.laptop_review(), rows, judged, found)
    other = build(samples.laptop_case(), samples.laptop_review(), rows[::-1], judged[::-1], found[::-1])
    assert one.rows == other.rows
    assert one.judgements == other.judgements
    assert one.findings == other.findings
