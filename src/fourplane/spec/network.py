"""Network plane as declared and as promised: fabric, placement, borders on the way of a request (N1, N5)."""

from __future__ import annotations

from enum import StrEnum

from fourplane.spec.types import Count, Model, Ratio

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
    rail_mapping: str | None = None
    oversubscription: Ratio | None = None
    placement: str | None = None
    failure_domains: tuple[str, ...] = ()
    gpudirect_rdma: bool | None = None
    sharp: bool | None = None
    host_network: NetworkModel | None = None
    container_network: NetworkModel | None = None
    visibility: tuple[Visibility, ...] = ()
    owner: str | None = None


class Border(Model):
    """One border that a request crosses: DNS, ingress, mesh, node, rack, zone or egress."""

    name: str
    technology: str | None = None
    owner: str | None = None


class Network(Model):
    """Network plane."""

    fabric: Fabric | None = None
    dns: str | None = None
    ingress: str | None = None
    mesh: str | None = None
    egress: str | None = None
    borders: tuple[Border, ...] = ()
