"""``nvidia-smi -q -x``: the same facts as ``-q``, as XML.

The document is scanned tag by tag, not parsed: a document that was cut gives what it holds, entities are not expanded,
and the DTD that it names is never fetched.

Source: NVIDIA ``nvsmi_device_v12.dtd`` and its earlier versions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import MAX_TEXT, Reading, Status
from fourplane.formats.smi_state import GpuState, MigSlice, RemappedRows, figure, known, note_states, shared, whole

__all__ = ["KIND", "XmlGpu", "XmlLog", "read", "sniff", "summarise"]

KIND = "nvidia-smi-xml"
MAX_GPUS = 4096
MAX_DEPTH = 16
MAX_FIELDS = 500_000

_ROOT = "nvidia_smi_log"
_PIECE = re.compile(r"<(/?)([A-Za-z_][\w.-]{0,79})([^<>]{0,400})>|([^<]{1,2000})", re.ASCII)
_ID = re.compile(r'\bid="([^"]{1,40})"', re.ASCII)
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}


@dataclass(slots=True)
class XmlGpu:
    """One GPU: its PCI address, values by path, and those of its MIG devices."""

    line: int
    bus: str
    values: dict[str, str] = field(default_factory=dict)
    mig: list[dict[str, str]] = field(default_factory=list)

    def text(self, *paths: str) -> str | None:
        """Return the first of these values that is an answer."""
        return next((found for path in paths if (found := known(self.values.get(path))) is not None), None)

    def _uncorrectable(self, section: str) -> int | None:
        counts = [
            whole(value)
            for path, value in self.values.items()
            if path.startswith(f"ecc_errors/{section}/") and "uncorrectable" in path
        ]
        answers = [count for count in counts if count is not None]
        return sum(answers) if answers else whole(self.values.get(f"ecc_errors/{section}/double_bit/total"))

    @property
    def state(self) -> GpuState:
        """Return what the element says, under the names that all layouts of nvidia-smi share."""
        link = "pci/pci_gpu_link_info"
        power = ("gpu_power_readings", "power_readings")
        rows = {
            name: self.text(f"remapped_rows/remapped_row_{path}")
            for name, path in (
                ("correctable", "corr"), ("uncorrectable", "unc"), ("pending", "pending"), ("failure", "failure"),
            )
        }  # fmt: skip
        return GpuState(
            line=self.line,
            name=self.text("product_name"),
            uuid=self.text("uuid"),
            pci=self.bus,
            vbios=self.text("vbios_version"),
            gsp_firmware=self.text("gsp_firmware_version"),
            mig_mode=self.text("mig_mode/current_mig"),
            mig=[
                MigSlice(
                    whole(one.get("index")),
                    whole(one.get("gpu_instance_id")),
                    whole(one.get("compute_instance_id")),
                    whole(one.get("device_attributes/shared/multiprocessor_count")),
                    whole(one.get("fb_memory_usage/total")),
                )
                for one in self.mig
            ],
            persistence_mode=self.text("persistence_mode"),
            performance_state=self.text("performance_state"),
            ecc_mode=self.text("ecc_mode/current_ecc"),
            ecc_uncorrectable_volatile=self._uncorrectable("volatile"),
            ecc_uncorrectable_aggregate=self._uncorrectable("aggregate"),
            remapped=RemappedRows(
                whole(rows["correctable"]), whole(rows["uncorrectable"]), rows["pending"], rows["failure"]
            )
            if any(rows.values())
            else None,
            pcie_gen=whole(self.text(f"{link}/pcie_gen/current_link_gen")),
            pcie_gen_max=whole(self.text(f"{link}/pcie_gen/max_link_gen")),
            pcie_width=whole(self.text(f"{link}/link_widths/current_link_width")),
            pcie_width_max=whole(self.text(f"{link}/link_widths/max_link_width")),
            pcie_replays=whole(self.text("pci/replay_counter")),
            memory_total_mib=whole(self.text("fb_memory_usage/total")),
            memory_used_mib=whole(self.text("fb_memory_usage/used")),
            utilization_percent=whole(self.text("utilization/gpu_util")),
            temperature_c=figure(self.text("temperature/gpu_temp")),
            power_w=figure(
                self.text(*(f"{one}/{name}" for one in power for name in ("average_power_draw", "power_draw")))
            ),
            power_limit_w=figure(
                self.text(*(f"{one}/{name}" for one in power for name in ("current_power_limit", "power_limit")))
            ),
            fabric_state=self.text("fabric/state"),
            fabric_status=self.text("fabric/status"),
            recovery_action=self.values.get("gpu_recovery_action"),
        )


@dataclass(slots=True)
class XmlLog:
    """The whole document: driver, newest CUDA, GPUs announced, GPUs described at least in part."""

    line: int
    driver: str = ""
    cuda: str = ""
    attached: int | None = None
    gpus: list[XmlGpu] = field(default_factory=list)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is XML of nvidia-smi."""
    return 0.95 if f"<{_ROOT}>" in head[:65536] else 0.0


def read(text: str) -> Reading[XmlLog]:
    """Read the document; the record is the document, what is counted are its GPUs."""
    reading: Reading[XmlLog] = Reading(KIND)
    if len(text) > MAX_TEXT:
        reading.refuse("format-text-too-long", 0, f"{len(text):,} characters")
    at = text.find(f"<{_ROOT}>", 0, MAX_TEXT)
    if at < 0:
        reading.refuse("nvidia-smi-not-understood" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "not XML of nvidia-smi -q -x")
        return reading
    log = XmlLog(text.count("\n", 0, at) + 1)
    closed = _scan(text, at + len(_ROOT) + 2, log)
    reading.records.append(log)
    reading.counted = len(log.gpus)
    note_states([gpu.state for gpu in log.gpus], reading)
    if not closed:
        reading.end(Status.TRUNCATED, "the document is cut")
    elif log.attached is not None and log.attached != len(log.gpus):
        reading.end(Status.TRUNCATED, f"{log.attached} GPUs announced, {len(log.gpus)} described")
    return reading


def _scan(text: str, at: int, log: XmlLog) -> bool:
    """Walk over the tags from ``at`` on; return whether the root element was closed."""
    path: list[str] = []
    content = ""
    fields = 0
    line, counted = log.line, at
    for piece in _PIECE.finditer(text, at, min(len(text), MAX_TEXT)):
        name = piece[2]
        if name is None:
            content += piece[4] if len(content) < 2000 else ""
            continue
        if not piece[1]:
            if len(path) >= MAX_DEPTH or fields > MAX_FIELDS:
                return False
            if not path and name == "gpu" and len(log.gpus) < MAX_GPUS:
                line += text.count("\n", counted, piece.start())
                counted = piece.start()
                found = _ID.search(piece[3])
                log.gpus.append(XmlGpu(line, found[1] if found else ""))
            elif path[:1] == ["gpu"] and name == "mig_device" and log.gpus:
                log.gpus[-1].mig.append({})
            if not piece[3].endswith("/"):
                path.append(name)
            content = ""
            continue
        if name == _ROOT:
            return True
        if not path or path[-1] != name:
            return False  # tags that do not match: nothing after them can be placed
        _keep(log, path, _plain(content.strip()))
        fields += 1
        path.pop()
        content = ""
    return False


def _plain(text: str) -> str:
    if "&" in text:
        for entity, character in _ENTITIES.items():
            text = text.replace(entity, character)
    return text[:400]


def _keep(log: XmlLog, path: list[str], value: str) -> None:
    if not value:
        return
    if path[0] != "gpu":
        if path == ["driver_version"]:
            log.driver = value
        elif path == ["cuda_version"]:
            log.cuda = value
        elif path == ["attached_gpus"]:
            log.attached = whole(value)
        return
    if not log.gpus:
        return
    gpu = log.gpus[-1]
    if path[1:3] == ["mig_devices", "mig_device"] and gpu.mig:
        gpu.mig[-1].setdefault("/".join(path[3:]), value)
    else:
        gpu.values.setdefault("/".join(path[1:]), value)


def summarise(reading: Reading[XmlLog]) -> dict[str, Any]:
    """Return the figures of the document: those that all GPUs share, the worst of those that may differ."""
    if not reading.records:
        return {}
    log = reading.records[0]
    states = [gpu.state for gpu in log.gpus]
    slices = [one for state in states for one in state.mig]
    return {
        "gpus": len(log.gpus),
        "attached_gpus": log.attached,
        "gpu": shared(states, "name"),
        "driver_version": log.driver or None,
        "cuda_version": known(log.cuda),
        "pci": shared(states, "pci"),
        "uuid": shared(states, "uuid"),
        "mig_mode": shared(states, "mig_mode"),
        "mig_devices": len(slices),
        "mig_sms": [one.multiprocessors for one in slices],
        "mig_memory_mib": [one.memory_mib for one in slices],
        "ecc_mode": shared(states, "ecc_mode"),
        "ecc_uncorrectable_volatile": shared(states, "ecc_uncorrectable_volatile", sum),
        "pcie_gen": shared(states, "pcie_gen", min),
        "pcie_width": shared(states, "pcie_width", min),
        "pcie_replays": shared(states, "pcie_replays", sum),
        "memory_total_mib": shared(states, "memory_total_mib", min),
        "temperature_c": shared(states, "temperature_c", max),
        "power_average_w": shared(states, "power_w", max),
        "power_limit_w": shared(states, "power_limit_w", min),
        "performance_state": shared(states, "performance_state"),
        "fabric_state": shared(states, "fabric_state"),
        "recovery_action": shared(states, "recovery_action"),
    }
