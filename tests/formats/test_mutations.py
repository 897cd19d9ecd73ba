"""Twenty thousand damaged texts for each kind; minutes of work, so only with the lab tests."""

from __future__ import annotations

import json
import random
import re
import resource
from collections import defaultdict
from pathlib import Path

import pytest
from formats_corpus import CORPUS, SAMPLES

from fourplane.base.codes import find
from fourplane.formats import gpus, nodes
from fourplane.formats.kinds import recognise
from fourplane.formats.model import Format, Status

EACH = 20_000
PIECES = (
    "", "\n", "\x00", "\x1b[", "9" * 40, "[N/A]", "1e999", " ", "{", "é", "-", ", ", "²", "null", "NaN", "\\ud800", '"',
    "[]", "{}", "0", "|", ":", "\t", "\r\n", "18446744073709551616", "GPU0", "Rank 0", "x" * 50,
)  # fmt: skip
FORMATS: dict[str, Format] = {one.kind: one for group in (gpus, nodes) for one in group.FORMATS}
SUMMARIES = {**gpus.SUMMARIES, **nodes.SUMMARIES}


def _texts() -> dict[str, list[str]]:
    folders = [path for name in ("nvidia_smi", "amd_smi", "nccl_tests", "nccl_info", "fio", "nodes")
               for path in (CORPUS / name).iterdir()]  # fmt: skip
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folders) + (sorted(SAMPLES.iterdir()) if SAMPLES.is_dir() else []):
        text = _read(path)
        known = recognise(text)
        if known is not None:
            found[known[0].kind].append(text)
    return found


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _damage(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 5)):
        at, way = rng.randint(0, len(text)), rng.random()
        if way < 0.5:
            text = text[:at] + rng.choice(PIECES) + text[min(len(text), at + rng.randint(0, 60)) :]
        elif way < 0.6:
            text = text[:at]
        elif way < 0.8:
            lines = text.split("\n")
            lines.insert(rng.randrange(len(lines)), lines[rng.randrange(len(lines))])
            text = "\n".join(lines)
        else:
            number = re.compile(r"\d+").search(text, at)
            if number is not None:
                text = (
                    text[: number.start()] + rng.choice(("0", "-1", "99999999", "null", "1.5")) + text[number.end() :]
                )
    return text


@pytest.mark.lab
@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_no_damage_raises_or_eats_memory(kind: str) -> None:
    texts, rng, one = _texts()[kind], random.Random(kind), FORMATS[kind]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(EACH):
        text = _damage(rng.choice(texts), rng)
        assert 0.0 <= one.sniff(text) <= 1.0
        reading = one.read(text)
        assert all(find(said.code) is not None for said in (*reading.refusals, *reading.notes))
        assert reading.status is Status.COMPLETE or reading.reason
        json.dumps(SUMMARIES[kind](reading), allow_nan=False).encode("utf-8")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
