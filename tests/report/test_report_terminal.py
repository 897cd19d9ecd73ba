from __future__ import annotations

import re
from dataclasses import replace

import pytest
import report_samples as samples
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.findings import Finding, Level
from fourplane.base.verdicts import Verdict
from fourplane.planes.model import FactRow, Plane
from fourplane.report.cells import cell_width
from fourplane.report.terminal import render_review, render_summary
from fourplane.report.view import build
from fourplane.review.model import Action, Area, Condition, Gap, Review

ANSI = re.compile(r"\x1b\[[\d;]*m")
NAMES = st.text(max_size=60) | st.sampled_from(["計算ノード" * 9, "node" * 40, "\x1b[2J", "\u202e" * 30, ""])


@settings(max_examples=60, deadline=None)
@given(NAMES, NAMES, st.integers(24, 120), st.booleans())
def test_no_line_is_wider_than_asked_for(name: str, other: str, width: int, colour: bool) -> None:
    conditions = tuple(Condition(f"R1.{name}", other, v, name, (), other) for v in Verdict)
    review = Review(
        name, samples.NOW, (Area("R1", other, conditions),), (Gap(name, other, name),), (Action(other, (name,) * 9),)
    )
    rows = [FactRow(Plane.COMPUTE, name, other, name, other, name, Verdict.FAILED, other)]
    observations = [samples.observe("storage.checkpoint.stall", 3.0, subject=f"node:{name}")]
    view = build(samples.make_case(observations), review, rows)
    for text in (render_summary(view, width, colour), render_review(review, rows, width, colour)):
        for line in text.split("\n"):
            plain = ANSI.sub("", line) if colour else line
            assert cell_width(plain) <= width
            assert "\x1b" not in plain
            assert "\u202e" not in plain


def test_the_verdict_comes_first_then_three_actions_then_nine_areas() -> None:
    lines = render_summary(samples.laptop_view()).split("\n")
    assert lines[0].startswith("Rejected: 2 of 24 conditions failed.")
    text = "\n".join(lines)
    assert "fourth thing" not in text
    order = [text.index(word) for word in ("Next", " 1. ", " 2. ", " 3. ", "Areas", "Measured", "Not settled")]
    assert order == sorted(order)
    areas = [line for line in lines if re.match(r" R\d ", line)]
    assert len(areas) == 9
    assert re.fullmatch(r" R4  Storage, tested +failed +3 +1 +0 +1 +0", areas[3])


def test_open_conditions_carry_reason_and_fix_and_the_rest_is_counted() -> None:
    text = render_summary(samples.laptop_view())
    assert "412 MB/s measured, 1,190 MB/s needed to stage 2 TB within 28 min" in text
    assert "fix: Run the measurement for dataset staging" in text
    assert "and 6 more: see fourplane review" in text


def test_key_figures_stand_with_their_subject() -> None:
    text = render_summary(samples.laptop_view())
    assert re.search(r"All-reduce bus bandwidth +4\.42 GB/s +node:n1", text)
    assert re.search(r"Checkpoint write +388 MB/s +node:n1", text)


def test_the_review_lists_every_condition_and_the_facts_that_contradict() -> None:
    text = render_review(samples.laptop_review(), samples.laptop_rows())
    for area in samples.laptop_areas():
        for condition in area.conditions:
            assert f"({condition.id})" in text
    assert "Facts that don't agree: 2" in text
    assert "declared 64 · promised 96 · found 2" in text
    assert "gpu.model" not in text  # unproven, so it contradicts nothing
    assert "fix:" not in text.split("(R1.model)")[1].split("(R1.scale)")[0]


def test_colour_only_adds_escapes() -> None:
    plain = render_summary(samples.laptop_view())
    coloured = render_summary(samples.laptop_view(), colour=True)
    assert "\x1b[" not in plain
    assert "\x1b[" in coloured
    assert ANSI.sub("", coloured) == plain


def test_damage_of_the_store_is_said_at_the_top() -> None:
    view = replace(samples.laptop_view(), damage=(Finding("evidence-damaged", Level.ERROR, "a byte differs"),))
    head = render_summary(view).split("Next")[0]
    assert "evidence store is damaged" in head
    assert "a byte differs" in " ".join(head.split())


def test_many_contradictions_are_capped_with_a_count() -> None:
    rows = [FactRow(Plane.COMPUTE, f"node:n{i}", "f", "1", "", "2", Verdict.FAILED, "differs") for i in range(100)]
    text = render_review(samples.laptop_review(), rows)
    assert text.count("node:n") == 40
    assert "and 60 more: see report.json" in text


@pytest.mark.parametrize("width", [40, 80])
def test_an_empty_review_still_has_a_verdict(width: int) -> None:
    text = render_summary(samples.empty_view(), width)
    assert text.startswith("Unproven")
    assert "no conditions" in text
