"""Workspaces to begin with, as package data: ``workspaces/NAME/`` holds what ``fourplane init`` writes."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fourplane.base.errors import ToolError, UsageError
from fourplane.spec import codes

__all__ = ["TEMPLATES", "template_files", "write_template"]

TEMPLATES = ("laptop", "rented-h100")
"""Names of the templates; each is also checked out under ``examples/``."""

_GITIGNORE = """\
# made again by each run; declaration, quotes and evidence belong into version control
report.html
report.json
rendered/
scratch/
"""


def template_files(name: str) -> dict[str, bytes]:
    """Return the files of a template by their path in the workspace.

    Raises:
        UsageError: there is no such template.
    """
    if name not in TEMPLATES:
        raise UsageError(
            codes.NO_TEMPLATE.code, f"there is no template '{name}'", "take one of " + ", ".join(TEMPLATES)
        )
    root = files("fourplane.spec") / "workspaces" / name
    content = {"fourplane.yaml": (root / "fourplane.yaml").read_bytes(), ".gitignore": _GITIGNORE.encode()}
    for quote in sorted((root / "quotes").iterdir(), key=lambda entry: entry.name):
        if quote.name.endswith(".yaml"):
            content[f"quotes/{quote.name}"] = quote.read_bytes()
    return dict(sorted(content.items()))


def write_template(name: str, folder: Path) -> list[Path]:
    """Write a template into ``folder``, which is made where it is missing; return the paths written.

    Raises:
        UsageError: a file is in the way; it is named, and nothing is written.
        ToolError: the folder can't be written.
    """
    content = template_files(name)
    targets = {folder / path: data for path, data in content.items()}
    try:
        taken = [path for path in targets if path.exists() or path.is_symlink()]
        if taken:
            names = ", ".join(str(path) for path in taken)
            raise UsageError(codes.FILE_EXISTS.code, f"already there: {names}", codes.FILE_EXISTS.fix)
        for path, data in targets.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as handle:  # exclusive: a file that appears meanwhile is not overwritten either
                handle.write(data)
    except OSError as error:
        reason = f"{error.filename or folder}: {error.strerror or error}"
        raise ToolError(codes.NOT_WRITABLE.code, f"the workspace can't be written: {reason}", codes.NOT_WRITABLE.fix) \
            from error  # fmt: skip
    return list(targets)
