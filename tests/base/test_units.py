"""Quantities: exact, with their dimension, and helpful where they are wrong."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.units import (
    EXAMPLES,
    Dimension,
    Quantity,
    UnitError,
    format_bytes,
    format_seconds,
    parse_quantity,
)


@pytest.mark.parametrize(
    ("text", "dimension", "amount"),
    [
        ("80 GiB", Dimension.SIZE, 80 * 2**30),
        ("80GB", Dimension.SIZE, 80 * 10**9),
        ("0.5 TiB", Dimension.SIZE, 2**39),
        (".5 kB", Dimension.SIZE, 500),
        ("3.35 TB/s", Dimension.RATE, 3_350_000_000_000),
        ("400 Gb/s", Dimension.BIT_RATE, 400 * 10**9),
        ("400 Gbps", Dimension.BIT_RATE, 400 * 10**9),
        ("400 Gbit/s", Dimension.BIT_RATE, 400 * 10**9),
        ("30 min", Dimension.DURATION, 1800),
        ("850 us", Dimension.DURATION, Fraction(850, 10**6)),
        ("850 µs", Dimension.DURATION, Fraction(850, 10**6)),
        ("2 weeks", Dimension.DURATION, 1_209_600),
        ("10.2 kW", Dimension.POWER, 10_200),
        ("60 %", Dimension.FRACTION, Fraction(3, 5)),
        ("0.6", Dimension.FRACTION, Fraction(3, 5)),
        (" -3  W ", Dimension.POWER, -3),
    ],
)
def test_quantities_are_exact(text: str, dimension: Dimension, amount: Fraction) -> None:
    found = parse_quantity(text, dimension)
    assert found.amount == amount
    assert found.dimension is dimension
    assert str(found) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "dimension", "fix"),
    [
        ("400 GB/s", Dimension.BIT_RATE, "write 3200 Gb/s if 400 GB/s is meant, 400 Gb/s if the unit slipped"),
        ("400 Gb/s", Dimension.RATE, "write 50 GB/s if 400 Gb/s is meant, 400 GB/s if the unit slipped"),
        ("1 GiB/s", Dimension.BIT_RATE, "write 8.58993 Gb/s if 1 GiB/s is meant, 1 Gb/s if the unit slipped"),
        ("80 GB/s", Dimension.SIZE, "write 80 GB"),
        ("80 GB", Dimension.RATE, "write 80 GB/s"),
        ("80 gb", Dimension.SIZE, "write 80 GB"),
        ("80 gib", Dimension.SIZE, "write 80 GiB"),
        ("3 gbps", Dimension.BIT_RATE, "write 3 Gb/s"),
        ("10 MBps", Dimension.RATE, "write 10 MB/s"),
        ("3 GBps", Dimension.BIT_RATE, ""),
        ("3 gbps", Dimension.RATE, ""),
        ("10 minutes", Dimension.DURATION, "write 10 min"),
        ("2 hours", Dimension.DURATION, "write 2 h"),
        ("60 percent", Dimension.FRACTION, "write 60 %"),
        ("1,000 GB", Dimension.SIZE, "write the number without separators"),
        ("1,5 GB", Dimension.SIZE, "write the number with a decimal point"),
        ("80", Dimension.SIZE, ""),
        ("5 parsec", Dimension.SIZE, ""),
        ("large", Dimension.SIZE, ""),
        ("30 min", Dimension.SIZE, ""),
        ("٣ GB", Dimension.SIZE, ""),
        ("", Dimension.SIZE, ""),
        ("1e9 B", Dimension.SIZE, ""),
    ],
)
def test_wrong_quantities_say_what_would_be_right(text: str, dimension: Dimension, fix: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse_quantity(text, dimension)
    assert caught.value.fix == fix
    assert EXAMPLES[dimension] in caught.value.expected


def test_every_example_is_a_quantity_of_its_dimension() -> None:
    for dimension, example in EXAMPLES.items():
        assert parse_quantity(example, dimension).dimension is dimension


def test_conversion_keeps_to_the_dimension() -> None:
    size = parse_quantity("1.5 GiB", Dimension.SIZE)
    assert size.to("MiB") == 1536
    assert size.base == 1.5 * 2**30
    with pytest.raises(UnitError):
        size.to("GB/s")


@given(st.text(max_size=40), st.sampled_from(Dimension))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_quantity_or_a_unit_error(text: str, dimension: Dimension) -> None:
    try:
        found = parse_quantity(text, dimension)
    except UnitError as error:
        assert error.expected
    else:
        assert isinstance(found, Quantity)
        assert parse_quantity(found.text, dimension) == found


@given(st.integers(0, 10**15), st.integers(0, 999), st.sampled_from(["B", "kB", "MiB", "GB", "TiB"]))
@settings(max_examples=60, deadline=None)
def test_whole_and_broken_numbers_agree(whole: int, thousandths: int, unit: str) -> None:
    exact = parse_quantity(f"{whole}.{thousandths:03d} {unit}", Dimension.SIZE).amount
    factor = parse_quantity(f"1 {unit}", Dimension.SIZE).amount
    assert exact == (whole + Fraction(thousandths, 1000)) * factor
    assert parse_quantity(f"{whole} {unit}", Dimension.SIZE).amount == whole * factor


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.50 KiB"), (80 * 2**30, "80.0 GiB"), (2**60, "1048576 TiB")],
)
def test_bytes_for_people(count: float, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.00085, "850 µs"),
        (0.012, "12 ms"),
        (12.34, "12.3 s"),
        (250, "4 min 10 s"),
        (7500, "2 h 5 min"),
        (864000, "10.0 d"),
    ],
)
def test_seconds_for_people(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text
