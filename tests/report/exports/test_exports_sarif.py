"""SARIF: results at their lines, rules from the registry, and no log that says 'fine' about an open review."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pytest
from exports_samples import AT, EVIL, KNOWN, P, areas, condition, findings, review
from hypothesis import given
from hypothesis import strategies as st

from fourplane.base.findings import Finding, Level
from fourplane.report.exports.sarif import SCHEMA, sarif_bytes, sarif_log
from fourplane.review.model import Area

BASE = PurePosixPath("/srv/team place")


def run(found: list[Finding] | None = None, **more: Any) -> dict[str, Any]:
    log = json.loads(sarif_bytes(findings() if found is None else found, **more))
    assert (log["version"], log["$schema"], len(log["runs"])) == ("2.1.0", SCHEMA, 1)
    one = log["runs"][0]
    assert isinstance(one, dict)
    return one


def place(result: dict[str, Any]) -> tuple[str, dict[str, int] | None]:
    physical = result["locations"][0]["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical.get("region")


def test_each_finding_is_a_result_at_its_line_heaviest_first() -> None:
    results = run(base=BASE)["results"]
    assert [(r["ruleId"], r["level"], *place(r)) for r in results] == [
        (KNOWN.code, "error", "quotes/%C3%A4%20b.yaml", {"startLine": 3}),
        (KNOWN.code, "error", "fourplane.yaml", None),
        (KNOWN.code, "warning", "fourplane.yaml", {"startLine": 7, "startColumn": 9}),
        ("zz-nobody-defined", "note", "fourplane.yaml", None),
    ]
    logical = [r["locations"][0].get("logicalLocations") for r in results]
    assert logical == [None, None, [{"fullyQualifiedName": "pools[0].count"}], [{"fullyQualifiedName": "node:n1"}]]


def test_the_message_says_found_expected_and_fix() -> None:
    texts = [r["message"]["text"] for r in run()["results"]]
    assert texts == [
        "it is wrong.",
        "it is gone. Found nothing at all.",
        "it is odd. Found 8, expected 4. Fix: write 4.",
        "worth knowing.",
    ]


def test_rules_come_from_the_registry() -> None:
    rules = run()["tool"]["driver"]["rules"]
    assert rules == [
        {
            "id": KNOWN.code,
            "shortDescription": {"text": KNOWN.title},
            "fullDescription": {"text": KNOWN.reason},
            "help": {"text": KNOWN.fix},
            "helpUri": KNOWN.link,
            "properties": {"tags": ["control", KNOWN.requirement]},
        },
        {"id": "zz-nobody-defined"},
    ]


def test_a_result_points_at_its_rule() -> None:
    one = run()
    ids = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    assert [ids[r["ruleIndex"]] for r in one["results"]] == [r["ruleId"] for r in one["results"]]


def test_fingerprints_stay_when_lines_move_and_differ_between_findings() -> None:
    before = {r["partialFingerprints"]["fourplaneFinding/v1"] for r in run()["results"]}
    moved = [replace(one, line=one.line + 40 if one.line else 0) for one in findings()]
    after = {r["partialFingerprints"]["fourplaneFinding/v1"] for r in run(moved)["results"]}
    assert before == after and len(before) == 4
    twice = run([findings()[1], findings()[1]])["results"]
    assert twice[0]["partialFingerprints"] != twice[1]["partialFingerprints"]


@pytest.mark.parametrize(
    ("file", "base", "uri"),
    [
        ("fourplane.yaml", None, "fourplane.yaml"),
        ("./a/../b/fourplane.yaml", None, "b/fourplane.yaml"),
        ("/x/y/fourplane.yaml", PurePosixPath("/x"), "y/fourplane.yaml"),
        ("/x/y/fourplane.yaml", PurePosixPath("/z"), "file:///x/y/fourplane.yaml"),
        ("/x/y/fourplane.yaml", None, "file:///x/y/fourplane.yaml"),
        ("a b#c?.yaml", None, "a%20b%23c%3F.yaml"),
        ("javascript:alert(1)", None, "javascript%3Aalert%281%29"),
    ],
)
def test_files_become_uris(file: str, base: PurePosixPath | None, uri: str) -> None:
    one = Finding("some-code", Level.ERROR, "m", file=file, line=1, column=1)
    assert place(run([one], base=base)["results"][0])[0] == uri


def test_an_open_review_leaves_a_notification_and_never_a_pass() -> None:
    one = run([], review=review(*areas()[1:]))
    assert one["results"] == []
    notes = one["invocations"][0]["toolExecutionNotifications"]
    assert notes == [
        {"level": "warning", "message": {"text": "Unproven, do not sign yet: 1 of 3 conditions without proof."}}
    ]
    failed = run([], review=review(*areas()))["invocations"][0]
    assert failed["toolExecutionNotifications"][0]["level"] == "error"
    assert failed["endTimeUtc"] == "2026-12-01T04:55:12.500000Z" and AT.microsecond == 500_000


def test_an_accepted_review_has_nothing_to_tell() -> None:
    accepted = review(Area("R1", "Brief", (condition("R1.one", P),)))
    assert "toolExecutionNotifications" not in run([], review=accepted)["invocations"][0]


def test_no_text_becomes_a_link_or_a_placeholder() -> None:
    one = Finding("some-code", Level.ERROR, EVIL, file="fourplane.yaml", line=1, found=EVIL, path=EVIL)
    text = run([one])["results"][0]["message"]["text"]
    assert "](" not in text and "\x1b" not in text and "\u202e" not in text
    assert "{{0}}" in text and re.search(r"(?<!\{)\{0\}", text) is None


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30), st.integers(-1, 3), st.integers(-1, 3))))
def test_any_finding_gives_a_log_within_the_rules(rows: list[tuple[str, str, int, int]]) -> None:
    found = [
        Finding("some-code", Level.WARNING, message, file=file, line=line, column=column)
        for message, file, line, column in rows
    ]
    log = sarif_log(found)
    json.dumps(log).encode("utf-8")
    results = log["runs"][0]["results"]
    assert len(results) == len(found)
    for result in results:
        uri, region = place(result)
        assert re.fullmatch(r"[A-Za-z0-9._~/%:-]+", uri), uri
        assert region is None or (region["startLine"] >= 1 and region.get("startColumn", 1) >= 1)
        assert result.get("kind", "fail") == "fail" and result["message"]["text"]
    prints = [result["partialFingerprints"]["fourplaneFinding/v1"] for result in results]
    assert len(set(prints)) == len(prints)
