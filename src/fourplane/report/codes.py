"""Codes of the report."""

from fourplane.base.codes import define

NOT_WRITTEN = define(
    "report-not-written",
    "The report could not be written.",
    "The page and its JSON are written whole or not at all: to a temporary file in the same folder, synced, then "
    "renamed. One of these steps failed, so an older report, if there was one, is still as it was.",
    "Make the folder writable and give it room, or name another place with --output.",
    requirement="R",
)

OUTPUT_UNUSABLE = define(
    "report-output-unusable",
    "The place for the report cannot be used.",
    "The report is a pair: a page and, beside it, the same name ending in .json. The page needs an existing "
    "folder and a name of its own.",
    "Give --output a name ending in .html inside a folder that exists, or the folder itself.",
    requirement="R",
)
