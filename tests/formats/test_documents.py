from __future__ import annotations

from typing import Any

import pytest

from fourplane.formats.documents import find_json, read_json, text_of, whole_number
from fourplane.formats.model import MAX_NOTES, Reading, Status


@pytest.mark.parametrize(
    ("text", "found", "cut"),
    [
        ('{"a": 1}', {"a": 1}, False), ('warning: x\n  [{"a": 1}]\nbye', [{"a": 1}], False), ('{"a": 1', None, True),
        ('{"a": "x', None, True), ("[INFO] x\n{}\n", {}, False), ("[1,0]<stdout>:x\n", None, False), ("", None, False),
        ('{"a": 1} rest', {"a": 1}, False), ("{x}", None, False), ('{"a": oops, "b": 1, "c": 2}', None, False),
    ],
)  # fmt: skip
def test_a_document_is_found_behind_messages(text: str, found: Any, cut: bool) -> None:
    assert find_json(text) == (found, cut)


@pytest.mark.parametrize(
    "text", ['{"a": NaN}', '{"a": 1e999}', '{"a":' * 40 + "1" + "}" * 40, '{"a": ' + "1" * 5000 + "}"]
)
def test_numbers_and_depths_that_nobody_can_use_are_refused(text: str) -> None:
    reading: Reading[Any] = Reading("x")
    assert read_json(text, reading) is None
    assert (reading.status, [one.code for one in reading.refusals]) == (Status.REFUSED, ["format-not-json"])


def test_lone_surrogates_can_be_written_again() -> None:
    found, _ = find_json('{"a": ["\\ud800", {"\\ud800": 1}]}')
    assert str(found).encode("utf-8")


def test_scalars() -> None:
    values = (1, "7", " 8 ", 2.0, 2.5, True, None, "x", "9" * 30, 10**30, "-3", "²")
    assert [whole_number(value) for value in values] == [
        1, 7, 8, 2, None, None, None, None, None, None, -3, None,
    ]  # fmt: skip
    assert [text_of(value) for value in ("x", "", " ", 1, True, None, [])] == ["x", None, None, "1", None, None, None]


def test_notes_are_bounded_and_counted() -> None:
    reading: Reading[str] = Reading("x")
    for number in range(MAX_NOTES + 3):
        reading.note("format-not-json", number, "x" * 500)
    assert (len(reading.notes), reading.unlisted, len(reading.notes[0].text)) == (MAX_NOTES, 3, 200)
    with pytest.raises(KeyError):
        reading.note("no-such-code", 1, "")
    assert (reading.count, Reading("x", counted=7).count) == (0, 7)
