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

FILE_EXISTS = define(
    "report-file-exists",
    "A blank quote is there already.",
    "A blank quote is a form that people fill in, perhaps for days. A second one is never written over the first.",
    "Move the file into quotes/ under the provider's name, or remove it, then ask again.",
    requirement="B5",
)
