"""The files beside the page."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from exports_samples import areas, findings, review

from fourplane.base.errors import ToolError
from fourplane.report.exports import SUFFIXES, export_bytes, write_exports


def test_all_formats_lie_beside_the_page(tmp_path: Path) -> None:
    one = review(*areas(), found=tuple(findings()))
    paths = write_exports(tmp_path / "report.html", one)
    assert {kind: path.name for kind, path in paths.items()} == {
        "junit": "report.junit.xml", "sarif": "report.sarif", "ctrf": "report.ctrf.json",
    }  # fmt: skip
    assert ElementTree.fromstring(paths["junit"].read_bytes()).tag == "testsuites"
    assert json.loads(paths["ctrf"].read_bytes())["reportFormat"] == "CTRF"
    assert len(json.loads(paths["sarif"].read_bytes())["runs"][0]["results"]) == len(findings())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths.values())


def test_only_what_was_asked_for_is_written(tmp_path: Path) -> None:
    write_exports(tmp_path / "gate.html", review(*areas()), kinds=["sarif"], findings=findings()[:1])
    assert [path.name for path in tmp_path.iterdir()] == ["gate.sarif"]
    assert len(json.loads((tmp_path / "gate.sarif").read_bytes())["runs"][0]["results"]) == 1


def test_paths_are_relative_to_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.chdir(tmp_path)
    one = replace(findings()[1], file=str(tmp_path / "cluster/fourplane.yaml"))
    paths = write_exports(tmp_path / "report.html", review(*areas()), [one], kinds=["sarif"])
    result = json.loads(paths["sarif"].read_bytes())["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "cluster/fourplane.yaml"


def test_a_file_that_cannot_be_written_is_an_error_of_the_tool(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        write_exports(tmp_path / "gone/report.html", review(*areas()))
    assert caught.value.code == "report-not-written" and "report.junit.xml" in str(caught.value)


@pytest.mark.parametrize("kind", SUFFIXES)
def test_each_format_is_the_same_every_time(kind: str) -> None:
    one = review(*areas(), found=tuple(findings()))
    assert export_bytes(kind, one) == export_bytes(kind, one)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        write_exports(tmp_path / "report.html", review(), kinds=["pdf"])
    assert list(tmp_path.iterdir()) == []
