"""Gaps of the brief: which field, who should know, what fills it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from review_samples import changed, conditions, full, judge_all, without

from fourplane.base.verdicts import Verdict
from fourplane.records.metrics import METRICS
from fourplane.review.gaps import BRIEF_FIELDS, find_gaps, missing_fields, value_at
from fourplane.review.table import all_conditions
from fourplane.review.wording import fill, is_named, is_set, lacks, listing
from fourplane.spec.brief import Brief, OwnershipBoundary


def leaves(model: type[BaseModel], prefix: str = "") -> list[str]:
    out = []
    for name, field in model.model_fields.items():
        inner = [
            t for t in getattr(field.annotation, "__args__", ()) if isinstance(t, type) and issubclass(t, BaseModel)
        ]
        out += leaves(inner[0], f"{prefix}{name}.") if inner else [f"{prefix}{name}"]
    return out


def test_the_table_names_every_field_of_the_brief_once() -> None:
    assert sorted(one.path for one in BRIEF_FIELDS) == sorted(leaves(Brief))


def test_every_field_belongs_to_a_condition_of_the_first_area() -> None:
    ids = {key for key, _ in all_conditions()}
    assert {one.condition for one in BRIEF_FIELDS} <= ids
    assert {key for key in ids if key.startswith("R1.")} - {one.condition for one in BRIEF_FIELDS} == {
        "R1.declaration",
        "R1.design",
    }


def test_every_metric_that_a_gap_names_exists() -> None:
    for one in BRIEF_FIELDS:
        for name in re.findall(r"\b(?:compute|network|storage|control)\.[a-z_.]+\b", one.measurement):
            assert name in METRICS, one.path


def test_every_owner_field_exists_and_every_row_says_who_and_how() -> None:
    for one in BRIEF_FIELDS:
        assert one.ownership in {"", *OwnershipBoundary.model_fields}
        assert len(one.role) > 5
        assert len(one.measurement) > 10


def test_an_empty_brief_has_a_gap_for_every_field() -> None:
    gaps = [gap.field for _, gap in find_gaps(Brief())]
    assert gaps == [f"brief.{one.path}" for one in BRIEF_FIELDS]


def test_a_full_brief_has_none() -> None:
    assert judge_all().gaps == ()


@pytest.mark.parametrize("path", [one.path for one in BRIEF_FIELDS])
def test_each_missing_field_is_one_gap_and_forbids_signing(path: str) -> None:
    result = judge_all(without(f"brief.{path}"))
    assert [gap.field for gap in result.gaps] == [f"brief.{path}"]
    assert result.verdict is Verdict.UNPROVEN
    assert "do not sign" in result.headline
    assert path in result.headline


def test_a_whole_missing_part_is_told_field_by_field() -> None:
    fields = [gap.field for gap in judge_all(without("brief.network")).gaps]
    assert fields == [
        f"brief.network.{key}" for key in ("all_reduce", "latency", "placement_group", "isolation", "egress_path")
    ]


def test_the_headline_counts_what_it_does_not_name() -> None:
    headline = judge_all(without("brief.network")).headline
    assert "network.all_reduce, network.latency, network.placement_group and 2 more missing" in headline


def test_a_rejected_review_with_gaps_still_says_do_not_sign() -> None:
    data = without("brief.denominator")
    data["brief"]["why_cluster"] = ("none",)
    headline = judge_all(data).headline
    assert headline.startswith("Rejected")
    assert "do not sign" in headline


def test_the_named_owner_is_asked_and_else_a_role() -> None:
    data = without("brief.network.isolation")
    data["brief"]["ownership"]["access"] = "platform team"
    assert judge_all(data).gaps[0].owner == "platform team (owns access)"
    del data["brief"]["ownership"]["access"]
    assert {gap.field: gap.owner for gap in judge_all(data).gaps} == {
        "brief.network.isolation": "security officer",
        "brief.ownership.access": "head of infrastructure",
    }


def test_false_and_zero_are_answers() -> None:
    data = changed("brief.network.all_reduce", False)
    data["brief"]["node_shape"]["nics"] = 0
    assert judge_all(data).gaps == ()


@pytest.mark.parametrize(
    ("workload", "path", "applies"),
    [
        ("pre-training", "storage.checkpoint_interval", True),
        ("fine-tuning", "storage.checkpoint_interval", True),
        ("simulation", "storage.checkpoint_interval", True),
        ("online-inference", "storage.checkpoint_interval", False),
        ("notebooks", "storage.checkpoint_interval", False),
        ("online-inference", "storage.weights_size", True),
        ("simulation", "storage.weights_size", False),
        ("simulation", "model.parameters_billion", False),
        ("simulation", "model.precision", False),
        ("simulation", "model.name", True),
        ("embeddings", "model.precision", True),
    ],
)
def test_fields_that_mean_nothing_for_a_workload_are_no_gaps(workload: str, path: str, applies: bool) -> None:
    data = without(f"brief.{path}")
    data["brief"]["workload"] = workload
    assert [gap.field for gap in judge_all(data).gaps] == ([f"brief.{path}"] if applies else [])


@pytest.mark.parametrize(("scale", "applies"), [("one-node", False), ("mixed", True)])
def test_one_node_jobs_need_no_largest_job(scale: str, applies: bool) -> None:
    data = without("brief.max_job_nodes")
    data["brief"]["scale"] = scale
    assert bool(judge_all(data).gaps) is applies


def test_while_the_workload_is_open_every_field_applies() -> None:
    data = without("brief.workload")
    del data["brief"]["storage"]["checkpoint_interval"]
    assert [gap.field for gap in judge_all(data).gaps] == ["brief.workload", "brief.storage.checkpoint_interval"]


def test_the_condition_and_its_gaps_always_agree() -> None:
    brief = Brief(**without("brief.model.licence")["brief"])
    assert missing_fields(brief, "R1.model") == ["model.licence"]
    assert missing_fields(brief, "R1.network") == []


@settings(max_examples=40, deadline=None)
@given(st.sets(st.sampled_from([one.path for one in BRIEF_FIELDS if "." in one.path]), max_size=8))
def test_any_set_of_missing_fields_is_told_exactly(paths: set[str]) -> None:
    data = full()
    for path in paths:
        part, key = path.split(".")
        del data["brief"][part][key]
    result = judge_all(data)
    assert {gap.field for gap in result.gaps} == {f"brief.{path}" for path in paths}
    shown = conditions(result)
    for one in BRIEF_FIELDS:
        hit = any(other.path in paths for other in BRIEF_FIELDS if other.condition == one.condition)
        assert (shown[one.condition].verdict is Verdict.UNPROVEN) is hit


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", [None, "", " ", "?", "TBD", " tbd. ", "Unknown", "nobody"])
def test_placeholders_say_nothing(text: str | None) -> None:
    assert not is_named(text)
    assert not is_set(text)


@pytest.mark.parametrize("value", [False, 0, 0.0, "x", ("a",), ("", "a")])
def test_answers_are_answers(value: object) -> None:
    assert is_set(value)


@pytest.mark.parametrize("value", [(), ("",), ("tbd", "?")])
def test_lists_of_nothing_say_nothing(value: object) -> None:
    assert not is_set(value)


def test_lists_in_words() -> None:
    assert listing([]) == ""
    assert listing(["a"]) == "a"
    assert listing(["a", "b"]) == "a and b"
    assert listing(["a", "b", "c", "d"]) == "a, b, c and d"
    assert listing(["a", "b", "c", "d", "e", "f"]) == "a, b, c, d and 2 more"


def test_missing_fields_in_words() -> None:
    assert lacks(["brief.workload"]) == "brief.workload is not set"
    assert lacks(["brief.model.name", "brief.model.licence"]) == "brief.model lacks name and licence"
    assert lacks(["brief.scale", "brief.workload"]) == "brief.scale and brief.workload are not set"
    assert lacks(["a.b.c", "a.d.e"]) == "a.b.c and a.d.e are not set"
    assert fill(["brief.workload"], "f.yaml") == "write brief.workload in f.yaml"
    assert fill(["a.b.c", "a.b.d"], "f.yaml") == "write the 2 missing fields of a.b in f.yaml"


def test_values_by_path() -> None:
    brief = Brief(**full()["brief"])
    assert value_at(brief, "model.name") == "m"
    assert value_at(brief, "scale") == "multi-node-synchronous"
    assert value_at(Brief(), "model.name") is None
    assert value_at(None, "model.name") is None
