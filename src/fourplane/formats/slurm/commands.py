"""Commands of Slurm that stand in a file before their output: remarks, prompts and traces that name the columns."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Command", "command_of", "is_remark"]

_LONGEST = 4096
_TOOLS = ("sacct", "sacctmgr", "sbatch", "scontrol", "sdiag", "sinfo", "sprio", "squeue", "sreport", "srun", "sshare")
_START = re.compile(
    r"\s{0,8}(?:[#$>%]{1,2}|\+|(?:\[[^\]\s]{1,80}[^\]]{0,80}\]|[\w.-]{1,60}@[\w.:~/-]{1,80})[$#>%])\s{1,8}"
    r"(?:as \S{1,40} |sudo |time |TZ=\S{1,40} |SLURM_TIME_FORMAT=\S{1,80} ){0,4}(?:/\S{0,200}/)?("
    + "|".join(_TOOLS)
    + r")(?=\s|$)(.*)",
    re.ASCII,
)
_REMARK = re.compile(r"\s{0,8}(?:#|\+ |\$ |rc=\d{1,4}\s{0,8}$)", re.ASCII)

_WITH_VALUE = {
    "sacct": frozenset("ACEFfgijkKMNoqQrRsSuWwx"),
    "squeue": frozenset("AijLMnoOpqRSstuw"),
    "sinfo": frozenset("iMnoOpSt"),
    "sacctmgr": frozenset("o"),
}


def is_remark(line: str) -> bool:
    """Tell a remark, a prompt or a reported exit status from output."""
    return _REMARK.match(line) is not None


@dataclass(frozen=True, slots=True)
class Command:
    """A command line.

    Attributes:
        tool: name, such as sacct.
        words: what follows it.
    """

    tool: str
    words: Sequence[str]

    def value(self, short: str, *names: str) -> str | None:
        """Return the value of an option, the last one given; None without it."""
        found: str | None = None
        taking = _WITH_VALUE.get(self.tool, frozenset())
        words = list(self.words)
        for at, word in enumerate(words):
            following = words[at + 1] if at + 1 < len(words) else ""
            if word.startswith("--"):
                name, sign, value = word[2:].partition("=")
                if name in names:
                    found = value if sign else following
            elif word.startswith("-") and len(word) > 1:
                for place, letter in enumerate(word[1:], start=1):
                    if letter == short:
                        found = word[place + 1 :] or following
                    if letter in taking:
                        break
            elif "=" in word and word.partition("=")[0].lower() in names:
                found = word.partition("=")[2]  # sacctmgr show qos format=name,priority
        return found

    def has(self, short: str, *names: str) -> bool:
        """Tell whether a flag is given, alone or in a bundle such as ``-aDXPn``."""
        taking = _WITH_VALUE.get(self.tool, frozenset())
        for word in self.words:
            if word.startswith("--"):
                if word[2:].partition("=")[0] in names:
                    return True
            elif word.startswith("-") and len(word) > 1:
                for letter in word[1:]:
                    if letter == short:
                        return True
                    if letter in taking:
                        break
        return False


def command_of(line: str) -> Command | None:
    """Return the command in a remark (``# sacct -P …``), a prompt (``$ squeue …``) or a trace (``+ sinfo``)."""
    match = _START.match(line[:_LONGEST])
    if match is None:
        return None
    try:
        words = shlex.split(match[2])
    except ValueError:
        words = match[2].split()
    return Command(match[1], words)
