"""Field types of the specification: quantities with units, names, texts, host lists, ratios, days.

Every type turns a bad value into a ``PydanticCustomError`` whose type is a finding's code and whose context carries
``found``, ``expected`` and ``fix``, so that the loader can say all three at the right line and column.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError, core_schema

from fourplane.base.hostlists import HostListError, expand
from fourplane.base.units import EXAMPLES, Dimension, Quantity, UnitError, parse_quantity

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BitRate", "ConditionId", "Count", "Currency", "Day", "Duration", "Flag", "HostList", "Model", "Money", "Name",
    "Number", "Power", "Rate", "Ratio", "Share", "Size", "Text", "refuse", "written",
]  # fmt: skip


class Model(BaseModel):
    """Base of every model: unknown keys are refused, values are never changed after loading."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        defer_build=True,  # only the two roots are ever validated against; each builds its parts once
    )


def written(value: Any) -> str:
    """Return a scalar as its author wrote it: ``12.10`` stays ``12.10`` though it was read as a number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = getattr(value, "text", None)
    return text if isinstance(text, str) else str(value)


def refuse(code: str, found: Any, expected: str, fix: str = "", reason: str = "") -> PydanticCustomError:
    """Return the error that the loader turns into a finding; ``reason`` says more than the code's own words."""
    if isinstance(found, dict):
        shown = "a mapping"
    elif isinstance(found, list | tuple):
        shown = "a list"
    else:
        shown = "nothing" if found is None else written(found)
    context = {"found": shown, "expected": expected, "fix": fix, "reason": reason}
    return PydanticCustomError(code, "expected {expected}", context)


def _scalar(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


class _Checked:
    """Field type with one function that checks a value and returns it in its final form.

    It stands in place of pydantic's own schema of the type instead of before it: that builds and validates faster
    (a declaration of a thousand differing nodes holds 20,000 such values), and every refusal is ours.

    Args:
        parse: returns the final value or raises ``refuse(...)``.
        json_schema: what editors are told.
        write: turns the final value back into what a file would hold; the value itself by default.
    """

    def __init__(
        self, parse: Callable[[Any], Any], json_schema: dict[str, Any], write: Callable[[Any], Any] | None = None
    ) -> None:
        self._parse = parse
        self._json_schema = json_schema
        self._write = write

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        writing = core_schema.plain_serializer_function_ser_schema(self._write) if self._write else None
        return core_schema.no_info_plain_validator_function(self._parse, serialization=writing)

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: Any) -> dict[str, Any]:
        return dict(self._json_schema)


class _StrictFlag:
    """Truth values only."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        return core_schema.bool_schema(strict=True)


def _quantity(dimension: Dimension) -> _Checked:
    def parse(value: Any) -> Quantity:
        if isinstance(value, Quantity) and value.dimension is dimension:
            return value
        if not _scalar(value):
            raise refuse("spec-wrong-type", value, f"a quantity such as {EXAMPLES[dimension]}")
        try:
            quantity = parse_quantity(value if type(value) is str else written(value), dimension)
        except UnitError as error:
            raise refuse("spec-wrong-unit", value, error.expected, error.fix, str(error)) from error
        if quantity.amount.numerator < 0:
            raise refuse("spec-negative", value, f"zero or more, such as {EXAMPLES[dimension]}")
        if dimension is Dimension.FRACTION and quantity.amount > 1:
            fix = f"write '{written(value)} %'" if "%" not in written(value) and quantity.amount <= 100 else ""
            raise refuse("spec-out-of-range", value, "a share from 0 % to 100 %", fix)
        return quantity

    return _Checked(parse, {"type": "string", "examples": [EXAMPLES[dimension]]}, write=str)


Size = Annotated[Quantity, _quantity(Dimension.SIZE)]
"""Bytes: ``80 GiB``."""
Rate = Annotated[Quantity, _quantity(Dimension.RATE)]
"""Bytes per second: ``3.35 TB/s``."""
BitRate = Annotated[Quantity, _quantity(Dimension.BIT_RATE)]
"""Bits per second: ``400 Gb/s``."""
Duration = Annotated[Quantity, _quantity(Dimension.DURATION)]
"""Time: ``30 min``."""
Power = Annotated[Quantity, _quantity(Dimension.POWER)]
"""Power: ``700 W``."""
Share = Annotated[Quantity, _quantity(Dimension.FRACTION)]
"""Share of a whole: ``60 %``."""


def _count(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise refuse("spec-wrong-type", value, "a whole number", _count_fix(value))
    if value < 0:
        raise refuse("spec-negative", value, "zero or more")
    if value > 10_000_000:
        raise refuse("spec-out-of-range", value, "at most 10,000,000")
    return int(value)


def _count_fix(value: Any) -> str:
    digits = re.sub(r"[,_' ]", "", value) if isinstance(value, str) else ""
    return f"write {int(digits)}, without quotes or separators" if re.fullmatch(r"\d{1,8}", digits, re.ASCII) else ""


Count = Annotated[int, _Checked(_count, {"type": "integer", "minimum": 0, "maximum": 10_000_000})]
"""A whole number, zero or more; never a truth value or a text."""

Flag = Annotated[bool, _StrictFlag()]
"""``true`` or ``false``; the ``yes`` and ``no`` of YAML 1.1 are refused, since they are texts in YAML 1.2."""


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise refuse("spec-wrong-type", value, "a number such as 70 or 7.5")
    if value < 0:
        raise refuse("spec-negative", value, "zero or more")
    return float(value)


Number = Annotated[float, _Checked(_number, {"type": "number", "minimum": 0})]
"""A finite number, zero or more."""

_PLACEHOLDERS = frozenset(
    {
        "tbd", "tba", "tbc", "todo", "fixme", "xxx", "?", "??", "???", "...", "changeme", "change me", "unknown",
        "to be decided", "to be defined", "to be determined", "not known", "placeholder",
    }
)  # fmt: skip


def _text(value: Any) -> str:
    if not isinstance(value, str):
        if isinstance(value, date) or _scalar(value):
            return written(value)
        raise refuse("spec-wrong-type", value, "a text")
    if not value or value.isspace():
        raise refuse("spec-blank", "an empty text", "a text that says something", "fill it in, or remove the key")
    if len(value) < 20 and value.strip().casefold() in _PLACEHOLDERS:
        raise refuse("spec-placeholder", value, "a fact, or no line at all")
    return value


Text = Annotated[str, _Checked(_text, {"type": "string", "minLength": 1})]
"""A text that says something. A number or a date is taken as written; ``TBD`` and the like count as not stated."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)


def _name(value: Any) -> Any:
    text = written(value) if _scalar(value) or isinstance(value, date) else value
    if not isinstance(text, str) or not _NAME.fullmatch(text):
        near = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:63].strip("-") if isinstance(text, str) else ""
        fix = f"write '{near}'" if near else ""
        raise refuse("spec-bad-name", value, "lower-case letters, digits and '-', at most 63 (RFC 1123 label)", fix)
    return text


Name = Annotated[str, _Checked(_name, {"type": "string", "pattern": f"^{_NAME.pattern}$"})]
"""A name that Slurm, Kubernetes and DNS all accept."""


def _host_list(value: Any) -> Any:
    if isinstance(value, list | tuple):
        raise refuse("spec-wrong-type", value, "one host list such as node[01-16]", "join the names with commas")
    if not isinstance(value, str):
        raise refuse("spec-wrong-type", value, "a host list such as node[01-16]")
    try:
        expand(value)
    except HostListError as error:
        raise refuse("spec-bad-host-list", value, "a host list such as node[01-16]", reason=str(error)) from error
    return value


HostList = Annotated[str, _Checked(_host_list, {"type": "string", "examples": ["node[01-16]"]})]
"""Host names as Slurm writes them: ``node[01-16]``."""

_RATIO = re.compile(r"\s*(\d{1,4}(?:\.\d{1,4})?)\s*:\s*1\s*", re.ASCII)


def _ratio(value: Any) -> Any:
    if isinstance(value, float) and not isinstance(value, bool) and isfinite(value) and value >= 1:
        return value  # already a ratio: a model built in Python
    match = _RATIO.fullmatch(value) if isinstance(value, str) else None
    if match is None or Fraction(match[1]) < 1:
        turned = re.fullmatch(r"\s*1\s*:\s*(\d{1,4})\s*", value, re.ASCII) if isinstance(value, str) else None
        fix = f"write {turned[1]}:1, downlinks first" if turned and int(turned[1]) else ""
        raise refuse("spec-bad-ratio", value, "an oversubscription such as 1:1 or 2:1", fix)
    return float(match[1])


def _ratio_text(value: float) -> str:
    return f"{value:g}:1"


Ratio = Annotated[float, _Checked(_ratio, {"type": "string", "examples": ["2:1"]}, write=_ratio_text)]
"""Oversubscription ``N:1`` as N."""


def _money(value: Any) -> Any:
    expected = "an amount of money such as 2.49"
    if not _scalar(value) and not isinstance(value, Decimal):
        raise refuse("spec-wrong-type", value, expected)
    text = written(value)
    try:
        amount = Decimal(text if len(text) <= 40 else "no amount")
    except InvalidOperation as error:
        fix = "write the number alone; the currency has its own key" if re.search(r"\d", text) else ""
        raise refuse("spec-wrong-type", value, expected, fix) from error
    if not amount.is_finite():
        raise refuse("spec-wrong-type", value, expected)
    if amount < 0:
        raise refuse("spec-negative", value, "zero or more")
    if amount > 10**15:
        raise refuse("spec-out-of-range", value, "at most 10^15")
    return amount


Money = Annotated[Decimal, _Checked(_money, {"type": "number", "minimum": 0}, write=str)]
"""Exact amount in the declaration's currency."""


def _day(value: Any) -> Any:
    if type(value) is date:
        return value
    fix = ""
    if isinstance(value, str):
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
            try:
                return date.fromisoformat(value)
            except ValueError:
                fix = "no such day in the calendar"
        elif match := re.fullmatch(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", value, re.ASCII):
            fix = f"write {match[1]}-{int(match[2]):02d}-{int(match[3]):02d}"
    raise refuse("spec-bad-date", value, "a day as YEAR-MONTH-DAY, such as 2027-06-30", fix)


Day = Annotated[date, _Checked(_day, {"type": "string", "format": "date"}, write=date.isoformat)]
"""A day of the calendar: ``2027-06-30``."""


def _currency(value: Any) -> Any:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Z]{3}", value, re.ASCII):
        upper = value.strip().upper() if isinstance(value, str) else ""
        fix = f"write {upper}" if re.fullmatch(r"[A-Z]{3}", upper, re.ASCII) else ""
        raise refuse("spec-unknown-value", value, "a currency of ISO 4217, such as USD or EUR", fix)
    return value


Currency = Annotated[str, _Checked(_currency, {"type": "string", "pattern": "^[A-Z]{3}$"})]
"""Three letters of ISO 4217."""

_CONDITION = re.compile(r"R[1-9]\.[a-z][a-z0-9_]{0,63}", re.ASCII)


def _condition(value: Any) -> Any:
    if not isinstance(value, str) or not _CONDITION.fullmatch(value):
        near = value.strip().replace("-", "_").lower().capitalize() if isinstance(value, str) else ""
        fix = f"write {near}" if _CONDITION.fullmatch(near) else "take the id from 'fourplane review --json'"
        raise refuse("spec-bad-condition", value, "the id of a review condition, such as R4.checkpoint_write", fix)
    return value


ConditionId = Annotated[str, _Checked(_condition, {"type": "string", "pattern": f"^{_CONDITION.pattern}$"})]
"""Id of a condition of the review: area and name, ``R4.checkpoint_write``; whole areas can't be waived."""
