"""``fourplane explain``: codes, metrics, facts of the catalogue, in 80 columns."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fourplane.base.codes import all_codes
from fourplane.base.errors import UsageError
from fourplane.catalog import load_catalog
from fourplane.cli.main import main
from fourplane.cli.verbs.explain import command, import_codes
from fourplane.records.metrics import METRICS


def run(*words: str) -> Result:
    return CliRunner().invoke(command, [*words])


def answer(*words: str) -> Any:
    return json.loads(run(*words, "--json").output)


def test_a_code_shows_reason_fix_link_and_requirement() -> None:
    out = run("checkpoint-stall-too-long").output
    assert "Size divided" in out
    assert "fix: Ask for more write throughput" in out
    assert "link: https://" in out
    assert "requirement: S2" in out
    data = answer("checkpoint-stall-too-long")
    assert sorted(data) == ["code", "fix", "kind", "link", "reason", "requirement", "title"]


def test_a_metric_shows_unit_and_meaning() -> None:
    assert "in us" in run("network.allreduce.latency").output
    assert answer("network.allreduce.latency")["plane"] == "network"


def test_a_subject_shows_its_facts_with_conditions_source_and_date() -> None:
    out = run("NVIDIA H100 80GB HBM3").output
    assert "bf16: 989 TFLOP/s (density dense)" in out
    assert "2026-08-22" in out
    assert "stas00/ml-engineering" in out
    assert answer("h100-sxm")["facts"][0]["sources"][0]["date"] == "2026-08-22"


def test_one_fact_is_shown_alone() -> None:
    assert [fact["name"] for fact in answer("h100-sxm", "power")["facts"]] == ["power"]


def test_published_figures_are_found_by_shape() -> None:
    figures = answer("all_reduce", "8xh100")["figures"]
    assert {one["gpu"] for one in figures} == {"h100-sxm"}
    assert all(one["sources"] and (one["size_bytes"] or not one["decides"]) for one in figures)
    assert "a gate that somebody ships" in " ".join(run("all_reduce", "8xh100").output.split())
    assert answer("all_reduce")["figures"] != figures
    assert {one["gpu"] for one in answer("all_reduce", "b200")["figures"]} == {"b200-sxm"}


def test_an_ambiguous_name_gives_the_candidates() -> None:
    data = answer("H100")
    assert data["kind"] == "ambiguous"
    assert [key for key, _ in data["candidates"]] == ["h100-nvl", "h100-pcie", "h100-sxm"]


def test_without_a_name_every_code_is_listed_in_groups() -> None:
    out = run().output
    import_codes()
    assert [code.code for code in all_codes() if f"  {code.code}  " not in out] == []
    assert "\nplanes.storage\n" in out
    assert len(answer()["codes"]) == len(all_codes())


def test_each_group_holds_the_codes_of_its_package_and_none_is_homeless() -> None:
    groups = import_codes()
    assert {"catalog", "planes", "planes.compute", "spec"} <= set(groups)
    assert "gpu-model-ambiguous" in [code.code for code in groups["planes.compute"]]
    assert sum(len(codes) for codes in groups.values()) == len(all_codes())


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("checkpoint-stall-to-long", "checkpoint-stall-too-long"),
        ("network.allreduce.latenzy", "network.allreduce.latency"),
        ("h100-sxn", "h100-sxm"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(word: str, near: str) -> None:
    result = run(word)
    assert isinstance(result.exception, UsageError)
    assert result.exception.code == "explain-unknown"
    assert f"'{near}'" in result.exception.fix


def test_an_unknown_name_ends_with_2_and_one_error_shape(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fourplane", "explain", "nonsense-word", "--json"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "explain-unknown"


def test_nothing_is_wider_than_80_columns_but_a_link() -> None:
    import_codes()
    names = [code.code for code in all_codes()] + list(METRICS) + list(load_catalog().subjects) + ["all_reduce"]
    for name in [*names, ""]:
        result = run(*name.split())
        assert result.exit_code == 0, name
        wide = [line for line in result.output.splitlines() if len(line) > 80 and "https://" not in line]
        assert wide == [], name


def test_control_characters_of_a_name_reach_no_terminal() -> None:
    result = run("\x1b[31mred")
    assert isinstance(result.exception, UsageError)
    assert "\x1b" not in result.exception.message
