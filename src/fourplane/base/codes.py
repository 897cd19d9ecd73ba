"""Registry of finding and error codes: what each means, and how it is mended.

Every floor defines its codes beside the code that raises them. ``fourplane explain CODE`` prints them,
and a test holds that no finding leaves the program with a code that is not defined.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Code", "all_codes", "define", "find", "similar"]


@dataclass(frozen=True, slots=True)
class Code:
    """Meaning of one code.

    Attributes:
        code: kebab-case name.
        title: one line, what is wrong.
        reason: why it matters, with the mechanism.
        fix: what to do.
        link: upstream page, or "" where none fits.
        requirement: number in the mission that it serves, such as "C3", or "".
    """

    code: str
    title: str
    reason: str
    fix: str
    link: str = ""
    requirement: str = ""


_CODES: dict[str, Code] = {}


def define(code: str, title: str, reason: str, fix: str, link: str = "", requirement: str = "") -> Code:
    """Register a code and return it.

    Raises:
        ValueError: the name is taken by another meaning.
    """
    entry = Code(code, title, reason, fix, link, requirement)
    if _CODES.setdefault(code, entry) != entry:
        raise ValueError(f"code {code!r} is defined twice")
    return entry


def find(code: str) -> Code | None:
    """Return the code of that name, or None."""
    return _CODES.get(code)


def all_codes() -> list[Code]:
    """Return every registered code in alphabetical order."""
    return sorted(_CODES.values(), key=lambda entry: entry.code)


def similar(word: str, among: list[str], limit: int = 3) -> list[str]:
    """Return up to ``limit`` entries of ``among`` that look like ``word``, best first."""
    import difflib

    return difflib.get_close_matches(word, among, n=limit, cutoff=0.6)
