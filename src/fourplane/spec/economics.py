"""Money and targets: prices, alternatives on one denominator, targets, waivers (P, R9)."""

from __future__ import annotations

from enum import StrEnum

from fourplane.spec.types import ConditionId, Count, Currency, Day, Duration, Model, Money, Rate, Share, Text

__all__ = ["Alternative", "AlternativeKind", "Prices", "Targets", "Waiver"]


class AlternativeKind(StrEnum):
    """Ways to get the same work done (P4)."""

    RESERVED_CLUSTER = "reserved-cluster"
    ON_DEMAND_CLOUD = "on-demand-cloud"
    COLOCATION = "colocation"
    ON_PREMISES = "on-premises"
    MANAGED_GPU = "managed-gpu-service"
    SERVERLESS_GPU = "serverless-gpu"
    MODEL_API = "model-api"


class Prices(Model):
    """Prices in ``currency``; per GPU-hour, per TB and month, per month."""

    currency: Currency = "USD"
    gpu_hour: Money | None = None
    storage_tb_month: Money | None = None
    network_month: Money | None = None
    support_month: Money | None = None
    operations_month: Money | None = None
    commitment: Duration | None = None
    valid_until: Day | None = None


class Alternative(Model):
    """One alternative with its price for one accepted unit, and where the figure comes from."""

    kind: AlternativeKind
    provider: Text | None = None
    unit_cost: Money | None = None
    units_per_month: Count | None = None
    source: Text | None = None


class Targets(Model):
    """What the cluster must reach; ``evidence_max_age`` decides when a measurement is stale."""

    all_reduce_busbw: Rate | None = None
    queue_wait: Duration | None = None
    recovery_time: Duration | None = None
    goodput: Share | None = None
    unit_cost: Money | None = None
    evidence_max_age: Duration | None = None
    tolerance: Share | None = None


class Waiver(Model):
    """A review condition set aside: who answers for it, why, until when."""

    condition: ConditionId
    owner: Text
    reason: Text
    until: Day
