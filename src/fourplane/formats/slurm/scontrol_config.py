"""``scontrol show config``: what slurmctld runs with, as ``Key = value`` lines; excerpts by grep are known as such.

Source: man page scontrol(1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of
from fourplane.formats.slurm.commands import command_of, is_remark
from fourplane.formats.slurm.values import parse_count, word_set

__all__ = ["KIND", "Setting", "read", "sniff", "summarise"]

KIND = "scontrol-config"

_LINE = re.compile(r"(?:(\d{1,6})[:-])?([A-Za-z][A-Za-z0-9_/.()-]{0,63})\s{0,40} = ?(.*)")
_TELLING = word_set(
    "AccountingStorageType AccountingStorageTRES ClusterName GresTypes JobAcctGatherType SlurmctldHost SLURM_VERSION "
    "SelectType PreemptType SchedulerType SlurmUser AuthType StateSaveLocation"
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One key with its value; None when Slurm prints ``(null)``, which is unset."""

    line: int
    key: str
    value: str | None


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is ``scontrol show config``."""
    if "Configuration data as of " in head[:4096]:
        return 0.97
    keys = {match[2] for line in head[:32_768].split("\n")[:400] if (match := _LINE.fullmatch(line.rstrip("\r")))}
    return 0.9 if len(keys & _TELLING) >= 2 else 0.0


def read(text: str) -> Reading[Setting]:
    """Read the settings; a text without the heading line, or whose line numbers have gaps, is an excerpt."""
    reading: Reading[Setting] = Reading(KIND)
    whole = False
    seen: dict[str, str | None] = {}
    for number, line in lines_of(text, reading):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if "Configuration data as of " in line:
            whole = True
        elif match is not None:
            value = None if match[3].strip() in ("(null)", "") else match[3].strip()
            if seen.setdefault(match[2], value) != value:
                reading.note("slurm-conf-directive-repeated", number, f"{match[2]}: {seen[match[2]]}, then {value}")
            reading.records.append(Setting(number, match[2], value))
        elif not _frame(line) and command_of(line) is None and not is_remark(line):
            reading.refuse("slurm-line-not-understood", number, line)
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no setting could be read")
        return reading
    settings = _values(reading)
    tres = settings.get("AccountingStorageTRES")
    if "gpu" in (settings.get("GresTypes") or "").split(",") and tres is not None and "gres/gpu" not in tres:
        reading.note("slurm-conf-gpu-not-tracked", 0, f"AccountingStorageTRES={tres}")
    if not whole:
        reading.end(Status.TRUNCATED, "an excerpt: a key that is absent is unknown, not unset")
    return reading


def _frame(line: str) -> bool:
    """Tell lines around the settings: headings of sections, the state of the controllers."""
    return bool(
        re.match(r"(?:Slurmctld\(\w+\)|[A-Z][A-Za-z ]+:\s*$|Cgroup Support|MPI Plugins|Node Features)", line.strip())
    )


def _values(reading: Reading[Setting]) -> dict[str, str | None]:
    return {setting.key: setting.value for setting in reading.records}


def summarise(reading: Reading[Setting]) -> dict[str, Any]:
    """Return what accounting, preemption and selection are set to; None when unset or not in the text."""
    if not reading.records:
        return {}
    values = _values(reading)
    tres = values.get("AccountingStorageTRES")
    return {
        "keys": len(values),
        "slurm_version": values.get("SLURM_VERSION"),
        "cluster": values.get("ClusterName"),
        "accounting_storage_type": values.get("AccountingStorageType"),
        "accounting_storage_tres": tres.split(",") if tres else None,
        "accounting_enforce": values.get("AccountingStorageEnforce"),
        "gpu_tracked": None if tres is None else any(one.split(":")[0] == "gres/gpu" for one in tres.split(",")),
        "gres_types": values.get("GresTypes"),
        "preempt_type": values.get("PreemptType"),
        "preempt_mode": values.get("PreemptMode"),
        "job_requeue": parse_count(values.get("JobRequeue") or ""),
        "max_batch_requeue": parse_count(values.get("MaxBatchRequeue") or ""),
        "select_type": values.get("SelectType"),
        "scheduler_type": values.get("SchedulerType"),
        "job_acct_gather_frequency": values.get("JobAcctGatherFrequency"),
        "prolog": values.get("Prolog"),
        "epilog": values.get("Epilog"),
    }
