from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import report_samples as samples

from fourplane.base.errors import ToolError, UsageError
from fourplane.base.verdicts import Verdict
from fourplane.evidence.store import RunStore
from fourplane.planes.judge import judge
from fourplane.records.observation import RawRef
from fourplane.report.as_json import report_bytes
from fourplane.report.figures import storage_figures
from fourplane.report.html import render_html
from fourplane.report.values import amount
from fourplane.report.write import assemble, write_report, write_view


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "fourplane.yaml").write_text("name: tiny\n", encoding="utf-8")
    return tmp_path


def measure(root: Path, rate: float = 388.0) -> str:
    with RunStore.open(root / "evidence", write=True) as store:
        store.begin("r1", {})
        one = samples.observe("storage.checkpoint.write_throughput", rate, raw=RawRef("out", "", 1), run="")
        store.record("r1", "checkpoint", [one], {"out": "written\n"})
        store.end("r1", {})
        return store.head[1]


def test_a_report_is_a_page_and_the_same_as_json(workspace: Path) -> None:
    written = write_report(workspace)
    assert written.path == workspace / "report.html"
    assert written.path.read_text(encoding="utf-8") == render_html(written.view)
    assert written.json_path.read_bytes() == report_bytes(written.view)
    assert written.view.review.verdict is Verdict.UNPROVEN
    assert written.summary().startswith("Unproven")
    assert sorted(p.name for p in workspace.iterdir()) == ["fourplane.yaml", "report.html", "report.json"]


def test_runs_observations_and_the_head_come_from_the_store(workspace: Path) -> None:
    head = measure(workspace)
    view = assemble(workspace)
    assert view.evidence_head == head
    assert [(run.id, tuple(run.steps)) for run in view.runs] == [("r1", ("checkpoint",))]
    (one,) = view.observations
    assert one.run == "r1"
    page = render_html(view)
    assert head in page
    assert one.raw is not None and one.raw.sha256 in page


def test_a_damaged_store_is_named_and_nothing_vouches_for_it(workspace: Path) -> None:
    head = measure(workspace)
    next((workspace / "evidence").rglob("out*")).write_bytes(b"Written\n")
    written = write_report(workspace)
    assert written.view.damage != ()
    assert (written.view.runs, written.view.evidence_head) == ((), "")
    page = written.path.read_text(encoding="utf-8")
    assert head not in page
    assert "withheld: the store is damaged" in page
    assert "its runs are not listed" in page


def test_an_older_report_is_replaced(workspace: Path) -> None:
    (workspace / "report.html").write_text("old", encoding="utf-8")
    assert write_report(workspace).path.read_text(encoding="utf-8") != "old"


def test_the_output_may_be_a_name_or_a_folder(workspace: Path) -> None:
    assert write_report(workspace, output=workspace / "x.html").json_path == workspace / "x.json"
    folder = workspace / "out"
    folder.mkdir()
    assert write_report(workspace, output=folder).path == folder / "report.html"


@pytest.mark.parametrize("name", ["missing/x.html", "x.json", "x"])
def test_a_place_that_cannot_be_used_is_refused_before_anything_is_judged(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        write_report(tmp_path, output=tmp_path / name)
    assert caught.value.code == "report-output-unusable"
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_older_files_whole(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write_report(workspace)
    before = [first.path.read_bytes(), first.json_path.read_bytes()]

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolError) as caught:
        write_view(samples.laptop_view(), first.path)
    assert caught.value.code == "report-not-written"
    assert "No space left on device" in caught.value.message
    assert [first.path.read_bytes(), first.json_path.read_bytes()] == before


def test_hostile_and_broken_text_can_be_written(tmp_path: Path) -> None:
    written = write_view(samples.hostile_view(), tmp_path / "report.html")
    assert json.loads(written.json_path.read_bytes())["review"]["name"] == "".join(samples.HOSTILE)


def test_needs_shown_are_those_that_the_judgements_use() -> None:
    case = samples.laptop_case()
    reasons = {one.id: one.reason for one in judge(case)}
    needs = {f.observation.metric: f.need for f in storage_figures(case, ()) if f.need is not None}
    for key, metric in {
        "storage.staging": "storage.staging.throughput",
        "storage.weights_load": "storage.weights.cold_throughput",
        "storage.checkpoint_write": "storage.checkpoint.write_throughput",
    }.items():
        assert f"need {amount(needs[metric], 'MB/s')}" in reasons[key]
