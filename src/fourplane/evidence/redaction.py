"""Secrets are taken out of text before it is stored; every line stays where it was.

What is looked for: values under names that hold secrets (``KEY=value``, JSON, YAML, headers, arguments), user
information and signatures in URLs, private key blocks, and tokens that are known by their form. Where a rule
must choose, it takes too much rather than too little. All expressions run in linear time: quantifiers are
possessive or bounded, and a search never starts twice inside one word.

Forms of tokens: the public documentation of AWS, GitHub, GitLab, Hugging Face, OpenAI, Slack, Google, NVIDIA NGC,
Docker Hub, npm, PyPI and Vault; JWT: RFC 7519; PEM: RFC 7468; user information in URLs: RFC 3986, 3.2.1.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fourplane.evidence.redaction_assignments import MARKER, harmless, marker, redact_arguments, redact_assignments
from fourplane.evidence.redaction_keys import Secrecy, secrecy

__all__ = ["Redacted", "RedactedValue", "redact", "redact_bytes", "redact_value"]

DEPTH_LIMIT = 64
_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
_PASSES = 8


@dataclass(frozen=True, slots=True)
class Redacted:
    """Text without secrets.

    Attributes:
        text: the text, with as many lines as before.
        count: how many secrets were taken out.
        kinds: how many of each kind.
    """

    text: str
    count: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RedactedValue:
    """A JSON value without secrets, with the counts of ``Redacted``."""

    value: Any
    count: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """Take the secrets out of ``text``.

    Doing it again changes nothing: passes are repeated until one finds nothing more.
    """
    kinds: Counter[str] = Counter()
    for _ in range(_PASSES):
        before = text
        for rule in _RULES:
            text = rule(text, kinds)
        if text == before:
            break
    return Redacted(text, kinds.total(), dict(sorted(kinds.items())))


def redact_bytes(data: bytes) -> Redacted:
    """Decode UTF-8, each undecodable byte as U+FFFD, and redact."""
    return redact(data.decode("utf-8", "replace"))


def redact_value(value: Any) -> RedactedValue:
    """Take the secrets out of all texts in a JSON value; a name in an object counts as the name of its value.

    Raises:
        ValueError: nested deeper than ``DEPTH_LIMIT``, or not JSON.
    """
    kinds: Counter[str] = Counter()
    clean = _walk(value, kinds, 0)
    return RedactedValue(clean, kinds.total(), dict(sorted(kinds.items())))


def _walk(value: Any, kinds: Counter[str], depth: int) -> Any:
    if depth > DEPTH_LIMIT:
        raise ValueError(f"nested deeper than {DEPTH_LIMIT}")
    if isinstance(value, str):
        # a lone surrogate has no UTF-8 form; it comes from broken text and says nothing
        found = redact(value if value.isascii() else value.encode("utf-8", "replace").decode())
        kinds.update(found.kinds)
        return found.text
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        clean = [_walk(item, kinds, depth + 1) for item in value]
        for number, option in enumerate(value[:-1]):  # ["--token", "X"] is how a command line is kept
            if isinstance(option, str) and _OPTION.fullmatch(option) and isinstance(clean[number + 1], str):
                clean[number + 1] = _hide(clean[number + 1], secrecy(option), kinds, "argument")
        return clean
    if isinstance(value, dict):
        return _object(value, kinds, depth)
    raise ValueError(f"{type(value).__name__} is not a JSON value")


def _object(value: dict[Any, Any], kinds: Counter[str], depth: int) -> dict[str, Any]:
    out = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ValueError(f"{type(key).__name__} is not a JSON name")
        # {"name": "HF_TOKEN", "value": "..."} is how Kubernetes writes an environment
        holder = str(value["name"]) if key == "value" and isinstance(value.get("name"), str) else key
        clean = _walk(item, kinds, depth + 1)
        out[_walk(key, kinds, depth + 1)] = _hide(clean, secrecy(holder), kinds)
    return out


def _hide(value: Any, level: Secrecy, kinds: Counter[str], kind: str = "key-value") -> Any:
    """Hide what lies under a secret name: texts, numbers under a strong one, and lists of them."""
    if level is Secrecy.NO or value is None or isinstance(value, bool | dict):
        return value
    if isinstance(value, list):
        return [_hide(item, level, kinds) for item in value]
    if harmless(str(value), level) or (kind == "argument" and str(value).startswith("-")):
        return value
    kinds[kind] += 1
    return marker(kind)


# private keys

_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_EITHER = re.compile(r"-{4,5} ?(?:BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_KEY_LINE = re.compile(
    r"(?:[ \t]*+[A-Za-z0-9+/=]*+[ \t\r]*+|[ \t]*+[A-Z][A-Za-z-]{1,30}: [^\n]{0,200}"
    r"|[^\n]*?[A-Za-z0-9+/=]{16}[^\n]*+)(?=\n|\Z)"
)


def _private_keys(text: str, kinds: Counter[str]) -> str:
    if "PRIVATE KEY" not in text:
        return text
    marks = list(_EITHER.finditer(text))
    out, done = [], 0
    for number, begin in enumerate(marks):
        if begin.start() < done or not _BEGIN.fullmatch(begin.group()):
            continue
        after = marks[number + 1] if number + 1 < len(marks) else None
        closed = after is not None and _END.fullmatch(after.group()) is not None
        end = after.end() if after is not None and closed else _unterminated(text, begin.end())
        lines = text.count("\n", begin.start(), end)
        out += [text[done : begin.start()], "\n".join([marker("private-key")] * (lines + 1))]
        done = end
        kinds["private-key"] += 1
    out.append(text[done:])
    return "".join(out)


def _unterminated(text: str, start: int) -> int:
    """Return where a key block without an end stops: before the first line that cannot be part of it."""
    end = text.find("\n", start)
    while end != -1:
        match = _KEY_LINE.match(text, end + 1)
        if match is None:
            return end
        end = match.end() if match.end() < len(text) else -1
    return len(text)


# tokens known by their form: what must occur in the text at all, and the expression

_W = r"(?<![A-Za-z0-9])"
_SHAPES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "aws-key",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        re.compile(_W + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ),
    ("github-token", ("gh", "github_pat_"), re.compile(_W + r"(?:gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+)")),
    ("gitlab-token", ("gl",), re.compile(_W + r"gl(?:pat|dt|rt|ptt|cbt|soat)-[\w-]{16,}+")),
    ("huggingface-token", ("hf_",), re.compile(_W + r"hf_[A-Za-z0-9]{20,}+")),
    ("openai-key", ("sk-",), re.compile(r"(?<![\w-])sk-(?=[a-z_-]{0,200}+[A-Z0-9])[\w-]{20,}+")),
    ("slack-token", ("xox", "xapp-"), re.compile(_W + r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}+")),
    ("google-key", ("AIza",), re.compile(_W + r"AIza[\w-]{35,}+")),
    ("google-token", ("ya29.",), re.compile(_W + r"ya29\.[\w.-]{20,}+")),
    ("ngc-key", ("nvapi-",), re.compile(_W + r"nvapi-[\w-]{20,}+")),
    ("registry-token", ("dckr_pat_", "npm_", "pypi-"), re.compile(
        _W + r"(?:dckr_pat_[\w-]{20,}+|npm_[A-Za-z0-9]{30,}+|pypi-[\w-]{50,}+)")),
    ("vault-token", ("hvs.", "hvb."), re.compile(_W + r"hv[sb]\.[\w-]{20,}+")),
    ("jwt", ("eyJ",), re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}")),
)  # fmt: skip


def _shapes(text: str, kinds: Counter[str]) -> str:
    for kind, needles, pattern in _SHAPES:
        if any(needle in text for needle in needles):
            text, count = pattern.subn(marker(kind), text)
            if count:
                kinds[kind] += count
    return text


# headers and URLs

_SCHEME = re.compile(r"(?<![\w-])(bearer|basic)([ \t]{1,8}+)([\w.~+/=-]{8,}+)", re.IGNORECASE | re.ASCII)


def _schemes(text: str, kinds: Counter[str]) -> str:
    def replace(match: re.Match[str]) -> str:
        word, gap, value = match.groups()
        if not (_is_basic(value) if word.lower() == "basic" else len(value) >= 20 or re.search(r"\d", value)):
            return match.group()
        kinds["http-authorization"] += 1
        return f"{word}{gap}{marker('http-authorization')}"

    return _SCHEME.sub(replace, text)


def _is_basic(value: str) -> bool:
    """Tell credentials (base64 of user:password) from the plain word after "basic"."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False


_PASSWORD = re.compile(r"(?<=://)([^\s/?#\"'<>@:\[]{0,512}+:)([^\s/\"'<>]+)(?=@)")
_USER = re.compile(r"(?<=://)([\w.~%-]{20,}+)(?=@)", re.ASCII)
_SIGNED = re.compile(
    r"((?<=[?&;])(?:x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|signature|sig"
    r"|awsaccesskeyid|googleaccessid|key-pair-id|policy)=)([^&\s\"'<>]++)",
    re.IGNORECASE,
)


def _urls(text: str, kinds: Counter[str]) -> str:
    def hide(kind: str) -> Callable[[re.Match[str]], str]:
        def replace(match: re.Match[str]) -> str:
            *kept, secret = match.groups()
            if MARKER.fullmatch(secret):
                return match.group()
            kinds[kind] += 1
            return "".join(kept) + marker(kind)

        return replace

    if "://" in text:
        text = _PASSWORD.sub(hide("url-password"), text)
        text = _USER.sub(hide("url-password"), text)
    return _SIGNED.sub(hide("signed-url"), text) if "=" in text else text


_RULES: tuple[Callable[[str, Counter[str]], str], ...] = (
    _private_keys,
    _shapes,
    _schemes,
    _urls,
    redact_assignments,
    redact_arguments,
)
