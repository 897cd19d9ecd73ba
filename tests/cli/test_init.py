"""``fourplane init``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fourplane.base.errors import UsageError
from fourplane.cli.main import cli


def test_a_workspace_is_written_and_passes_check(tmp_path: Path) -> None:
    for template in ("laptop", "rented-h100"):
        folder = tmp_path / template
        done = CliRunner().invoke(cli, ["init", str(folder), "--template", template])
        assert done.exit_code == 0, done.output
        files = [str(folder / name) for name in (".gitignore", "fourplane.yaml", "quotes/example-provider.yaml")]
        assert done.stdout.splitlines() == files
        assert f"cd {folder}" in done.stderr and "fourplane check" in done.stderr
        checked = CliRunner().invoke(cli, ["check", str(folder), "--json"], standalone_mode=False)
        assert checked.return_value == 0, checked.stdout
        assert {one["level"] for one in json.loads(checked.stdout)["findings"]} <= {"info", "warning"}


def test_the_present_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["init", "--json"])
    assert json.loads(done.stdout) == {
        "template": "laptop",
        "folder": ".",
        "files": [".gitignore", "fourplane.yaml", "quotes/example-provider.yaml"],
    }
    assert (tmp_path / "fourplane.yaml").is_file()


def test_a_second_init_is_refused(tmp_path: Path) -> None:
    runner = CliRunner()
    assert runner.invoke(cli, ["init", str(tmp_path)]).exit_code == 0
    before = (tmp_path / "fourplane.yaml").read_bytes()
    again = runner.invoke(cli, ["init", str(tmp_path), "--template", "rented-h100"])
    assert isinstance(again.exception, UsageError)
    assert "fourplane.yaml" in again.exception.message
    assert (tmp_path / "fourplane.yaml").read_bytes() == before
