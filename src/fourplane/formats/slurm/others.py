"""Two small files beside Slurm's own output: the record of a fixture capture, and a list of TRES test cases."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of
from fourplane.formats.slurm.tres import count_gpus, parse_tres

__all__ = [
    "CASES_KIND", "PROVENANCE_KIND", "CapturedCommand", "TresCase", "read_cases", "read_provenance", "sniff_cases",
    "sniff_provenance", "summarise_cases", "summarise_provenance",
]  # fmt: skip

PROVENANCE_KIND = "provenance"
CASES_KIND = "tres-cases"
MAX_CASES = 100_000
MAX_CASE_CHARS = 4_000_000

_HEADER = re.compile(r"(date|slurm|host|sacct):\s{1,20}(\S.{0,200})")
_COMMAND = re.compile(r"([a-z][a-z0-9_]{1,60})\s{1,60}(ok|failed|skipped|empty|error)\s{1,40}(\S.{0,2000})")


@dataclass(frozen=True, slots=True)
class CapturedCommand:
    """A command that was run for a capture; header lines have the status ``header``."""

    line: int
    name: str
    status: str
    invocation: str


def sniff_provenance(head: str) -> float:
    """Return how sure it is that a text is slurm_exporter's record of a fixture capture."""
    return 0.97 if head.lstrip()[:200].lower().startswith("slurm_exporter fixture capture") else 0.0


def read_provenance(text: str) -> Reading[CapturedCommand]:
    """Read the commands of a capture; it says how other files were made, and measures nothing."""
    reading: Reading[CapturedCommand] = Reading(PROVENANCE_KIND)
    commands = 0
    for number, line in lines_of(text, reading):
        body = line.strip()
        header, command = _HEADER.fullmatch(body), _COMMAND.fullmatch(body)
        if header is not None:
            reading.records.append(CapturedCommand(number, header[1], "header", header[2]))
        elif command is not None:
            commands += 1
            reading.records.append(CapturedCommand(number, command[1], command[2], command[3]))
        elif (
            body
            and not body.lower().startswith("slurm_exporter fixture")
            and body.split() != ["command", "status", "invocation"]
        ):
            reading.refuse("slurm-line-not-understood", number, line)
    reading.counted = commands
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "nothing could be read")
    return reading


def summarise_provenance(reading: Reading[CapturedCommand]) -> dict[str, Any]:
    """Return version, date, host and commands of the capture."""
    headers = {one.name: one.invocation for one in reading.records if one.status == "header"}
    commands = [one for one in reading.records if one.status != "header"]
    host = headers.get("host", "")
    return {
        "date": headers.get("date"),
        "slurm": headers.get("slurm", "").removeprefix("slurm ") or None,
        "host": host.split()[0] if host else None,
        "host_hashed": "(hashed)" in host,
        "sacct": headers.get("sacct"),
        "commands": len(commands),
        "ok": sum(one.status == "ok" for one in commands),
        "invocations": {one.name: one.invocation for one in commands[:100]},
    }


@dataclass(frozen=True, slots=True)
class TresCase:
    """A TRES string with the number of GPUs that someone expects, and the number that the rule gives."""

    tres: str
    expected: int
    counted: int | None


def sniff_cases(head: str) -> float:
    """Return how sure it is that a text is a JSON list of ``[TRES string, count]`` pairs."""
    pattern = (
        r"\s{0,40}\[\s{0,40}\[\s{0,40}\"(?:[A-Za-z][^\"=]{0,60}=[^\"]{0,400})?\"\s{0,40},\s{0,40}\d{1,6}\s{0,40}\]"
    )
    match = re.match(pattern, head)
    return (
        0.9
        if match is not None and re.search(r"\"[^\"]{0,400}(?:cpu|node|gres/gpu[^\"=]{0,60})=\d", head[:20_000])
        else 0.0
    )


def read_cases(text: str) -> Reading[TresCase]:
    """Compare the rule with a list of test cases; it is refused as evidence, since no cluster is behind it."""
    reading: Reading[TresCase] = Reading(CASES_KIND)
    reading.refuse("slurm-test-cases", 0, text[:200])
    reading.end(Status.REFUSED, "a list of test cases is no measurement")
    if len(text) > MAX_CASE_CHARS:
        return reading
    try:
        pairs = json.loads(text)
    except (ValueError, RecursionError):
        return reading
    for pair in pairs[:MAX_CASES] if isinstance(pairs, list) else []:
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) is int:
            count = count_gpus(pair[0])
            reading.records.append(TresCase(pair[0], pair[1], count.gpus if count else None))
    return reading


def summarise_cases(reading: Reading[TresCase]) -> dict[str, Any]:
    """Return the cases, and those where the rule differs."""
    return {
        "cases": len(reading.records),
        "gpu_counts": [one.expected for one in reading.records[:100]],
        "typed_cases": sum(any(key.startswith("gres/gpu:") for key in parse_tres(one.tres)) for one in reading.records),
        "disagreements": [one.tres for one in reading.records if one.counted != one.expected][:100],
    }
