"""Codes of what can be wrong with a YAML file, whatever it says; ``spec-`` is their name since the first release."""

from __future__ import annotations

from fourplane.base.codes import Code, define
from fourplane.base.findings import Finding, Level

__all__ = ["Code", "finding"]

_YAML = "https://yaml.org/spec/1.2.2/"

SYNTAX = define(
    "spec-yaml-syntax",
    "The file is not valid YAML",
    "Nothing after the place can be read for certain, so nothing of the file is judged.",
    "Mend the line; the usual causes are a tab, an open quote, or keys of one mapping that don't align.",
    _YAML,
)
NOT_UTF8 = define(
    "spec-not-utf8",
    "The file is not UTF-8",
    "Names and units would be guessed from an unknown character set.",
    "Save the file as UTF-8.",
    _YAML,
)
TOO_LARGE = define(
    "spec-too-large",
    "The file is larger than any declaration",
    "Files come from outside too; a bound keeps one of them from filling the memory.",
    "Use host lists and one shape per pool; list only the nodes that differ.",
)
TOO_DEEP = define(
    "spec-too-deep",
    "The document is nested too deeply",
    "The deepest key of the specification lies 6 levels down; more nesting is a slip or an attack.",
    "Remove the nesting.",
)
ALIAS_BOMB = define(
    "spec-alias-bomb",
    "Aliases make the document too large",
    "An alias repeats everything below its anchor, so few lines can stand for billions of values.",
    "Write the values out, or put what is common into the pool's shape.",
    "https://yaml.org/spec/1.2.2/#71-alias-nodes",
)
BAD_ALIAS = define(
    "spec-bad-alias",
    "An alias refers to nothing that is complete",
    "An alias stands for an anchor that was written in full above it.",
    "Put the anchor (&name) before its first alias (*name); quote a text that begins with '*'.",
    "https://yaml.org/spec/1.2.2/#71-alias-nodes",
)
MERGE_KEY = define(
    "spec-merge-key",
    "Merge keys are refused",
    "'<<' belongs to YAML 1.1; readers differ on which value wins, so two people would read two clusters.",
    "Give the facts that nodes share once in the pool's shape, or alias a whole mapping.",
    "https://yaml.org/type/merge.html",
)
TAG = define(
    "spec-yaml-tag",
    "A tag chooses a type",
    "The type of a value follows from its key; a tag could only contradict it.",
    "Remove the tag.",
    "https://yaml.org/spec/1.2.2/#69-node-properties",
)
SEVERAL_DOCUMENTS = define(
    "spec-several-documents",
    "The file holds more than one document",
    "It would be open which of them holds.",
    "Keep one document; put each quote into a file of its own under quotes/.",
    _YAML,
)
BAD_KEY = define(
    "spec-bad-key",
    "A key is not a short text",
    "Keys name facts; a mapping, a list or an empty text names none.",
    "Write the key as a word; quote a text that holds braces or brackets.",
    _YAML,
)
DUPLICATE_KEY = define(
    "spec-duplicate-key",
    "A key is given twice in one mapping",
    "Readers differ on which of the two holds, so one of two facts would be lost in silence.",
    "Keep one of them.",
    _YAML,
)
TOO_MANY = define(
    "spec-too-many-findings",
    "The file has more findings than are shown",
    "Thousands of findings mostly have one cause.",
    "Mend those that are shown and check again.",
)


def finding(
    code: Code,
    message: str,
    *,
    level: Level = Level.ERROR,
    file: str = "",
    line: int = 0,
    column: int = 0,
    path: str = "",
    found: str = "",
    expected: str = "",
    fix: str = "",
    plane: str = "",
) -> Finding:
    """Return a finding with the code's link, and its general fix where there is no better one."""
    return Finding(
        code=code.code,
        level=level,
        message=message,
        file=file,
        line=line,
        column=column,
        path=path,
        found=found,
        expected=expected,
        fix=fix or code.fix,
        link=code.link,
        plane=plane,
    )
