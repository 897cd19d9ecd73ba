"""The helpers of the truth table lie one folder up."""

from __future__ import annotations

import sys
from pathlib import Path

_ABOVE = str(Path(__file__).resolve().parents[1])
if _ABOVE not in sys.path:
    sys.path.insert(0, _ABOVE)
