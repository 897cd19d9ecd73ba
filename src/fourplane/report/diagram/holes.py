"""Where a responsibility is missing, and which finding says so."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from fourplane.base.findings import Finding
from fourplane.report.diagram.model import Box, BoxKind, Hole
from fourplane.review.wording import is_set, listing
from fourplane.spec.declaration import Declaration
from fourplane.spec.workspace import Workspace

__all__ = ["Draft", "finding_anchor", "lines"]


def finding_anchor(finding: Finding) -> str:
    """Return the id under which a page shows a finding; the same finding has it in every run."""
    place = (finding.code, finding.file, finding.line, finding.column, finding.path, finding.message)
    digest = hashlib.sha256("\0".join(map(str, place)).encode("utf-8", "backslashreplace")).hexdigest()
    return f"finding-{finding.code}-{digest[:8]}"


def lines(*texts: object) -> tuple[str, ...]:
    """Return those that say something, as text; ``None`` and what is empty are left out."""
    return tuple(str(text) for text in texts if text)


class Draft:
    """The declaration beside its findings, while the diagram is put together."""

    def __init__(self, workspace: Workspace, findings: Iterable[Finding]) -> None:
        self.declaration: Declaration = workspace.declaration
        # quotes are judged by the same rules; what is wrong in them is no hole of the declaration
        self._findings = [one for one in findings if one.file in ("", workspace.file)]

    def hole(self, text: str, path: str, condition: str = "", codes: Sequence[str] = (), drawn: str = "") -> Hole:
        """Return a hole with the finding about it.

        Args:
            text: what is missing.
            path: place in the declaration that would fill it.
            condition: review condition that stays open.
            codes: findings that may be about it; one of them is, where it lies at ``path``, above or below it, or
                names it.
            drawn: shorter words for the picture.
        """
        about = next((f for code in codes for f in self._findings if f.code == code and _about(f, path)), None)
        if about is None:
            about = next((f for f in self._findings if f.path == path), None)
        return Hole(text, path, condition, about.code if about else "", finding_anchor(about) if about else "",
                    drawn)  # fmt: skip

    def gap(
        self, value: object, text: str, path: str, condition: str = "", codes: Sequence[str] = (), drawn: str = ""
    ) -> tuple[Hole, ...]:
        """Return a hole, unless ``value`` is filled in."""
        return () if is_set(value) else (self.hole(text, path, condition, codes, drawn),)

    def gap_of(
        self, missing: Sequence[tuple[str, str]], text: str, condition: str = "", codes: Sequence[str] = ()
    ) -> tuple[Hole, ...]:
        """Return one hole for many things that lack the same: (name, path) of each, at the place of the first."""
        if not missing:
            return ()
        names = listing([name for name, _ in missing], limit=2)
        return (self.hole(f"{text} {names}", missing[0][1], condition, codes),)

    def owner(self, key: str, title: str, names: Iterable[str | None], what: str, path: str, condition: str = "",
              codes: Sequence[str] = ()) -> Box:  # fmt: skip
        """Return the box at which a chain starts; a hole where nobody is named."""
        named = list(dict.fromkeys(name.strip() for name in names if name is not None and is_set(name)))
        if named:
            shown = named if len(named) <= 3 else [*named[:2], f"and {len(named) - 2:,} more"]
            return Box(key, title, tuple(shown), BoxKind.OWNER)
        return Box(key, title, (), BoxKind.OWNER, self.hole(f"nobody owns {what}", path, condition, codes))


def _about(finding: Finding, path: str) -> bool:
    """Tell whether a finding lies at a path, above or below it, or names it in its message."""
    short, long = sorted((finding.path, path), key=len)
    near = long == short or (bool(short) and long.startswith(short) and long[len(short)] in ".[")
    return near or path in finding.message
