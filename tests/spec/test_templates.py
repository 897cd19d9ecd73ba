"""Templates: complete, without findings, and equal to what is checked out under ``examples/``."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from fourplane.base.errors import ToolError, UsageError
from fourplane.spec.brief import Brief
from fourplane.spec.compute import PoolRole
from fourplane.spec.loader import load_workspace
from fourplane.spec.templates import TEMPLATES, template_files, write_template

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TODAY = date(2026, 12, 1)


@pytest.mark.parametrize("name", TEMPLATES)
def test_examples_and_templates_are_equal_byte_for_byte(name: str) -> None:
    checked_out = {
        str(path.relative_to(EXAMPLES / name)): path.read_bytes()
        for path in (EXAMPLES / name).rglob("*")
        if path.is_file()
    }
    assert checked_out == template_files(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_files_have_no_findings(name: str) -> None:
    workspace = load_workspace(EXAMPLES / name, today=TODAY)
    assert workspace.findings == ()
    assert len(workspace.quotes) == 1
    assert workspace.quotes[0].quote.provider == "example-provider"


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_brief_is_complete(name: str) -> None:
    brief = load_workspace(EXAMPLES / name, today=TODAY).declaration.brief
    assert [field for field in Brief.model_fields if not getattr(brief, field)] == []
    for part in ("node_shape", "network", "storage", "ownership", "model", "data_path"):
        values = getattr(brief, part)
        assert [field for field in type(values).model_fields if getattr(values, field) is None] == [], part


def test_the_laptop_stands_in_and_asks_for_little() -> None:
    declaration = load_workspace(EXAMPLES / "laptop", today=TODAY).declaration
    (pool,) = declaration.pools
    assert pool.role is PoolRole.STAND_IN
    assert pool.shape is not None and pool.shape.gpu is not None and pool.shape.gpu.count == 0


@pytest.mark.parametrize("name", TEMPLATES)
def test_lines_are_short_and_tell_nothing_private(name: str) -> None:
    for path, content in template_files(name).items():
        assert max(map(len, content.decode().splitlines())) <= 130, path
        assert b"\t" not in content


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "quotes").mkdir()
    mine = tmp_path / "quotes" / "example-provider.yaml"
    mine.write_text("mine")
    with pytest.raises(UsageError) as caught:
        write_template("laptop", tmp_path)
    assert caught.value.code == "init-file-exists"
    assert str(mine) in caught.value.message
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert mine.read_text() == "mine"


def test_a_dangling_link_is_in_the_way_too(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError):
        write_template("laptop", tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_made_is_a_tool_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError) as caught:
        write_template("laptop", tmp_path / "file" / "below")
    assert caught.value.code == "init-not-writable"


def test_an_unknown_template_names_those_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        template_files("moon")
    assert caught.value.code == "init-no-template"
    assert "laptop" in caught.value.fix
