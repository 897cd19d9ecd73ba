from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from fourplane.cli.main import main


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["fourplane", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    assert isinstance(stop.value.code, int)
    return stop.value.code


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "fourplane.yaml").write_text("name: tiny\n", encoding="utf-8")
    return tmp_path


def test_the_summary_comes_first_and_the_path_last(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "report", "-C", str(workspace)) == 3
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("Unproven, do not sign yet")
    assert Path(lines[-1]) == workspace / "report.html"
    assert Path(lines[-1]).is_file()
    assert max(map(len, lines[:-1])) <= 80
    assert "\x1b" not in out
    assert err == ""


def test_json_on_stdout_is_the_file_and_nothing_else(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(monkeypatch, "report", "-C", str(workspace), "--json") == 3
    out, err = capsysbinary.readouterr()
    assert out == (workspace / "report.json").read_bytes()
    assert json.loads(out)["schema"] == "fourplane.report/1"
    assert str(workspace / "report.html") in err.decode()


def test_the_output_goes_where_it_is_asked_to(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = workspace / "for-finance.html"
    assert run(monkeypatch, "report", "-C", str(workspace), "--output", str(target)) == 3
    assert target.is_file()
    assert not (workspace / "report.html").exists()


def test_a_rejected_declaration_exits_1_and_still_has_its_report(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "fourplane.yaml").write_text("name: tiny\npoolz: []\n", encoding="utf-8")
    assert run(monkeypatch, "report", "-C", str(workspace)) == 1
    assert capsys.readouterr().out.startswith("Rejected")
    assert "poolz" in (workspace / "report.html").read_text(encoding="utf-8")


def test_without_a_declaration_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "report", "-C", str(tmp_path), "--json") == 2
    assert set(json.loads(capsys.readouterr().out)["error"]) == {"code", "message", "fix"}
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_missing_is_a_usage_error(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "report", "-C", str(workspace), "--output", str(workspace / "no" / "r.html")) == 2
    assert "report-output-unusable" in capsys.readouterr().err
