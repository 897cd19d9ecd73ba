from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.report.cells import cell_width, cut, pad, wrap

ANY = st.text(max_size=120)


def test_wide_characters_fill_two_cells_and_combining_marks_none() -> None:
    assert cell_width("node") == 4
    assert cell_width("計算ノード") == 10
    assert cell_width("e\u0301") == 1


def test_cut_never_splits_a_wide_character_over_the_edge() -> None:
    assert cut("計算", 3) == "計…"
    assert cut("計算", 4) == "計算"
    assert cut("abc", 0) == ""


@settings(max_examples=150)
@given(ANY, st.integers(0, 40))
def test_pad_gives_exactly_the_width(text: str, width: int) -> None:
    assert cell_width(pad(text, width)) == width
    assert cell_width(pad(text, width, right=True)) == width


@settings(max_examples=200)
@given(ANY, st.integers(12, 90), st.sampled_from(["", "  ", " 1. ", "    fix: "]))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int, first: str) -> None:
    lines = wrap(text, width, first=first)
    assert all(cell_width(line) <= width for line in lines)
    shown = "".join("".join(lines).split())
    lead = "".join(first.split())
    assert shown.startswith(lead)
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for line in lines for c in line)
    if text.isascii() and text.isprintable():
        assert shown[len(lead) :] == "".join(text.split())


def test_first_and_rest_stand_before_their_lines() -> None:
    assert wrap("one two three", 11, first="fix: ", rest="  ") == ["fix: one", "  two three"]


def test_a_word_wider_than_the_line_comes_in_parts() -> None:
    assert wrap("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
