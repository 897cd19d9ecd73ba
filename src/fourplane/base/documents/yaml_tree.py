"""Bounded reading of one YAML document, with the place of every key and value.

libyaml's event stream is consumed as it comes, so nesting, size and aliases are stopped while reading, before
anything is built from them. Plain scalars follow the core schema of YAML 1.2.2 (section 10.3), with two differences
that the specification's own types settle: ``0o17``, ``0x1f``, ``.inf`` and ``.nan`` stay texts, and a day such as
``2027-06-30`` becomes a date. The traps of YAML 1.1 are gone: ``no``, ``on``, ``12:30``, ``1:1``, ``1_000`` are texts.

Anchors and aliases work. Merge keys (``<<``), tags other than ``!!str``, and several documents in one file are
refused: the first is YAML 1.1 only, the second would choose types that the specification has fixed already, and the
third would leave it open which document holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from fourplane.base.documents import codes
from fourplane.base.documents.positions import join_path
from fourplane.base.documents.scalars import resolve_plain
from fourplane.base.documents.tree import Branch, Node
from fourplane.base.documents.yaml_errors import not_utf8, syntax_error
from fourplane.base.findings import Finding
from fourplane.base.text import shorten

__all__ = ["LIMITS", "MOST_FINDINGS", "Document", "Limits", "read_yaml"]

if not yaml.__with_libyaml__:  # the wheels on PyPI always bring it
    raise ImportError("PyYAML was built without libyaml; install a binary wheel of PyYAML")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may ask of the reader.

    Attributes:
        size: bytes of the file.
        depth: nesting, aliases expanded.
        nodes: keys and values, aliases expanded.
        key: characters of one key.
    """

    size: int = 8 * 2**20
    depth: int = 64
    nodes: int = 500_000
    key: int = 200


LIMITS = Limits()

MOST_FINDINGS = 1000
"""Findings of one file that are shown; one more says how many are not."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document.

    Attributes:
        data: dicts, lists, texts, numbers, truth values, dates, None; keys are always texts.
        root: places of all that; None where nothing could be read.
        findings: everything that is wrong with it as YAML.
    """

    data: Any
    root: Node | None
    findings: list[Finding]


_STR_TAGS = frozenset({"tag:yaml.org,2002:str", "!"})
_COLLECTION_TAGS = frozenset({"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "!"})


class _StopReading(Exception):  # noqa: N818 - not an error of the program: the document ends here
    """Reading can't go on; the finding is already in the list."""


class _Frame:
    """One open mapping or list."""

    __slots__ = ("anchor", "count", "data", "height", "items", "key", "key_mark", "keys", "node")

    def __init__(self, node: Branch, anchor: str | None, count: int) -> None:
        self.node = node
        self.anchor = anchor
        self.keys = node.keys
        self.items: list[Node] = [] if node.items is None else node.items
        self.data: Any = [] if node.keys is None else {}
        self.key: str | None = None  # of a mapping; None: the next node is a key
        self.key_mark: Any = None
        self.count = count
        self.height = 1

    @property
    def wants_key(self) -> bool:
        """Tell whether the next node is a key."""
        return self.keys is not None and self.key is None


@dataclass(slots=True)
class _Anchored:
    """What an alias stands for: the value, its node, how many nodes it holds and how deep it is."""

    data: Any
    node: Node
    count: int
    height: int


_DROP = "\0"  # key under which nothing is kept; NUL can't occur in a document


class _Reader:
    """Builds data and places from events."""

    def __init__(self, file: str, limits: Limits) -> None:
        self.file = file
        self.limits = limits
        self.findings: list[Finding] = []
        self.hidden = 0
        self.stack: list[_Frame] = []
        self.frame: _Frame | None = None  # top of the stack
        self.anchors: dict[str, _Anchored] = {}
        self.count = 0
        self.documents = 0
        self.data: Any = None
        self.root: Node | None = None
        self.handlers: dict[type[Event], Callable[[Any], None]] = {
            MappingStartEvent: self._start,
            SequenceStartEvent: self._start,
            MappingEndEvent: self._end,
            SequenceEndEvent: self._end,
            AliasEvent: self._alias,
            DocumentStartEvent: self._document,
        }

    def read(self, content: bytes) -> None:
        """Consume the whole stream.

        Plain and quoted scalars inside a mapping or a list, nine events of ten, are taken here without a further call.
        """
        get: Callable[[], Any] = CParser(content).get_event
        handlers, most, longest = self.handlers, self.limits.nodes, self.limits.key
        while (event := get()) is not None:
            kind = type(event)
            if kind is not ScalarEvent:
                if kind in handlers:
                    handlers[kind](event)
                continue
            self.count += 1
            frame = self.frame
            if frame is None or event.anchor is not None or event.tag is not None or self.count > most:
                self._rare_scalar(frame, event)
                continue
            keys, key, text = frame.keys, frame.key, event.value
            if keys is not None and key is None:
                if text in keys or not 0 < len(text) <= longest or text == "<<":
                    self._key(frame, text, event.start_mark, event.implicit[0])
                else:
                    frame.key, frame.key_mark = text, event.start_mark
                continue
            value = resolve_plain(text) if event.implicit[0] else text
            if keys is None:
                frame.data.append(value)
                frame.items.append(Node(event.start_mark))
                continue
            if key != _DROP:
                frame.data[key] = value
                keys[key] = (frame.key_mark, Node(event.start_mark))  # type: ignore[index]
            frame.key = None
        if self.hidden:
            message = f"{self.hidden:,} more findings are not shown"
            found, expected = f"{self.hidden:,} more", f"at most {MOST_FINDINGS:,}"
            self.findings.append(
                codes.finding(codes.TOO_MANY, message, file=self.file, line=1, column=1, found=found, expected=expected)
            )

    def path(self) -> str:
        """Return the path of the node that is being read."""
        parts: list[str | int] = []
        for frame in self.stack:
            if frame.keys is not None:
                if frame.key is not None and frame.key != _DROP:
                    parts.append(frame.key)
            else:
                parts.append(len(frame.data))
        return join_path(tuple(parts))

    def find(self, code: codes.Code, mark: Any, message: str, found: str, expected: str, fix: str = "") -> None:
        """Record a finding at ``mark``."""
        if len(self.findings) >= MOST_FINDINGS:
            self.hidden += 1
            return
        self.findings.append(
            codes.finding(
                code,
                message,
                file=self.file,
                line=mark.line + 1,
                column=mark.column + 1,
                path=self.path(),
                found=found,
                expected=expected,
                fix=fix,
            )
        )

    def _document(self, event: DocumentStartEvent) -> None:
        self.documents += 1
        if self.documents > 1:
            message = "a second document begins here; a file holds one"
            self.find(codes.SEVERAL_DOCUMENTS, event.start_mark, message, found="'---'", expected="one document")
            raise _StopReading

    def _grow(self, mark: Any, count: int, height: int) -> None:
        self.count += count
        if len(self.stack) + height > self.limits.depth:
            most = f"at most {self.limits.depth} levels"
            self.find(codes.TOO_DEEP, mark, "the document is nested too deeply here", found="more", expected=most)
            raise _StopReading
        if self.count > self.limits.nodes:
            code, what = (codes.ALIAS_BOMB, "with its aliases ") if count > 1 else (codes.TOO_LARGE, "")
            most = f"at most {self.limits.nodes:,} keys and values"
            self.find(code, mark, f"the document {what}grows too large here", found="more", expected=most)
            raise _StopReading

    def _rare_scalar(self, frame: _Frame | None, event: ScalarEvent) -> None:
        """Take a scalar with an anchor or a tag, one that is the whole document, or the first above the limit."""
        self._grow(event.start_mark, 0, 0)
        mark, value = event.start_mark, event.value
        if event.tag is not None and event.tag not in _STR_TAGS:
            self._tag(event)
        is_key = frame is not None and frame.wants_key
        if not is_key and (event.implicit[0] or (event.tag is not None and event.tag not in _STR_TAGS)):
            value = resolve_plain(value)
        node = Node(mark)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(value, node, 1, 0)
        if frame is not None and is_key:
            self._key(frame, event.value, mark, event.implicit[0])
        else:
            self._put(frame, value, node)

    def _tag(self, event: Any) -> None:
        tag = shorten(event.tag.replace("tag:yaml.org,2002:", "!!"), 60)
        message = f"the tag {tag} has no meaning here; types follow from the key"
        self.find(codes.TAG, event.start_mark, message, found=tag, expected="no tag", fix=f"remove {tag}")

    def _key(self, frame: _Frame, key: str, mark: Any, plain: bool) -> None:
        frame.key_mark = mark
        if plain and key == "<<":
            self.find(codes.MERGE_KEY, mark, "merge keys are not part of YAML 1.2", found="'<<'", expected="a key")
            frame.key = _DROP
        elif not key or len(key) > self.limits.key:
            found = "an empty key" if not key else f"a key of {len(key):,} characters"
            expected = f"a key of 1 to {self.limits.key} characters"
            self.find(codes.BAD_KEY, mark, f"{found} can't be a key here", found=found, expected=expected)
            frame.key = _DROP
        elif frame.keys is not None and key in frame.keys:
            first = frame.keys[key][0]
            frame.key = key
            shown = shorten(key, 60)
            self.find(
                codes.DUPLICATE_KEY,
                mark,
                f"the key '{shown}' is given twice; the first is in line {first.line + 1}",
                found=f"'{shown}' again",
                expected=f"'{shown}' once",
                fix=f"keep one of the lines {first.line + 1} and {mark.line + 1}",
            )
            frame.key = _DROP
        else:
            frame.key = key

    def _put(self, frame: _Frame | None, value: Any, node: Node) -> None:
        if frame is None:
            self.data, self.root = value, node
        elif frame.keys is not None:
            key = frame.key
            if key is None:  # a collection stands where a key belongs
                what = "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a value"
                fix = "quote a text that holds braces or brackets"
                self.find(codes.BAD_KEY, node.mark, f"{what} can't be a key", found=what, expected="a text", fix=fix)
                frame.key, frame.key_mark = _DROP, node.mark
                return
            if key != _DROP:
                frame.data[key] = value
                frame.keys[key] = (frame.key_mark, node)
            frame.key = None
        else:
            frame.data.append(value)
            frame.items.append(node)

    def _start(self, event: Any) -> None:
        self._grow(event.start_mark, 1, 1)
        if event.tag is not None and event.tag not in _COLLECTION_TAGS:
            self._tag(event)
        node = Branch(event.start_mark, is_map=type(event) is MappingStartEvent)
        self.frame = _Frame(node, event.anchor, self.count)
        self.stack.append(self.frame)
        if event.anchor is not None:
            self.anchors.pop(event.anchor, None)

    def _end(self, _: Any) -> None:
        frame = self.stack.pop()
        self.frame = parent = self.stack[-1] if self.stack else None
        if parent is not None and parent.height <= frame.height:
            parent.height = frame.height + 1
        if frame.anchor is not None:
            size = self.count - frame.count + 1
            self.anchors[frame.anchor] = _Anchored(frame.data, frame.node, size, frame.height)
        self._put(parent, frame.data, frame.node)

    def _alias(self, event: AliasEvent) -> None:
        anchor = event.anchor or ""
        known = self.anchors.get(anchor)
        frame = self.frame
        if known is None:
            within = any(open_frame.anchor == anchor for open_frame in self.stack)
            name = shorten(anchor, 60)
            message = f"*{name} stands inside what it refers to" if within else f"*{name} refers to no anchor above it"
            self.find(codes.BAD_ALIAS, event.start_mark, message, found=f"*{name}", expected=f"&{name} before it")
            known = _Anchored(None, Node(event.start_mark), 1, 0)
        self._grow(event.start_mark, known.count, known.height)
        if frame is not None and known.height and frame.height <= known.height:
            frame.height = known.height + 1
        if frame is not None and frame.wants_key and isinstance(known.data, str):
            self._key(frame, known.data, event.start_mark, plain=False)
        else:
            self._put(frame, known.data, known.node)


def read_yaml(content: bytes, file: str, limits: Limits = LIMITS) -> Document:
    """Read one document; never raises on content.

    Args:
        content: the bytes of the file, UTF-8 with or without a byte-order mark.
        file: name by which findings cite it.
        limits: see ``Limits``.
    """
    if len(content) > limits.size:
        found, most = f"{len(content):,} bytes", f"at most {limits.size:,} bytes"
        too_large = codes.finding(
            codes.TOO_LARGE, "the file is too large", file=file, line=1, column=1, found=found, expected=most
        )
        return Document(None, None, [too_large])
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return Document(None, None, [not_utf8(content, error, file)])
    reader = _Reader(file, limits)
    try:
        reader.read(content)
    except _StopReading:
        pass
    except yaml.YAMLError as error:
        reader.findings.append(syntax_error(error, text, file))
    if reader.stack:  # broken off in the middle: half a document would look like a whole one
        return Document(None, None, reader.findings)
    return Document(reader.data, reader.root, reader.findings)
