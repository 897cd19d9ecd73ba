"""NCCL's own log without a result table: of a training job, or of a test that died before its first line.

Records are the whole log as one; what is counted are the lines that tell a fact: channels and warnings.
"""

from __future__ import annotations

import re
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of
from fourplane.formats.nccl_model import NcclRun
from fourplane.formats.nccl_prefix import without_prefix
from fourplane.formats.nccl_summary import MAX_NAMED, summarise_run
from fourplane.formats.nccl_world import note_warnings

__all__ = ["KIND", "read", "sniff", "summarise"]

KIND = "nccl-info"

_LINE = re.compile(r":\d{1,10}:\d{1,10} \[-?\d{1,4}\] .{0,120}NCCL (?:INFO|WARN) ", re.ASCII)
_VERSION = re.compile(r"[NR]CCL version ?:? ?(\d[\w.+-]{0,40})", re.ASCII)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a log of NCCL."""
    head = head[:262144]
    at = head.find(" NCCL ")
    return 0.55 if at >= 0 and _LINE.search(head, max(0, at - 400)) is not None else 0.0


def read(text: str) -> Reading[NcclRun]:
    """Read the log; the record is a run without a table, so that both kinds are judged alike."""
    reading: Reading[NcclRun] = Reading(KIND)
    run = NcclRun(1)
    facts = 0
    for number, raw in lines_of(text, reading):
        if "NCCL" not in raw:
            continue
        line, _ = without_prefix(raw)
        if (version := _VERSION.search(line)) is not None:
            run.nccl_version = run.nccl_version or version[1]
        if "NCCL INFO" in line or "NCCL WARN" in line:
            facts += 1
            run.transports.take(line, number)
    if not facts:
        reading.refuse("nccl-no-log" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no line of NCCL's own log")
        return reading
    log = run.transports
    reading.records.append(run)
    reading.counted = len(log.warnings) + sum(log.channels.values())
    note_warnings(log, reading)
    if log.error:
        cause = log.warnings[0].text if log.warnings else f"error {log.error}"
        run.status, run.reason = Status.FAILED, f"NCCL gave up: {cause}"
        reading.end(run.status, run.reason)
    return reading


def summarise(reading: Reading[NcclRun]) -> dict[str, Any]:
    """Return the facts of the log under the same names as those of a result, and its warnings."""
    if not reading.records:
        return {}
    run = reading.records[0]
    warnings = [
        {
            "node": one.node, "gpu": one.gpu, "peer": one.peer, "hca": one.hca, "status": one.status,
            "opcode": one.opcode, "vendor_err": one.vendor_err, "request": one.request, "text": one.text,
        }
        for one in run.transports.warnings[:MAX_NAMED]
    ]  # fmt: skip
    return {**summarise_run(run), "warnings": warnings}
