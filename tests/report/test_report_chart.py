from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import report_samples as samples
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.verdicts import Verdict
from fourplane.report.chart import bandwidth_curve, nice_ticks, size_label, size_ticks, tally_bar, versus_bar
from fourplane.report.figures import Band, Curve, Point, curves
from fourplane.report.view import READING_ORDER


def curve_of(rows: object, *bands: Band) -> Curve:
    (curve,) = curves(samples.make_case([samples.observe("network.allreduce.curve", rows)]), (), bands)
    return curve


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter("text")]


@settings(max_examples=120)
@given(st.floats(1e-9, 1e9), st.integers(2, 8))
def test_ticks_start_at_zero_are_even_and_reach_the_top(top: float, count: int) -> None:
    ticks = nice_ticks(top, count)
    assert ticks[0] == 0
    assert ticks[-1] >= top * (1 - 1e-6)
    assert len(ticks) <= count + 2
    steps = [b - a for a, b in pairwise(ticks)]
    assert max(steps) - min(steps) <= steps[0] * 1e-6


def test_sizes_are_labelled_in_iec_units() -> None:
    assert [size_label(n) for n in (8, 1024, 1536, 64 * 2**20, 2**40)] == [
        "8 B",
        "1 KiB",
        "1.5 KiB",
        "64 MiB",
        "1024 GiB",
    ]


@given(st.integers(1, 2**40), st.integers(1, 2**40), st.integers(2, 14))
def test_size_ticks_lie_inside_and_are_bounded(one: int, other: int, most: int) -> None:
    low, high = sorted((one, other))
    ticks = size_ticks(low, high, most)
    assert 1 <= len(ticks) <= most
    assert all(low <= tick <= high for tick in ticks)


def test_the_curve_names_its_axes_its_peak_and_every_point() -> None:
    svg = bandwidth_curve(curve_of(samples.curve()))
    shown = texts(svg)
    assert "GB/s" in shown
    assert {"8 B", "8 MiB"} <= set(shown)
    assert "4.59 GB/s at 8 MiB" in shown
    root = ElementTree.fromstring(svg)
    assert len(list(root.iter("circle"))) == 24
    assert "peak 4.59 GB/s at 8 MiB" in root.attrib["aria-label"]


def test_wrong_results_are_marked_and_said() -> None:
    svg = bandwidth_curve(curve_of(samples.curve(wrong_at=1024)))
    (wrong,) = [c for c in ElementTree.fromstring(svg).iter("circle") if "wrong" in c.attrib["class"]]
    assert "3 wrong elements" in (wrong.findtext("title") or "")


def test_a_band_near_the_curve_is_drawn_and_one_far_above_is_only_named() -> None:
    near = bandwidth_curve(curve_of(samples.curve(), Band("declared target", 5.0, 6.0, "f:1:1")))
    assert 'class="band"' in near
    assert "declared target 5 to 6 GB/s" in texts(near)
    far = bandwidth_curve(curve_of(samples.curve(), Band("declared target", 360.0, None, "f:1:1")))
    assert 'class="target"' not in far
    assert "declared target 360 GB/s, above this scale" in texts(far)


def test_a_figure_for_one_size_is_a_beam_at_that_size() -> None:
    svg = bandwidth_curve(curve_of(samples.curve(), Band("published", 4.0, 5.0, "x", 2**20)))
    assert svg.count('class="beam"') == 3
    outside = bandwidth_curve(curve_of(samples.curve(), Band("published", 4.0, 5.0, "x", 2**34)))
    assert 'class="beam"' not in outside


def test_untrusted_words_are_escaped() -> None:
    svg = bandwidth_curve(curve_of(samples.curve(), Band("<script>\u202e", 4.0, None, "x")))
    assert "<script" not in svg
    assert any(t.startswith("<script>\\u202e") for t in texts(svg))


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 2**36), st.floats(1e-3, 1e9), st.floats(1e-6, 1e6)), min_size=1, max_size=30),
    st.sampled_from([350, 940]),
)
def test_any_curve_stays_inside_its_drawing(rows: list[tuple[int, float, float]], width: int) -> None:
    points = tuple(Point(s, t, b, b, 1, 0) for s, t, b in sorted({s: (s, t, b) for s, t, b in rows}.values()))
    any_curve = Curve(samples.observe("network.allreduce.curve", []), points, "", "", (), None)
    root = ElementTree.fromstring(bandwidth_curve(any_curve, width=width))
    for dot in root.iter("circle"):
        assert 0 <= float(dot.attrib["cx"]) <= width
        assert 0 <= float(dot.attrib["cy"]) <= 330


def test_bars_show_measurement_and_need_on_one_scale() -> None:
    fill, need = re.findall(
        r'class="(?:fill short|fill)"[^>]*width="([\d.]+)"|class="need" x="([\d.]+)"', versus_bar(50, 100, width=104)
    )
    assert float(fill[0]) == 50.0
    assert float(need[1]) == 100.0
    assert "short" not in versus_bar(50, 100)
    assert "short" in versus_bar(50, 100, failed=True)
    assert versus_bar(50, None) == ""
    assert versus_bar(50, 0) == ""


def test_the_tally_splits_its_width_by_count() -> None:
    svg = tally_bar({Verdict.FAILED: 1, Verdict.PASSED: 3}, READING_ORDER, width=400)
    widths = [float(r.attrib["width"]) for r in ElementTree.fromstring(svg).iter("rect")]
    assert widths == [99.0, 299.0]
    assert tally_bar({}, READING_ORDER) == ""
