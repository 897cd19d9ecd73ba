"""``fourplane review`` as a user calls it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fourplane.cli.main import cli
from fourplane.evidence.store import RunStore

DECLARATION = """\
name: demo
pools:
  - {name: here, role: stand-in, hosts: n1}
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "fourplane.yaml").write_text(DECLARATION, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["review", *arguments], standalone_mode=False)


def test_the_verdict_comes_first_and_the_exit_status_says_unproven(workspace: Path) -> None:
    result = run("-C", str(workspace))
    assert result.exception is None
    assert result.return_value == 3
    assert result.output.startswith("Unproven, do not sign yet: 61 of 62 conditions")
    for number in range(1, 10):
        assert f"R{number}  " in result.output
    assert "brief.network.latency" in result.output
    assert "fourplane prove" in result.output


def test_nothing_is_wider_than_eighty_columns_and_there_is_no_colour_in_a_pipe(workspace: Path) -> None:
    output = run("-C", str(workspace)).output
    assert "\x1b" not in output
    review = output.split("\nFindings\n")[0]
    assert max(len(line) for line in review.splitlines()) <= 80


def test_the_json_holds_nine_areas(workspace: Path) -> None:
    result = run("-C", str(workspace), "--json")
    assert result.return_value == 3
    data = json.loads(result.stdout)
    assert [area["id"] for area in data["areas"]] == [f"R{n}" for n in range(1, 10)]
    for area in data["areas"]:
        assert area["verdict"] in {"passed", "failed", "unproven", "stale", "waived"}
        for one in area["conditions"]:
            assert isinstance(one["evidence"], list)
            assert re.fullmatch(r"R\d\.[a-z_]+", one["id"])
            assert one["reason"]
    gpus = [c for a in data["areas"] for c in a["conditions"] if c["id"] == "R2.gpu_topology"]
    assert [one["verdict"] for one in gpus] == ["unproven"]


def test_errors_in_the_file_reject_and_are_printed(workspace: Path) -> None:
    (workspace / "fourplane.yaml").write_text(DECLARATION + "polls: []\n", encoding="utf-8")
    result = run("-C", str(workspace))
    assert result.return_value == 1
    assert result.output.startswith("Rejected")
    assert "spec-unknown-key" in result.output
    assert "fourplane.yaml:4:1" in result.output


def test_a_missing_workspace_is_a_usage_error(tmp_path: Path) -> None:
    from fourplane.base.errors import UsageError

    result = run("-C", str(tmp_path / "nowhere"))
    assert isinstance(result.exception, UsageError)


def test_damaged_evidence_is_named_and_never_accepted(workspace: Path) -> None:
    with RunStore.open(workspace / "evidence", write=True) as store:
        store.begin("run-1", {})
    [manifest] = (workspace / "evidence" / "chain").glob("*.json")
    manifest.write_bytes(manifest.read_bytes() + b" ")
    result = run("-C", str(workspace), "--json")
    assert result.return_value in (1, 3)
    data = json.loads(result.stdout)
    assert "review-evidence-damaged" in [finding["code"] for finding in data["findings"]]
    assert "evidence verify" in data["next_actions"][0]["text"]


def test_the_review_changes_nothing_on_disk(workspace: Path) -> None:
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    run("-C", str(workspace))
    assert {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in workspace.iterdir()) == ["fourplane.yaml"]


def test_control_characters_of_a_file_never_reach_the_terminal(workspace: Path) -> None:
    text = 'control:\n  owners: {queues: "a\\x1b[2Jb"}\n  slurm: {version: "25"}\n  queues: [{name: main}]\n'
    (workspace / "fourplane.yaml").write_text(DECLARATION + text, encoding="utf-8")
    for extra in ([], ["--json"]):
        assert "\x1b" not in run("-C", str(workspace), *extra).output


def test_help_explains_the_exit_status() -> None:
    result = run("--help")
    assert "Exit status" in result.output
    assert max(len(line) for line in result.output.splitlines()) <= 80
