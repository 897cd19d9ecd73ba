"""Field types of the specification: quantities with units, names, host lists, ratios.

Every type turns bad text into a ``PydanticCustomError`` whose context carries ``found`` and ``expected``,
so that the loader can say both at the right line and column.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from fourplane.base.hostlists import HostListError, expand
from fourplane.base.units import EXAMPLES, Dimension, Quantity, UnitError, parse_quantity

__all__ = [
    "BitRate", "Count", "Duration", "HostList", "Model", "Money", "Name", "Power", "Rate", "Ratio", "Share", "Size",
]  # fmt: skip


class Model(BaseModel):
    """Base of every model: unknown keys are refused, values are never changed after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, strict=False)


def refuse(code: str, found: Any, expected: str) -> PydanticCustomError:
    """Return the error that the loader turns into a finding with ``found`` and ``expected``."""
    return PydanticCustomError(code, "expected {expected}", {"found": str(found), "expected": expected})


def _quantity(dimension: Dimension) -> Any:
    def parse(value: Any) -> Quantity:
        if isinstance(value, Quantity):
            return value
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise refuse("spec-wrong-type", value, f"a quantity such as {EXAMPLES[dimension]}")
        try:
            quantity = parse_quantity(str(value), dimension)
        except UnitError as error:
            raise refuse("spec-wrong-unit", value, error.expected) from error
        if quantity.amount < 0:
            raise refuse("spec-negative", value, f"zero or more, such as {EXAMPLES[dimension]}")
        if dimension is Dimension.FRACTION and quantity.amount > 1:
            raise refuse("spec-out-of-range", value, "a share from 0 % to 100 %")
        return quantity

    schema = {"type": "string", "examples": [EXAMPLES[dimension]]}
    return Annotated[Quantity, BeforeValidator(parse), WithJsonSchema(schema)]


Size = _quantity(Dimension.SIZE)
"""Bytes: ``80 GiB``."""
Rate = _quantity(Dimension.RATE)
"""Bytes per second: ``3.35 TB/s``."""
BitRate = _quantity(Dimension.BIT_RATE)
"""Bits per second: ``400 Gb/s``."""
Duration = _quantity(Dimension.DURATION)
"""Time: ``30 min``."""
Power = _quantity(Dimension.POWER)
"""Power: ``700 W``."""
Share = _quantity(Dimension.FRACTION)
"""Share of a whole: ``60 %``."""


def _count(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise refuse("spec-wrong-type", value, "a whole number")
    if value < 0:
        raise refuse("spec-negative", value, "zero or more")
    if value > 10_000_000:
        raise refuse("spec-out-of-range", value, "at most 10,000,000")
    return value


Count = Annotated[int, BeforeValidator(_count), Field(ge=0)]
"""A whole number, zero or more; never a truth value or a text."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def _name(value: Any) -> Any:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise refuse(
            "spec-bad-name", value, "lower-case letters, digits and '-', at most 63 (RFC 1123 label)"
        )
    return value


Name = Annotated[str, BeforeValidator(_name)]
"""A name that Slurm, Kubernetes and DNS all accept."""


def _host_list(value: Any) -> Any:
    if not isinstance(value, str):
        raise refuse("spec-wrong-type", value, "a host list such as node[01-16]")
    try:
        expand(value)
    except HostListError as error:
        raise refuse("spec-bad-host-list", value, f"a host list such as node[01-16] ({error})") from error
    return value


HostList = Annotated[str, BeforeValidator(_host_list)]
"""Host names as Slurm writes them: ``node[01-16]``."""


def _ratio(value: Any) -> Any:
    match = re.fullmatch(r"\s*(\d{1,4}(?:\.\d{1,4})?)\s*:\s*1\s*", value) if isinstance(value, str) else None
    if match is None or Fraction(match[1]) < 1:
        raise refuse("spec-bad-ratio", value, "an oversubscription such as 1:1 or 2:1")
    return float(match[1])


Ratio = Annotated[float, BeforeValidator(_ratio), WithJsonSchema({"type": "string", "examples": ["2:1"]})]
"""Oversubscription ``N:1`` as N."""


def _money(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise refuse("spec-wrong-type", value, "an amount of money such as 2.49")
    try:
        amount = Decimal(str(value))
    except InvalidOperation as error:
        raise refuse("spec-wrong-type", value, "an amount of money such as 2.49") from error
    if not amount.is_finite():
        raise refuse("spec-wrong-type", value, "an amount of money such as 2.49")
    if amount < 0:
        raise refuse("spec-negative", value, "zero or more")
    return amount


Money = Annotated[Decimal, BeforeValidator(_money), WithJsonSchema({"type": "number", "minimum": 0})]
"""Exact amount in the declaration's currency."""
