"""``fourplane check``: what the shell sees, and what rules add to the findings on the files."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fourplane.base.codes import find
from fourplane.base.errors import UsageError
from fourplane.base.findings import Finding, Level
from fourplane.cli.main import cli
from fourplane.cli.verbs.check import check

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "spec"
KEYS = {"code", "level", "file", "line", "column", "path", "message", "found", "expected", "fix", "link"}


def fourplane(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fourplane.cli.main", *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)


def test_the_four_slips_are_named_with_line_and_column() -> None:
    importlib.import_module("fourplane.planes.rules")  # defines the codes of the rules
    done = fourplane("check", str(CORPUS / "four_slips.yaml"), "--json")
    assert done.returncode == 1
    assert done.stderr == ""
    data = json.loads(done.stdout)
    assert list(data) == ["findings"]
    errors = [one for one in data["findings"] if one["level"] == "error"]
    assert [(one["code"], one["line"], one["column"]) for one in errors] == [
        ("spec-unknown-key", 4, 5),
        ("spec-negative", 9, 16),
        ("spec-wrong-unit", 10, 17),
        ("spec-duplicate-key", 12, 7),
    ]
    for one in data["findings"]:
        assert set(one) >= KEYS
        assert find(one["code"]) is not None


def test_people_read_place_code_and_fix() -> None:
    done = fourplane("check", str(CORPUS / "four_slips.yaml"))
    assert done.returncode == 1
    assert f"{CORPUS / 'four_slips.yaml'}:4:5: error spec-unknown-key\n" in done.stdout
    assert "  fix: did you mean 'count'?\n" in done.stdout
    assert done.stderr.startswith("4 errors")
    assert "\x1b" not in done.stdout


def test_what_is_not_there_exits_2_with_one_error_shape(tmp_path: Path) -> None:
    done = fourplane("check", "nowhere.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert set(error) == {"code", "message", "fix"}
    assert error["code"] == "spec-no-file"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nowhere", "spec-no-file"),
        ("", "spec-no-workspace"),
        ("quotes", "spec-no-workspace"),
        ("x" * 5000, "spec-no-file"),
        ("a\0b", "spec-no-file"),
    ],
)
def test_a_wrong_path_is_an_error_of_the_call(name: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "quotes").mkdir()
    with pytest.raises(UsageError) as caught:
        check(tmp_path / name)
    assert caught.value.code == code
    assert caught.value.fix


def test_a_misnamed_declaration_is_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yml").write_text("name: a\n")
    with pytest.raises(UsageError) as caught:
        check(tmp_path)
    assert caught.value.fix == "rename fourplane.yml to fourplane.yaml"


def test_warnings_alone_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").write_text("name: a\nbrief: {model: {name: TBD}}\n")
    done = CliRunner().invoke(cli, ["check", str(tmp_path)], standalone_mode=False)
    assert "warning spec-placeholder" in done.stdout
    assert done.return_value == 0


def test_names_from_files_cannot_drive_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").write_text('name: a\n"\\e[2J\\u202e": 1\n')
    done = CliRunner().invoke(cli, ["check", str(tmp_path)], standalone_mode=False)
    assert done.return_value == 1
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    assert "\\x1b[2J\\u202e" in done.stdout


def test_a_named_declaration_stands_for_its_workspace(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").write_text("name: a\n")
    (tmp_path / "quotes").mkdir()
    quote = tmp_path / "quotes" / "q.yaml"
    quote.write_text("provider: p\nbogus: 1\n")
    for path in (tmp_path, tmp_path / "fourplane.yaml", quote):
        assert [(one.code, one.file) for one in check(path) if one.level is Level.ERROR] == [
            ("spec-unknown-key", str(quote))
        ]


def test_a_quote_alone_is_held_against_its_declaration(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").write_text("name: A B\npools: [{name: h100}]\n")
    (tmp_path / "quotes").mkdir()
    quote = tmp_path / "quotes" / "q.yaml"
    quote.write_text("provider: p\npools: [{name: other}]\n")
    errors = [one.code for one in check(quote) if one.level is Level.ERROR]
    assert errors == ["spec-unknown-reference"], "the declaration's own faults belong to its own check"


def _with_rules(monkeypatch: pytest.MonkeyPatch, *paths: str) -> None:
    from fourplane.planes import rules

    def fake(workspace: object, *_: object) -> list[Finding]:
        file = workspace.file  # type: ignore[attr-defined]
        return [Finding("a-rule", Level.ERROR, f"on {path}", file=file, line=1, column=1, path=path) for path in paths]

    monkeypatch.setattr(rules, "check", fake)


def ruled(path: Path) -> list[str]:
    return [one.path for one in check(path) if one.code == "a-rule"]


def test_rules_run_beside_errors_but_repeat_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "name: a\npools:\n- count: 1\n- {name: p, cuont: 8, shape: {gpu: 8}}\n- {name: q, count: 3, hosts: 'n[1-2]'}\n"
    )
    (tmp_path / "fourplane.yaml").write_text(text)
    _with_rules(
        monkeypatch,
        "pools[0].count",
        "pools[0].shape.gpu.count",
        "pools[1].count",
        "pools[1].hosts",
        "network.fabric",
        "",
    )
    # the entry without a name is left out, so that pools[0] of the rules is pools[1] of the file
    assert ruled(tmp_path) == ["", "network.fabric", "pools[2].hosts"]


def test_rules_do_not_judge_what_could_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fourplane.yaml").write_text("name: [\n")
    _with_rules(monkeypatch, "brief")
    assert ruled(tmp_path) == []
    (tmp_path / "fourplane.yaml").write_text("name: a\n")
    assert ruled(tmp_path) == ["brief"]


def test_each_cause_is_named_once_by_files_and_rules_together(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").write_text((CORPUS / "references.yaml").read_text())
    found = check(tmp_path)
    places = [(one.line, one.column, one.path) for one in found if one.level is Level.ERROR]
    assert len(places) == len(set(places))


def test_check_leaves_heavy_libraries_alone(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").write_text("name: a\npools: [{name: a, hosts: 'n[1-9]'}]\n")
    code = (
        "import sys; from fourplane.cli.main import cli;"
        f"cli.main(['check', {str(tmp_path)!r}], standalone_mode=False);"
        "print([m for m in ('ClusterShell', 'rich', 'jinja2', 'mpi4py', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env={**os.environ}
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
