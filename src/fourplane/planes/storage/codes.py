"""Codes of the storage plane's rules."""

from __future__ import annotations

from fourplane.base.codes import define

__all__: list[str] = []

_MLPERF = "https://github.com/mlcommons/storage"
_DCP = "https://pytorch.org/docs/stable/distributed.checkpoint.html"

define(
    "checkpoint-stall-too-long",
    "Writing a checkpoint takes longer than training may stall",
    "While a synchronous checkpoint is written all GPUs wait. Size divided by write throughput is that wait; an "
    "asynchronous writer hides it only while host memory holds the copy and the next one is not due.",
    "Ask for more write throughput, shard wider, write less often, or declare an asynchronous writer's real stall.",
    _DCP,
    "S2",
)
define(
    "checkpoint-size-implausible",
    "The checkpoint is smaller than the model implies",
    "A checkpoint that training can resume from holds FP32 weights and two moments of Adam: 12 to 14 bytes for each "
    "parameter. A smaller one is weights only, or the throughput is sized on the wrong figure.",
    "Correct storage.checkpoints.size, or say by which optimizer or adapter it is smaller.",
    _MLPERF,
    "S1",
)
define(
    "checkpoint-interval-too-short",
    "The next checkpoint is due before the last one is written",
    "Writes that overlap pile up in host memory until it is full, and then stop training for as long as they were "
    "late.",
    "Lengthen storage.checkpoints.interval, or write faster.",
    _DCP,
    "S2",
)
define(
    "restore-too-slow",
    "Reading a checkpoint back takes longer than recovery may",
    "After a lost node every rank reads its shards before the first step; the read time is a floor under recovery "
    "time, "
    "to which detection, rescheduling and start-up are added.",
    "Ask for more read throughput, keep the newest checkpoint on local NVMe, or set a longer target.",
    _DCP,
    "S2",
)
define(
    "staging-misses-deadline",
    "Staging the dataset takes longer than its deadline",
    "Until the data is on the node, the GPUs are paid for and idle; size divided by throughput is the least time.",
    "Ask for more throughput, stage earlier or in parts, or keep the dataset on the node.",
    _MLPERF,
    "S1",
)
define(
    "weights-load-too-slow",
    "Loading the weights takes longer than the declared load time",
    "A new replica serves after its weights are read; that time is the floor under scale-up and failover.",
    "Cache the weights on local NVMe, read from a faster place, or set a longer load time.",
    "https://docs.vllm.ai/en/latest/models/extensions/runai_model_streamer.html",
    "S2",
)
define(
    "gds-decision-without-figure",
    "GPUDirect Storage is decided without a figure",
    "Whether the path from storage to GPU needs it depends on a rate; a decision without one can't be checked later.",
    "Give the rate that the decision rests on in storage.gds.figure.",
    "https://docs.nvidia.com/gpudirect-storage/",
    "S3",
)
define(
    "backup-in-same-place",
    "The backup lies where the data lies",
    "What destroys the place, a failed file system, a deleted volume, an unpaid bill, takes the backup with it.",
    "Put the backup in another system, better in another region.",
    "",
    "S4",
)
define(
    "shared-scratch-without-cleanup",
    "Several teams share scratch space, and nothing cleans it",
    "What a job leaves behind fills the disk of the next one, and can be read by it: a full disk for one team, a "
    "leak for the other.",
    "Declare storage.cleanup: epilog, ephemeral volumes, or a wipe between tenants.",
    "https://slurm.schedmd.com/prolog_epilog.html",
    "S4",
)
