"""A workspace's own facts: added, overriding, and refused one by one where they lack their origin."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourplane.catalog import Catalog, load_catalog

HEAD = """sources:
  ours: {title: our own measurement, link: "https://example.org", date: 2026-11-30}
"""


def overlay(root: Path, text: str, name: str = "ours.yaml") -> Catalog:
    (root / "catalog").mkdir(exist_ok=True)
    (root / "catalog" / name).write_text(text)
    return load_catalog(root)


def places(catalog: Catalog) -> list[tuple[str, int]]:
    return [(one.code, one.line) for one in catalog.findings]


def test_without_a_folder_the_shipped_catalogue_holds(tmp_path: Path) -> None:
    assert load_catalog(tmp_path) is load_catalog()


def test_a_fact_is_added_with_its_place(tmp_path: Path) -> None:
    catalog = overlay(
        tmp_path, HEAD + "facts:\n  hgx-h100:\n    - {name: lead_time, value: 6, unit: weeks, source: ours}\n"
    )
    assert catalog.findings == ()
    fact = catalog.fact("hgx-h100", "lead_time")
    assert fact is not None
    assert (fact.shown, fact.date, fact.overrides) == ("6 weeks", date(2026, 11, 30), "")
    assert fact.place == f"{tmp_path}/catalog/ours.yaml:5:7"
    shipped = load_catalog().fact("hgx-h100", "lead_time")
    assert shipped is None, "the shipped catalogue is not touched"


def test_a_fact_overrides_and_says_what(tmp_path: Path) -> None:
    text = (
        HEAD
        + "facts:\n  h100-sxm:\n    - {name: power, value: 650, unit: W, conditions: {kind: maximum}, source: ours}\n"
    )
    fact = overlay(tmp_path, text).fact("h100-sxm", "power")
    assert fact is not None
    assert fact.low == 650
    assert fact.overrides.startswith("700 W (stas00/ml-engineering")
    assert "2026-08-22" in fact.overrides
    assert len([one for one in load_catalog(tmp_path).subjects["h100-sxm"].facts if one.name == "power"]) == 1


def test_other_conditions_are_another_fact(tmp_path: Path) -> None:
    text = (
        HEAD
        + "facts:\n  h100-sxm:\n    - {name: power, value: 650, unit: W, conditions: {kind: capped}, source: ours}\n"
    )
    catalog = overlay(tmp_path, text)
    told = [(one.low, one.overrides) for one in catalog.subjects["h100-sxm"].facts if one.name == "power"]
    assert told == [(700, ""), (650, "")]


def test_a_board_of_ones_own_is_found_by_its_names(tmp_path: Path) -> None:
    text = (
        HEAD
        + """gpus:
  h800-sxm:
    title: NVIDIA H800 SXM
    family: h800
    form_factor: sxm
    aliases: [NVIDIA H800]
    facts:
      - {name: memory, value: 80, unit: GB, source: ours}
expected:
  - {op: all_reduce, gpu: h800-sxm, gpus_per_node: 8, nodes: 1, transport: [nvlink], size: 8 GiB, busbw: 170,
     source: ours}
"""
    )
    catalog = overlay(tmp_path, text)
    assert catalog.findings == ()
    found = catalog.gpu("NVIDIA H800")
    assert found is not None
    assert found.key == "h800-sxm"
    figures = catalog.expected("all_reduce", "h800-sxm", gpus_per_node=8, nodes=1, transport="nvlink")
    assert [(one.low, one.place.endswith(":12:5")) for one in figures] == [(170, True)]


def test_a_published_figure_is_overridden_in_its_own_case_only(tmp_path: Path) -> None:
    text = (
        HEAD
        + """expected:
  - {op: all_reduce, gpu: h100-sxm, gpus_per_node: 8, nodes: 2, transport: [roce], nics: 8x400 Gb/s,
     size: 16 GiB, busbw: 480, source: ours}
"""
    )
    figures = overlay(tmp_path, text).expected("all_reduce", "h100-sxm", gpus_per_node=8, nodes=2, transport="roce")
    assert [(one.low, bool(one.overrides)) for one in figures] == [(467.4, False), (480, True)]
    assert figures[1].overrides.startswith("471.2 GB/s (")


def test_shipped_sources_may_be_cited(tmp_path: Path) -> None:
    text = "facts:\n  h100-sxm:\n    - {name: dies, value: 1, unit: count, source: ml-engineering}\n"
    catalog = overlay(tmp_path, text)
    assert catalog.findings == ()
    assert catalog.fact("h100-sxm", "dies") is not None


@pytest.mark.parametrize(
    ("text", "code", "line", "said"),
    [
        ("facts:\n  h100-sxm:\n    - {name: x, value: 1, unit: W}\n", "catalog-fact-without-source", 3, "no source"),
        (
            "facts:\n  h100-sxm:\n    - {name: x, value: 1, unit: W, source: ml-enginering}\n",
            "catalog-fact-without-source", 3, "ml-enginering",
        ),
        ("sources:\n  a: {title: A}\n", "catalog-fact-without-source", 2, "no date"),
        ("sources:\n  a: {date: 2026-01-01}\n", "catalog-fact-without-source", 2, "no title"),
        ("sources:\n  ml-engineering: {title: A, date: 2026-01-01}\n", "catalog-duplicate", 2, "stands there twice"),
        (
            "facts:\n  h100-sxm:\n    - {name: x, value: 1, source: dgx-b200-guide}\n",
            "catalog-fact-incomplete", 3, "no unit",
        ),
        (
            "facts:\n  h100-sxm:\n    - {name: x, value: many, unit: W, source: dgx-b200-guide}\n",
            "catalog-fact-incomplete", 3, "not a number",
        ),
        (
            "facts:\n  h100-sxm:\n    - {name: x, range: [2, 1], unit: W, source: dgx-b200-guide}\n",
            "catalog-fact-incomplete", 3, "downwards",
        ),
        ("facts:\n  h100-sxm: 5\n", "catalog-fact-incomplete", 2, "not a list"),
        ("facts: 5\n", "catalog-fact-incomplete", 1, "not a mapping"),
        ("facts:\n  h100-sxn:\n    - {}\n", "catalog-unknown-subject", 2, "knows no h100-sxn"),
        ("fact: {}\n", "catalog-unknown-key", 1, "no key 'fact'"),
        (
            "facts:\n  h100-sxm:\n    - {name: x, vlaue: 1, value: 1, unit: W, source: dgx-b200-guide}\n",
            "catalog-unknown-key", 3, "no key 'vlaue'",
        ),
        (
            "expected:\n  - {op: all_reduce, gpu: h9, gpus_per_node: 8, nodes: 1, transport: [nvlink], size: 1 GiB, "
            "busbw: 1, source: dgx-b200-guide}\n",
            "catalog-unknown-subject", 2, "no GPU h9",
        ),
        (
            "expected:\n  - {op: all_reduce, gpu: l40s, gpus_per_node: 8, nodes: 1, transport: [pcie], size: 1 GBit, "
            "busbw: 1, source: dgx-b200-guide}\n",
            "catalog-fact-incomplete", 2, "GBit",
        ),
        ("nodes:\n  n: {gpu: h9}\n", "catalog-unknown-subject", 2, "no GPU h9"),
        ("nodes:\n  h100-sxm: {title: x}\n", "catalog-duplicate", 2, "is a gpu in the shipped"),
        ("gpus: [\n", "spec-yaml-syntax", 2, ""),
        ("a: 1\na: 2\n", "spec-duplicate-key", 2, "given twice"),
        ("- a list\n", "catalog-unreadable", 1, "not a mapping"),
    ],
)  # fmt: skip
def test_a_fault_is_a_finding_with_its_place(tmp_path: Path, text: str, code: str, line: int, said: str) -> None:
    catalog = overlay(tmp_path, text)
    told = [one for one in catalog.findings if one.code == code and one.line == line]
    assert told, places(catalog)
    assert said in told[0].message
    assert told[0].fix
    assert told[0].file == f"{tmp_path}/catalog/ours.yaml"
    # nothing of the shipped catalogue is lost, and nothing wrong came in
    assert {k: v.facts for k, v in catalog.subjects.items() if k in load_catalog().subjects} == {
        k: v.facts for k, v in load_catalog().subjects.items()
    }
    assert catalog.expected_figures == load_catalog().expected_figures


def test_a_wrong_entry_does_not_take_the_right_one_with_it(tmp_path: Path) -> None:
    text = (
        HEAD
        + """facts:
  l40s:
    - {name: price_own, value: 0.7, unit: USD per GPU-hour}
    - {name: height, value: 4.4, unit: inch, source: ours}
    - {name: height, value: 4.5, unit: inch, source: ours}
"""
    )
    catalog = overlay(tmp_path, text)
    assert places(catalog) == [("catalog-fact-without-source", 5), ("catalog-duplicate", 7)]
    height = catalog.fact("l40s", "height")
    assert height is not None
    assert height.low == 4.4


def test_several_files_are_read_in_order_and_an_empty_one_adds_nothing(tmp_path: Path) -> None:
    overlay(tmp_path, "# nothing yet\n", "a.yaml")
    overlay(tmp_path, HEAD, "z-sources.yaml")
    (tmp_path / "catalog" / "notes.txt").write_text("not read")
    catalog = overlay(tmp_path, "facts:\n  l40s:\n    - {name: slots, value: 2, unit: count, source: ours}\n", "m.yaml")
    assert catalog.findings == ()
    assert catalog.fact("l40s", "slots") is not None, "sources of all files come first"


def test_what_is_no_file_or_too_large_is_told(tmp_path: Path) -> None:
    (tmp_path / "catalog" / "folder.yaml").mkdir(parents=True)
    catalog = overlay(tmp_path, "#" * (2**20 + 1), "large.yaml")
    assert sorted(one.code for one in catalog.findings) == ["catalog-unreadable", "spec-too-large"]


def test_more_files_than_anybody_writes_are_told(tmp_path: Path) -> None:
    for number in range(51):
        overlay(tmp_path, "", f"{number:02}.yaml")
    assert [one.code for one in load_catalog(tmp_path).findings] == ["catalog-unreadable"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text("ab h100-sxm", max_size=8),
        lambda children: (
            st.lists(children, max_size=3)
            | st.dictionaries(
                st.sampled_from(["sources", "facts", "expected", "gpus", "h100-sxm", "name", "source", "title"]),
                children,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_document_is_read_without_harm(tmp_path: Path, document: object) -> None:
    import yaml

    catalog = overlay(tmp_path, yaml.safe_dump(document))
    shipped = load_catalog()
    assert set(shipped.subjects) <= set(catalog.subjects)
    for subject in catalog.subjects.values():
        assert all(fact.sources for fact in subject.facts)
