"""Workload brief: the nine fields, with model, data path, target utilisation and the reason for a cluster (B1, B4).

Every field may be missing: an incomplete brief is a verdict of the review, not an error of the file.
"""

from __future__ import annotations

from enum import StrEnum

from fourplane.spec.types import Count, Duration, Flag, Model, Number, Power, Share, Size, Text

__all__ = [
    "Brief", "BusinessDenominator", "DataPath", "ModelFacts", "NetworkSensitivity", "NodeShapeWish",
    "OwnershipBoundary", "ScaleShape", "StorageSensitivity", "WhyCluster", "WorkloadType",
]  # fmt: skip


class WorkloadType(StrEnum):
    """What runs on the cluster."""

    PRE_TRAINING = "pre-training"
    FINE_TUNING = "fine-tuning"
    BATCH_INFERENCE = "batch-inference"
    ONLINE_INFERENCE = "online-inference"
    EMBEDDINGS = "embeddings"
    SEARCH = "search"
    MEDIA_GENERATION = "media-generation"
    SIMULATION = "simulation"
    NOTEBOOKS = "notebooks"


class ScaleShape(StrEnum):
    """How far one job reaches."""

    ONE_NODE = "one-node"
    MULTI_NODE_SYNCHRONOUS = "multi-node-synchronous"
    SHARDED_INFERENCE = "sharded-inference"
    BATCH_QUEUE = "batch-queue"
    MIXED = "mixed"


class BusinessDenominator(StrEnum):
    """What money is divided by."""

    TRAINING_RUN = "completed-training-run"
    INFERENCE_RESULT = "accepted-inference-result"
    UTILISED_GPU_HOUR = "utilised-gpu-hour"
    RESERVED_GPU_MONTH = "reserved-gpu-month"


class WhyCluster(StrEnum):
    """Need that only a cluster meets; ``none`` says that model output alone would do (P0)."""

    OWN_WEIGHTS = "own-weights"
    PLACEMENT_CONTROL = "placement-control"
    LONG_TRAINING = "long-training"
    PRIVATE_SERVING = "private-serving"
    NONE = "none"


class ModelFacts(Model):
    """Model to be trained or served; ``parameters_billion`` counts all parameters, in 10^9."""

    name: Text | None = None
    parameters_billion: Number | None = None
    precision: Text | None = None
    licence: Text | None = None


class DataPath(Model):
    """Way of the data: where it starts, where GPUs read it, where results go."""

    source: Text | None = None
    node: Text | None = None
    output: Text | None = None


class NodeShapeWish(Model):
    """Node shape that the workload asks for; the shape in a pool is what answers it."""

    gpus: Count | None = None
    gpu_memory: Size | None = None
    cpu_cores: Count | None = None
    memory: Size | None = None
    nvme: Size | None = None
    nics: Count | None = None
    power: Power | None = None


class NetworkSensitivity(Model):
    """What the workload asks of the network; ``latency`` is the largest tolerable small-message latency."""

    all_reduce: Flag | None = None
    latency: Duration | None = None
    placement_group: Flag | None = None
    isolation: Text | None = None
    egress_path: Text | None = None


class StorageSensitivity(Model):
    """What the workload asks of storage; ``recovery_time`` runs from a lost node to the next step."""

    dataset_size: Size | None = None
    weights_size: Size | None = None
    checkpoint_interval: Duration | None = None
    recovery_time: Duration | None = None
    filesystem: Text | None = None
    object_store_region: Text | None = None


class OwnershipBoundary(Model):
    """Who owns what; a person, a team, or the provider by name."""

    drivers: Text | None = None
    images: Text | None = None
    scheduler_policy: Text | None = None
    telemetry: Text | None = None
    support: Text | None = None
    upgrades: Text | None = None
    access: Text | None = None
    incidents: Text | None = None


class Brief(Model):
    """One page, before any hardware is chosen."""

    workload: WorkloadType | None = None
    frameworks: tuple[Text, ...] = ()
    target_gpus: tuple[Text, ...] = ()
    node_shape: NodeShapeWish | None = None
    scale: ScaleShape | None = None
    max_job_nodes: Count | None = None
    network: NetworkSensitivity | None = None
    storage: StorageSensitivity | None = None
    ownership: OwnershipBoundary | None = None
    denominator: BusinessDenominator | None = None
    model: ModelFacts | None = None
    data_path: DataPath | None = None
    target_utilisation: Share | None = None
    why_cluster: tuple[WhyCluster, ...] = ()
