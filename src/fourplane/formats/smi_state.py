"""State of one GPU as nvidia-smi tells it, whichever of its layouts it came in, and what is bad news in it.

``--query-gpu`` (CSV), ``-q`` (text) and ``-q -x`` (XML) name the same things differently; here they meet. A field is
None where the tool does not say: ``[N/A]`` is unknown, never zero.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, number_or_none

__all__ = ["GpuState", "MigSlice", "RemappedRows", "figure", "known", "note_states", "shared", "whole"]

_UNKNOWN = {
    "", "n/a", "[n/a]", "not available", "not supported", "[not supported]", "unknown error", "[unknown error]",
    "requested functionality has been deprecated", "[requested functionality has been deprecated]",
}  # fmt: skip
_NUMBER = re.compile(r"([+-]?\d{1,20}(?:\.\d{1,20})?) ?(?:[A-Za-z%/]{0,8}|bank\(s\))", re.ASCII)
_WELL = {"none", "n/a", "success", "completed", "not started", ""}


@dataclass(frozen=True, slots=True)
class MigSlice:
    """One MIG device: index, GPU and compute instance, multiprocessors, memory in MiB."""

    index: int | None
    gpu_instance: int | None
    compute_instance: int | None
    multiprocessors: int | None
    memory_mib: int | None


@dataclass(frozen=True, slots=True)
class RemappedRows:
    """Rows of memory that were replaced by spare ones, and whether a replacement is pending or has failed."""

    correctable: int | None
    uncorrectable: int | None
    pending: str | None
    failure: str | None


@dataclass(slots=True)
class GpuState:
    """One GPU; temperatures in °C, power in W, memory in MiB, utilisation in percent."""

    line: int
    name: str | None = None
    uuid: str | None = None
    pci: str | None = None
    vbios: str | None = None
    gsp_firmware: str | None = None
    mig_mode: str | None = None
    mig: list[MigSlice] = field(default_factory=list)
    persistence_mode: str | None = None
    performance_state: str | None = None
    ecc_mode: str | None = None
    ecc_uncorrectable_volatile: int | None = None
    ecc_uncorrectable_aggregate: int | None = None
    remapped: RemappedRows | None = None
    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    pcie_replays: int | None = None
    memory_total_mib: int | None = None
    memory_used_mib: int | None = None
    utilization_percent: int | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    fabric_state: str | None = None
    fabric_status: str | None = None
    recovery_action: str | None = None


def known(value: str | None) -> str | None:
    """Return an answer of nvidia-smi, None where it is one of its words for "no answer"."""
    return None if value is None or value.strip().lower() in _UNKNOWN else value.strip()


def figure(value: str | None) -> float | None:
    """Return the number of an answer such as ``69.85 W`` or ``16x``, None without one."""
    match = _NUMBER.fullmatch((value or "").strip())
    return number_or_none(match[1]) if match else None


def whole(value: str | None) -> int | None:
    """Return the whole number of an answer, None without one."""
    number = figure(value)
    return int(number) if number is not None and number.is_integer() else None


def shared(states: Sequence[GpuState], name: str, choose: Callable[[list[Any]], Any] | None = None) -> Any:
    """Return one figure for all GPUs: what all say alike, else what ``choose`` makes of those that answer."""
    values = [getattr(state, name) for state in states]
    answers = [value for value in values if value is not None]
    if not answers:
        return None
    if choose is not None:
        return choose(answers)
    return answers[0] if all(value == answers[0] for value in values) else None


_ALIKE = ("name", "vbios", "memory_total_mib", "mig_mode", "ecc_mode", "power_limit_w")


def note_states(states: Sequence[GpuState], reading: Reading[Any]) -> None:
    """Note what is wrong with single GPUs, and where the GPUs of one node differ."""
    for position, state in enumerate(states):
        who = f"GPU {state.pci or position}"
        for code, text in _faults(state):
            reading.note(code, state.line, f"{who}: {text}")
    for name in _ALIKE:
        values = {getattr(state, name) for state in states} - {None}
        if len(values) > 1:
            listed = ", ".join(sorted(map(str, values))[:10])
            reading.note("smi-gpus-differ", states[0].line if states else 0, f"{name.replace('_', ' ')}: {listed}")


def _faults(state: GpuState) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if state.ecc_uncorrectable_volatile:
        found.append(("smi-ecc-uncorrectable", f"{state.ecc_uncorrectable_volatile} since the driver was loaded"))
    rows = state.remapped
    if rows is not None and (rows.failure or "no").lower() not in {"no", "0"}:
        found.append(("smi-remap-failed", f"remapping failure: {rows.failure}"))
    if rows is not None and (rows.pending or "no").lower() not in {"no", "0"}:
        found.append(("smi-remap-pending", f"remapping pending: {rows.pending}"))
    if rows is not None and rows.uncorrectable:
        found.append(("smi-rows-remapped", f"{rows.uncorrectable} rows after uncorrectable errors"))
    if state.pcie_width and state.pcie_width_max and state.pcie_width < state.pcie_width_max:
        found.append(("smi-pcie-narrow", f"x{state.pcie_width} of x{state.pcie_width_max}"))
    # an idle GPU lowers the speed of its link to save power; only one at work must have all of it
    slow = state.pcie_gen and state.pcie_gen_max and state.pcie_gen < state.pcie_gen_max
    if slow and state.performance_state == "P0":
        found.append(("smi-pcie-slow", f"generation {state.pcie_gen} of {state.pcie_gen_max} in state P0"))
    if state.pcie_replays:
        found.append(("smi-pcie-replays", f"{state.pcie_replays} since the last reset"))
    if (state.recovery_action or "").lower() not in _WELL:
        found.append(("smi-recovery-needed", str(state.recovery_action)))
    if (state.fabric_state or "").lower() not in _WELL or (state.fabric_status or "").lower() not in _WELL:
        found.append(("smi-fabric-not-ready", f"state {state.fabric_state}, status {state.fabric_status}"))
    return found
