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
define(
    "training-without-checkpoints",
    "Training, and nothing says where its state is kept",
    "A synchronous job loses everything since its last checkpoint when one node fails. Without checkpoints that is "
    "the whole run, and the chance of it grows with nodes and days.",
    "Declare storage.checkpoints with interval, size, place and the tolerated stall.",
    _DCP,
    "S1",
)
define(
    "checkpoint-on-local-disk",
    "Checkpoints lie where a lost node takes them along",
    "Local NVMe is the fastest place and goes with the node. Sharded checkpoints are worth nothing once one shard is "
    "missing, so a single dead node undoes the checkpoint of all.",
    "Write to a shared file system or object store, or copy from local NVMe before the next one is due, and declare "
    "that place.",
    _DCP,
    "S1",
)
define(
    "checkpoint-interval-costly",
    "The checkpoint interval costs far more time than the best one",
    "Short intervals stall training often, long ones lose much work at each failure. The sum is least at the square "
    "root of twice the stall over the failure rate; both ways off it, GPU time is burnt that nobody books.",
    "Set the interval near the figure named; measure the stall and your own failure rate, and correct it.",
    "https://doi.org/10.1145/361147.361115",
    "S2",
)
define(
    "weights-size-implausible",
    "The weights are smaller than the model implies",
    "Parameters times bytes of the precision is what must be read before the first token. Load time, failover and "
    "cache are sized on this figure, and a slip of two or four makes all three too small.",
    "Correct the size, the parameters or the precision; say so where the weights are only adapters.",
    "https://huggingface.co/docs/safetensors/index",
    "S1",
)
define(
    "weights-cache-incomplete",
    "The weight cache leaves out what a start needs as well",
    "A replica that finds its weights and not its tokenizer or compiled engine fetches or builds those at start: "
    "minutes on each scale-up and failover, and a start that fails when the hub is away.",
    "Let storage.weights.covers name base and tuned weights, tokenizer files and engine artefacts.",
    "https://docs.vllm.ai/en/latest/",
    "S5",
)
define(
    "output-incomplete",
    "An output has no place, retention or owner",
    "Results, traces and logs grow without end; what has no retention fills the store, and what has no owner is "
    "deleted by the first who needs room.",
    "Give each entry of storage.outputs its place, retention and owner.",
    "https://kubernetes.io/docs/concepts/cluster-administration/logging/",
    "S5",
)
define(
    "backup-undefined",
    "Weights are made or owned here, and nothing backs them up",
    "Checkpoints protect a run; they lie in the cluster, rotate, and go when the contract ends. A finished model that "
    "exists once is one deleted volume away from being trained again.",
    "Declare storage.backup with a place outside the cluster, and restore one to prove it.",
    "https://csrc.nist.gov/pubs/sp/800/209/final",
    "S4",
)
define(
    "object-store-region-differs",
    "The object store is not in the region that the brief asks for",
    "Between regions each read pays egress and tens of milliseconds, and data may leave the place it is bound to by "
    "contract or law.",
    "Use a bucket in the region of the brief, or correct brief.storage.object_store_region.",
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance-guidelines.html",
    "B1",
)
