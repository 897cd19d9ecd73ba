"""The formats of this level: GPU tools, nccl-tests with NCCL's own log, and fio; with a summary of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fourplane.formats import amd_smi, fio, nccl_info, nccl_summary, nccl_tests, nvidia_smi, nvidia_smi_log, topo
from fourplane.formats.model import Format

__all__ = ["FORMATS", "SUMMARIES"]

FORMATS: tuple[Format, ...] = (
    Format(nccl_tests.KIND, "nccl-tests or rccl-tests", nccl_tests.sniff, nccl_tests.read),
    Format(nccl_info.KIND, "NCCL's own log (NCCL_DEBUG=INFO)", nccl_info.sniff, nccl_info.read),
    Format(nvidia_smi.CSV_KIND, "nvidia-smi --query-gpu as CSV", nvidia_smi.sniff_csv, nvidia_smi.read_csv),
    Format(nvidia_smi.LIST_KIND, "nvidia-smi -L", nvidia_smi.sniff_list, nvidia_smi.read_list),
    Format(nvidia_smi_log.KIND, "nvidia-smi -q", nvidia_smi_log.sniff, nvidia_smi_log.read),
    Format(topo.KIND, "nvidia-smi topo -m", topo.sniff, topo.read),
    Format(amd_smi.KIND, "amd-smi or rocm-smi as JSON", amd_smi.sniff, amd_smi.read),
    Format(fio.KIND, "fio as JSON", fio.sniff, fio.read),
)

SUMMARIES: dict[str, Callable[[Any], dict[str, Any]]] = {
    nccl_tests.KIND: nccl_summary.summarise,
    nccl_info.KIND: nccl_info.summarise,
    nvidia_smi.CSV_KIND: nvidia_smi.summarise_csv,
    nvidia_smi.LIST_KIND: nvidia_smi.summarise_list,
    nvidia_smi_log.KIND: nvidia_smi_log.summarise,
    topo.KIND: topo.summarise,
    amd_smi.KIND: amd_smi.summarise,
    fio.KIND: fio.summarise,
}
