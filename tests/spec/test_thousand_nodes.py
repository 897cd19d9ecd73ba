"""A thousand nodes, each its own entry: read whole, placed, without findings."""

from __future__ import annotations

import runpy
from pathlib import Path

from fourplane.spec.loader import load_workspace

ROOT = Path(__file__).resolve().parents[2]
declaration = runpy.run_path(str(ROOT / "bench" / "check_thousand_nodes.py"))["declaration"]


def test_every_entry_is_read_and_placed(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").write_text(declaration(1000, 100), encoding="utf-8")
    workspace = load_workspace(tmp_path)
    assert workspace.findings == ()
    (pool,) = workspace.declaration.pools
    assert len(pool.nodes) == 1000
    assert len({str(node.shape) for node in pool.nodes}) == 1000
    assert len(workspace.declaration.teams) == 100
    lines = (tmp_path / "fourplane.yaml").read_text().split("\n")
    for index in (0, 499, 999):
        line, column = workspace.positions.place(f"pools[0].nodes[{index}].shape.cpu.cores")
        node = pool.nodes[index]
        assert node.shape is not None and node.shape.cpu is not None
        assert lines[line - 1][column - 1 :] == str(node.shape.cpu.cores)


def test_one_wrong_value_among_a_thousand_entries_is_found(tmp_path: Path) -> None:
    text = declaration(1000, 100).replace("name: n0777", "name: n0776")
    (tmp_path / "fourplane.yaml").write_text(text, encoding="utf-8")
    (found,) = load_workspace(tmp_path).findings
    assert (found.code, found.path) == ("spec-duplicate-host", "pools[0].nodes[776].name")
