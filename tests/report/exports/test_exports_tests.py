"""JUnit and CTRF: every condition is a case, and nothing but passed looks passed."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree

import pytest
from exports_samples import AT, EVIL, F, P, S, U, W, areas, condition, review
from hypothesis import given
from hypothesis import strategies as st

from fourplane.base.verdicts import Verdict
from fourplane.report.exports.ctrf import ctrf_bytes, ctrf_report
from fourplane.report.exports.junit import junit_bytes
from fourplane.review.model import Area, Review

COUNTS = ("tests", "failures", "errors", "skipped")
ELEMENT = {P: None, F: "failure", U: "error", S: "error", W: "skipped"}
STATUS = {P: "passed", F: "failed", U: "other", S: "other", W: "skipped"}


def junit(one: Review) -> ElementTree.Element:
    return ElementTree.fromstring(junit_bytes(one))


def outcomes(root: ElementTree.Element) -> dict[str, tuple[str | None, str | None]]:
    """Return element and type of each case by its id."""
    out = {}
    for case in root.iter("testcase"):
        children = list(case)
        assert len(children) <= 1
        child = children[0] if children else None
        kind, of = (child.tag, child.get("type")) if child is not None else (None, None)
        out[case.attrib["name"].partition(":")[0]] = (kind, of)
    return out


def test_junit_maps_each_verdict() -> None:
    assert outcomes(junit(review(*areas()))) == {
        "R1.one": (None, None),
        "R1.two": ("failure", "failed"),
        "R4.three": ("error", "unproven"),
        "R4.four": ("error", "stale"),
        "R4.five": ("skipped", None),
    }


def test_junit_counts_what_it_holds() -> None:
    root = junit(review(*areas()))
    assert [root.get(key) for key in COUNTS] == ["5", "1", "2", "1"]
    assert [[suite.get(key) for key in COUNTS] for suite in root] == [["2", "1", "0", "0"], ["3", "0", "2", "1"]]
    assert [suite.get("name") for suite in root] == ["R1 Workload brief", "R4 Storage plane, tested"]
    assert {suite.get("timestamp") for suite in root} == {"2026-12-01T04:55:12"}


def test_junit_says_why_and_what_to_do_and_where() -> None:
    case = next(case for case in junit(review(*areas())).iter("testcase") if case.attrib["name"].startswith("R1.two"))
    assert (case.get("file"), case.get("line"), case.get("classname")) == ("quotes/a.yaml", "7", "R1 Workload brief")
    failure = case[0]
    assert failure.get("message") == "failed: it contradicts"
    assert failure.text == (
        "failed: it contradicts\nfix: what to do\nevidence: 20261201T044912Z-3f9a:node:n1:compute.cpu.cores\n"
        "evidence: quotes/a.yaml:7:9"
    )


def test_junit_is_a_declared_utf_8_document_and_the_same_every_time() -> None:
    data = junit_bytes(review(Area("R1", "Überblick", (condition("R1.ä", P),))))
    assert data.startswith(b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites ") and data.endswith(b"\n")
    assert "Überblick".encode() in data
    assert junit_bytes(review(*areas())) == junit_bytes(review(*areas()))


def ctrf(one: Review) -> dict[str, Any]:
    parsed = json.loads(ctrf_bytes(one))
    assert isinstance(parsed, dict)
    return parsed


def test_ctrf_has_the_shape_of_the_specification() -> None:
    report = ctrf(review(*areas()))
    assert (report["reportFormat"], report["specVersion"]) == ("CTRF", "1.0.0")
    results = report["results"]
    assert results["tool"]["name"] == "fourplane"
    at = int(AT.timestamp() * 1000)
    assert results["summary"] == {
        "tests": 5, "passed": 1, "failed": 1, "skipped": 1, "pending": 0, "other": 2, "suites": 2,
        "start": at, "stop": at,
    }  # fmt: skip
    for test in results["tests"]:
        assert {"name", "status", "duration"} <= set(test)
        assert isinstance(test["duration"], int) and isinstance(test["suite"], list)
        assert test["status"] in ("passed", "failed", "skipped", "pending", "other")


def test_ctrf_maps_each_verdict_and_keeps_its_name() -> None:
    tests = {test["testId"]: test for test in ctrf(review(*areas()))["results"]["tests"]}
    assert {key: (test["status"], test["rawStatus"]) for key, test in tests.items()} == {
        "R1.one": ("passed", "passed"),
        "R1.two": ("failed", "failed"),
        "R4.three": ("other", "unproven"),
        "R4.four": ("other", "stale"),
        "R4.five": ("skipped", "waived"),
    }
    assert (tests["R1.two"]["filePath"], tests["R1.two"]["line"]) == ("quotes/a.yaml", 7)
    assert "fix: what to do" in tests["R4.three"]["message"] and "message" not in tests["R1.one"]
    assert "filePath" not in tests["R4.three"]


def test_places_are_relative_to_the_repository() -> None:
    one = review(Area("R1", "Brief", (condition("R1.x", F, "r", ("/repo/cluster/fourplane.yaml:3:1",)),)))
    assert ctrf_report(one, base=PurePosixPath("/repo"))["results"]["tests"][0]["filePath"] == "cluster/fourplane.yaml"
    case = ElementTree.fromstring(junit_bytes(one, base=PurePosixPath("/repo"))).find(".//testcase")
    assert case is not None and case.get("file") == "cluster/fourplane.yaml"


def test_ctrf_says_the_verdict_of_the_whole() -> None:
    extra = ctrf(review(*areas()))["extra"]
    assert extra == {"verdict": "failed", "headline": "Rejected: 1 of 5 conditions failed."}


@pytest.mark.parametrize(
    "one", [review(), review(Area("R1", "Empty", ())), review(*areas()[:1], Area("R2", "Empty", ()))]
)
def test_what_was_judged_on_nothing_is_not_green(one: Review) -> None:
    assert int(junit(one).attrib["errors"]) >= 1
    assert ctrf(one)["results"]["summary"]["other"] >= 1


def test_names_with_markup_and_broken_characters_are_text() -> None:
    one = review(Area("R1", EVIL, (condition("R1.x", F, EVIL, (EVIL, f"{EVIL}:1:1")),)))
    root = junit(one)
    assert {element.tag for element in root.iter()} == {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure",
    }  # fmt: skip
    assert "<script>alert(1)</script>" in (root.find(".//failure").text or "")  # type: ignore[union-attr]
    data = junit_bytes(one) + ctrf_bytes(one)
    assert b"\x1b" not in data and "\u202e".encode() not in data
    assert ctrf(one)["results"]["tests"][0]["suite"][0].startswith("R1 ]]><script>")


VERDICTS = st.lists(st.lists(st.sampled_from(list(Verdict)), max_size=5), max_size=5)


@given(VERDICTS, st.text(max_size=40))
def test_only_passed_looks_passed_and_the_counts_add_up(plan: list[list[Verdict]], text: str) -> None:
    parts = tuple(
        Area(
            f"R{i}", text, tuple(condition(f"R{i}.c{j}", verdict, text, (text,)) for j, verdict in enumerate(verdicts))
        )
        for i, verdicts in enumerate(plan)
    )
    one = review(*parts)
    given_ = {c.id: c.verdict for part in parts for c in part.conditions}
    root, report = junit(one), ctrf_report(one)
    seen = outcomes(root)
    assert {key: seen[key][0] for key in given_} == {key: ELEMENT[verdict] for key, verdict in given_.items()}
    total, failures, errors, skipped = (int(root.attrib[key]) for key in COUNTS)
    passed = sum(verdict is P for verdict in given_.values())
    assert total - failures - errors - skipped == passed == report["results"]["summary"]["passed"]
    statuses = {test["testId"]: test["status"] for test in report["results"]["tests"]}
    assert {key: statuses[key] for key in given_} == {key: STATUS[verdict] for key, verdict in given_.items()}
    summary = report["results"]["summary"]
    assert summary["tests"] == sum(summary[key] for key in ("passed", "failed", "skipped", "pending", "other")) == total
    accepted = one.verdict in (P, W)
    assert (failures + errors == 0) == accepted or any(not part.conditions for part in parts)
