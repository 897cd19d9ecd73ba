"""Every published figure that acceptance rests on is found with ``explain``, with source and date."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fourplane.cli.verbs.explain import command

# what is asked: every figure that the answer must hold
ALL_REDUCE: dict[str, tuple[float, ...]] = {
    "all_reduce 8xa100-80-sxm": (235.3, 231.6, 230.2, 228, 200, 189.6, 237.9, 182.8, 78.3, 300),
    "all_reduce 8xh100-sxm": (
        478.9, 470.7, 468.6, 460, 487.9, 487.1, 471.2, 440, 270, 250, 300, 150, 333.5, 386.6, 373, 437.8, 52.98, 800,
        100,
    ),
    "loopback h100": (150,),
    "all_gather h100": (338.57,),
    "alltoall h100": (79.11,),
    "all_reduce 8xh200-sxm": (480.0, 482.26, 431, 432),
    "all_reduce 8xb200": (845.67, 381.8, 900, 250),
    "all_reduce 4xgb200": (846.8, 820.4, 405.7, 500, 770, 40, 160, 882.51, 191.4),
    "all_reduce gb300": (923.32, 895, 700, 823),
    "all_reduce vr200": (744.7, 600),
    "all_reduce mi300x": (314, 300),
    "all_reduce v100": (110,),
}  # fmt: skip
PER_NODE: dict[str, tuple[float, ...]] = {
    "hgx-a100 pcie_h2d": (26.3,),
    "hgx-a100 pcie_d2h": (6.27,),
    "hgx-a100 pcie_gate": (21,),
    "hgx-a100 p2p_gate": (235, 238),
    "hgx-a100 d2d_read": (423,),
    "hgx-a100 hbm_triad": (1.70,),
    "hgx-a100 ib_write_bw_gate": (180,),
    "hgx-a100 loopback_ib_gate": (18,),
    "hgx-a100 nvme_read": (9.3,),
    "hgx-a100 nvme_write": (8.2,),
    "hgx-h100 pcie_h2d": (51,),
    "hgx-h100 pcie_d2h": (52,),
    "hgx-h100 pcie_gate": (48,),
    "hgx-h100 p2p_gate": (335,),
    "hgx-h100 d2d_read": (672,),
    "hgx-h100 nvlink_pair": (376, 380),
    "hgx-h100 nvlink_pair_duplex": (749,),
    "hgx-h100 hbm_triad": (2.97,),
    "hgx-h100 ib_write_bw": (399.6, 399.9),
    "hgx-h100 ib_write_bw_gate": (380,),
    "hgx-h100 nvme_read": (55.3,),
    "hgx-h100 nvme_write": (33.9,),
    "hgx-h200 pcie_h2d": (52,),
    "hgx-h200 pcie_d2h": (52,),
    "hgx-h200 pcie_gate": (48,),
    "hgx-h200 p2p_gate": (335,),
    "hgx-h200 d2d_read": (671,),
    "hgx-h200 nvlink_pair": (396.4,),
    "hgx-h200 nvlink_pair_duplex": (783.7,),
    "hgx-h200 hbm_triad": (4.15,),
    "hgx-h200 ib_write_bw_gate": (360,),
    "hgx-h200 nvme_read": (55.4,),
    "hgx-h200 nvme_write": (33.8,),
    "nvls busbw_beside_nics": (487,),
}
NOTES = {
    "hgx-h200 nvlink_pair": "88 % of the specification",
    "hgx-h200 nvlink_pair_duplex": "87 % of the specification",
    "hgx-a100 pcie_d2h": "outlier",
    "nvls busbw_beside_nics": "all_gather (338 GB/s) and alltoall (79)",
}


def run(*words: str) -> Result:
    result = CliRunner().invoke(command, [*words])
    assert result.exit_code == 0, result.exception
    return result


def values(entries: list[dict[str, Any]], key: str) -> set[float]:
    out: set[float] = set()
    for entry in entries:
        out |= set(entry[key]) if isinstance(entry[key], list) else {entry[key]}
    return out


@pytest.mark.parametrize("asked", ALL_REDUCE)
def test_collective_figures_are_found_with_source_and_date(asked: str) -> None:
    figures = json.loads(run(*asked.split(), "--json").output)["figures"]
    assert [one for one in ALL_REDUCE[asked] if one not in values(figures, "busbw_gbps")] == []
    shown = run(*asked.split()).output
    for one in figures:
        assert one["sources"]
        for source in one["sources"]:
            assert source["title"]
            assert source["link"].startswith("https://")
            assert source["date"] in shown
        if one["kind"] == "gate":
            assert one["decides"] is False


@pytest.mark.parametrize("asked", PER_NODE)
def test_figures_of_a_node_are_found_with_source_and_date(asked: str) -> None:
    facts = json.loads(run(*asked.split(), "--json").output)["facts"]
    assert set(PER_NODE[asked]) <= values(facts, "value")
    assert NOTES.get(asked, "") in facts[0]["note"]
    assert facts[0]["sources"][0]["date"] in run(*asked.split()).output
    assert facts[0]["decides"] is ("gate" not in asked)


def test_a_fact_of_all_subjects_is_listed_by_subject() -> None:
    data = json.loads(run("price_range", "--json").output)
    assert {fact["subject"] for fact in data["facts"]} >= {"h100-sxm", "h200-sxm", "b200-sxm", "l40s"}
    assert "h100-sxm price_range: 2.4–12.29 USD per GPU-hour" in run("price_range").output


def test_an_override_is_shown_as_such(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").write_text("name: x\n")
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "own.yaml").write_text(
        "sources:\n  own: {title: our bench, date: 2026-11-30}\nfacts:\n  l40s:\n"
        "    - {name: power, value: 300, unit: W, conditions: {kind: maximum}, source: own}\n"
        "    - {name: power, value: 290, unit: W}\n"
    )
    shown = run("-C", str(tmp_path), "l40s", "power")
    out = " ".join(shown.stdout.split())
    assert "power: 300 W (kind maximum)" in out
    assert "our bench, 2026-11-30" in out
    assert "own.yaml:5:7" in out
    assert "overrides what is shipped: 350 W (stas00/ml-engineering" in out
    assert "own.yaml:6:7: error catalog-fact-without-source" in shown.stderr
    data = json.loads(run("-C", str(tmp_path), "l40s", "power", "--json").stdout)
    assert data["facts"][0]["overrides"].startswith("350 W")
    assert "350 W" in run("l40s", "power").output, "without the workspace the shipped fact holds"


def test_a_folder_that_is_no_workspace_adds_nothing(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "own.yaml").write_text("facts: 5\n")
    assert run("-C", str(tmp_path), "l40s", "power").stderr == ""
