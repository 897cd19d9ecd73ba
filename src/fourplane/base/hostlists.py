"""Host lists as Slurm and ClusterShell write them: ``node[01-16,20]``; expansion is bounded.

One plain name, and one prefix with one range, are expanded here: a declaration of a thousand nodes holds a thousand
plain names, and ClusterShell takes 50 ms to import and 0.1 ms a call. Everything else goes to ClusterShell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["LIMIT", "HostListError", "expand", "fold"]

LIMIT = 65_536
"""Most hosts that one list may stand for."""

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?", re.ASCII)
_LIST = re.compile(r"[A-Za-z0-9._\-\[\],/ ]*", re.ASCII)  # no set operators, groups or wildcards of ClusterShell
_RANGE = re.compile(r"(\d{1,18})-(\d{1,18})(?:/(\d{1,18}))?", re.ASCII)
_PLAIN_RANGE = re.compile(r"([A-Za-z0-9][A-Za-z._-]{1,200}|[A-Za-z])\[(\d{1,9})-(\d{1,9})\]", re.ASCII)


class HostListError(ValueError):
    """The text is not a host list, or stands for more than ``LIMIT`` hosts."""


def expand(text: str) -> list[str]:
    """Expand a host list in ClusterShell's order, without duplicates.

    Raises:
        HostListError: malformed, a name outside RFC 1123's alphabet, no host at all, or more than ``LIMIT`` hosts.
    """
    if _NAME.fullmatch(text):
        return [text]
    match = _PLAIN_RANGE.fullmatch(text)
    if match is not None:
        prefix, low, high = match[1], match[2], match[3]
        first, last = int(low), int(high)
        if first <= last < first + LIMIT and (len(low) == len(high) or low == str(first)):
            return [f"{prefix}{number:0{len(low)}d}" for number in range(first, last + 1)]
    return _expand_with_clustershell(text)


def _expand_with_clustershell(text: str) -> list[str]:
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    if not _LIST.fullmatch(text) or re.search(r"\d{19}", text):
        raise HostListError(f"{text[:80]!r} holds something else than names and ranges")
    if len(text) > LIMIT * 8 or _at_least(text) > LIMIT:
        raise HostListError(f"host list stands for more than {LIMIT:,} hosts")
    try:
        # resolver and wildcards off: a host list names hosts, never groups of the machine it is read on
        names = [str(name) for name in NodeSet(text, resolver=_no_groups())]
    except (NodeSetException, ValueError, LookupError) as error:
        raise HostListError(f"{text!r} is not a host list: {error}") from error
    if not names:
        raise HostListError("the host list names no host")
    if len(names) > LIMIT:
        raise HostListError(f"host list stands for more than {LIMIT:,} hosts")
    for name in names:
        if not _NAME.fullmatch(name):
            raise HostListError(f"{name!r} is not a host name")
    return names


def fold(names: Iterable[str]) -> str:
    """Fold names into one host list, such as ``node[1-4]``."""
    from ClusterShell.NodeSet import NodeSet

    nodes = NodeSet(resolver=_no_groups())
    for name in names:
        nodes.update(name)
    return str(nodes)


def _no_groups() -> object:
    from ClusterShell.NodeSet import RESOLVER_NOGROUP

    return RESOLVER_NOGROUP


def _at_least(text: str) -> int:
    """Return how many hosts the ranges of ``text`` stand for, without expanding them."""
    total = 0
    for part in re.split(r",(?![^\[]*\])", text):
        count = 1
        for group in re.findall(r"\[([^\]]*)\]", part):
            inside = 0
            for item in group.split(","):
                match = _RANGE.fullmatch(item.strip())
                steps = 1 if match is None else (int(match[2]) - int(match[1])) // max(1, int(match[3] or 1)) + 1
                inside += max(1, steps)
            count *= inside
        total += count
    return total
