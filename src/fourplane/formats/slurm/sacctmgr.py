"""sacctmgr show: QOS, associations and the other entities of slurmdbd, as a delimited or padded table.

An empty limit is no limit, and never 0.

Source: man page sacctmgr(1).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fourplane.formats.model import Reading, Status
from fourplane.formats.slurm.commands import Command, command_of
from fourplane.formats.slurm.tables import Columns, Row, Vocabulary, find_heading, read_table
from fourplane.formats.slurm.tres import count_gpus
from fourplane.formats.slurm.values import parse_count, word_set

__all__ = ["KIND", "AccountingEntity", "read", "sniff", "summarise"]

KIND = "sacctmgr"
MAX_SHOWN = 200

_HEADINGS = word_set(
    "Name Priority GraceTime Preempt PreemptExemptTime PreemptMode Flags UsageThres UsageFactor GrpTRES GrpTRESMins "
    "GrpTRESRunMins GrpJobs GrpJobsAccrue GrpSubmit GrpWall MaxTRES MaxTRESPerNode MaxTRESMins MaxTRESMinsPerJob "
    "MaxWall MaxTRESPU MaxJobsPU MaxSubmitPU MaxTRESPA MaxJobsPA MaxSubmitPA MaxJobsAccruePA MaxJobsAccruePU MinTRES "
    "MinTRESPerJob MinPrioThres MaxTRESRunMinsPU MaxTRESRunMinsPA LimitFactor Cluster Account User Partition Share "
    "ParentName QOS DefQOS MaxJobs MaxJobsAccrue MaxSubmit Def Acct Admin ControlHost ControlPort RPC Descr Org Type "
    "ID Coord Federation Features FedState NodeInx WCKeys Start End Nodes TRES Assocs Allowed Allocated Server Count"
)
_NAMES = {name: name.lower() for name in _HEADINGS} | {
    "MaxTRESPerUser": "maxtrespu", "MaxTRESPerAccount": "maxtrespa", "MaxTRESPerJob": "maxtres", "Fairshare": "share",
    "Def QOS": "defqos", "Def Acct": "defacct", "Par Name": "parentname", "Time Start": "start", "JobID": "jobid",
    "GrpTRESRunMin": "grptresrunmins", "State": "state",
}  # fmt: skip
_LIMITS = (
    ("grp_gpus", "grptres"), ("max_gpus_per_job", "maxtres"), ("max_gpus_per_user", "maxtrespu"),
    ("max_gpus_per_account", "maxtrespa"), ("max_gpus_per_node", "maxtrespernode"), ("min_gpus", "mintres"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AccountingEntity:
    """One row.

    Attributes:
        line: 1-based.
        entity: qos, association, tres, user, account, cluster, or "" when the columns fit none of them.
        cells: by heading in lower case, long and short spellings made one.
        gpu_limits: limits on GPUs that are set, by our names; a limit that isn't there is no limit.
        columns: of the listing.
    """

    line: int
    entity: str
    cells: dict[str, str]
    gpu_limits: dict[str, int]
    columns: int = 0


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a table of sacctmgr."""
    for line in head[:65_536].split("\n")[:16]:
        line = line.rstrip("\r")
        command = command_of(line)
        if command is not None:
            return 0.95 if command.tool == "sacctmgr" else 0.0
        if line.strip():
            columns = find_heading(line, _NAMES, 0.8)
            if columns is not None and columns.delimiter != "," and _entity(set(columns.names), ""):
                return 0.9
    return 0.0


def read(text: str) -> Reading[AccountingEntity]:
    """Read a table of sacctmgr."""
    reading: Reading[AccountingEntity] = Reading(KIND)
    table = read_table(text, reading, Vocabulary("sacctmgr", _NAMES, frozenset({"descr", "org"}), _of_command))
    entity = _entity(set(table.columns.names) if table.columns else set(), _word(table.commands))
    for row in table.rows:
        if set("".join(row.cells.values())) <= {"-"} and "".join(row.cells.values()):
            continue  # the ruler under a padded heading
        reading.records.append(_record(row, entity))
    for number, line in table.bare:
        code = "slurm-line-not-understood" if table.rows else "slurm-columns-unnamed"
        reading.refuse(code, number, line)
    if not reading.records and table.columns is None:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no row could be read")
    return reading


def _word(commands: list[Command]) -> str:
    words = [word.lower() for command in commands[:1] for word in command.words if not word.startswith("-")]
    return next((after for word, after in pairwise(words) if word in ("show", "list")), "")


def _of_command(command: Command) -> Columns | None:
    listed = command.value("o", "format")
    if not listed or not command.has("n", "noheader"):
        return None
    names = tuple(_LOWER.get(name.partition("%")[0].lower(), name.lower()) for name in listed.split(","))
    return Columns(names, "|" if command.has("P", "parsable2") or command.has("p", "parsable") else "")


_LOWER = {name.lower(): ours for name, ours in _NAMES.items()}


def _entity(names: set[str], word: str) -> str:
    """Return what the rows are, by the command's word or by columns that only one entity has."""
    for start, entity in (("assoc", "association"), ("qos", "qos"), ("tres", "tres"), ("user", "user"),
                          ("account", "account"), ("cluster", "cluster"), ("runaway", "job")):  # fmt: skip
        if word.startswith(start):
            return entity
    if "controlhost" in names:
        return "cluster"
    if {"cluster", "account"} <= names and names & {"user", "share", "grptres", "qos", "maxtres", "parentname"}:
        return "association" if names & {"share", "grptres", "maxtres", "qos", "parentname", "defqos"} else ""
    if "name" in names and names & {"gracetime", "usagefactor", "preemptmode", "maxtrespu", "grptres", "maxwall"}:
        return "qos"
    if names == {"type", "name", "id"}:
        return "tres"
    return "account" if {"account", "descr", "org"} <= names else ""


def _record(row: Row, entity: str) -> AccountingEntity:
    limits: dict[str, int] = {}
    for ours, column in _LIMITS:
        text = row.get(column) or ""
        count = count_gpus(text) if "gres/gpu" in text.lower() else None
        if count is not None:
            limits[ours] = count.gpus
    return AccountingEntity(row.line, entity, row.cells, limits, row.width)


def summarise(reading: Reading[AccountingEntity]) -> dict[str, Any]:
    """Return the entity, the number of columns, and its rows with their GPU limits."""
    if not reading.records:
        return {}
    first = reading.records[0]
    rows = [_figures(record) for record in reading.records[:MAX_SHOWN]]
    return {
        "entity": first.entity or None,
        "columns": first.columns,
        "rows": len(reading.records),
        first.entity or "entries": rows,
    }


def _figures(record: AccountingEntity) -> dict[str, Any]:
    cells = record.cells
    found: dict[str, Any] = {
        key: cells[key] or None
        for key in ("name", "cluster", "account", "user", "type", "id", "preempt", "qos")
        if key in cells
    }
    if "priority" in cells:
        found["priority"] = parse_count(cells["priority"])
    if record.entity in ("qos", "association"):
        found |= {ours: record.gpu_limits.get(ours) for ours, column in _LIMITS if column in cells}
    return found
