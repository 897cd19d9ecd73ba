"""``ibnetdiscover``: switches, adapters and cables of a fabric; its topology file and its port list (``-p``).

A cable shows up at both of its ends; here it is one link. GUIDs lose leading zeros in some places of the topology file,
so that its nodes are known by their quoted names (``S-`` and ``H-``), which keep them.

Source: linux-rdma/rdma-core ``infiniband-diags/ibnetdiscover.c``.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, natural_or_none

__all__ = ["KIND", "End", "Fabric", "Node", "read", "sniff", "summarise"]

KIND = "ibnetdiscover"
MAX_NODES = 500_000
MAX_ENDS = 2_000_000

_NODE = re.compile(
    r'(Switch|Ca|Rt)\s{1,20}(\d{1,4}) "([SHR]-[0-9a-fA-F]{1,16})"\s{1,40}# "([^"]{0,200})"(.{0,200})', re.ASCII
)
_END = re.compile(
    r'\[(\d{1,4})\](?:\([0-9a-fA-F]{1,16}\))?\s{1,40}"([SHR]-[0-9a-fA-F]{1,16})"\[(\d{1,4})\](?:\([0-9a-fA-F]{1,16}\))?'
    r"\s{1,40}#(.{1,400})",
    re.ASCII,
)
_NAME = re.compile(r'"([^"]{0,200})"')
_RATE = re.compile(r" (\d{1,2}x[A-Z0-9?]{2,8})\b", re.ASCII)
_HEADER = re.compile(r"(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=", re.ASCII)
_LISTED = re.compile(
    r"(CA|SW|RT) {1,8}(\d{1,6}) {1,8}(\d{1,4}) (0x[0-9a-f]{1,16}) (\d{1,2}x \S{1,8}) "
    r"(?:- (CA|SW|RT) {1,8}(\d{1,6}) {1,8}(\d{1,4}) (0x[0-9a-f]{1,16}) \( '(.{0,200}?)' - '(.{0,200}?)' \)"
    r"| {1,80}'(.{0,200}?)')",
    re.ASCII,
)
_SPEEDS = ("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR")


@dataclass(frozen=True, slots=True)
class Node:
    """One switch, adapter or router: kind (switch, ca, router), name of the fabric, description."""

    line: int
    kind: str
    guid: str
    name: str

    @property
    def is_aggregation(self) -> bool:
        """Tell whether it is the engine in a switch that reduces data in the network (SHARP), and no host."""
        return self.kind == "ca" and "Aggregation Node" in self.name


@dataclass(frozen=True, slots=True)
class End:
    """One end of a cable, or a port without one: node and port, the other node and port, rate as printed."""

    line: int
    guid: str
    port: int
    peer: str | None
    peer_port: int | None
    rate: str


@dataclass(slots=True)
class Fabric:
    """What one run of the tool saw; ``described`` are nodes with a record of their own, not only seen as a peer."""

    layout: str
    nodes: dict[str, Node] = field(default_factory=dict)
    described: set[str] = field(default_factory=set)
    ends: list[End] = field(default_factory=list)

    @property
    def links(self) -> dict[frozenset[tuple[str, int]], End]:
        """Return one end of each cable, by both ends."""
        found: dict[frozenset[tuple[str, int]], End] = {}
        for end in self.ends:
            if end.peer is not None and end.peer_port is not None:
                found.setdefault(frozenset({(end.guid, end.port), (end.peer, end.peer_port)}), end)
        return found


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of ``ibnetdiscover``."""
    head = head[:65536]
    if re.search(r"^switchguid=0x|^caguid=0x", head, re.MULTILINE) and "vendid=" in head:
        return 0.95
    return 0.9 if any(_LISTED.match(line) for line in head.split("\n", 10)[:10]) else 0.0


def read(text: str) -> Reading[Fabric]:
    """Read the fabric; what is counted are nodes with a record of their own, or the lines of a port list."""
    reading: Reading[Fabric] = Reading(KIND)
    fabric = Fabric("topology")
    header: list[tuple[int, str]] = []
    current = ""
    lines = 0
    for number, raw in lines_of(text, reading):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        node, end, listed = _NODE.match(line), _END.match(line), _LISTED.match(line)
        if _HEADER.match(line):
            header.append((number, line))
            header = header[-8:]
        elif node is not None and len(fabric.nodes) < MAX_NODES:
            header, current = [], node[3]
            _describe(fabric, node, number)
        elif end is not None and current and len(fabric.ends) < MAX_ENDS:
            _connect(fabric, current, end, number)
        elif listed is not None and len(fabric.ends) < MAX_ENDS:
            fabric.layout = "port-list"
            lines += 1
            _list(fabric, listed, number)
        else:
            reading.refuse("ibnetdiscover-line-refused", number, raw)
    for number, line in header:
        reading.refuse("ibnetdiscover-line-refused", number, line)
    if not fabric.nodes:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no node of a fabric")
        return reading
    reading.records.append(fabric)
    reading.counted = lines or len(fabric.described)
    _note_rates(fabric, reading)
    if reading.refusals:
        reading.end(Status.TRUNCATED, "a record is cut" if header else "some lines could not be read")
    return reading


def _describe(fabric: Fabric, match: re.Match[str], number: int) -> None:
    kind = {"Switch": "switch", "Ca": "ca", "Rt": "router"}[match[1]]
    # a node that a switch named before keeps its place, and gets its own description
    fabric.nodes[match[3]] = Node(number, kind, match[3], match[4])
    fabric.described.add(match[3])


def _connect(fabric: Fabric, guid: str, match: re.Match[str], number: int) -> None:
    rate, name = _RATE.search(match[4]), _NAME.search(match[4])
    fabric.ends.append(End(number, guid, int(match[1]), match[2], int(match[3]), rate[1] if rate else ""))
    if match[2] not in fabric.nodes and len(fabric.nodes) < MAX_NODES:
        kind = {"S": "switch", "H": "ca", "R": "router"}[match[2][0]]
        fabric.nodes[match[2]] = Node(number, kind, match[2], name[1] if name else "")


def _list(fabric: Fabric, match: re.Match[str], number: int) -> None:
    kinds = {"CA": "ca", "SW": "switch", "RT": "router"}
    name = match[12] if match[12] is not None else match[10]
    fabric.described.add(match[4])
    fabric.nodes.setdefault(match[4], Node(number, kinds[match[1]], match[4], name))
    peer = match[9]
    if peer is not None:
        fabric.nodes.setdefault(peer, Node(number, kinds[match[6]], peer, match[11]))
    fabric.ends.append(End(number, match[4], int(match[3]), peer, int(match[8]) if peer else None, match[5]))


def _speed(rate: str) -> tuple[int, int] | None:
    width, _, name = rate.replace(" ", "").partition("x")
    lanes = natural_or_none(width)
    return (_SPEEDS.index(name), lanes) if name in _SPEEDS and lanes is not None else None


def _note_rates(fabric: Fabric, reading: Reading[Fabric]) -> None:
    links = list(fabric.links.values())
    common = Counter(speed for end in links if (speed := _speed(end.rate)) is not None).most_common(1)
    if not common:
        return
    usual = common[0][0]
    for end in links:
        speed = _speed(end.rate)
        if speed is not None and speed < usual and end.peer is not None:
            names = [fabric.nodes[guid].name if guid in fabric.nodes else guid for guid in (end.guid, end.peer)]
            text = f"{names[0]} port {end.port} to {names[1]} port {end.peer_port}: {end.rate}"
            reading.note("ib-link-slow", end.line, f"{text}, most links {usual[1]}x{_SPEEDS[usual[0]]}")


def summarise(reading: Reading[Fabric]) -> dict[str, Any]:
    """Return nodes by kind, cables by what they connect, rates by line, ports without a peer."""
    if not reading.records:
        return {}
    fabric = reading.records[0]
    nodes = list(fabric.nodes.values())
    listed = fabric.layout == "port-list"
    kinds = Counter(_between(fabric, end) for end in fabric.links.values())
    return {
        "layout": fabric.layout,
        "switches": sum(one.kind == "switch" and (listed or one.guid in fabric.described) for one in nodes),
        "cas": sum(one.kind == "ca" and (listed or one.guid in fabric.described) for one in nodes),
        "port_lines": len(fabric.ends),
        "links": len(fabric.links),
        "switch_switch_links": kinds["switch"],
        "host_links": kinds["host"],
        "hosts": sum(one.kind == "ca" and not one.is_aggregation for one in nodes),
        "aggregation_nodes": sum(one.is_aggregation for one in nodes),
        "rates": dict(Counter(end.rate for end in fabric.ends if end.rate)),
        "ports_without_peer": [
            {"switch": fabric.nodes[end.guid].name, "port": end.port} for end in fabric.ends if end.peer is None
        ][:1000],
    }


def _between(fabric: Fabric, end: End) -> str:
    ends = [fabric.nodes.get(guid) for guid in (end.guid, end.peer or "")]
    if any(node is not None and node.is_aggregation for node in ends):
        return "aggregation"
    return "switch" if all(node is not None and node.kind == "switch" for node in ends) else "host"
