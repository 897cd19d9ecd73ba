"""Security decisions as declared (A1); each names what was decided and who owns it."""

from __future__ import annotations

from fourplane.spec.types import Model, Text

__all__ = ["Decision", "Security"]


class Decision(Model):
    """One decision: what, who stands for it, where it is written down."""

    choice: Text
    owner: Text | None = None
    document: Text | None = None


class Security(Model):
    """Decisions on identity, isolation and access; a missing one is an open question."""

    identity: Decision | None = None
    isolation: Decision | None = None
    ssh: Decision | None = None
    image_registry: Decision | None = None
    image_signing: Decision | None = None
    image_scanning: Decision | None = None
    secrets: Decision | None = None
    network_policy: Decision | None = None
    egress: Decision | None = None
    data_cleanup: Decision | None = None
    audit_retention: Decision | None = None
    break_glass: Decision | None = None
    vendor_access: Decision | None = None
    remote_hands: Decision | None = None
