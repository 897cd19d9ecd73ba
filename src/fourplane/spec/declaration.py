"""Roots of the two kinds of file: the declaration ``fourplane.yaml`` and a quote ``quotes/NAME.yaml``."""

from __future__ import annotations

from datetime import date

from fourplane.spec.brief import Brief
from fourplane.spec.compute import LifeCycle, NodeShape, Pool, Replacement
from fourplane.spec.control import Control, Team, Telemetry
from fourplane.spec.economics import Alternative, Prices, Targets, Waiver
from fourplane.spec.network import Fabric, Network
from fourplane.spec.security import Security
from fourplane.spec.storage import Storage
from fourplane.spec.types import Count, Duration, Model, Name

__all__ = ["Declaration", "Quote", "QuoteTerms", "QuotedPool"]


class Declaration(Model):
    """The cluster as declared; the whole of ``fourplane.yaml``."""

    name: Name
    brief: Brief = Brief()
    pools: tuple[Pool, ...] = ()
    network: Network = Network()
    storage: Storage = Storage()
    control: Control = Control()
    teams: tuple[Team, ...] = ()
    security: Security = Security()
    telemetry: Telemetry = Telemetry()
    prices: Prices = Prices()
    alternatives: tuple[Alternative, ...] = ()
    targets: Targets = Targets()
    waivers: tuple[Waiver, ...] = ()


class QuotedPool(Model):
    """What a provider promises for one pool of the declaration, in the declaration's words."""

    name: Name
    count: Count | None = None
    shape: NodeShape | None = None
    lifecycle: LifeCycle | None = None
    replacement: Replacement | None = None


class QuoteTerms(Model):
    """Promises beside the hardware: support, lead time, exit path."""

    lead_time: Duration | None = None
    support_hours: str | None = None
    escalation: str | None = None
    expansion_lead_time: Duration | None = None
    termination: str | None = None
    data_removal: str | None = None
    migration: str | None = None


class Quote(Model):
    """The cluster as promised; the whole of one file in ``quotes/``."""

    provider: str
    reference: str | None = None
    received: date | None = None
    valid_until: date | None = None
    pools: tuple[QuotedPool, ...] = ()
    fabric: Fabric | None = None
    storage: Storage | None = None
    prices: Prices | None = None
    terms: QuoteTerms | None = None
