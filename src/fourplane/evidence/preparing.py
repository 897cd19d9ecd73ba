"""Observations and raw texts made ready for storing: checked, redacted, tied to each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from fourplane.base.clock import format_utc
from fourplane.base.codes import Code
from fourplane.base.errors import StoreError
from fourplane.base.files import sha256_hex
from fourplane.base.text import plural, shorten
from fourplane.evidence import codes
from fourplane.evidence.folder import RECORD_LIMIT
from fourplane.evidence.layout import raw_path, step_path
from fourplane.evidence.manifest import FileEntry, canonical
from fourplane.evidence.redaction import redact, redact_bytes, redact_value
from fourplane.records.metrics import METRICS
from fourplane.records.observation import Observation, RawRef, State

__all__ = ["PreparedStep", "bounded", "clean_object", "prepare_step"]

RAWS_LIMIT = 4096
OBSERVATIONS_LIMIT = 100_000


@dataclass(frozen=True, slots=True)
class PreparedStep:
    """A step as it will be stored: files in the order of writing (raw texts first), and its observations."""

    files: list[tuple[str, bytes]]
    observations: list[Observation]


@dataclass(frozen=True, slots=True)
class _Raw:
    name: str
    path: str
    data: bytes
    original_sha256: str
    kinds: Mapping[str, int]

    @property
    def lines(self) -> int:
        return self.data.count(b"\n") + (not self.data.endswith(b"\n"))

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "path": self.path,
            "sha256": sha256_hex(self.data),
            "bytes": len(self.data),
            "original_sha256": self.original_sha256,
            "redactions": dict(self.kinds),
        }


def prepare_step(
    run: str,
    step: str,
    observations: Sequence[Observation],
    raws: Mapping[str, str | bytes],
    note: Mapping[str, Any] | None,
    at: datetime,
    committed: Mapping[str, FileEntry],
) -> PreparedStep:
    """Check and redact one step.

    Both hashes of each raw text are kept: of the original, so that whoever still holds it can show that it is
    the one that was measured, and of the redacted text, which is what the manifest covers.

    Raises:
        StoreError: a name, size, metric, unit, value or reference that the store does not take.
    """
    if len(raws) > RAWS_LIMIT or len(observations) > OBSERVATIONS_LIMIT:
        counts = f"{plural(len(observations), 'observation')} and {plural(len(raws), 'raw text')}"
        raise _refuse(codes.TOO_LARGE, f"step {step} holds {counts}")
    texts = {name: _raw(run, step, name, content) for name, content in raws.items()}
    kinds: Counter[str] = Counter()
    ready = [_observation(run, one, texts, committed, kinds) for one in observations]
    record = {
        "run": run,
        "step": step,
        "at": format_utc(at),
        "note": clean_object(note or {}, "note"),
        "observations": [one.to_json() for one in ready],
        "raws": [raw.to_json() for raw in texts.values()],
        "redactions": dict(kinds),
    }
    files = [(raw.path, raw.data) for raw in texts.values()]
    files.append((step_path(run, step), bounded(canonical(record), f"step {step}")))
    return PreparedStep(files, ready)


def clean_object(data: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return a JSON object without secrets.

    Raises:
        StoreError: not JSON, a number that is not finite, or nested too deeply.
    """
    try:
        value = redact_value(dict(data)).value
        canonical(value)
    except (ValueError, TypeError) as error:
        raise _refuse(codes.OBSERVATION_REFUSED, f"the {what} is not plain JSON: {error}") from error
    assert isinstance(value, dict)
    return value


def bounded(data: bytes, what: str) -> bytes:
    """Return ``data`` if it is within the limit of one record.

    Raises:
        StoreError: it is larger.
    """
    if len(data) > RECORD_LIMIT:
        raise _refuse(codes.TOO_LARGE, f"{what} takes {len(data):,} bytes, of {RECORD_LIMIT:,} allowed")
    return data


def _raw(run: str, step: str, name: str, content: str | bytes) -> _Raw:
    original = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    bounded(original, f"raw text {name}")
    clean = redact_bytes(content) if isinstance(content, bytes) else redact(content)
    data = bounded(clean.text.encode("utf-8", "replace"), f"raw text {name}")
    return _Raw(name, raw_path(run, step, name), data, sha256_hex(original), clean.kinds)


def _observation(
    run: str, one: Observation, texts: Mapping[str, _Raw], committed: Mapping[str, FileEntry], kinds: Counter[str]
) -> Observation:
    label = f"{one.subject} {one.metric}"
    metric = METRICS.get(one.metric)
    if metric is None:
        raise _refuse(codes.OBSERVATION_REFUSED, f"{label}: the metric is not in the vocabulary")
    if one.state is State.MEASURED and one.unit != metric.unit:
        raise _refuse(codes.OBSERVATION_REFUSED, f"{label}: unit {one.unit!r}, and the metric has {metric.unit!r}")
    if isinstance(one.value, float) and not math.isfinite(one.value):
        raise _refuse(codes.OBSERVATION_REFUSED, f"{label}: {one.value} is not a finite number")
    try:
        found = redact_value({"s": one.subject, "v": one.value, "m": one.method, "r": one.reason, "c": one.conditions})
        canonical(found.value)
    except (ValueError, TypeError) as error:
        raise _refuse(codes.OBSERVATION_REFUSED, f"{label}: {error}") from error
    kinds.update(found.kinds)
    clean = found.value
    return replace(
        one,
        subject=clean["s"],
        value=clean["v"],
        method=clean["m"],
        reason=clean["r"],
        conditions=clean["c"],
        raw=_reference(one.raw, texts, committed, label) if one.raw else None,
        run=run,
    )


def _reference(ref: RawRef, texts: Mapping[str, _Raw], committed: Mapping[str, FileEntry], label: str) -> RawRef:
    """Return the reference with path and hash; a line beyond the text becomes 0, the whole text."""
    if ref.sha256:
        known = committed.get(ref.path)
        if known is None or known.sha256 != ref.sha256:
            raise _refuse(codes.RAW_UNKNOWN, f"{label} cites {ref.path}, which is not on file with that hash")
        return ref
    raw = texts.get(ref.path)
    if raw is None:
        raise _refuse(codes.RAW_UNKNOWN, f"{label} cites the raw text {ref.path!r}, which is not part of the step")
    return RawRef(raw.path, sha256_hex(raw.data), ref.line if 0 < ref.line <= raw.lines else 0)


def _refuse(code: Code, message: str) -> StoreError:
    return StoreError(code.code, shorten(message, 400), code.fix)
