from __future__ import annotations

import json
import math

import report_samples as samples

from fourplane.report.as_json import report_bytes, report_json
from fourplane.report.view import build


def test_keys_and_their_order_are_the_schema() -> None:
    data = report_json(samples.laptop_view())
    assert data["schema"] == "fourplane.report/1"
    assert list(data) == [
        "schema", "tool", "generated", "evidence_head", "review", "facts", "judgements", "findings", "observations",
        "runs",
    ]  # fmt: skip
    assert list(data["facts"][0]) == [
        "plane", "subject", "fact", "declared", "promised", "found", "verdict", "reason", "evidence",
    ]  # fmt: skip
    assert list(data["judgements"][0]) == [
        "id",
        "plane",
        "title",
        "verdict",
        "reason",
        "evidence",
        "measured_at",
        "fix",
    ]
    (run,) = data["runs"]
    assert run["id"] == samples.RUN
    assert (run["started"], run["ended"]) == ("2026-12-01T04:49:12Z", "2026-12-01T04:51:12Z")
    assert run["steps"] == ["inventory", "allreduce", "staging", "checkpoint", "weights", "io"]
    assert data["review"] == samples.laptop_review().to_json()


def test_nothing_is_capped() -> None:
    data = report_json(samples.huge_view(nodes=400))
    assert len(data["facts"]) == 400 * 12
    assert len(data["observations"]) == 1200
    assert len(data["findings"]) == 400


def test_bytes_are_the_same_every_time_and_read_back() -> None:
    one, other = report_bytes(samples.laptop_view()), report_bytes(samples.laptop_view())
    assert one == other
    assert json.loads(one) == report_json(samples.laptop_view())


def test_every_observation_carries_the_reference_that_others_cite() -> None:
    data = report_json(samples.laptop_view())
    references = {o["reference"] for o in data["observations"]}
    cited = {e for c in data["judgements"] for e in c["evidence"]}
    assert cited <= references


def test_what_json_cannot_hold_is_kept_as_text() -> None:
    observations = [
        samples.observe("storage.checkpoint.stall", math.nan),
        samples.observe("compute.cpu.model", "half \ud800 pair", conditions={"x": [math.inf]}),
    ]
    data = json.loads(report_bytes(build(samples.make_case(observations), samples.laptop_review())))
    by_metric = {o["metric"]: o for o in data["observations"]}
    assert by_metric["storage.checkpoint.stall"]["value"] == "nan"
    assert by_metric["compute.cpu.model"]["value"] == "half \ud800 pair"
    assert by_metric["compute.cpu.model"]["conditions"] == {"x": ["inf"]}
