"""Prefixes that launchers put before each line of a job's output.

[1,0]<stdout>:#    Open MPI --tag-output, also as [prterun-host-123@1,0]<stdout>:
 3: #              srun --label
[3] #              Hydra -prepend-rank
n01: #             pdsh and clush
2026-12-01T04:00:00.123Z #     kubectl logs --timestamps
"""

from __future__ import annotations

import re

__all__ = ["without_prefix"]

_PREFIX = re.compile(
    r"[ \t]*(?:\[(?:[\w.-]{1,80}@)?\d{1,7},(\d{1,7})\]<std(?:out|err|diag)>: ?"
    r"|(\d{1,7}): "
    r"|\[(\d{1,7})\] ?(?=[ #])"
    r"|[A-Za-z][\w.-]{0,80}: ?(?=#|  )"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? ?)",
    re.ASCII,
)


def without_prefix(line: str) -> tuple[str, str]:
    """Return the line without the launcher's prefix, and the rank that the prefix names ("" without)."""
    speaker = ""
    for _ in range(2):
        match = _PREFIX.match(line)
        if match is None:
            break
        line = line[match.end() :]
        speaker = speaker or match[1] or match[2] or match[3] or ""
    return line, speaker
