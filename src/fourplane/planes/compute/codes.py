"""Codes of the compute plane's rules."""

from __future__ import annotations

from fourplane.base.codes import define

__all__: list[str] = []

_ML_ENGINEERING = "https://github.com/stas00/ml-engineering/tree/master/compute/accelerator"

define(
    "gpu-model-ambiguous",
    "A GPU name stands for several boards",
    "SXM, PCIe and NVL boards of one name differ in memory, bandwidth, power and link, and most of all in how they "
    "talk "
    "to each other; a provider may deliver any of them against the bare name.",
    "State form_factor beside the model, here and in every quote.",
    _ML_ENGINEERING,
    "C1",
)
define(
    "gpu-form-factor-unknown",
    "No board of this GPU has that form factor",
    "The catalogue knows the model, but on other boards only; either the model or the form factor is a slip, and every "
    "derived figure would rest on it.",
    "Correct the model or the form factor.",
    _ML_ENGINEERING,
    "C1",
)
define(
    "gpu-memory-differs",
    "The declared GPU memory is not that of the board",
    "Memory decides what fits on one GPU; a wrong figure makes a sharding plan that fails at the first step.",
    "Correct gpu.memory, or name the board that has it.",
    _ML_ENGINEERING,
    "C1",
)
define(
    "gpu-memory-too-small",
    "The model does not fit into the GPUs of one job",
    "Serving needs the weights (parameters × bytes of the precision); training in mixed precision with Adam keeps 16 "
    "to "
    "18 bytes for each parameter: weights, gradients, an FP32 copy and two moments. Activations come on top. What does "
    "not fit is an out-of-memory error, or offload at the speed of PCIe.",
    "Use more GPUs a job, GPUs with more memory, a smaller precision, or a method that keeps less state.",
    "https://arxiv.org/abs/1910.02054",
    "C3",
)
define(
    "precision-unsupported",
    "The GPU has no arithmetic in the model's precision",
    "Without hardware for the precision, weights are expanded before each product: memory is saved, speed is not, and "
    "capacity sized on the small precision is short by a factor of two or more.",
    "Choose a GPU with that precision, or size on the precision the GPU computes in.",
    _ML_ENGINEERING,
    "C3",
)
define(
    "host-memory-below-gpu-memory",
    "Host memory is smaller than the GPU memory of the node",
    "Checkpoints are gathered in host memory before they are written, weights pass through it on loading, and pinned "
    "buffers can't be swapped; below the GPU memory in sum, saving and loading go in pieces or kill the process.",
    "Ask for host memory of at least the GPU memory of the node, better twice.",
    "https://pytorch.org/docs/stable/distributed.checkpoint.html",
    "C3",
)
define(
    "cpu-cores-too-few",
    "Too few CPU cores for the GPUs",
    "Each GPU keeps a training process, data loaders, a NCCL proxy thread and its share of the driver busy; when cores "
    "are short, GPUs wait for batches and for kernel launches. The bound is half of what published nodes with this GPU "
    "have, or 4 cores where none is known.",
    "Ask for more physical cores a GPU, or move decoding and augmentation off the node.",
    "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html",
    "C3",
)
define(
    "nvme-too-small",
    "Local NVMe is missing, or too small for what is staged on it",
    "A dataset that is staged once is read many times at local speed; without room, every epoch reads the remote store "
    "and the GPUs wait for the network. Weight caches and container images need local room as well.",
    "Ask for local NVMe that holds the staged dataset, or declare that the job streams and at which rate.",
    "https://github.com/mlcommons/storage",
    "C3",
)
define(
    "node-power-too-low",
    "The node's power is below what its GPUs alone draw",
    "Power limits are enforced by lowering clocks: the GPUs run, but slower than sized, and the loss shows in no "
    "utilisation graph.",
    "Ask for the node's maximum power, and for the enforced limit of each GPU.",
    _ML_ENGINEERING,
    "C3",
)
define(
    "job-larger-than-pool",
    "The largest job needs more nodes than any pool has",
    "A synchronous job starts when all its nodes are free at once; with fewer nodes than it needs it waits for ever.",
    "Raise the pool's count, or lower brief.max_job_nodes.",
    "https://slurm.schedmd.com/sbatch.html",
    "C3",
)
define(
    "target-gpu-absent",
    "No pool has the GPU that the brief asks for",
    "Everything sized for the target GPU, from memory to time to train, does not hold on another one.",
    "Declare a pool with the target GPU, or change brief.target_gpus and size again.",
    "",
    "B1",
)
define(
    "stand-in-proves-no-gpu",
    "Only a stand-in pool is declared",
    "A stand-in machine proves the path: probes, storage, review, report. About the target GPU, its links and its "
    "fabric "
    "it proves nothing.",
    "Rent a slice of the target shape and run `fourplane prove` there.",
    "",
    "B2",
)
define(
    "lifecycle-owner-missing",
    "Driver, CUDA or OS image have no owner",
    "Driver, CUDA, NCCL and framework work in tested combinations; without an owner, one node is upgraded alone and "
    "the "
    "next multi-node job hangs or slows down.",
    "Name an owner for driver, cuda and os_image in the pool's lifecycle.",
    "https://docs.nvidia.com/deploy/cuda-compatibility/",
    "C4",
)
define(
    "end-of-support",
    "A component's support ends",
    "After the end of support security fixes stop, and the next CUDA or framework drops the version: an upgrade "
    "forced at "
    "a bad moment.",
    "Plan the upgrade, with rollback, before that day.",
    "https://docs.nvidia.com/datacenter/tesla/drivers/index.html",
    "C4",
)
