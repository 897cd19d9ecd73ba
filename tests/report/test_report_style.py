"""Colours of the page are readable: WCAG 2.2 contrast of at least 4.5:1 for text in light, dark and print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fourplane.report

CSS = (Path(fourplane.report.__file__).parent / "assets" / "report.css").read_text(encoding="utf-8")
BLOCKS = [
    dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{3,6})", block)) for block in re.findall(r":root \{(.*?)\}", CSS, re.S)
]


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_wcag_does() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [0, 1, 2], ids=["light", "dark", "print"])
def test_text_is_readable_on_every_ground(theme: int) -> None:
    assert len(BLOCKS) == 3
    colours = BLOCKS[theme]
    for ink in ("ink", "soft", "link", "passed", "failed", "unproven", "stale", "waived"):
        for ground in ("paper", "sheet"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for verdict in ("passed", "failed", "unproven", "stale", "waived"):
        assert contrast(colours[verdict], colours[f"{verdict}-wash"]) >= 4.5, verdict
    assert contrast(colours["curve"], colours["paper"]) >= 3
    assert contrast(colours["bar"], colours["paper"]) >= 3


def test_every_colour_that_is_used_is_defined_in_every_theme() -> None:
    used = set(re.findall(r"var\(--([\w-]+)\)", CSS)) - {"serif", "sans", "mono", "tone"}
    for colours in BLOCKS:
        assert used <= set(colours)
