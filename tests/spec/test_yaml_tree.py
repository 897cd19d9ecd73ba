"""Reading YAML: scalars without the traps of 1.1, places of keys and values, and bounds that hold."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.documents.tree import find_node, positions_of
from fourplane.base.documents.yaml_tree import LIMITS, Limits, read_yaml
from fourplane.spec.types import written


def read(text: str, limits: Limits = LIMITS) -> Any:
    document = read_yaml(text.encode(), "f.yaml", limits)
    assert document.findings == []
    return document.data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("y", "y"), ("NO", "NO"),
        ("1:1", "1:1"), ("12:30", "12:30"), ("1_000", "1_000"), ("0o17", "0o17"), ("0x1f", "0x1f"), ("0b1", "0b1"),
        ("017", 17), ("-5", -5), ("+5", 5), ("0", 0), ("3.50", 3.5), ("1e3", 1000.0), (".5", 0.5), ("1.", 1.0),
        (".inf", ".inf"), (".nan", ".nan"), ("1e999", "1e999"), ("9" * 50, "9" * 50),
        ("2027-06-30", date(2027, 6, 30)), ("2027-02-30", "2027-02-30"), ("2027-6-30", "2027-6-30"),
        ("2027-06-30T10:00:00Z", "2027-06-30T10:00:00Z"), ("'8'", "8"), ('"true"', "true"), ("!!str 8", "8"),
        ("80 GiB", "80 GiB"), ("<<", "<<"), ("=", "="), ("1.2.3", "1.2.3"), ("²", "²"), ("٣", "٣"),
    ],
)  # fmt: skip
def test_scalars(text: str, value: Any) -> None:
    found = read(f"k: {text}")["k"]
    assert found == value
    assert isinstance(found, type(value))


@pytest.mark.parametrize("text", ["12.10", "007", "+5", "1e3", "1.", "3.50", "-0", "0580"])
def test_numbers_keep_their_text(text: str) -> None:
    assert written(read(f"k: {text}")["k"]) == text


def test_places_are_those_of_the_editor() -> None:
    text = "name: ä\npools:\n  - {name: ü, gpu: 8}\n  - name: b\n    x.y: {z: 1}\n"
    document = read_yaml(text.encode(), "f.yaml")
    places = positions_of(document.root)
    assert places.values["name"] == (1, 7)
    assert places.keys["pools[0].gpu"] == (3, 15)
    assert places.values["pools[0].gpu"] == (3, 20)
    assert places.values["pools[1]"] == (4, 5)
    assert places.values["pools[1].x.y.z"] == (5, 14), "a key may hold a dot"
    assert places.place("pools[1].missing.deep") == (4, 5), "the nearest parent"
    assert places.place("pools[9]") == (3, 3)
    assert places.cite("f.yaml", "") == "f.yaml:1:1"
    assert "pools[1]" not in places.keys, "an item has no key"
    assert set(places.keys) == {
        "name", "pools", "pools[0].name", "pools[0].gpu", "pools[1].name", "pools[1].x.y", "pools[1].x.y.z"
    }  # fmt: skip
    assert len(places.values) == 10


def test_an_alias_is_placed_where_its_value_is_written() -> None:
    document = read_yaml(b"a: &x {b: 1}\nc: *x\n", "f.yaml")
    assert document.data == {"a": {"b": 1}, "c": {"b": 1}}
    assert positions_of(document.root).values["c.b"] == (1, 11)
    assert positions_of(document.root).keys["c"] == (2, 1)


def test_an_alias_may_be_a_key() -> None:
    assert read("a: &k shape\n*k : 1\n") == {"a": "shape", "shape": 1}


def codes_of(content: bytes, limits: Limits = LIMITS) -> list[str]:
    return [one.code for one in read_yaml(content, "f.yaml", limits).findings]


def test_an_alias_bomb_is_stopped_while_reading() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    document = read_yaml("\n".join(lines).encode(), "f.yaml")
    assert [one.code for one in document.findings] == ["spec-alias-bomb"]
    assert document.findings[0].line == 6, "10^5 values fit, 10^6 do not"


def test_an_alias_chain_counts_as_depth() -> None:
    lines = ["a0: &a0 {x: 1}"] + [f"a{i}: &a{i} {{x: *a{i - 1}}}" for i in range(1, 100)]
    assert codes_of("\n".join(lines).encode()) == ["spec-too-deep"]
    assert codes_of("\n".join(lines[:60]).encode()) == []


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"k: " + b"[" * 500 + b"]" * 500, "spec-too-deep"),
        (b"[" * 1_000_000, "spec-too-deep"),
        (b"{" * 1_000_000, "spec-too-deep"),
        (b"- " * 1_000_000, "spec-too-deep"),
        (b"k: " + b"x" * (LIMITS.size + 1), "spec-too-large"),
        (b"k" * 300 + b": 1", "spec-bad-key"),
        (b"k: &a [*a]", "spec-bad-alias"),
        (b"k: *a", "spec-bad-alias"),
        (b"*a", "spec-bad-alias"),
        (b"k: !!python/object/apply:os.system [id]", "spec-yaml-tag"),
        (b"!!binary k: aGk=", "spec-yaml-tag"),
    ],
)
def test_hostile_documents_are_stopped(content: bytes, code: str) -> None:
    assert codes_of(content)[0] == code


def test_a_document_of_too_many_values_is_stopped() -> None:
    assert LIMITS.nodes == 500_000
    assert codes_of(b"k: [" + b"1," * 60_000 + b"]", Limits(nodes=50_000)) == ["spec-too-large"]
    assert codes_of(b"k: &a 1\nl: [" + b"*a," * 60_000 + b"]", Limits(nodes=50_000)) == ["spec-too-large"]


def test_long_lines_are_no_trouble() -> None:
    assert len(read("k: '" + "x" * 2_000_000 + "'")["k"]) == 2_000_000
    assert len(read("k: " + "x " * 500_000 + "x")["k"]) == 1_000_001


def test_limits_can_be_set() -> None:
    small = Limits(size=100, depth=2, nodes=5, key=3)
    assert codes_of(b"a: {b: 1}", small) == []
    assert codes_of(b"a: {b: {c: 1}}", small) == ["spec-too-deep"]
    assert codes_of(b"a: [1, 2, 3, 4]", small) == ["spec-too-large"]
    assert codes_of(b"abcd: 1", small) == ["spec-bad-key"]
    assert codes_of(b"a: " + b"x" * 100, small) == ["spec-too-large"]


# PyYAML writes by YAML 1.1, where 0E0 and 0o7 are texts and stand without quotes; here they are numbers (YAML 1.2)
_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=12).filter(
    lambda text: not text.lstrip("+-.")[:1].isdigit()
)
_SCALARS = st.one_of(st.integers(-(10**6), 10**6), st.booleans(), st.none(), st.dates(), _TEXTS)
_KEYS = st.text("abc.[]x-", min_size=1, max_size=6)
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=12,
)


@given(_TREES)
@settings(max_examples=60, deadline=None)
def test_what_is_dumped_is_read_back_with_places(tree: Any) -> None:
    content = yaml.safe_dump({"root": tree}, allow_unicode=True).encode()
    document = read_yaml(content, "f.yaml")
    assert document.findings == []
    assert document.data == {"root": tree}
    lines = content.decode().split("\n")

    def walk(value: Any, parts: tuple[str | int, ...]) -> None:
        found = find_node(document.root, parts)
        assert found is not None
        line, column = found[1].place
        assert 1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1
        for key, child in value.items() if isinstance(value, dict) else ():
            walk(child, (*parts, key))
        for index, child in enumerate(value if isinstance(value, list) else ()):
            walk(child, (*parts, index))

    walk({"root": tree}, ())


@given(
    st.one_of(
        st.binary(max_size=200),
        st.text("ab:{}[]&*!-?#'\"|>%@` \t\n<0.,~\x00\x85\u2028\ufeff", max_size=80).map(str.encode),
    )
)
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_a_document_or_findings(content: bytes) -> None:
    document = read_yaml(content, "f.yaml")
    lines = content.count(b"\n") + content.count(b"\r") + content.count(b"\xe2\x80") + content.count(b"\xc2\x85") + 1
    for one in document.findings:
        assert one.file == "f.yaml" and one.message and one.expected
        assert 1 <= one.line <= lines + 1 and one.column >= 1
    if document.root is None:
        assert document.data is None
