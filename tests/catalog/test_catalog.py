"""Every fact has a unit, a source and a date; names find what they mean, and nothing else."""

from __future__ import annotations

import copy
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fourplane.base.errors import ToolError
from fourplane.catalog import Catalog, load_catalog
from fourplane.catalog.model import Fact, Source, format_number
from fourplane.catalog.reading import read_folder

GOOD: dict[str, Any] = {
    "sources": {"s": {"title": "a data sheet", "link": "https://example.org", "date": date(2026, 1, 2)}},
    "gpus": {"g1": {"title": "G1", "facts": [{"name": "memory", "value": 80, "unit": "GB", "source": "s"}]}},
    "expected": [
        {
            "op": "all_reduce", "gpu": "g1", "gpus_per_node": 8, "nodes": 1, "transport": ["nvlink"], "size": "8 GiB",
            "busbw": [230, 235], "source": "s",
        }
    ],
}  # fmt: skip


def load(folder: Path, document: dict[str, Any]) -> Catalog:
    (folder / "facts.yaml").write_text(yaml.safe_dump(document))
    subjects, expected = read_folder(folder)
    return Catalog(subjects.values(), expected)


def test_a_good_folder_loads(tmp_path: Path) -> None:
    catalog = load(tmp_path, GOOD)
    fact = catalog.fact("g1", "memory")
    assert fact is not None
    assert (fact.low, fact.high, fact.unit, fact.date) == (80, 80, "GB", date(2026, 1, 2))
    assert fact.sources[0].title == "a data sheet"
    assert catalog.expected_figures[0].size_bytes == 8 * 2**30


@pytest.mark.parametrize(
    ("section", "key", "value", "said"),
    [
        ("fact", "unit", None, "has no unit"),
        ("fact", "source", None, "has no source"),
        ("fact", "source", "nowhere", "source nowhere"),
        ("fact", "name", None, "has no name"),
        ("fact", "value", None, "has no value"),
        ("fact", "value", "80", "has no value"),
        ("fact", "value", True, "has no value"),
        ("fact", "range", [80, 70], "runs downwards"),
        ("fact", "range", [80, 90, 100], "has no value"),
        ("source", "date", None, "has no date"),
        ("source", "date", "2026", "has no date"),
        ("source", "title", None, "has no title"),
        ("expected", "source", None, "has no source"),
        ("expected", "size", "8", "no unit"),
        ("expected", "size", None, "has no size"),
        ("expected", "transport", None, "has no transport"),
        ("expected", "kind", "rumour", "kind is 'rumour'"),
        ("expected", "busbw", None, "has no busbw"),
        ("expected", "gpu", "g9", "no GPU g9"),
    ],
)
def test_what_lacks_unit_source_or_date_is_refused(
    tmp_path: Path, section: str, key: str, value: Any, said: str
) -> None:
    document = copy.deepcopy(GOOD)
    place = {
        "fact": document["gpus"]["g1"]["facts"][0],
        "source": document["sources"]["s"],
        "expected": document["expected"][0],
    }[section]
    if value is None:
        del place[key]
    else:
        place[key] = value
    with pytest.raises(ToolError, match=said) as refusal:
        load(tmp_path, document)
    assert refusal.value.code == "catalog-invalid"


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    document = copy.deepcopy(GOOD)
    del document["gpus"]["g1"]["facts"][0]["unit"]
    del document["expected"][0]["source"]
    with pytest.raises(ToolError) as refusal:
        load(tmp_path, document)
    assert "has no unit" in refusal.value.message
    assert "has no source" in refusal.value.message


@pytest.mark.parametrize("text", ["- a list", "gpus: [", "!!python/object:os.system {}", ""])
def test_a_broken_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "facts.yaml").write_text(text)
    with pytest.raises(ToolError) as refusal:
        read_folder(tmp_path)
    assert refusal.value.code == "catalog-unreadable"


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as refusal:
        read_folder(tmp_path)
    assert refusal.value.code == "catalog-unreadable"


# The catalogue that is shipped


def facts() -> list[Fact]:
    return [fact for subject in load_catalog().subjects.values() for fact in subject.facts]


def test_every_shipped_fact_has_unit_source_and_date() -> None:
    assert len(facts()) > 60
    for fact in facts():
        assert fact.unit
        assert fact.sources
        assert fact.low <= fact.high
        assert fact.date >= date(2019, 1, 1)
    for figure in load_catalog().expected_figures:
        assert figure.sources
        assert 0 < figure.low <= figure.high


def test_arithmetic_says_dense_and_links_say_both_ways() -> None:
    for fact in facts():
        if fact.unit == "TFLOP/s":
            assert fact.conditions.get("density") == "dense", fact
        if fact.name in ("link", "nic_speed"):
            assert fact.conditions.get("direction") in ("both", "one"), fact


def test_dense_fp8_is_twice_bf16_where_the_hardware_has_it() -> None:
    catalog = load_catalog()
    seen = 0
    for subject in catalog.subjects.values():
        bf16, fp8 = subject.fact("bf16"), subject.fact("fp8")
        if bf16 and fp8 and fp8.high:
            # a sparse figure slipped in as dense would be off by two
            assert fp8.low == pytest.approx(2 * bf16.low, rel=0.02)
            seen += 1
    assert seen >= 5


def test_disagreeing_sources_are_kept_as_a_range() -> None:
    memory = load_catalog().fact("b200-sxm", "memory")
    assert memory is not None
    assert (memory.low, memory.high) == (180, 193.3)
    assert len(memory.sources) == 2
    assert memory.shown == "180–193.3 GB"


@pytest.mark.parametrize(
    ("name", "form_factor", "keys"),
    [
        ("H100", "", ["h100-nvl", "h100-pcie", "h100-sxm"]),
        ("H100", "sxm", ["h100-sxm"]),
        ("h100-sxm", "", ["h100-sxm"]),
        ("NVIDIA H100 80GB HBM3", "", ["h100-sxm"]),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "", ["h100-sxm"]),
        ("NVIDIA H100 PCIe", "", ["h100-pcie"]),
        ("NVIDIA H100 NVL", "", ["h100-nvl"]),
        ("NVIDIA H200", "", ["h200-sxm"]),
        ("H200", "", ["h200-nvl", "h200-sxm"]),
        ("NVIDIA A100-SXM4-80GB", "", ["a100-80-sxm"]),
        ("NVIDIA A100 80GB PCIe", "", ["a100-80-pcie"]),
        ("NVIDIA B200", "", ["b200-sxm"]),
        ("nvidia  b200 gpu", "", ["b200-sxm"]),
        ("L40S", "", ["l40s"]),
        ("AMD Instinct MI300X", "", ["mi300x"]),
        ("MI300X", "sxm", []),
        ("HGX H100", "", []),
        ("NVIDIA A100-SXM4-40GB", "", []),
        ("", "", []),
        ("NVIDIA", "", []),
    ],
)
def test_names_find_the_boards_they_may_stand_for(name: str, form_factor: str, keys: list[str]) -> None:
    assert [board.key for board in load_catalog().candidates(name, form_factor)] == keys


def test_an_ambiguous_name_is_never_guessed() -> None:
    catalog = load_catalog()
    assert catalog.gpu("H100") is None
    assert catalog.find("H100") is None
    found = catalog.gpu("H100", "sxm")
    assert found is not None
    assert found.key == "h100-sxm"
    assert catalog.gpu(None) is None


def test_an_alias_stands_for_one_subject() -> None:
    catalog = load_catalog()
    for subject in catalog.subjects.values():
        for alias in (subject.key, *subject.aliases):
            found = catalog.find(alias)
            assert found is not None, alias
            assert found.key == subject.key


@given(st.text(max_size=60))
def test_any_text_is_looked_up_without_harm(name: str) -> None:
    assert all(board.kind == "gpu" for board in load_catalog().candidates(name))


def test_expected_figures_fit_one_case_only() -> None:
    def figures(nodes: int, transport: str, gpu: str = "h100-sxm") -> list[float]:
        found = load_catalog().expected("all_reduce", gpu, gpus_per_node=8, nodes=nodes, transport=transport)
        return [one.low for one in found]

    assert figures(2, "roce") == [467.4, 471.2], "smallest size first"
    assert figures(1, "nvls") == [478.9], "a gate is no measurement"
    assert figures(3, "roce") == []
    assert figures(2, "socket") == []
    assert figures(1, "nvlink", "h200-sxm") == [367.61], "a ring is not held against the switches' sum"


def test_the_catalogue_is_loaded_once() -> None:
    assert load_catalog() is load_catalog()


def test_the_oldest_source_dates_a_fact() -> None:
    old, new = Source("a", "A", "", date(2020, 1, 1)), Source("b", "B", "", date(2026, 1, 1))
    assert Fact("x", "y", 1, 2, "GB", (new, old)).date == date(2020, 1, 1)


@pytest.mark.parametrize(("value", "text"), [(3.35, "3.35"), (989.0, "989"), (1978.0, "1,978"), (85.9, "85.9")])
def test_numbers_are_shown_without_trailing_zeros(value: float, text: str) -> None:
    assert format_number(value) == text
