"""Network plane as declared and as promised: fabric, placement, borders on the way of a request (N1, N5)."""

from __future__ import annotations

from enum import StrEnum

from fourplane.spec.types import Count, Flag, Model, Ratio, Text

__all__ = ["Border", "Fabric", "FabricKind", "Network", "NetworkModel", "Visibility"]


class FabricKind(StrEnum):
    """What carries data between nodes."""

    INFINIBAND = "infiniband"
    ROCE = "roce"
    EFA = "efa"
    ETHERNET = "ethernet"
    NONE = "none"
    """One node only: nothing leaves it."""


class NetworkModel(StrEnum):
    """How a job or container reaches the fabric."""

    HOST = "host"
    SRIOV = "sr-iov"
    MACVLAN = "macvlan"
    OVERLAY = "overlay"
    DRA = "dra"


class Visibility(StrEnum):
    """Fabric signals that the operator can see."""

    ERRORS = "errors"
    RETRANSMITS = "retransmits"
    CONGESTION = "congestion"
    NODE_FAILURES = "node-failures"


class Fabric(Model):
    """Fabric between the nodes; ``oversubscription`` 2:1 means half the leaf bandwidth upwards."""

    kind: FabricKind | None = None
    rails: Count | None = None
    rail_mapping: Text | None = None
    oversubscription: Ratio | None = None
    placement: Text | None = None
    failure_domains: tuple[Text, ...] = ()
    gpudirect_rdma: Flag | None = None
    sharp: Flag | None = None
    host_network: NetworkModel | None = None
    container_network: NetworkModel | None = None
    visibility: tuple[Visibility, ...] = ()
    owner: Text | None = None


class Border(Model):
    """One border that a request crosses: DNS, ingress, mesh, node, rack, zone or egress."""

    name: Text
    technology: Text | None = None
    owner: Text | None = None


class Network(Model):
    """Network plane."""

    fabric: Fabric | None = None
    dns: Text | None = None
    ingress: Text | None = None
    mesh: Text | None = None
    egress: Text | None = None
    borders: tuple[Border, ...] = ()
