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
_COMPATIBILITY = "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html"
_MIG = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/"
_BLACKWELL = "https://docs.nvidia.com/cuda/blackwell-compatibility-guide"

define(
    "driver-too-old-for-cuda",
    "The driver is older than the CUDA release needs",
    "Within one major release of CUDA any driver from its least branch on will do; below it the runtime refuses to "
    "start with 'CUDA driver version is insufficient', on every node that has the old driver.",
    "Raise the driver to the branch named, or keep images on the older CUDA release.",
    _COMPATIBILITY,
    "C4",
)
define(
    "cuda-too-old-for-gpu",
    "The CUDA release has no code for the GPU",
    "A toolkit compiles for the architectures it knows. On a newer GPU its libraries find no kernel image; what "
    "carries PTX is compiled at start, without the new hardware's instructions.",
    "Use the CUDA release named, or a newer one, in node images and in the production container.",
    _BLACKWELL,
    "C4",
)
define(
    "nccl-too-old-for-gpu",
    "The NCCL release does not know the GPU",
    "NCCL ships compiled kernels and tuning tables for each architecture, and learns of larger NVLink domains release "
    "by release; an older one fails at initialisation or falls back to a slow path.",
    "Use the NCCL release named, or a newer one; mind that the framework brings its own copy.",
    "https://docs.nvidia.com/deeplearning/nccl/release-notes/",
    "C4",
)
define(
    "framework-too-old-for-gpu",
    "The framework's release has no code for the GPU",
    "The wheels of a framework carry kernels for the architectures of the CUDA release they were built with; on a "
    "newer GPU the first operation ends with 'no kernel image is available'.",
    "Move to the release named, built with a CUDA release that knows the GPU, or build it from source.",
    "https://pytorch.org/get-started/previous-versions/",
    "C4",
)
define(
    "mig-driver-too-old",
    "The driver is older than MIG on this GPU needs",
    "MIG is a function of the driver; on an older branch the mode can't be switched on, and nodes come up with whole "
    "GPUs that no queue asks for.",
    "Raise the driver to the branch named.",
    _MIG,
    "A2",
)
define(
    "nccl-version-undefined",
    "Driver and CUDA have a release, NCCL has none",
    "Three copies of NCCL meet in one job: the node's, the container's and the framework's. Collectives between "
    "different ones hang or slow down, and a measured bandwidth without its release can't be compared with anything.",
    "State lifecycle.nccl.version, and hold it against what the production container loads.",
    "https://docs.nvidia.com/deeplearning/nccl/release-notes/",
    "C4",
)
define(
    "rollback-undefined",
    "Nothing says how to go back from a bad driver or image",
    "A driver or image that breaks collectives shows after it reached all nodes. Without a kept image the way back is "
    "a rebuild, while every GPU idles.",
    "State rollback for driver and os_image: the previous image, and how long it is kept.",
    "https://docs.nvidia.com/datacenter/tesla/drivers/index.html",
    "C4",
)
define(
    "replacement-undefined",
    "Nothing says how soon a dead node is replaced",
    "At a few failures for each thousand node-days a pool of a hundred nodes loses one every few days; without a "
    "spare or a promised time, capacity and the largest possible job shrink for as long as the repair takes.",
    "State replacement.time and spares in the pool, and have the provider promise both.",
    "https://arxiv.org/abs/2407.21783",
    "C4",
)
define(
    "interconnect-contradicts-board",
    "The interconnect does not exist on these boards",
    "SXM and OAM boards sit on a baseboard whose links join all GPUs; PCIe cards have none of it, at most a bridge "
    "between pairs. One of the two statements is wrong, and every plan for tensor parallelism rests on it.",
    "Correct gpu.interconnect or gpu.form_factor, here and in the quote.",
    _ML_ENGINEERING,
    "C1",
)
define(
    "homogeneity-contradiction",
    "Nodes differ in a pool that is declared homogeneous",
    "A synchronous job runs at the pace of its slowest node and is sharded for the smallest memory; a scheduler that "
    "takes all nodes for equal will mix them.",
    "Set homogeneous to false and give the odd nodes a pool or a feature of their own, or replace them.",
    "https://slurm.schedmd.com/slurm.conf.html#OPT_Features",
    "C1",
)
define(
    "node-shape-below-brief",
    "No pool has the node that the brief asks for",
    "The brief says what one node must hold for the workload; a pool below it needs more nodes a job, offload, or "
    "another plan, and what was sized on the brief no longer holds.",
    "Ask for a larger node, or correct the brief and size again.",
    _ML_ENGINEERING,
    "C3",
)
define(
    "no-link-between-gpus",
    "A model is spread over GPUs that only have PCIe between them",
    "Tensor parallelism exchanges activations several times in every layer. PCIe moves a tenth or less of what NVLink "
    "does, through the host's root complex, so the GPUs wait for each other on each token or step.",
    "Use boards with NVLink or Infinity Fabric for this model, a smaller precision that fits one GPU, or pipeline "
    "parallelism with its bubbles.",
    _ML_ENGINEERING,
    "C3",
)
define(
    "gpus-split-unevenly",
    "GPUs and NUMA nodes do not divide evenly",
    "Each GPU is attached to one NUMA node; where they do not divide, some sockets feed more GPUs than others, and "
    "ranks bound to the nearest cores have unequal shares of cores and memory bandwidth.",
    "Check the topology matrix of the node; correct cpu.numa_nodes, or bind ranks by hand.",
    "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html",
    "C1",
)
