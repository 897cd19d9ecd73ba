"""What the tests of the evidence store share."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Order and content of calls are tried here; thousands of real syncs would only cost time.

    That each write is synced, and when, is held by the tests of ``base.files``.
    """
    monkeypatch.setattr(os, "fsync", lambda fd: None)
