"""From a probe's output to observations: subjects named in full, raw texts cited, GPU facts read from raw texts.

A probe sends the output of the GPU tools as it is; here the parsers that also read imported files turn it into
observations. Whatever a raw text should have told and does not is recorded as failed, never left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fourplane.base.clock import parse_utc, utc_now
from fourplane.base.codes import find
from fourplane.base.findings import Finding, Level
from fourplane.base.text import plural, shorten
from fourplane.formats.model import Refusal
from fourplane.formats.probe_lines import ProbeObservation, ProbeOutput
from fourplane.prove import derive_codes as _codes
from fourplane.prove.derive_gpu import GpuFacts, read_gpus
from fourplane.records.metrics import metric
from fourplane.records.observation import Observation, RawRef

__all__ = ["Derived", "derive"]

MAX_REFUSALS = 50
"""Findings about unreadable lines of one output; the rest is counted in one more."""


@dataclass(slots=True)
class Derived:
    """What one probe's output on one node stands for.

    Attributes:
        observations: in the order written, derived ones last; no two of one subject, metric and method.
        findings: lines and raw texts that could not be read, doubles, contradictions.
        complete: the probe reached its end; otherwise something it meant to say is missing.
    """

    observations: list[Observation] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    complete: bool = False


def derive(node: str, output: ProbeOutput, stream: str = "") -> Derived:
    """Return the observations and findings of a probe's output on a node.

    Args:
        node: name of the node, without ``node:``.
        output: what ``formats.probe_lines.read`` made of its lines.
        stream: name under which the lines themselves are stored; an observation that cites no raw text cites its own
            line there. "" where they are not stored.

    Returns:
        Observations with a ``RawRef`` whose path is ``NODE/NAME-OF-THE-RAW-TEXT`` and whose hash is empty: the store
        fills it in. A raw text that never arrived is not cited.
    """
    derived = Derived(complete=output.complete)
    seen: set[tuple[str, str, str]] = set()
    for one in output.observations:
        _add(_observation(node, one, output, stream), derived, seen)
    facts = read_gpus(output)
    for one in facts.observations:
        _add(_observation(node, one, output), derived, seen)
    derived.findings += _refused(node, output.refusals, output.probe)
    derived.findings += _facts(node, facts)
    return derived


def _observation(node: str, one: ProbeObservation, output: ProbeOutput, stream: str = "") -> Observation:
    raw = RawRef(f"{node}/{stream}", "", one.at_line) if stream and one.at_line else None
    if one.raw in output.raws:
        text = output.raws[one.raw]
        lines = text.count("\n") + (not text.endswith("\n"))
        raw = RawRef(f"{node}/{one.raw}", "", one.line if one.line <= lines else 0)
    return Observation(
        subject=f"node:{node}/{one.subject}" if one.subject else f"node:{node}",
        metric=one.metric,
        value=one.value,
        unit=one.unit,
        method=one.method,
        at=parse_utc(one.at) if one.at else utc_now(),
        state=one.state,
        reason=one.reason,
        conditions=one.conditions,
        raw=raw,
    )


def _add(one: Observation, derived: Derived, seen: set[tuple[str, str, str]]) -> None:
    if one.key not in seen:
        seen.add(one.key)
        derived.observations.append(one)
        return
    message = f"{one.subject} {one.metric} was reported twice by {shorten(one.method, 80)}; the first word stands"
    derived.findings.append(_finding("probe-observation-repeated", Level.WARNING, message, one.subject, one.metric))


def _refused(node: str, refusals: list[Refusal], probe: str) -> list[Finding]:
    name = probe or "a probe without a begin line"
    found = [
        _finding(
            refusal.code,
            Level.WARNING,
            f"line {refusal.line} of {shorten(name, 40)} on {node} was not taken over",
            f"node:{node}",
            found=shorten(refusal.text, 160),
        )
        for refusal in refusals[:MAX_REFUSALS]
    ]
    if len(refusals) > MAX_REFUSALS:
        more = plural(len(refusals) - MAX_REFUSALS, "further line")
        message = f"{more} of {shorten(name, 40)} on {node} were not taken over"
        found.append(_finding("probe-line-not-understood", Level.WARNING, message, f"node:{node}"))
    return found


def _facts(node: str, facts: GpuFacts) -> list[Finding]:
    out = []
    for raw, refusal in facts.refusals[:MAX_REFUSALS]:
        where = f"line {refusal.line} of {raw}" if refusal.line else raw
        lost = refusal.code in {"nvidia-smi-device-lost", "nvidia-smi-failed"}
        level = Level.ERROR if lost else Level.WARNING
        message = f"{where} on {node}: {_title(refusal.code)}"
        out.append(_finding(refusal.code, level, message, f"node:{node}", "compute.gpu", shorten(refusal.text, 160)))
    for code, message, found, expected in facts.remarks:
        finding = _finding(code, Level.ERROR, f"{node}: {message}", f"node:{node}", "compute.gpu", found, expected)
        out.append(finding)
    return out


def _title(code: str) -> str:
    known = find(code)
    return known.title[:1].lower() + known.title[1:] if known else code


def _finding(
    code: str, level: Level, message: str, path: str, about: str = "", found: str = "", expected: str = ""
) -> Finding:
    known = _codes.find(code)
    plane = about.split(".", 1)[0]
    if about and "." in about and not about.startswith("compute.gpu"):
        plane = metric(about).plane
    return Finding(
        code=code,
        level=level,
        message=message,
        path=path,
        found=found,
        expected=expected,
        fix=known.fix if known else "",
        link=known.link if known else "",
        plane=plane,
    )
