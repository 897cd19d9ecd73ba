"""GPUs that a command line of sbatch, salloc or srun asks for, and that a job's ``tres_per_*`` ask for."""

from __future__ import annotations

import re

from fourplane.formats.slurm.tres import parse_gres
from fourplane.formats.slurm.values import parse_count

__all__ = ["gpus_asked", "gpus_in_specification", "gpus_in_submit_line"]

_LONGEST = 16 * 1024
# the value ends at a blank; no option of Slurm's has blanks in a list of GPUs
_OPTION = re.compile(
    r"(?:^|\s)(?:--(gpus|gpus-per-node|gpus-per-task|gpus-per-socket|gres|tres-per-node|tres-per-job|tres-per-task)"
    r"(?:=|\s{1,8})|-(G)\s{0,8})[\"']?([A-Za-z0-9_:,./=()+-]{1,400})",
    re.ASCII,
)
_NODES = re.compile(r"(?:^|\s)(?:--nodes(?:=|\s{1,8})|-N\s{0,8})(\d{1,6})(?:-(\d{1,6}))?(?=\s|$)", re.ASCII)
_TASKS = re.compile(r"(?:^|\s)(?:--ntasks(?:=|\s{1,8})|-n\s{0,8})(\d{1,9})(?=\s|$)", re.ASCII)


def gpus_in_specification(text: str) -> int | None:
    """Return the GPUs of ``4``, ``h100:4``, ``h100:1,h200:1``, ``gpu:h100:4`` or ``gres/gpu:h100:4``; None without."""
    total = 0
    seen = False
    for part in text.split(",")[:64]:
        part = part.strip()
        bare = part.removeprefix("gres/").removeprefix("gres:")
        if not bare:
            continue
        if bare == "gpu":
            total, seen = total + 1, True
        elif bare.startswith(("gpu:", "gpu=")):
            gres = parse_gres(part)
            if gres is not None:
                counts = [1 if entry.count is None else entry.count for entry in gres.entries]
                total, seen = total + sum(counts), True
        elif "/" not in bare and "=" not in bare:
            name, colon, digits = bare.rpartition(":")
            count = parse_count(digits) if colon or digits[:1].isdigit() else 1
            if count is not None and name not in _OTHER and (colon or bare not in _OTHER):
                total, seen = total + count, True
    return total if seen else None


_OTHER = frozenset({"shard", "mps", "nic", "craynetwork", "gpumem", "gpuutil", "bandwidth", "license", "cpu", "mem"})


def gpus_in_submit_line(line: str, nodes: int | None = None) -> int:
    """Return how many GPUs a submit line asks for; 0 when it names none.

    A count per node is multiplied by ``nodes``, else by the line's own ``--nodes``, else by one; a count per task by
    ``--ntasks`` of the line.
    """
    line = line[:_LONGEST]
    asked = 0
    for match in _OPTION.finditer(line):
        option, value = match[1] or "gpus", match[3]
        if option in ("gres", "tres-per-node", "tres-per-job", "tres-per-task"):
            # only parts that name gpu: other GRES and TRES share the option
            value = ",".join(part for part in value.split(",") if re.match(r"(?:gres[/:])?gpu(?:[:=]|$)", part))
        count = gpus_in_specification(value) if value else None
        if count is None:
            continue
        if option in ("gpus-per-node", "gres", "tres-per-node"):
            count *= _times(line, _NODES, nodes)
        elif option in ("gpus-per-task", "tres-per-task"):
            count *= _times(line, _TASKS, None)
        asked = max(asked, count)
    return asked


def _times(line: str, pattern: re.Pattern[str], known: int | None) -> int:
    if known:
        return known
    found = pattern.search(line)
    return max(1, int(found[1])) if found else 1


def gpus_asked(submit_line: str, gres: str, nodes: int | None = None) -> int:
    """Return the GPUs that a submit line or a GRES per node asks for, the larger of both."""
    from_line = gpus_in_submit_line(submit_line, nodes) if submit_line else 0
    per_node = gpus_in_specification(gres.rpartition("PER_NODE:")[2]) if "gpu" in gres else None
    return max(from_line, (per_node or 0) * max(1, nodes or 1))
