"""The formats that are known, and which of them a text is."""

from __future__ import annotations

from fourplane.formats import amd_smi, fio, nccl_tests, nvidia_smi, nvidia_smi_log, topo
from fourplane.formats.model import Format

__all__ = ["FORMATS", "HEAD", "recognise"]

HEAD = 262_144
"""Characters of the beginning that a decision needs."""

_LEAST = 0.5

FORMATS: dict[str, Format] = {
    one.kind: one
    for one in (
        Format(nvidia_smi.CSV_KIND, "nvidia-smi --query-gpu as CSV", nvidia_smi.sniff_csv, nvidia_smi.read_csv),
        Format(nvidia_smi.LIST_KIND, "nvidia-smi -L", nvidia_smi.sniff_list, nvidia_smi.read_list),
        Format(nvidia_smi_log.KIND, "nvidia-smi -q", nvidia_smi_log.sniff, nvidia_smi_log.read),
        Format(topo.KIND, "nvidia-smi topo -m", topo.sniff, topo.read),
        Format(amd_smi.KIND, "amd-smi or rocm-smi as JSON", amd_smi.sniff, amd_smi.read),
        Format(nccl_tests.KIND, "nccl-tests or rccl-tests", nccl_tests.sniff, nccl_tests.read),
        Format(fio.KIND, "fio as JSON", fio.sniff, fio.read),
    )
}


def recognise(head: str) -> tuple[Format, float] | None:
    """Return the likeliest format of a text beginning with ``head``, with the confidence; None below one half."""
    ranked = sorted(((one.sniff(head[:HEAD]), one.kind) for one in FORMATS.values()), reverse=True)
    confidence, kind = ranked[0]
    return (FORMATS[kind], confidence) if confidence >= _LEAST else None
