"""Host lists: as ClusterShell expands them, bounded, and never a group or a file of the machine."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base import hostlists
from fourplane.base.hostlists import LIMIT, HostListError, expand, fold


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1", ["n1"]),
        ("gpu-a.example.org", ["gpu-a.example.org"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[8-10]", ["n8", "n9", "n10"]),
        ("n[1-3,7]", ["n1", "n2", "n3", "n7"]),
        ("n[1-5/2]", ["n1", "n3", "n5"]),
        ("b,a,b", ["a", "b"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
    ],
)
def test_lists_are_expanded(text: str, hosts: list[str]) -> None:
    assert expand(text) == hosts


@pytest.mark.parametrize(
    "text",
    [
        "", " ", ",", "n[", "n]", "n[]", "n[3-1]", "n[1-2]]", "n[a-b]", "n[1-5/0]", "n[08-100]", "n 1", "n[1-3]!n2",
        "n*", "@all", "^/etc/hostname", "n\n", "n;reboot", "-n", "n_", "ñ", "٣[1-3]", "n[٣-٤]",
        "n[1-1000000000000000000000]",
        f"n[1-{LIMIT + 1}]", "n[0-999999999]", "n[1-1000][1-1000]", "n[1-999]x[1-999]", ",".join(["a"] * 300_000),
    ],
)  # fmt: skip
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(HostListError):
        expand(text)


def test_the_bound_itself_is_allowed() -> None:
    assert len(expand(f"n[1-{LIMIT}]")) == LIMIT


@given(
    st.sampled_from(["n", "gpu-", "a1b-", "rack2.", "9x", "2"]),
    st.integers(0, 1200),
    st.integers(0, 40),
    st.integers(1, 5),
)
@settings(max_examples=80, deadline=None)
def test_the_short_way_gives_what_clustershell_gives(prefix: str, first: int, more: int, width: int) -> None:
    text = f"{prefix}[{first:0{width}d}-{first + more:0{width}d}]"
    try:
        expected = hostlists._expand_with_clustershell(text)
    except HostListError:
        with pytest.raises(HostListError):
            expand(text)
    else:
        assert expand(text) == expected


@given(st.text("n1[]-,/0!&^@* .x%2", max_size=14))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_list_or_an_error(text: str) -> None:
    try:
        names = expand(text)
    except HostListError:
        return
    assert names
    assert len(set(names)) == len(names)


@given(st.sets(st.integers(1, 400), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_folding_and_expanding_are_inverse(numbers: set[int]) -> None:
    names = [f"node{number}" for number in numbers]
    assert set(expand(fold(names))) == set(names)


def test_plain_names_do_not_import_clustershell() -> None:
    code = (
        "import sys; from fourplane.base.hostlists import expand; expand('n1'); expand('n[001-900]');"
        "sys.exit('ClusterShell' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
