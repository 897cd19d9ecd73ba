"""The review as JUnit XML, the form that nearly every CI server reads.

JUnit knows passed, failure, error and skipped; a review knows five verdicts. What nobody measured must not look green
anywhere, and servers count ``skipped`` as no objection: a pipeline that gates on failures and errors would let an
unproven cluster through. So *unproven* and *stale* are errors of their own type (the test could not be carried out,
which is what ``error`` means: no assertion was reached), *failed* is a failure, and only *waived* is skipped, since an
owner set it aside by name, with a reason and an end.

There is no normative schema; the structure follows what Ant's task writes and what Jenkins and GitLab read.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC
from pathlib import PurePath
from xml.etree import ElementTree

from fourplane import __version__
from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.report.exports.cases import TOOL, Case, cases_of, details, place_of
from fourplane.review.model import Review

__all__ = ["junit_bytes"]

_ELEMENTS = {
    Verdict.FAILED: "failure",
    Verdict.UNPROVEN: "error",
    Verdict.STALE: "error",
    Verdict.WAIVED: "skipped",
}
"""Element of each verdict; passed has none."""


def junit_bytes(review: Review, *, base: PurePath | None = None) -> bytes:
    """Return the review as a JUnit document in UTF-8: a suite for each area, a case for each condition.

    Args:
        review: what was judged.
        base: folder to which absolute paths are made relative.
    """
    suites: dict[str, list[Case]] = defaultdict(list)
    for case in cases_of(review):
        suites[case.suite].append(case)
    everything = [case for cases in suites.values() for case in cases]
    root = ElementTree.Element(
        "testsuites", {"name": printable(f"{TOOL} review of {review.name}"), **_counts(everything)}
    )
    moment = review.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    for name, cases in suites.items():
        suite = ElementTree.SubElement(root, "testsuite",
                                       {"name": printable(name), **_counts(cases), "timestamp": moment})  # fmt: skip
        properties = ElementTree.SubElement(suite, "properties")
        for key, value in (("tool", f"{TOOL} {__version__}"), ("verdict", str(review.verdict))):
            ElementTree.SubElement(properties, "property", {"name": key, "value": value})
        for case in cases:
            _case(suite, case, base)
    ElementTree.indent(root, " ")
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _counts(cases: list[Case]) -> dict[str, str]:
    elements = [_ELEMENTS.get(case.condition.verdict, "") for case in cases]
    return {
        "tests": str(len(cases)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
        "skipped": str(elements.count("skipped")),
        "time": "0",
    }


def _case(suite: ElementTree.Element, case: Case, base: PurePath | None) -> None:
    one = case.condition
    attributes = {"classname": printable(case.suite), "name": printable(f"{one.id}: {one.title}"), "time": "0"}
    place = place_of(one, base)
    if place:
        attributes |= {"file": place[0], "line": str(place[1])}
    element = ElementTree.SubElement(suite, "testcase", attributes)
    kind = _ELEMENTS.get(one.verdict)
    if kind is None:
        return
    message = printable(f"{one.verdict}: {one.reason or one.title}")
    outcome = ElementTree.SubElement(element, kind, {"message": message})
    if kind != "skipped":
        outcome.set("type", str(one.verdict))
    outcome.text = details(one)
