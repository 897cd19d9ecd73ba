"""Slurm: accounting, queue, nodes and configuration, as its tools and its API print them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fourplane.formats.model import Format
from fourplane.formats.slurm import (
    codes,
    conf,
    jobstats,
    others,
    rest_jobs,
    rest_nodes,
    sacct,
    sacct_summary,
    sacctmgr,
    scontrol_config,
    scontrol_job,
    scontrol_node,
    scontrol_partition,
    sinfo,
    sinfo_summary,
    squeue,
)

__all__ = ["FORMATS", "SUMMARIES", "codes"]

FORMATS: tuple[Format, ...] = (
    Format(sacct.KIND, "sacct", sacct.sniff, sacct.read),
    Format(squeue.KIND, "squeue", squeue.sniff, squeue.read),
    Format(sinfo.KIND, "sinfo", sinfo.sniff, sinfo.read),
    Format(sacctmgr.KIND, "sacctmgr show", sacctmgr.sniff, sacctmgr.read),
    Format(scontrol_job.KIND, "scontrol show job", scontrol_job.sniff, scontrol_job.read),
    Format(scontrol_node.KIND, "scontrol show node", scontrol_node.sniff, scontrol_node.read),
    Format(scontrol_partition.KIND, "scontrol show partition", scontrol_partition.sniff, scontrol_partition.read),
    Format(scontrol_config.KIND, "scontrol show config", scontrol_config.sniff, scontrol_config.read),
    Format(rest_jobs.KIND, "jobs of Slurm as JSON", rest_jobs.sniff, rest_jobs.read),
    Format(rest_nodes.KIND, "nodes of Slurm as JSON", rest_nodes.sniff, rest_nodes.read),
    Format(conf.SLURM_KIND, "slurm.conf", conf.sniff_slurm, conf.read_slurm),
    Format(conf.GRES_KIND, "gres.conf", conf.sniff_gres, conf.read_gres),
    Format(jobstats.KIND, "blobs of jobstats", jobstats.sniff, jobstats.read),
    Format(
        others.PROVENANCE_KIND, "record of a capture by slurm_exporter", others.sniff_provenance, others.read_provenance
    ),
    Format(others.CASES_KIND, "test cases of TRES strings", others.sniff_cases, others.read_cases),
)

SUMMARIES: dict[str, Callable[[Any], dict[str, Any]]] = {
    sacct.KIND: sacct_summary.summarise,
    squeue.KIND: squeue.summarise,
    sinfo.KIND: sinfo_summary.summarise,
    sacctmgr.KIND: sacctmgr.summarise,
    scontrol_job.KIND: scontrol_job.summarise,
    scontrol_node.KIND: scontrol_node.summarise,
    scontrol_partition.KIND: scontrol_partition.summarise,
    scontrol_config.KIND: scontrol_config.summarise,
    rest_jobs.KIND: rest_jobs.summarise,
    rest_nodes.KIND: rest_nodes.summarise,
    conf.SLURM_KIND: conf.summarise_slurm,
    conf.GRES_KIND: conf.summarise_gres,
    jobstats.KIND: jobstats.summarise,
    others.PROVENANCE_KIND: others.summarise_provenance,
    others.CASES_KIND: others.summarise_cases,
}
