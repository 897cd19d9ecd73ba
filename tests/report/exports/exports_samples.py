"""A review with every verdict, and findings with and without a place."""

from __future__ import annotations

from datetime import UTC, datetime

from fourplane.base.codes import find
from fourplane.base.findings import Finding, Level
from fourplane.base.verdicts import Verdict
from fourplane.planes.control import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.review.model import Area, Condition, Review

AT = datetime(2026, 12, 1, 4, 55, 12, 500_000, tzinfo=UTC)
P, F, U, S, W = Verdict.PASSED, Verdict.FAILED, Verdict.UNPROVEN, Verdict.STALE, Verdict.WAIVED

_FOUND = find("scheduler-missing")
assert _FOUND is not None, "importing the rules defines their codes"
KNOWN = _FOUND
EVIL = ']]><script>alert(1)</script> \x1b[31m \u202e & "quoted" {0} [click](https://example.org) \ud800'


def condition(key: str, verdict: Verdict, reason: str = "a reason", evidence: tuple[str, ...] = ()) -> Condition:
    return Condition(key, f"Title of {key}", verdict, reason, evidence, "" if verdict is P else "what to do")


def areas() -> tuple[Area, ...]:
    return (
        Area("R1", "Workload brief", (
            condition("R1.one", P, "all is set", ("fourplane.yaml:12:3",)),
            condition("R1.two", F, "it contradicts", ("20261201T044912Z-3f9a:node:n1:compute.cpu.cores",
                                                     "quotes/a.yaml:7:9")),
        )),
        Area("R4", "Storage plane, tested", (
            condition("R4.three", U, "nobody measured it"),
            condition("R4.four", S, "measured 94 days ago"),
            condition("R4.five", W, "waived by Ines Duarte until 2027-01-31"),
        )),
    )  # fmt: skip


def findings() -> list[Finding]:
    return [
        Finding("zz-nobody-defined", Level.INFO, "worth knowing", path="node:n1"),
        Finding(KNOWN.code, Level.WARNING, "it is odd", file="./fourplane.yaml", line=7, column=9,
                path="pools[0].count", found="8", expected="4", fix="write 4", plane="control"),
        Finding(KNOWN.code, Level.ERROR, "it is wrong.", file="/srv/team place/quotes/ä b.yaml", line=3),
        Finding(KNOWN.code, Level.ERROR, "it is gone", file="fourplane.yaml", found="nothing at all"),
    ]  # fmt: skip


def review(*parts: Area, found: tuple[Finding, ...] = ()) -> Review:
    return Review("sample", AT, parts, (), (), found)
