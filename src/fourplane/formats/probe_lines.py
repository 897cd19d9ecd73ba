"""The JSON lines that a probe writes on stdout, read without trust.

One object a line, its kind under ``t``::

    {"t": "begin", "probe": "storage", "version": 1, "node": "n1", "at": "2026-12-01T04:39:20Z"}
    {"t": "raw", "name": "nvidia-smi-topo", "text": "..."}
    {"t": "observation", "subject": "gpu:0", "metric": "compute.gpu.model", "value": "NVIDIA H100 80GB HBM3",
     "unit": "", "method": "nvidia-smi 590.48.01", "state": "measured", "reason": "", "conditions": {},
     "at": "2026-12-01T04:39:21Z", "raw": "nvidia-smi-query", "line": 2}
    {"t": "progress", "done": 0.35, "text": "checkpoint: shard 3 of 8"}
    {"t": "end", "ok": true, "seconds": 12.5}

``subject`` is relative to the node: "" is the node itself. A stream without its end line was cut.
``value`` is None unless ``state`` is measured; a metric with a unit holds a finite number. The name of a raw text
is a file name in lower case; the first text of a name stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fourplane.base.clock import parse_utc
from fourplane.formats.model import Refusal, finite_json
from fourplane.records.metrics import METRICS
from fourplane.records.observation import State

__all__ = ["ProbeLine", "ProbeObservation", "ProbeOutput", "Refusal", "parse_line", "read"]

MAX_LINE = 8 * 1024 * 1024
MAX_LINES = 200_000
MAX_RAW = 64 * 1024 * 1024
"""Characters of all raw texts together."""

_SUBJECT = re.compile(r"(?:[a-z]{1,16}:[A-Za-z0-9_.:@+-]{1,64})?", re.ASCII)
_RAW_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,79}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ProbeObservation:
    """One observation as the probe wrote it; the subject is relative to the node.

    ``raw`` and ``line`` cite a raw text that the probe sent; ``at_line`` is the line of the stream that holds the
    observation itself, 0 where it was derived.
    """

    subject: str
    metric: str
    value: Any
    unit: str
    method: str
    at: str
    state: State
    reason: str
    conditions: dict[str, Any]
    raw: str
    line: int
    at_line: int = 0


@dataclass(frozen=True, slots=True)
class ProbeLine:
    """One parsed line: its kind and its fields."""

    kind: str
    fields: dict[str, Any]


@dataclass(slots=True)
class ProbeOutput:
    """Everything one probe said on one node.

    Attributes:
        probe: name of the probe, "" when the begin line is missing.
        observations: in the order written.
        raws: raw texts by name.
        complete: the end line arrived and said ok.
        refusals: lines that were not understood.
    """

    probe: str = ""
    observations: list[ProbeObservation] = field(default_factory=list)
    raws: dict[str, str] = field(default_factory=dict)
    complete: bool = False
    refusals: list[Refusal] = field(default_factory=list)


def parse_line(text: str) -> ProbeLine | None:
    """Parse one line; None for anything that isn't one of the five kinds."""
    if len(text) > MAX_LINE:
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.get("t") not in ("begin", "raw", "observation", "progress", "end"):
        return None
    # json reads NaN, Infinity and 1e999; none of them is a figure, and none can be written back as JSON
    if not finite_json(data):
        return None
    if "\\ud" in text.lower():
        data = _scrub(data)
    return ProbeLine(data["t"], data)


def _scrub(value: Any) -> Any:
    """Replace lone surrogates, which JSON can write and UTF-8 can't."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_scrub(key): _scrub(inner) for key, inner in value.items()}
    return [_scrub(inner) for inner in value] if isinstance(value, list) else value


def read(lines: Iterable[str]) -> ProbeOutput:
    """Read a probe's output; what is malformed becomes a refusal, never an exception."""
    out = ProbeOutput()
    raw_size = 0
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        if number > MAX_LINES:
            out.refusals.append(Refusal("probe-too-many-lines", number, ""))
            break
        line = parse_line(text)
        if line is None:
            out.refusals.append(Refusal("probe-line-not-understood", number, text[:200]))
        elif line.kind == "begin":
            out.probe = str(line.fields.get("probe", ""))
        elif line.kind == "raw":
            name, raw = str(line.fields.get("name", "")), str(line.fields.get("text", ""))
            raw_size += len(raw)
            if not _RAW_NAME.fullmatch(name) or name in out.raws or raw_size > MAX_RAW:
                out.refusals.append(Refusal("probe-raw-refused", number, text[:200]))
            else:
                out.raws[name] = raw
        elif line.kind == "observation":
            _take(out, line.fields, number, text)
        elif line.kind == "end":
            out.complete = line.fields.get("ok") is True
    return out


def _take(out: ProbeOutput, fields: dict[str, Any], number: int, text: str) -> None:
    metric = fields.get("metric")
    if not isinstance(metric, str) or metric not in METRICS:
        out.refusals.append(Refusal("probe-metric-unknown", number, text[:200]))
        return
    try:
        parse_utc(str(fields["at"]))
        state = State(fields.get("state", "measured"))
        observation = ProbeObservation(
            subject=str(fields.get("subject", "")),
            metric=metric,
            value=fields.get("value"),
            unit=str(fields.get("unit", METRICS[metric].unit)),
            method=str(fields["method"]),
            at=str(fields["at"]),
            state=state,
            reason=str(fields.get("reason", "")),
            conditions=dict(fields.get("conditions") or {}),
            raw=str(fields.get("raw", "")),
            line=int(fields.get("line", 0)),
            at_line=number,
        )
    except (KeyError, ValueError, TypeError, OverflowError):
        out.refusals.append(Refusal("probe-observation-malformed", number, text[:200]))
        return
    if not _is_sound(observation):
        out.refusals.append(Refusal("probe-observation-malformed", number, text[:200]))
        return
    if observation.unit != METRICS[metric].unit:
        out.refusals.append(Refusal("probe-unit-wrong", number, text[:200]))
        return
    out.observations.append(observation)


def _is_sound(one: ProbeObservation) -> bool:
    """Tell whether subject, state and value go together."""
    if not _SUBJECT.fullmatch(one.subject) or not one.method or one.line < 0:
        return False
    if one.state is not State.MEASURED:
        return one.value is None
    if one.unit:
        return isinstance(one.value, int | float) and not isinstance(one.value, bool)
    return one.value is not None
