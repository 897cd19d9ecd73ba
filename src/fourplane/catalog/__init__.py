"""What the field knows: facts and expected figures, each with unit, conditions, source and date."""

from __future__ import annotations

from fourplane.catalog.facts import Catalog, load_catalog

__all__ = ["Catalog", "load_catalog"]
