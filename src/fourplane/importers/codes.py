"""Codes of the importers."""

from __future__ import annotations

from fourplane.base.codes import define

__all__ = [
    "BROKEN", "KIND_UNKNOWN", "NESTED", "NOT_FOUND", "NOT_TEXT", "TOO_LARGE", "UNREADABLE", "UNSAFE",
]  # fmt: skip

NOT_FOUND = define(
    "import-not-found",
    "There is nothing at the path to import",
    "A path that names nothing would be imported as nothing, and an empty import looks like a clean one.",
    "Name an existing file, folder or archive, or '-' for standard input.",
    requirement="N2",
)
KIND_UNKNOWN = define(
    "import-kind-unknown",
    "The content is of no kind that is known",
    "A text that no parser recognises with confidence is never forced through one: it would yield figures "
    "that nobody measured.",
    "Name the kind with --as if you know it; 'fourplane import --kinds' lists them.",
)
NOT_TEXT = define(
    "import-not-text",
    "The content is not text",
    "Measurements come as text; a binary file in a folder of logs is left alone.",
    "Export the text form of the tool's output.",
)
TOO_LARGE = define(
    "import-too-large",
    "The content is above the bound",
    "An archive of a few kilobytes can hold terabytes of zeros; what is unpacked is bounded in bytes, in members "
    "and in ratio.",
    "Split the input, or import the text file itself.",
)
UNSAFE = define(
    "import-unsafe-member",
    "An archive member would lie outside the archive",
    "Absolute paths, '..', links and devices in an archive reach files that were never meant to be read.",
    "Pack the logs anew as plain files with relative names.",
)
BROKEN = define(
    "import-archive-broken",
    "The archive can't be read to its end",
    "What was unpacked before the damage is imported, the rest is unknown.",
    "Transfer the archive anew and compare its checksum.",
)
UNREADABLE = define(
    "import-unreadable",
    "The file can't be read",
    "The operating system refused it, so nothing is known about what is in it.",
    "Look at the permissions, or read it as its owner.",
)
NESTED = define(
    "import-nested-archive",
    "An archive lies inside an archive",
    "Archives are unpacked one level deep: nesting is how bombs grow.",
    "Unpack the outer archive and import the inner one.",
)
