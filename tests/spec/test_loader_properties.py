"""Properties of loading: no content raises, no place lies outside the file, and what is written is read back."""

from __future__ import annotations

import random
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.findings import has_errors
from fourplane.spec.declaration import Declaration
from fourplane.spec.loader import load_file, load_workspace
from fourplane.spec.templates import TEMPLATES, template_files, write_template
from fourplane.spec.workspace import Workspace

TODAY = date(2026, 12, 1)
SAMPLE = template_files("rented-h100")["fourplane.yaml"].decode()


def load_text(text: bytes) -> Workspace:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fourplane.yaml"
        path.write_bytes(text)
        return load_workspace(path, today=TODAY)


@given(st.binary(max_size=300))
@settings(max_examples=40, deadline=None)
def test_no_bytes_raise(content: bytes) -> None:
    workspace = load_text(content)
    assert workspace.declaration.name
    assert workspace.findings or workspace.declaration.name != "unnamed"


_KEYS = st.sampled_from(
    ["name", "brief", "pools", "count", "hosts", "shape", "gpu", "network", "fabric", "teams", "quotas", "waivers", "x"]
)  # fmt: skip
_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**8), st.floats(), st.dates(),
    st.sampled_from(["a", "A b", "8 GB", "1:1", "n[1-3]", "n[", "", "TBD", "mig", "x" * 100]),
)  # fmt: skip
_TREES = st.recursive(
    _VALUES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=5)),
    max_leaves=20,
)


@given(st.dictionaries(_KEYS, _TREES, max_size=6))
@settings(max_examples=60, deadline=None)
def test_no_tree_raises_and_every_place_is_in_the_file(tree: dict[str, Any]) -> None:
    content = yaml.safe_dump(tree)
    workspace = load_text(content.encode())
    lines = content.split("\n")
    places = [(f.code, f.line, f.column, f.path, f.found) for f in workspace.findings]
    assert len(set(places)) == len(places), "nothing is said twice"
    for _, line, column, _, _ in places:
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_sample_never_raises(seed: int) -> None:
    dice = random.Random(seed)
    lines = SAMPLE.split("\n")
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(lines))
        match dice.randrange(4):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[dice.randrange(len(lines))])
            case 2:
                lines[at] = lines[at].replace(":", dice.choice(["", "::", ": -", ": ["]), 1)
            case _:
                lines[at] = lines[at][: dice.randint(0, len(lines[at]))]
    workspace = load_text("\n".join(lines).encode())
    assert isinstance(workspace.declaration, Declaration)


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    write_template(name, tmp_path / "a")
    first = load_workspace(tmp_path / "a", today=TODAY)
    again = tmp_path / "b" / "fourplane.yaml"
    again.parent.mkdir()
    again.write_text(yaml.safe_dump(first.declaration.model_dump(mode="json", exclude_none=True)), encoding="utf-8")
    second = load_file(again, today=TODAY)
    assert isinstance(second, Workspace)
    assert not has_errors(second.findings)
    assert second.declaration == first.declaration


def test_a_declaration_can_be_built_in_python() -> None:
    first = load_text(SAMPLE.encode()).declaration
    assert Declaration.model_validate(first.model_dump()) == first
    assert Declaration.model_validate(first.model_dump(mode="json")) == first


def test_editors_get_a_schema() -> None:
    schema = Declaration.model_json_schema()
    assert schema["required"] == ["name"]
    assert schema["additionalProperties"] is False
    pool = schema["$defs"]["Pool"]["properties"]
    assert {"minimum": 0, "maximum": 10_000_000, "type": "integer"} in pool["count"]["anyOf"]
