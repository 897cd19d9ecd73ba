"""Tools that look at one node, its links and its logs; reports of other checkers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fourplane.formats.model import Format
from fourplane.formats.nodes import (
    azure_nhc,
    codes,
    cre_report,
    dcgm,
    dmesg,
    ethtool,
    fabric_manager,
    ib_guid_map,
    ibdev2netdev,
    ibnetdiscover,
    ibstat,
    lsblk,
    lscpu,
    lspci,
    numactl,
    nvbandwidth,
    oci_check,
    perfquery,
    perftest,
    preflight,
    smi_nvlink,
    smi_xml,
)

__all__ = ["FORMATS", "SUMMARIES", "codes"]

_TITLES = (
    (smi_nvlink, "nvidia-smi nvlink"),
    (smi_xml, "nvidia-smi -q -x"),
    (dcgm, "dcgmi diag, text or JSON"),
    (dmesg, "kernel log with Xid and SXid"),
    (fabric_manager, "log of NVIDIA fabric manager"),
    (ibstat, "ibstat"),
    (ibdev2netdev, "ibdev2netdev"),
    (perfquery, "perfquery"),
    (ibnetdiscover, "ibnetdiscover"),
    (ib_guid_map, "map of hosts to system image GUIDs"),
    (ethtool, "ethtool"),
    (nvbandwidth, "nvbandwidth, text or JSON"),
    (lscpu, "lscpu, text or JSON"),
    (numactl, "numactl --hardware"),
    (lsblk, "lsblk as JSON"),
    (lspci, "lspci"),
    (azure_nhc, "report of Azure's distributed node health checks"),
    (cre_report, "report of cluster-readiness-engine as JSON"),
    (oci_check, "host check or GPU scan of Oracle Cloud"),
    (preflight, "preflight log of NVSentinel"),
)

FORMATS: tuple[Format, ...] = (
    *(Format(one.KIND, title, one.sniff, one.read) for one, title in _TITLES),
    Format(perftest.BANDWIDTH_KIND, "perftest bandwidth", perftest.sniff_bandwidth, perftest.read_bandwidth),
    Format(perftest.LATENCY_KIND, "perftest latency", perftest.sniff_latency, perftest.read_latency),
)

SUMMARIES: dict[str, Callable[[Any], dict[str, Any]]] = {
    **{one.KIND: one.summarise for one, _ in _TITLES},
    perftest.BANDWIDTH_KIND: perftest.summarise_bandwidth,
    perftest.LATENCY_KIND: perftest.summarise_latency,
}
