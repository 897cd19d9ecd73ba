"""GPU facts from the raw texts of an inventory: nvidia-smi (CSV, topo -m, -q, -L), amd-smi and rocm-smi.

A metric that the probe itself reported is left alone: it does so when a tool is missing, hangs or fails. For every
other GPU metric exactly one word per subject results, measured, absent or failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats import amd_smi, nvidia_smi, nvidia_smi_log, topo
from fourplane.formats.amd_smi import AmdNode
from fourplane.formats.model import Reading, Refusal
from fourplane.formats.nvidia_smi import GpuRow, ListedGpu
from fourplane.formats.probe_lines import ProbeObservation, ProbeOutput
from fourplane.records.metrics import METRICS
from fourplane.records.observation import State

__all__ = ["GpuFacts", "read_gpus"]

QUERY, TOPOLOGY, LOG, LISTING = "nvidia-smi-query", "nvidia-smi-topo", "nvidia-smi-q", "nvidia-smi-list"
AMD, ROCM, ROCM_TOPOLOGY = "amd-smi", "rocm-smi", "rocm-smi-topo"

_PER_GPU = ("compute.gpu.model", "compute.gpu.memory", "compute.gpu.mig", "compute.gpu.power_limit",
            "compute.gpu.ecc_uncorrected")  # fmt: skip
_DETAILS = (
    "uuid", "pci.bus_id", "vbios_version", "compute_cap", "pcie.link.gen.max", "pcie.link.width.max",
    "pcie.link.width.current",
)  # fmt: skip


@dataclass(slots=True)
class GpuFacts:
    """Observations read from raw texts, refusals by raw text, and contradictions: code, message, found, expected."""

    observations: list[ProbeObservation] = field(default_factory=list)
    refusals: list[tuple[str, Refusal]] = field(default_factory=list)
    remarks: list[tuple[str, str, str, str]] = field(default_factory=list)


class _Writer:
    """Writes observations of one vendor's tool, and keeps quiet where the probe has spoken."""

    def __init__(self, output: ProbeOutput, facts: GpuFacts, raw: str, tool: str) -> None:
        self.said = {(one.subject, one.metric) for one in output.observations}
        self.facts = facts
        self.raw = raw
        self.tool = tool
        # the tool ran when the probe last spoke before it; the raw lines carry no time of their own
        self.at = next((one.at for one in output.observations if one.metric == "compute.gpu.pci"), "")
        self.at = self.at or (output.observations[-1].at if output.observations else "")

    def say(
        self, subject: str, metric: str, value: Any, *, state: State = State.MEASURED, reason: str = "",
        conditions: dict[str, Any] | None = None, raw: str = "", line: int = 0,
    ) -> None:  # fmt: skip
        if (subject, metric) in self.said:
            return
        self.said.add((subject, metric))
        self.facts.observations.append(
            ProbeObservation(
                subject=subject,
                metric=metric,
                value=value if state is State.MEASURED else None,
                unit=METRICS[metric].unit,
                method=f"inventory/1 {self.tool}",
                at=self.at,
                state=state,
                reason=reason,
                conditions=conditions or {},
                raw=raw or self.raw,
                line=line,
            )
        )

    def value(self, subject: str, metric: str, value: Any, line: int, why: str, **more: Any) -> None:
        """Write a value, or that the tool does not tell it."""
        if value is None:
            self.say(subject, metric, None, state=State.ABSENT, reason=why, line=line)
        else:
            self.say(subject, metric, value, line=line, **more)

    def refuse(self, raw: str, reading: Reading[Any]) -> None:
        self.facts.refusals += [(raw, refusal) for refusal in reading.refusals]


def read_gpus(output: ProbeOutput) -> GpuFacts:
    """Return what the raw texts of an inventory tell about GPUs; nothing where it sent none."""
    facts = GpuFacts()
    if QUERY in output.raws:
        _nvidia(output, facts)
    elif (AMD in output.raws or ROCM in output.raws) and not _counted(output):
        _amd(output, facts)
    return facts


def _counted(output: ProbeOutput) -> bool:
    return any(one.metric == "compute.gpu.count" for one in output.observations)


def _on_bus(output: ProbeOutput, vendor: str) -> int | None:
    """Return how many GPUs of a vendor the PCI scan of the same probe saw, None without a scan."""
    for one in output.observations:
        if one.metric == "compute.gpu.pci" and isinstance(one.value, list):
            return sum(1 for device in one.value if isinstance(device, dict) and device.get("vendor") == vendor)
    return None


def _count(writer: _Writer, listed: int, on_bus: int | None, tool: str) -> None:
    conditions = {} if on_bus is None else {"pci": on_bus}
    reason = ""
    if on_bus is not None and on_bus != listed:
        reason = f"{tool} lists {listed}, the PCI bus {on_bus}"
        message = f"{tool} lists {listed} GPUs, the PCI bus has {on_bus}"
        writer.facts.remarks.append(("gpu-count-disagrees", message, f"{listed} listed", f"{on_bus} on the bus"))
        if listed > on_bus:
            # a tool can be made to list anything; what is not on the bus is not believed, whatever it is called
            writer.say("", "compute.gpu.count", None, state=State.FAILED, reason=reason, conditions=conditions)
            return
    writer.say("", "compute.gpu.count", listed, reason=reason, conditions=conditions)


def _models(writer: _Writer, names: Iterable[str | None]) -> None:
    counts: dict[str, int] = {}
    for name in names:
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    if counts:
        writer.say("", "compute.gpu.model", list(counts), conditions={"counts": counts})


def _unread(writer: _Writer, metrics: Iterable[str], reason: str, raw: str = "") -> None:
    for metric in metrics:
        writer.say("", metric, None, state=State.FAILED, reason=reason, raw=raw)


# ── NVIDIA ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _nvidia(output: ProbeOutput, facts: GpuFacts) -> None:
    reading = nvidia_smi.read_csv(output.raws[QUERY])
    rows = _distinct(reading.records)
    driver = next((text for row in rows.values() if (text := row.text("driver_version"))), "")
    writer = _Writer(output, facts, QUERY, f"nvidia-smi {driver}".rstrip())
    writer.refuse(QUERY, reading)
    if not rows:
        every = ("compute.gpu.count", *_PER_GPU, "compute.gpu.driver", "compute.gpu.topology", "compute.cuda.version")
        _unread(writer, every, f"nothing in {QUERY} could be read: {reading.reason}")
        return
    _count(writer, len(rows), _on_bus(output, "nvidia"), "nvidia-smi")
    _models(writer, (row.text("name") for row in rows.values()))
    writer.value("", "compute.gpu.driver", driver or None, next(iter(rows.values())).line, "not in the query")
    devices = _mig_devices(output, writer)
    for index, row in rows.items():
        _nvidia_gpu(writer, index, row, devices.get(index))
    _nvidia_topology(output, writer)
    _nvidia_cuda(output, writer)


def _distinct(records: list[GpuRow]) -> dict[int, GpuRow]:
    """Return rows by index; by position where the query did not ask for it. Of two with one index the first stays."""
    rows: dict[int, GpuRow] = {}
    for position, row in enumerate(records):
        rows.setdefault(position if row.index is None else row.index, row)
    return rows


def _nvidia_gpu(writer: _Writer, index: int, row: GpuRow, mig_devices: ListedGpu | None) -> None:
    subject = f"gpu:{index}"
    power, errors = row.number("enforced.power.limit"), row.number("ecc.errors.uncorrected.volatile.total")
    details = {name: text for name in _DETAILS if (text := row.text(name)) is not None}
    mig = row.cells.get("mig.mode.current")
    values: dict[str, tuple[str, Any]] = {
        "compute.gpu.model": ("name", row.text("name")),
        "compute.gpu.memory": ("memory.total", row.size("memory.total")),
        "compute.gpu.mig": ("mig.mode.current", mig),
        "compute.gpu.power_limit": ("enforced.power.limit", power[0] if power and power[1] == "W" else None),
        "compute.gpu.ecc_uncorrected": (
            "ecc.errors.uncorrected.volatile.total", None if errors is None else int(errors[0]),
        ),
    }  # fmt: skip
    for metric, (name, value) in values.items():
        trouble = row.trouble(name)
        if trouble:
            writer.say(subject, metric, None, state=State.FAILED, reason=f"{name}: {trouble}", line=row.line)
            message = f"GPU {index} answers {name} with {trouble}"
            writer.facts.remarks.append(("gpu-field-in-trouble", message, trouble, f"a value of {name}"))
            continue
        conditions: dict[str, Any] = details if metric == "compute.gpu.model" else {}
        if metric == "compute.gpu.mig" and mig_devices is not None and mig_devices.mig:
            conditions = {"devices": [device.profile for device in mig_devices.mig]}
        answer = row.cells.get(name)
        why = f"{name} is {answer}" if answer else f"nvidia-smi of this driver has no {name}"
        writer.value(subject, metric, value, row.line, why, conditions=conditions)


def _mig_devices(output: ProbeOutput, writer: _Writer) -> dict[int, ListedGpu]:
    if LISTING not in output.raws:
        return {}
    reading = nvidia_smi.read_list(output.raws[LISTING])
    writer.refuse(LISTING, reading)
    return {gpu.index: gpu for gpu in reading.records}


def _nvidia_topology(output: ProbeOutput, writer: _Writer) -> None:
    if TOPOLOGY not in output.raws:
        _unread(writer, ["compute.gpu.topology"], "nvidia-smi topo -m was not sent")
        return
    reading = topo.read(output.raws[TOPOLOGY])
    writer.refuse(TOPOLOGY, reading)
    if not reading.records or reading.refusals:
        # a matrix with holes is no topology: the missing paths could be the slow ones
        _unread(writer, ["compute.gpu.topology"], reading.reason or "the matrix is not whole", TOPOLOGY)
        return
    found = reading.records[0]
    links = sorted(found.gpu_links)
    value = {
        "devices": found.devices,
        "matrix": found.matrix(),
        "nics": found.nics,
        "affinity": {
            name: {title: text for (device, title), text in found.affinity.items() if device == name}
            for name in found.gpus
        },
    }
    nearest = {
        gpu: {"class": kind, "nics": nics} for gpu in found.gpus for kind, nics in [found.nearest_nics(gpu)] if kind
    }
    conditions = {"gpu_links": links, "all_nvlink": bool(links) and all(kind.startswith("NV") for kind in links)}
    if nearest:
        conditions["nearest_nics"] = nearest
    writer.say("", "compute.gpu.topology", value, conditions=conditions, raw=TOPOLOGY, line=found.line)


def _nvidia_cuda(output: ProbeOutput, writer: _Writer) -> None:
    if LOG not in output.raws:
        _unread(writer, ["compute.cuda.version"], "nvidia-smi -q was not sent")
        return
    reading = nvidia_smi_log.read(output.raws[LOG])
    writer.refuse(LOG, reading)
    cuda = reading.records[0].cuda if reading.records else ""
    if cuda and cuda.upper() not in {"N/A", "NOT FOUND"}:
        writer.say("", "compute.cuda.version", cuda, raw=LOG, line=_line_of(output.raws[LOG], "CUDA Version"))
    else:
        _unread(writer, ["compute.cuda.version"], "nvidia-smi -q names no CUDA version", LOG)


def _line_of(text: str, start: str) -> int:
    return next((n for n, line in enumerate(text.split("\n")[:100], start=1) if line.strip().startswith(start)), 0)


# ── AMD ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _amd(output: ProbeOutput, facts: GpuFacts) -> None:
    node: AmdNode | None = None
    reasons = []
    for raw in (AMD, ROCM):
        if raw not in output.raws:
            continue
        reading = amd_smi.read(output.raws[raw])
        writer = _Writer(output, facts, raw, raw)
        writer.refuse(raw, reading)
        if reading.records and reading.records[0].gpus:
            node = reading.records[0]
            break
        reasons.append(f"nothing in {raw} could be read: {reading.reason or 'no GPU in it'}")
    if node is None:
        every = ("compute.gpu.count", *_PER_GPU, "compute.gpu.driver", "compute.gpu.topology", "compute.cuda.version")
        _unread(writer, every, "; ".join(reasons))
        return
    _count(writer, len(node.gpus), _on_bus(output, "amd"), writer.tool)
    _models(writer, (gpu.name for gpu in node.gpus))
    writer.value("", "compute.gpu.driver", node.driver or None, 0, f"{writer.tool} names no driver version")
    silent = f"{writer.tool} does not tell it"
    for gpu in node.gpus:
        subject = f"gpu:{gpu.index}"
        about = {"pci.bus_id": gpu.bus} if gpu.bus else {}
        writer.value(subject, "compute.gpu.model", gpu.name, 0, silent, conditions=about)
        writer.value(subject, "compute.gpu.memory", gpu.memory, 0, silent)
        writer.value(subject, "compute.gpu.power_limit", gpu.power_cap_w, 0, silent)
        writer.value(subject, "compute.gpu.ecc_uncorrected", gpu.ecc_uncorrected, 0, silent)
        partition = f"MIG belongs to NVIDIA GPUs; compute partition {gpu.partition or 'not told'}"
        writer.value(subject, "compute.gpu.mig", None, 0, partition)
    writer.value("", "compute.cuda.version", None, 0, "CUDA belongs to NVIDIA GPUs")
    _amd_topology(output, writer, len(node.gpus))


def _amd_topology(output: ProbeOutput, writer: _Writer, count: int) -> None:
    if ROCM_TOPOLOGY not in output.raws:
        _unread(writer, ["compute.gpu.topology"], "rocm-smi --showtopotype was not sent")
        return
    reading = amd_smi.read(output.raws[ROCM_TOPOLOGY])
    writer.refuse(ROCM_TOPOLOGY, reading)
    links = reading.records[0].links if reading.records else {}
    if len(links) < count * (count - 1) // 2:
        _unread(writer, ["compute.gpu.topology"], "rocm-smi gives no link for some pairs", ROCM_TOPOLOGY)
        return
    matrix = [["X" if a == b else links.get((min(a, b), max(a, b)), "") for b in range(count)] for a in range(count)]
    devices = [f"GPU{index}" for index in range(count)]
    value = {"devices": devices, "matrix": matrix, "nics": {}, "affinity": {}}
    conditions = {"gpu_links": sorted(set(links.values())), "all_nvlink": False}
    writer.say("", "compute.gpu.topology", value, conditions=conditions, raw=ROCM_TOPOLOGY)
