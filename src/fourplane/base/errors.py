"""The one error tree.

    FourplaneError            anything that stops a verb; carries code, message and fix
    ├── UsageError            the call or the files named in it are wrong (exit 2)
    ├── ToolError             a program or the file system did not do its part (exit 2)
    └── StoreError            the evidence store can't be read or written safely (exit 2)

What is wrong *inside* user content is never an exception: it is a Finding, and all are collected.
"""

from __future__ import annotations

__all__ = ["FourplaneError", "StoreError", "ToolError", "UsageError"]


class FourplaneError(Exception):
    """Stop of a verb, with a kebab-case code, the message and what to do about it."""

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix

    def to_json(self) -> dict[str, dict[str, str]]:
        """Return the one error shape of ``--json``."""
        return {"error": {"code": self.code, "message": self.message, "fix": self.fix}}


class UsageError(FourplaneError):
    """The command line, or a file it names, cannot be used."""


class ToolError(FourplaneError):
    """An external program or the operating system failed."""


class StoreError(FourplaneError):
    """The evidence store is locked, damaged or not writable."""
