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
from fourplane.catalog.reading import read_shipped

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
    reader = read_shipped(folder)
    return Catalog(reader.subjects.values(), reader.expected)


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
        ("source", "titel", "x", "no key 'titel'"),
        ("fact", "conditions", {"standing": "rumour"}, "standing 'rumour' is not known"),
        ("fact", "conditions", ["dense"], "is not a mapping"),
        ("expected", "nodes", 0, "has no nodes"),
        ("expected", "nodes", 1.5, "whole numbers"),
        ("expected", "gpus_per_node", "8", "whole numbers"),
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
        read_shipped(tmp_path)
    assert refusal.value.code == "catalog-unreadable"


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as refusal:
        read_shipped(tmp_path)
    assert refusal.value.code == "catalog-unreadable"


# The catalogue that is shipped


def facts() -> list[Fact]:
    return [fact for subject in load_catalog().subjects.values() for fact in subject.facts]


def test_every_shipped_fact_has_unit_source_and_date() -> None:
    assert len(facts()) > 400
    for fact in facts():
        assert fact.unit
        assert fact.sources
        assert fact.low <= fact.high
        assert fact.date >= date(2019, 1, 1)
    for figure in load_catalog().expected_figures:
        assert figure.sources
        assert 0 < figure.low <= figure.high
        assert figure.size_bytes or not figure.decides


def test_arithmetic_says_dense_and_links_say_both_ways() -> None:
    for fact in facts():
        if fact.unit == "TFLOP/s":
            assert fact.conditions.get("density") == "dense", fact
        if fact.name in ("link", "nic_speed"):
            assert fact.conditions.get("direction") in ("both", "one"), fact


GPUS = (
    "h100-sxm", "h100-pcie", "h100-nvl", "h200-sxm", "h200-nvl", "b200-sxm", "b300-sxm", "gb200", "gb300",
    "a100-40-sxm", "a100-40-pcie", "a100-80-sxm", "a100-80-pcie", "l40s", "rtx-pro-6000", "mi300x", "mi325x", "mi355x",
)  # fmt: skip


@pytest.mark.parametrize("key", GPUS)
def test_every_gpu_has_its_row(key: str) -> None:
    names = {fact.name for fact in load_catalog().subjects[key].facts}
    wanted = {"memory", "memory_bandwidth", "power"} | ({"bf16", "fp8"} if key != "h200-nvl" else set())
    assert wanted <= names


def test_node_shapes_of_vendors_and_clouds_are_there() -> None:
    nodes = {key for key, subject in load_catalog().subjects.items() if subject.kind == "node"}
    wanted = (
        "hgx-h100 hgx-h200 hgx-b200 hgx-b300 dgx-h100 hgx-a100 gb200-nvl72 aws-p5 aws-p5e aws-p5en aws-p6-b200 "
        "aws-p6-b300 gcp-a3-mega gcp-a3-ultra gcp-a4 azure-nd-h100-v5 azure-nd-h200-v5 azure-nd-mi300x-v5 "
        "oci-bm-gpu-h100-8 oci-bm-gpu-h200-8 oci-bm-gpu-b200-8 oci-bm-gpu-gb200-4 lambda-8xb200 lambda-8xh100"
    )
    assert set(wanted.split()) <= nodes


def test_the_rates_of_a_node_are_its_interfaces_in_sum() -> None:
    catalog, seen = load_catalog(), 0
    for node in catalog.subjects.values():
        rate, count, speed = (node.fact(name) for name in ("scale_out_rate", "scale_out_nics", "nic_speed"))
        if rate and count and speed:
            assert rate.low == count.low * speed.low, node.key
            seen += 1
    assert seen == 5


def test_what_was_not_read_again_decides_nothing() -> None:
    catalog = load_catalog()
    gb300 = catalog.subjects["gb300"]
    told = [fact for fact in gb300.facts if fact.name == "memory"]
    assert [fact.conditions["standing"] for fact in told] == ["not re-read"]
    assert gb300.fact("memory") is None
    assert catalog.fact("meta-rsc-1", "failures_per_1000_node_days") is None
    undecided = [fact for fact in facts() if not fact.decides]
    assert len(undecided) > 40
    for subject in catalog.subjects.values():
        for fact in subject.facts:
            kept = subject.fact(fact.name)
            assert kept is None or kept.decides


def test_the_power_of_b300_is_a_range_since_sources_differ() -> None:
    power = load_catalog().fact("b300-sxm", "power")
    assert power is not None
    assert (power.low, power.high) == (1000, 1400)
    assert "1,100" in power.note


def test_failure_rates_follow_from_their_counts() -> None:
    catalog = load_catalog()
    rate = catalog.fact("llama3-training", "failures_per_1000_node_days")
    hours = catalog.fact("llama3-training", "job_mtti")
    assert rate is not None
    assert hours is not None
    assert rate.low == pytest.approx(419 / (2048 * 54) * 1000, abs=0.005)
    assert hours.low == pytest.approx(54 * 24 / 419, abs=0.05)


def test_prices_carry_market_provider_and_day() -> None:
    priced = [fact for fact in facts() if fact.name == "price"]
    assert len(priced) > 25
    for fact in priced:
        assert fact.unit == "USD per GPU-hour"
        assert fact.conditions["market"] in ("on demand", "spot", "reserved")
        assert fact.conditions["provider"]
        assert fact.date.year == 2026
    for subject in load_catalog().subjects.values():
        span = subject.fact("price_range")
        rows = [f for f in subject.facts if f.name == "price" and f.conditions["market"] == "on demand"]
        for fact in rows if span else ():
            assert span is not None
            assert span.low <= fact.low <= fact.high <= span.high, fact


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
        ("NVIDIA A100-SXM4-40GB", "", ["a100-40-sxm"]),
        ("A100", "pcie", ["a100-40-pcie", "a100-80-pcie"]),
        ("NVIDIA GB300", "", ["gb300"]),
        ("NVIDIA B300 SXM6 AC", "", ["b300-sxm"]),
        ("RTX PRO 6000", "", ["rtx-pro-6000"]),
        ("AMD Instinct MI355X", "", ["mi355x"]),
        ("H800", "", []),
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
    assert figures(1, "nvls") == [468.6, 478.9], "a gate is no measurement"
    assert figures(2, "efa") == [437.8, 487.1], "neither is an average over all sizes, nor a figure without a size"
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
