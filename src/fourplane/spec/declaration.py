"""Roots of the two kinds of file: the declaration ``fourplane.yaml`` and a quote ``quotes/NAME.yaml``."""

from __future__ import annotations

from pydantic import Field

from fourplane.spec.brief import Brief
from fourplane.spec.compute import LifeCycle, NodeShape, Pool, Replacement, Sharing
from fourplane.spec.control import Control, Team, Telemetry
from fourplane.spec.economics import Alternative, Prices, Targets, Waiver
from fourplane.spec.network import Fabric, Network
from fourplane.spec.security import Security
from fourplane.spec.storage import Storage
from fourplane.spec.types import Count, Day, Duration, Flag, Model, Name, Text

__all__ = ["Declaration", "Quote", "QuoteTerms", "QuotedPool"]


class Declaration(Model):
    """The cluster as declared; the whole of ``fourplane.yaml``."""

    name: Name
    brief: Brief = Field(default_factory=Brief)
    pools: tuple[Pool, ...] = ()
    network: Network = Field(default_factory=Network)
    storage: Storage = Field(default_factory=Storage)
    control: Control = Field(default_factory=Control)
    teams: tuple[Team, ...] = ()
    security: Security = Field(default_factory=Security)
    telemetry: Telemetry = Field(default_factory=Telemetry)
    prices: Prices = Field(default_factory=Prices)
    alternatives: tuple[Alternative, ...] = ()
    targets: Targets = Field(default_factory=Targets)
    waivers: tuple[Waiver, ...] = ()


class QuotedPool(Model):
    """What a provider promises for one pool of the declaration, in the declaration's words.

    ``sharing`` is how GPUs are handed over; ``homogeneous`` promises nodes of one kind and firmware.
    """

    name: Name
    count: Count | None = None
    shape: NodeShape | None = None
    sharing: Sharing | None = None
    homogeneous: Flag | None = None
    lifecycle: LifeCycle | None = None
    replacement: Replacement | None = None


class QuoteTerms(Model):
    """Promises beside the hardware: support, lead time, exit path."""

    lead_time: Duration | None = None
    support_hours: Text | None = None
    escalation: Text | None = None
    expansion_lead_time: Duration | None = None
    termination: Text | None = None
    resale: Text | None = None
    data_removal: Text | None = None
    migration: Text | None = None


class Quote(Model):
    """The cluster as promised; the whole of one file in ``quotes/``."""

    provider: Text
    reference: Text | None = None
    received: Day | None = None
    valid_until: Day | None = None
    pools: tuple[QuotedPool, ...] = ()
    fabric: Fabric | None = None
    storage: Storage | None = None
    security: Security | None = None
    prices: Prices | None = None
    terms: QuoteTerms | None = None
