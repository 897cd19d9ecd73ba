"""What all tests share: how hypothesis searches, and golden texts, renewed by one switch, ``pytest --update``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# At a desk each run looks elsewhere and may find something new; a gate must say the same of the same commit.
settings.register_profile("gate", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("gate" if os.environ.get("CI") else "desk")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden files anew, to be read before committing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that holds a text against ``tests/golden/NAME``, or writes it with ``--update``."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} differs; if it should, run pytest --update"

    return check
