"""What libyaml or the decoder refuses, as findings in words that name the usual cause."""

from __future__ import annotations

import re

import yaml

from fourplane.base.documents import codes
from fourplane.base.documents.positions import Place
from fourplane.base.findings import Finding
from fourplane.base.text import shorten

__all__ = ["not_utf8", "syntax_error"]


def _line_column(text: str) -> Place:
    """Return the place just after ``text``."""
    return (text.count("\n") + 1, len(text) - text.rfind("\n"))


def not_utf8(content: bytes, error: UnicodeDecodeError, file: str) -> Finding:
    """Return the finding for bytes that no UTF-8 text holds, at the first of them."""
    line, column = _line_column(content[: error.start].decode("utf-8"))
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    found = "UTF-16" if wide else f"the byte 0x{content[error.start]:02x}"
    return codes.finding(
        codes.NOT_UTF8,
        f"the file is not UTF-8: {found} in line {line}",
        file=file,
        line=line,
        column=column,
        found=found,
        expected="text in UTF-8",
    )


def syntax_error(error: yaml.YAMLError, text: str, file: str) -> Finding:
    """Return the finding for what libyaml refused, in words that name the usual cause."""
    place = (1, 1)
    problem = ""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        place, problem = (mark.line + 1, mark.column + 1), str(getattr(error, "problem", "") or "")
    elif isinstance(error, yaml.reader.ReaderError):
        bad = re.search(
            r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text.removeprefix("\ufeff")
        )
        problem = "control characters are not allowed"
        if bad is not None:
            place = _line_column(text.removeprefix("\ufeff")[: bad.start()])
            problem = f"the control character U+{ord(bad[0]):04X} is not allowed"
    if "nesting depth" in problem:  # libyaml looks ahead, and its own limit comes first
        return codes.finding(
            codes.TOO_DEEP,
            "the document is nested too deeply here",
            file=file,
            line=place[0],
            column=place[1],
            found="more than 1,000 levels",
            expected="at most 64 levels",
        )
    line = text.split("\n")[place[0] - 1] if place[0] <= text.count("\n") + 1 else ""
    message, fix = _explain(problem, line, place[1])
    return codes.finding(
        codes.SYNTAX,
        message,
        file=file,
        line=place[0],
        column=place[1],
        found=shorten(line.strip(), 60) or "the end of the file",
        expected="valid YAML",
        fix=fix,
    )


def _explain(problem: str, line: str, column: int) -> tuple[str, str]:
    """Return message and fix for the problems that people meet; others keep libyaml's words."""
    at = line[column - 1 : column]
    if "\t" in line[: max(column, len(line) - len(line.lstrip()))]:
        return "a tab stands where YAML wants spaces", "indent with spaces"
    if at in ("@", "`", "%"):
        return f"a value can't begin with '{at}'", "put the value in quotes"
    if "mapping values are not allowed" in problem:
        return "a second ': ' stands in one value", "put the value in quotes, or begin a new line for the key"
    if "could not find expected ':'" in problem:
        return "a key without ':' ends here", "write 'key: value', with a space after the colon"
    if "did not find expected key" in problem:
        return "the indentation, or a quote left open, breaks the mapping here", "align the keys of one mapping"
    if "did not find expected '-'" in problem:
        return "the list is broken here", "align the '- ' of one list"
    if "unexpected end of stream" in problem or "quoted scalar" in problem:
        return "a quote is left open", "close the quote"
    return problem or "the text is not valid YAML", ""
