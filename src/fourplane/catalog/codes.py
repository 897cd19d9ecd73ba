"""Codes of the catalogue."""

from __future__ import annotations

from fourplane.base.codes import define

__all__: list[str] = []

define(
    "catalog-invalid",
    "A fact of the catalogue lacks its source, date or unit",
    "A number without origin can't be defended before a provider, and two sources that differ can't be told apart; "
    "so a catalogue with such a fact is refused as a whole.",
    "Give the fact a unit and a source that stands in sources.yaml with title and date.",
)
define(
    "catalog-unreadable",
    "A file of the catalogue can't be read",
    "The facts are shipped as YAML beside the program; a missing or broken file means a damaged installation.",
    "Install Fourplane again, or repair the file named.",
)
