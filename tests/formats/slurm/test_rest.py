"""Slurm's JSON: numbers with a state, lists of TRES, errors, cut documents, versions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slurm_corpus import own

from fourplane.formats.model import Status
from fourplane.formats.slurm import rest_jobs, rest_nodes
from fourplane.formats.slurm.rest import number, time_of


def live(**changes: Any) -> str:
    job = {
        "job_id": 9, "job_state": ["RUNNING"], "gres_detail": ["gpu:h100:2(IDX:0-1)", "gpu:h100:1(IDX:3)"],
        "node_count": 2, "start_time": 1790000000, "end_time": 1790009000, "tres_alloc_str": "cpu=4,node=2",
        "tres_per_node": "gres/gpu:2", "association_id": 1, "derived_exit_code": 0,
    }  # fmt: skip
    return json.dumps({"jobs": [job | changes], "errors": []})


def test_slurmdb_jobs() -> None:
    reading = rest_jobs.read(own("rest_db.json"))
    first, second = reading.records
    assert (first.array, first.state, first.gpus, first.tracked, first.restarts) == (
        "50_3",
        "OUT_OF_MEMORY",
        9,
        True,
        1,
    )
    assert (first.exit_code, first.signal, first.elapsed_s) == (0, 125, 60)
    assert first.allocated is not None and "energy" not in first.allocated
    assert [(step.step, step.state) for step in first.steps] == [("51.batch", "COMPLETED")]
    assert (second.gpus, second.gpus_asked, second.start, second.end, second.node_list) == (0, 2, None, None, "")
    assert reading.status is Status.COMPLETE


def test_live_devices_count_where_accounting_does_not_track() -> None:
    reading = rest_jobs.read(live())
    job = reading.records[0]
    assert (job.gpus, job.tracked, job.end, job.limit_end) == (3, False, None, 1790009000)
    assert {note.code for note in reading.notes} == {"slurm-gpu-not-tracked"}


def test_a_finished_job_without_devices_is_unknown_and_not_zero() -> None:
    job = rest_jobs.read(live(gres_detail=[], job_state="COMPLETED")).records[0]
    assert (job.gpus, job.gpus_asked, job.tracked, job.end) == (None, 4, False, 1790009000)
    plain = rest_jobs.read(live(gres_detail=[], tres_per_node="", job_state="COMPLETED")).records[0]
    assert (plain.gpus, plain.tracked) == (0, None)


def test_errors_of_the_api_are_a_failure_and_not_an_idle_cluster() -> None:
    reading = rest_jobs.read('{"jobs": [], "errors": [{"error": "Unspecified error", "description": "no token"}]}')
    assert (reading.status, [note.code for note in reading.notes]) == (Status.FAILED, ["slurm-api-error"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"set": True, "infinite": False, "number": 5}, 5), ({"set": False, "infinite": False, "number": 0}, None),
        ({"set": True, "infinite": True, "number": 0}, None), ({"set": True, "infinite": False, "number": -2}, None),
        (7, 7), (7.0, 7), (7.5, None), (None, None), (True, None), ("7", 7), (-2, None), ([], None),
    ],
)  # fmt: skip
def test_numbers(value: Any, expected: int | None) -> None:
    assert number(value) == expected


def test_an_epoch_of_zero_is_no_time() -> None:
    assert time_of(0) is None
    assert time_of({"set": True, "infinite": False, "number": 1790000000}) == 1790000000


def test_a_cut_document_keeps_whole_jobs_and_marks_the_last() -> None:
    text = own("rest_db.json")
    reading = rest_jobs.read(text[: text.index('"submit_line": "sbatch --gres')])
    assert reading.status is Status.TRUNCATED
    assert [(job.job, job.whole) for job in reading.records] == [("51", True), ("60", False)]
    assert reading.records[1].gpus_asked_in_line is None
    assert [refusal.code for refusal in reading.refusals] == ["slurm-document-cut"]


@settings(max_examples=80)
@given(st.integers(0, 10**6))
def test_a_cut_anywhere_never_invents_a_figure(place: int) -> None:
    text = own("rest_db.json").rstrip()
    whole = {job.job: job for job in rest_jobs.read(text).records}
    reading = rest_jobs.read(text[: place % len(text)])
    assert reading.status in (Status.TRUNCATED, Status.REFUSED)
    for job in reading.records:
        full = whole[job.job]
        assert job.start in (full.start, None)
        assert job.end in (full.end, None)
        assert job.restarts in (full.restarts, None)
        if job.whole:
            assert job == full


def test_nodes_of_old_and_new_versions() -> None:
    old = {"name": "n1", "real_memory": 512000, "state": "mixed", "state_flags": ["DRAIN"], "gres": "gpu:h100:8",
           "gres_used": "gpu:h100:2(IDX:0-1)", "tres": "cpu=64,gres/gpu=8", "reason": "bad NIC", "cpus": 64,
           "slurmd_version": "22.05.8"}  # fmt: skip
    new = old | {"name": "n2", "state": ["IDLE"], "state_flags": None, "tres": "cpu=64", "reason": ""}
    reading = rest_nodes.read(json.dumps({"nodes": [old, new, 3]}))
    found = rest_nodes.summarise(reading)
    assert (found["gpus"], found["gpus_used"], found["gpu_type"]) == (16, 4, "h100")
    assert [node.tracked for node in reading.records] == [True, False]
    assert found["unavailable"] == [{"node": "n1", "state": "MIXED+DRAIN", "reason": "bad NIC"}]
    assert [refusal.code for refusal in reading.refusals] == ["slurm-record-refused"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "nothing", '{"jobs": 3}', '{"qos": []}', "[" * 100_000, '{"jobs":[' * 1000]
)
def test_other_documents_are_refused_with_a_reason(text: str) -> None:
    for read in (rest_jobs.read, rest_nodes.read):
        reading = read(text)
        assert not reading.records
        assert reading.status is Status.COMPLETE or reading.refusals
