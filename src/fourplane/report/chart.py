"""SVG drawn by hand: the bandwidth curve, the bar of a figure beside its need, the bar of verdict counts.

Colours and strokes are classes of the page's style sheet, so that one drawing serves light, dark and print.
Coordinates are SVG user units; a drawing is never wider than its ``width``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.report.figures import Band, Curve, Point
from fourplane.report.values import number

__all__ = ["bandwidth_curve", "nice_ticks", "size_label", "size_ticks", "tally_bar", "versus_bar"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 18, 26, 44
_OFF_SCALE = 3.0
"""A band that starts above this multiple of the peak isn't allowed to flatten the curve; it is named instead."""


def size_label(size: int) -> str:
    """Return a message size in IEC units without needless digits: ``8 B``, ``64 KiB``, ``1.5 MiB``."""
    value: float = size
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.1f}".removesuffix(".0") + f" {unit}"
        value /= 1024
    raise AssertionError("unreachable")


def nice_ticks(top: float, count: int = 4) -> list[float]:
    """Return ticks from 0 to at least ``top`` in steps of 1, 2, 2.5 or 5 times a power of ten."""
    rough = max(top, 1e-12) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    return [step * n for n in range(math.ceil(top / step - 1e-9) + 1)]


def size_ticks(smallest: int, largest: int, most: int) -> list[int]:
    """Return powers of two from ``smallest`` to ``largest``, evenly spaced on a log axis, at most ``most``."""
    low, high = math.ceil(math.log2(smallest)), math.floor(math.log2(largest))
    if high < low:
        return [smallest]
    stride = max(1, math.ceil((high - low + 1) / most))
    return [2**n for n in range(low, high + 1, stride)]


def bandwidth_curve(curve: Curve, width: int = 940, height: int = 330) -> str:
    """Return the drawing of one curve: message size on a log2 axis, bus bandwidth in GB/s on a linear one."""
    points, peak = curve.points, curve.peak
    inside = [b for b in curve.bands if b.low <= peak.busbw * _OFF_SCALE]
    above = [b for b in curve.bands if b.low > peak.busbw * _OFF_SCALE]
    ticks = nice_ticks(max([peak.busbw * 1.06, *(b.low * 1.04 for b in inside)]))
    low, high = math.log2(points[0].size), math.log2(points[-1].size)
    right, bottom = width - _RIGHT, height - _BOTTOM

    def x(size: float) -> float:
        return _LEFT + (right - _LEFT) * ((math.log2(size) - low) / (high - low) if high > low else 0.5)

    def y(rate: float) -> float:
        return bottom - (bottom - _TOP) * min(rate, ticks[-1]) / ticks[-1]

    parts = [_text(_LEFT - 8, 12, "GB/s", "axis", "end"), _text(right, height - 4, "message size", "axis", "end")]
    for tick in ticks:
        parts.append(_line(_LEFT, y(tick), right, y(tick), "base" if tick == 0 else "grid"))
        parts.append(_text(_LEFT - 8, y(tick) + 4, f"{tick:g}", "tick", "end"))
    for size in size_ticks(points[0].size, points[-1].size, most=max(3, width // 68)):
        parts.append(_line(x(size), bottom, x(size), bottom + 5, "base"))
        parts.append(_text(x(size), bottom + 19, size_label(size), "tick", "middle"))
    parts += [_mark(b, x, y, points) if b.size else _band(b, y, right) for b in inside]
    parts += [
        _text(_LEFT + 10, _TOP + 14 + 16 * n, f"{_band_words(b)}, above this scale", "note", "start")
        for n, b in enumerate(above)
    ]
    path = " ".join(f"{'L' if n else 'M'}{x(p.size):.1f} {y(p.busbw):.1f}" for n, p in enumerate(points))
    parts.append(f'<path class="curve" d="{path}"/>')
    parts += [_dot(p, x(p.size), y(p.busbw), p is peak) for p in points]
    parts.append(_peak_label(peak, x(peak.size), y(peak.busbw), right))
    summary = (
        f"Bus bandwidth by message size, {size_label(points[0].size)} to {size_label(points[-1].size)}; "
        f"peak {number(peak.busbw)} GB/s at {size_label(peak.size)}. The values are in the table below."
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(summary)}" class="chart">'
        + "".join(parts)
        + "</svg>"
    )


def _peak_label(peak: Point, x: float, y: float, right: float) -> str:
    anchor = "end" if x > right - 90 else "start" if x < _LEFT + 90 else "middle"
    return _text(x, y - 11, f"{number(peak.busbw)} GB/s at {size_label(peak.size)}", "value", anchor)


def _dot(point: Point, x: float, y: float, peak: bool) -> str:
    kind = "dot wrong" if point.wrong else "dot peak" if peak else "dot"
    words = f"{size_label(point.size)}: {number(point.busbw)} GB/s, {number(point.time_us)} µs"
    if point.wrong:
        words += f", {point.wrong:,} wrong elements"
    radius = 4 if peak or point.wrong else 3
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius}"'
    return f'<circle class="{kind}" {place}><title>{escape(words)}</title></circle>'


def _band_words(band: Band) -> str:
    span = f"{number(band.low)}" if band.high is None else f"{number(band.low)} to {number(band.high)}"
    return f"{band.label} {span} GB/s"


def _band(band: Band, y: Callable[[float], float], right: float) -> str:
    low = y(band.low)
    text = _text(_LEFT + 10, low - 6, _band_words(band), "note", "start")
    if band.high is None:
        return _line(_LEFT, low, right, low, "target") + text
    top = y(band.high)
    shade = (
        f'<rect class="band" x="{_LEFT}" y="{top:.1f}" width="{right - _LEFT:.1f}" height="{max(1.0, low - top):.1f}"/>'
    )
    return shade + _line(_LEFT, low, right, low, "target") + text


def _mark(band: Band, x: Callable[[float], float], y: Callable[[float], float], points: Sequence[Point]) -> str:
    """Draw an expectation that holds at one message size: a beam from its low to its high end."""
    if not points[0].size <= band.size <= points[-1].size:
        return ""
    at, low, high = x(band.size), y(band.low), y(band.high if band.high is not None else band.low)
    beam = _line(at, low, at, high, "beam") if low - high > 1 else ""
    caps = _line(at - 7, low, at + 7, low, "beam") + _line(at - 7, high, at + 7, high, "beam")
    return beam + caps + _text(at - 11, low + 4, _band_words(band), "note", "end")


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(printable(text))}</text>'


def versus_bar(measured: float, need: float | None, failed: bool = False, width: int = 180) -> str:
    """Return a bar as long as the measurement, with a mark at the need; both on one linear scale from 0.

    Whether the need was missed is a verdict and not read off two lengths: a need may hold for several nodes together.
    """
    if need is None or need <= 0:
        return ""
    scale = (width - 4) / max(measured, need)
    short = " short" if failed else ""
    return (
        f'<svg viewBox="0 0 {width} 16" class="versus" aria-hidden="true">'
        f'<rect class="track" x="0" y="4" width="{width}" height="8" rx="1"/>'
        f'<rect class="fill{short}" x="0" y="4" width="{max(1.0, measured * scale):.1f}" height="8" rx="1"/>'
        f'<rect class="need" x="{need * scale:.1f}" y="0" width="2.5" height="16"/></svg>'
    )


def tally_bar(counts: Mapping[Verdict, int], order: Sequence[Verdict], width: int = 400, height: int = 8) -> str:
    """Return one bar split by verdict, in ``order``; the words beside it carry the same counts."""
    total = sum(counts.values())
    if not total:
        return ""
    parts, at = [], 0.0
    for verdict in order:
        size = width * counts.get(verdict, 0) / total
        if size:
            parts.append(
                f'<rect class="part-{verdict}" x="{at:.2f}" y="0" width="{max(0.5, size - 1):.2f}" height="{height}"/>'
            )
        at += size
    return (
        f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" class="tally" aria-hidden="true">'
        + "".join(parts)
        + "</svg>"
    )
