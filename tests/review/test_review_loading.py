"""From files on disk to a case, with evidence that is absent, whole or damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from review_samples import MEASURED, NOW, conditions, observe

from fourplane.base.errors import UsageError
from fourplane.base.verdicts import ExitCode, Verdict, exit_code
from fourplane.evidence.store import RunStore
from fourplane.evidence.verify import verify_folder
from fourplane.review.gate import review_case
from fourplane.review.loading import EVIDENCE_FOLDER, load_case

DECLARATION = """\
name: demo
pools:
  - name: here
    role: stand-in
    hosts: n1
    shape:
      memory: 16 GiB
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "fourplane.yaml").write_text(DECLARATION, encoding="utf-8")
    return tmp_path


def record(root: Path) -> None:
    with RunStore.open(root / EVIDENCE_FOLDER, write=True) as store:
        store.begin("run-1", {})
        memory = observe("compute.memory.total", 16 * 2**30, unit="B", at=MEASURED, run="")
        cores = observe("compute.cpu.cores", 4, at=MEASURED, run="")
        store.record("run-1", "inventory", [memory, cores], {})
        store.end("run-1", {})


def step_file(root: Path) -> Path:
    [found] = (root / EVIDENCE_FOLDER / "runs").glob("*/steps/*.json")
    return found


def test_a_missing_declaration_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        load_case(tmp_path)


def test_absent_evidence_leaves_everything_unproven(workspace: Path) -> None:
    case = load_case(workspace, NOW)
    assert (len(case.observations), case.damage, case.now) == (0, (), NOW)
    assert review_case(case).verdict is Verdict.UNPROVEN


def test_an_empty_evidence_folder_is_as_good_as_none(workspace: Path) -> None:
    (workspace / EVIDENCE_FOLDER).mkdir()
    assert load_case(workspace, NOW).damage == ()


def test_recorded_observations_are_judged(workspace: Path) -> None:
    record(workspace)
    case = load_case(workspace, NOW)
    assert {one.metric for one in case.observations} == {"compute.memory.total", "compute.cpu.cores"}
    assert all(one.run == "run-1" for one in case.observations)
    assert case.catalog.subjects
    shown = conditions(review_case(case))
    assert shown["R2.cpu_ram"].verdict is Verdict.UNPROVEN  # the cores are not declared
    assert any(ref.startswith("run-1:node:n1:compute.memory.total") for ref in shown["R2.cpu_ram"].evidence)


def test_a_changed_byte_keeps_everything_from_being_judged(workspace: Path) -> None:
    record(workspace)
    file = step_file(workspace)
    file.write_bytes(file.read_bytes().replace(b"17179869184", b"17179869185"))
    case = load_case(workspace, NOW)
    assert len(case.observations) == 0
    assert case.damage
    result = review_case(case)
    memory = conditions(result)["R2.cpu_ram"]
    assert memory.verdict is Verdict.UNPROVEN
    assert "damaged" in memory.reason
    assert exit_code(result.verdict) is not ExitCode.ACCEPTED
    assert "review-evidence-damaged" in [finding.code for finding in result.findings]


def test_a_deleted_run_is_damage(workspace: Path) -> None:
    record(workspace)
    step_file(workspace).unlink()
    assert load_case(workspace, NOW).damage


def test_an_interrupted_run_is_no_damage(workspace: Path) -> None:
    with RunStore.open(workspace / EVIDENCE_FOLDER, write=True) as store:
        store.begin("run-1", {})
    assert load_case(workspace, NOW).damage == ()


def test_errors_in_the_file_are_findings_and_the_rest_is_loaded(workspace: Path) -> None:
    (workspace / "fourplane.yaml").write_text(DECLARATION + "polls: []\n", encoding="utf-8")
    case = load_case(workspace, NOW)
    assert case.workspace.findings
    result = review_case(case)
    assert conditions(result)["R1.declaration"].verdict is Verdict.FAILED
    assert exit_code(result.verdict) is ExitCode.REJECTED


def test_the_moment_of_judgement_decides_on_end_dates_too(workspace: Path) -> None:
    waiver = "waivers:\n  - {condition: R4.staging, owner: ann, reason: pilot, until: 2026-11-30}\n"
    (workspace / "fourplane.yaml").write_text(DECLARATION + waiver, encoding="utf-8")
    ended = load_case(workspace, NOW)
    assert conditions(review_case(ended))["R4.staging"].verdict is Verdict.UNPROVEN
    assert [f.path for f in ended.workspace.findings] == ["waivers[0].until"]
    in_force = load_case(workspace, NOW.replace(month=11, day=30))
    assert conditions(review_case(in_force))["R4.staging"].verdict is Verdict.WAIVED
    assert in_force.workspace.findings == ()


def test_traces_of_an_interrupted_write_are_no_damage(workspace: Path) -> None:
    record(workspace)
    (workspace / EVIDENCE_FOLDER / "tmp" / ".step.json.1.tmp").write_bytes(b"half")
    assert verify_folder(workspace / EVIDENCE_FOLDER)  # told as an info
    case = load_case(workspace, NOW)
    assert case.damage == ()
    assert len(case.observations) == 2
