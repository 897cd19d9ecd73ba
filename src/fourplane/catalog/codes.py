"""Codes of the catalogue: damage of what is shipped, and faults in a workspace's own ``catalog/*.yaml``."""

from __future__ import annotations

from fourplane.base.codes import define

__all__: list[str] = []

define(
    "catalog-invalid",
    "A fact of the catalogue lacks its source, date or unit",
    "A number without origin can't be defended before a provider, and two sources that differ can't be told apart; "
    "so a shipped catalogue with such a fact is refused as a whole.",
    "Give the fact a unit and a source that stands in sources.yaml with title and date.",
)
UNREADABLE = define(
    "catalog-unreadable",
    "A file of the catalogue can't be read",
    "The facts are shipped as YAML beside the program; a missing or broken file means a damaged installation. A file "
    "in the workspace's own catalog/ that can't be read adds nothing.",
    "Install Fourplane again, or repair the file named.",
)
INCOMPLETE = define(
    "catalog-fact-incomplete",
    "An entry of the workspace's catalogue lacks a part, or has a wrong one",
    "A figure without name, unit or value means nothing, and a range that runs downwards is a slip; the entry is left "
    "out, and the shipped catalogue holds in its place.",
    "Write name, unit and value (or range: [low, high]); collectives need op, gpu, gpus_per_node, nodes, transport, "
    "size and busbw.",
    requirement="C1",
)
SOURCELESS = define(
    "catalog-fact-without-source",
    "An entry of the workspace's catalogue has no dated source",
    "What a team adds must be as defensible as what is shipped: a number that nobody can trace is an opinion, and it "
    "would decide findings all the same. The entry is left out.",
    "Name a source that stands under `sources:` with title and date, in this file or in the shipped catalogue.",
    requirement="C1",
)
UNKNOWN = define(
    "catalog-unknown-key",
    "The catalogue has no such key here",
    "A misspelt key would be a condition or a source that nobody sees.",
    "Take the key that is meant.",
    requirement="C1",
)
NO_SUBJECT = define(
    "catalog-unknown-subject",
    "An entry speaks of something that the catalogue does not know",
    "A fact of a GPU that no section describes is never found by any rule.",
    "Correct the name, or describe the GPU under `gpus:` first.",
    requirement="C1",
)
TWICE = define(
    "catalog-duplicate",
    "An entry stands there twice",
    "Two facts of one name and the same conditions, or two sources of one name, leave it open which holds. The first "
    "is kept.",
    "Keep one, or give each its conditions.",
    requirement="C1",
)
