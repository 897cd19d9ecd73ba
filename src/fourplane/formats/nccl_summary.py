"""What a person looks for in the logs of nccl-tests and of NCCL itself."""

from __future__ import annotations

from typing import Any

from fourplane.formats.model import Reading, Status
from fourplane.formats.nccl_log import Transports
from fourplane.formats.nccl_model import NcclRun

__all__ = ["path_facts", "summarise", "summarise_run"]

MAX_NAMED = 100
MAX_CURVE = 1_000


def summarise(reading: Reading[NcclRun]) -> dict[str, Any]:
    """Return the figures of a log: ``op, ranks, nodes, gpu, version, peak_busbw_gbps, …``; None: it does not say.

    A log with several results has them under ``runs``; above, only what all of them share stays, and the peak of all
    of them where they ran the same collective.
    """
    runs = [summarise_run(run) for run in reading.records]
    if not runs:
        return {}
    if len(runs) == 1:
        return runs[0]
    shared = {key: value if all(run[key] == value for run in runs) else None for key, value in runs[0].items()}
    best = max(runs, key=lambda run: run["peak_busbw_gbps"] or 0.0)
    alike = shared["op"] is not None and shared["ranks"] is not None
    # bandwidths of different collectives or worlds have no common peak
    shared |= {key: best[key] if alike else None for key in ("peak_busbw_gbps", "peak_size_bytes")}
    shared["reported_avg_gbps"] = None
    counts = [run["wrong"] for run in runs]
    shared["wrong"] = sum(counts) if None not in counts else None
    shared["rows"] = reading.count
    return {**shared, "runs": runs}


def summarise_run(run: NcclRun) -> dict[str, Any]:
    """Return the figures of one run."""
    peak = run.peak
    meant = run.status is not Status.NOT_ONE_WORLD
    return {
        "op": run.op or None,
        "op_stated": run.op_stated,
        "ranks": run.world_size if meant else None,
        "ranks_by_ratio": run.implied_world_size if meant else None,
        "nodes": run.node_count if meant else None,
        "gpu": ", ".join(run.gpu_models) or None,
        "version": run.library_version or None,
        "tests_version": run.version or None,
        "peak_busbw_gbps": peak.busbw if peak else None,
        "peak_size_bytes": peak.size if peak else None,
        "wrong": run.wrong if meant else None,
        "reported_avg_gbps": run.average_busbw,
        "rows": len(run.rows),
        "curve": _curve(run),
        "min_bytes": run.settings.get("minBytes"),
        "max_bytes": run.settings.get("maxBytes"),
        "cpu_time": run.cpu_time,
        **path_facts(run.transports),
    }


def _curve(run: NcclRun) -> list[dict[str, Any]]:
    """Return bandwidth and time by size; empty where the table holds no bandwidth."""
    if run.cpu_time or run.status is Status.NOT_ONE_WORLD:
        return []
    return [
        {
            "bytes": row.size,
            "busbw_gbps": row.busbw,
            "algbw_gbps": row.out_of_place.algbw,
            "time_us": row.out_of_place.time_us,
        }
        for row in run.rows[:MAX_CURVE]
    ]


def path_facts(log: Transports) -> dict[str, Any]:
    """Return what NCCL's own log says about the paths: transport, network, devices, GPUDirect RDMA, pinned settings."""
    direct, staged = log.net_channels
    return {
        "transport": log.word,
        "network": log.network or None,
        "plugin": log.plugin or None,
        "provider": log.provider or None,
        "bootstrap": log.bootstrap or None,
        "nics": log.hcas[:MAX_NAMED],
        "gid_index": min(log.gid_indices) if len(log.gid_indices) == 1 else None,
        # of channels over a network: all with GPUDirect RDMA, or at least one through host memory
        "gdrdma": None if direct + staged == 0 else staged == 0,
        "channels": dict(list(log.channels.items())[:MAX_NAMED]),
        "nvls": "nvls" in log.kinds,
        "collnet": "collnet" in log.kinds,
        "env": dict(list(log.env.items())[:MAX_NAMED]),
    }
