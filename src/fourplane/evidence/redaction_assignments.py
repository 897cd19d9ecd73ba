"""Values under a secret's name: ``KEY=value``, JSON, YAML, headers and command-line arguments."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from fourplane.evidence.redaction_keys import Secrecy, secrecy

__all__ = ["MARKER", "harmless", "marker", "redact_arguments", "redact_assignments"]

MARKER = re.compile(r"\[redacted:[a-z-]{1,24}\]")
"""What stands where a secret was."""

# every name of redaction_keys holds one of these; a text without any is left alone at once
_ANY_NAME = re.compile(r"pass|pwd|secret|token|credential|key|jwt|bearer|cookie|authorization|sess|auth", re.IGNORECASE)
_ASSIGNMENT = re.compile(
    r"(?<![\w.-])(?P<key>[\w.-]++)(?P<close>\\{0,4}[\"'`]?\]?)[ \t]{0,64}+(?P<sep>=>|[:+?]=|==?|:(?!:))"
)
_NAME_VALUE = re.compile(
    r"(?<![\w.-])name[\"']?[ \t]{0,64}+:[ \t]{0,64}+[\"']?(?P<key>[\w.-]++)[\"']?"
    r"[ \t]{0,64}+,?\r?(?:\n[ \t]{0,256}+|[ \t]{0,64}+)"
    r"[\"']?value(?P<close>[\"']?)[ \t]{0,64}+(?P<sep>:)"
)
_ARGUMENT = re.compile(
    r"(?<![\w-])--?(?P<key>[A-Za-z][\w.-]*+)"
    r"(?:\\{0,4}[\"'],[ \t]{0,64}+(?=\\{0,4}[\"'])|[ \t]{1,64}+)(?![-=:])"
    r"|(?<![\w-])sshpass[ \t]{1,8}+-p[ \t]{0,8}+"
)
_LINE_START = re.compile(
    r"[\s>#|<*-]*+(?:(?:export|declare -x|setenv|set|env|Environment=)[ \t]{0,8}+)?[\"']?", re.IGNORECASE
)
_OPENING = re.compile(r"\\{0,4}[\"'`]")
_WORD = re.compile(r"[^\s\"'`&<>]++")
_WHOLE_WORD = re.compile(r"\S++")
_SHORT_WORD = re.compile(r"[^\s\"'`&<>,;]++")
_BODY = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\[^\n])*+") for quote in "\"'`"}
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t]{0,64}+\r?$")
_EMPTY = frozenset(
    {"", "null", "none", "nil", "true", "false", "yes", "no", "on", "off", "~", "undefined", "unset",
     "{", "}", "[", "]", "{}", "[]", "|", ">", "\\"}
)  # fmt: skip
_NUMBER = re.compile(r"[-+]?\d{1,9}(?:[.,]\d{1,9})?(?:[eE][-+]?\d{1,3})?(?: [A-Za-z%/]{1,8}|%|ms|s|k|M)?")
_NUMBERS = re.compile(r"[\[(][\d\s.,+-]*[\])]?")
_RANDOM = re.compile(r"(?=[^\d=]*[\d=A-Z])[A-Za-z0-9+/=_-]{12,}")
_VAGUE_LIMIT = 256
_LONG_PREFIX = 160


def marker(kind: str) -> str:
    """Return what stands in the place of a secret of that kind."""
    return f"[redacted:{kind}]"


def harmless(value: str, level: Secrecy) -> bool:
    """Tell whether a value under a secret's name is none: empty, a flag, a marker, or a count under a weak name."""
    value = value.strip()
    if value.lower() in _EMPTY or MARKER.fullmatch(value):
        return True
    if level is Secrecy.VAGUE:
        return len(value) <= _VAGUE_LIMIT and _RANDOM.fullmatch(value) is None
    return level is Secrecy.WEAK and (_NUMBER.fullmatch(value) or _NUMBERS.fullmatch(value)) is not None


@dataclass(slots=True)
class _Cursor:
    """Bounds of the line that the search has reached; moves forward only, so that long lines cost once."""

    text: str
    start: int = 0
    end: int = -1

    def move(self, position: int) -> None:
        while self.end < position:
            self.start = self.end + 1
            found = self.text.find("\n", self.start)
            self.end = len(self.text) if found == -1 else found


def redact_assignments(text: str, kinds: Counter[str]) -> str:
    """Replace values that are assigned to a secret's name; ``kinds`` is counted up."""
    if _ANY_NAME.search(text) is None:
        return text
    text = _replace(text, _NAME_VALUE, kinds)
    return _replace(text, _ASSIGNMENT, kinds)


def _replace(text: str, pattern: re.Pattern[str], kinds: Counter[str]) -> str:
    cursor = _Cursor(text)
    out, done = [], 0
    for match in pattern.finditer(text):
        level = secrecy(match["key"])
        if match.start() < done or level is Secrecy.NO:
            continue
        cursor.move(match.end())
        start, end = _span(text, match, level, cursor)
        if start >= end or harmless(text[start:end], level):
            continue
        filled = _fill(text[start:end])
        if filled != text[start:end]:
            out += [text[done:start], filled]
            done = end
            kinds["key-value"] += 1
    out.append(text[done:])
    return "".join(out)


def _fill(secret: str) -> str:
    """Return the marker, once for each line that the secret takes; indentation of further lines is kept."""
    first, *rest = secret.split("\n")
    block = _BLOCK.fullmatch(first) is not None and bool(rest)
    lines = [first if block else marker("key-value")]
    lines += [line[: len(line) - len(line.lstrip())] + marker("key-value") if line.strip() else line for line in rest]
    return "\n".join(lines)


def _span(text: str, match: re.Match[str], level: Secrecy, cursor: _Cursor) -> tuple[int, int]:
    """Return where the value after ``match`` starts and ends; an empty span where there is none."""
    sep, after = match["sep"], match.end()
    start = after
    while start < cursor.end and text[start] in " \t":
        start += 1
    line_end = cursor.end - 1 if cursor.end > start and text[cursor.end - 1] == "\r" else cursor.end
    colon = sep == ":"
    opening = _OPENING.match(text, start, cursor.end)
    if colon and start == after and opening is None and (level <= Secrecy.WEAK or text.startswith("//", start)):
        return start, start  # "token:abc" without a space is part of a name more often than an assignment
    prefix = text[cursor.start : match.start()] if match.start() - cursor.start <= _LONG_PREFIX else None
    at_line_start = prefix is not None and _LINE_START.fullmatch(prefix) is not None
    holder = text[match.start() - 1] if match.start() and not match["close"] else ""
    if holder in ('"', "'", "`") and holder:  # -H 'Authorization: …' and "KEY=value": up to the same quote
        return start, _BODY[holder].match(text, start, line_end).end()  # type: ignore[union-attr]
    if opening is not None and (colon or level is not Secrecy.STRONG or not at_line_start):
        return opening.end(), _closing(text, opening, line_end)
    if level is Secrecy.HEADER or (level is Secrecy.STRONG and at_line_start and not text.startswith("{", start)):
        return start, _block_end(text, start, cursor) if colon and at_line_start else line_end
    if text.startswith("[", start) and not MARKER.match(text, start):
        closing = text.find("]", start, line_end)
        return start, line_end if closing == -1 else closing + 1
    shape = _SHORT_WORD if colon else _WHOLE_WORD if at_line_start else _WORD
    word = shape.match(text, start, line_end)
    if word is None or (colon and word.group().startswith("{")):
        return start, start
    return start, start + len(word.group().rstrip(",;)"))


def _closing(text: str, opening: re.Match[str], line_end: int) -> int:
    """Return where a quoted value ends; the end of the line where its quote is never closed."""
    quote = opening.group()
    if len(quote) > 1:  # escaped, as in JSON inside JSON
        found = text.find(quote, opening.end(), line_end)
        return line_end if found == -1 else found
    body = _BODY[quote].match(text, opening.end(), line_end)
    return line_end if body is None else body.end()


def _block_end(text: str, start: int, cursor: _Cursor) -> int:
    """Return the end of a YAML value: of the line, or of the indented block below ``key: |``."""
    end = cursor.end - 1 if cursor.end > start and text[cursor.end - 1] == "\r" else cursor.end
    if _BLOCK.fullmatch(text, start, cursor.end) is None:
        return end
    indent = _indent(text, cursor.start, cursor.end)
    last = cursor.end
    while last < len(text):
        following = text.find("\n", last + 1)
        following = len(text) if following == -1 else following
        depth = _indent(text, last + 1, following)
        if depth <= indent and text[last + 1 : following].strip():
            break
        last = following
    return last


def _indent(text: str, start: int, end: int) -> int:
    position = start
    while position < end and text[position] in " -":
        position += 1
    return position - start


def redact_arguments(text: str, kinds: Counter[str]) -> str:
    """Replace the values of secret options: ``--password X``, ``["--token", "X"]``, ``sshpass -p X``."""
    out, done = [], 0
    for match in _ARGUMENT.finditer(text):
        level = secrecy(match["key"]) if match["key"] else Secrecy.STRONG
        if match.start() < done or level <= Secrecy.VAGUE:
            continue
        opening = _OPENING.match(text, match.end())
        if opening is not None:
            quote = opening.group()[-1]
            body = _BODY[quote].match(text, opening.end())
            start, end = opening.end(), opening.end() if body is None else body.end()
            if len(opening.group()) > 1:
                end = text.find(opening.group(), start, end + 1)
                end = start if end == -1 else end
        else:
            word = _WORD.match(text, match.end())
            start = match.end()
            end = start if word is None else start + len(word.group().rstrip(",;)"))
        if start >= end or harmless(text[start:end], level):
            continue
        out += [text[done:start], marker("argument")]
        done = end
        kinds["argument"] += 1
    out.append(text[done:])
    return "".join(out)
