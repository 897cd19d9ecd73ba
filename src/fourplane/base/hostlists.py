"""Host lists as Slurm and ClusterShell write them: ``node[01-16,20]``; expansion is bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["HostListError", "expand", "fold"]

LIMIT = 65_536
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})(?:/(\d{1,6}))?")


class HostListError(ValueError):
    """The text is not a host list, or stands for more than ``LIMIT`` hosts."""


def expand(text: str) -> list[str]:
    """Expand a host list in order, without duplicates.

    Raises:
        HostListError: malformed, a name outside RFC 1123's alphabet, or more than ``LIMIT`` hosts.
    """
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    if len(text) > LIMIT * 8 or _at_least(text) > LIMIT:
        raise HostListError(f"host list stands for more than {LIMIT:,} hosts")
    try:
        # resolver and wildcards off: a host list names hosts, never groups of the machine it is read on
        names = [str(name) for name in NodeSet(text, resolver=_no_groups())]
    except (NodeSetException, ValueError) as error:
        raise HostListError(f"{text!r} is not a host list: {error}") from error
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
                inside += 1 if match is None else (int(match[2]) - int(match[1])) // int(match[3] or 1) + 1
            count *= max(1, inside)
        total += count
    return total
