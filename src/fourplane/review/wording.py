"""Small words of the review: what counts as filled in, and lists as people write them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["fill", "is_named", "is_set", "lacks", "listing"]

_PLACEHOLDERS = frozenset(
    {"", "?", "??", "???", "-", "--", "…", "...", "tbd", "tba", "tbc", "todo", "unknown", "nobody",
     "open", "to be decided"}
)  # fmt: skip
"""What people write into a form to be able to go on; it answers nothing."""


def is_named(text: str | None) -> bool:
    """Tell whether a text says something: present, not blank, and not a placeholder such as ``tbd``."""
    return text is not None and text.strip().rstrip(".").lower() not in _PLACEHOLDERS


def is_set(value: object) -> bool:
    """Tell whether a field is filled in: zero and false are answers, an empty list or a placeholder is not."""
    if value is None:
        return False
    if isinstance(value, str):
        return is_named(value)
    if isinstance(value, tuple):
        return any(is_set(item) for item in value)
    return True


def listing(names: Sequence[str], limit: int = 4) -> str:
    """Return ``a, b and c``; beyond ``limit`` names ``a, b, c, d and 5 more``."""
    if len(names) > limit:
        return f"{', '.join(names[:limit])} and {len(names) - limit:,} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def lacks(paths: Sequence[str]) -> str:
    """Return the clause that names fields without a value, their common parent once: ``brief.model lacks a and b``."""
    parent = _parent(paths)
    if parent:
        return f"{parent} lacks {listing([path[len(parent) + 1 :] for path in paths], limit=6)}"
    return f"{listing(paths, limit=5)} {'is' if len(paths) == 1 else 'are'} not set"


def fill(paths: Sequence[str], file: str) -> str:
    """Return what to do about fields without a value."""
    parent = _parent(paths)
    what = f"the {len(paths)} missing fields of {parent}" if parent else listing(paths, limit=5)
    return f"write {what} in {file}"


def _parent(paths: Sequence[str]) -> str:
    """Return the dotted path that two or more paths lie below; "" where they have none in common."""
    if len(paths) < 2:
        return ""
    shared = []
    for words in zip(*(path.split(".")[:-1] for path in paths), strict=False):
        if len(set(words)) > 1:
            break
        shared.append(words[0])
    # a whole plane is no useful address: 'brief lacks scale' says less than 'brief.scale is not set'
    return ".".join(shared) if len(shared) > 1 else ""
