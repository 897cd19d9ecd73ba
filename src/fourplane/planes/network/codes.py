"""Codes of the network plane's rules."""

from __future__ import annotations

from fourplane.base.codes import define

__all__: list[str] = []

_NCCL_ENV = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_NCCL_TESTS = "https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md"
_RDMA = "https://docs.nvidia.com/cuda/gpudirect-rdma/"
_SLURM_TOPOLOGY = "https://slurm.schedmd.com/topology.html"

define(
    "fabric-missing-for-nodes",
    "A job spans nodes, and no fabric is declared between them",
    "With fabric kind `none` nothing leaves the node; a job over several nodes would fall back to whatever network is "
    "there, which nobody sized or tested.",
    "Declare network.fabric.kind and its NICs, or keep jobs on one node.",
    _NCCL_TESTS,
    "N1",
)
define(
    "synchronous-over-ethernet",
    "Synchronous training over plain Ethernet",
    "Every step ends in an all-reduce that all ranks wait for. Over TCP sockets each byte passes through the host's "
    "kernel and memory: bandwidth is a fraction of the link's, latency is many times that of RDMA, and all GPUs idle "
    "for "
    "the difference on every step.",
    "Use InfiniBand, RoCE or EFA between nodes of one job, or keep the job on one node.",
    _NCCL_ENV,
    "N1",
)
define(
    "synchronous-without-gpudirect",
    "Synchronous training without GPUDirect RDMA",
    "Without it each message is copied from GPU to host memory before the NIC reads it, and again on the other side; "
    "the "
    "copies share PCIe and memory bandwidth with data loading and bound the fabric below its wire rate.",
    "Ask for GPUDirect RDMA (dma-buf), and prove it with all_reduce across two nodes.",
    _RDMA,
    "N1",
)
define(
    "gpudirect-contradiction",
    "GPUDirect RDMA is declared on a fabric whose NICs do not do it",
    "One of the two statements is wrong; which, decides whether messages pass through host memory.",
    "Correct network.fabric.gpudirect_rdma or gpu_direct of the NICs.",
    _RDMA,
    "N1",
)
define(
    "synchronous-oversubscribed",
    "Synchronous training over an oversubscribed fabric",
    "At N:1 the spine carries one N-th of what the leaves can send. An all-reduce over several leaves runs at the "
    "spine's "
    "share, and other jobs' traffic makes step times vary, while all ranks wait for the slowest.",
    "Ask for 1:1 within one job's placement, or hold jobs under one leaf by topology-aware placement.",
    _SLURM_TOPOLOGY,
    "N1",
)
define(
    "placement-not-guaranteed",
    "Nothing guarantees that a job's nodes are near each other",
    "Nodes of one job spread over the fabric cross more switches and share more links: the same job has another step "
    "time on each start, and an acceptance test on one placement says little of the next.",
    "Name the placement promise: placement group, block, rail-optimised unit, or topology-aware scheduling.",
    _SLURM_TOPOLOGY,
    "N1",
)
define(
    "rails-differ-from-nics",
    "Rails and network interfaces of a node do not match",
    "In a rail-optimised fabric NIC i of every node is on rail i. A rail without a NIC is paid for in vain; a NIC "
    "without "
    "a rail sends its GPU's traffic over another one's.",
    "Make network.fabric.rails equal to the scale-out NICs of the node; give storage and management NICs their role.",
    _NCCL_ENV,
    "N1",
)
define(
    "nics-shared-unevenly",
    "GPUs and scale-out interfaces do not divide evenly",
    "NCCL gives each GPU its nearest NIC. When GPUs and NICs do not divide, one NIC serves more GPUs than another, and "
    "a collective runs at the pace of the fullest one.",
    "Choose a shape with one NIC a GPU, or a whole number of GPUs to each NIC.",
    _NCCL_ENV,
    "C3",
)
define(
    "nic-kind-differs",
    "The interfaces do not speak the fabric's protocol",
    "An InfiniBand port does not come up on an Ethernet switch, nor the other way round, unless the port is configured "
    "for it; RoCE runs on Ethernet ports.",
    "Correct the kind of the NICs or of network.fabric.",
    "https://docs.nvidia.com/networking/",
    "N1",
)
define(
    "sharp-without-infiniband",
    "Reduction in the switches is declared on a fabric without it",
    "SHARP is done by InfiniBand switches. On RoCE, EFA and Ethernet, all_reduce runs as ring or tree, and a bandwidth "
    "sized with SHARP is not reached.",
    "Set network.fabric.sharp to false and size without it, or choose InfiniBand with SHARP.",
    "https://docs.nvidia.com/networking/display/sharpv300",
    "N1",
)
define(
    "overlay-under-rdma",
    "Containers reach an RDMA fabric through an overlay network",
    "An overlay wraps packets in software and has no RDMA device: the job in the container falls back to sockets, "
    "while "
    "the same test on the host looks fine.",
    "Give pods the RDMA devices through the host network, SR-IOV, macvlan or DRA.",
    "https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin",
    "N2",
)
define(
    "small-nodes-for-synchronous",
    "Many small nodes do the work of one large node",
    "Eight nodes of one GPU are not a node of eight: inside a node GPUs talk over NVLink or the like, between nodes "
    "over "
    "NICs that carry a fraction of it, so every step pays the difference.",
    "Choose nodes with eight GPUs for synchronous jobs, or show by all_reduce on the small shape that the step can "
    "bear it.",
    _NCCL_TESTS,
    "C3",
)
define(
    "inter-node-price",
    "What leaving the node costs on this shape",
    "The link inside the node is faster than a GPU's share of the NICs; the ratio is the price of each byte that a "
    "parallel plan sends between nodes. Keep tensor parallelism inside the node, let data or pipeline parallelism "
    "cross.",
    "Nothing to mend: hold the parallel plan against it.",
    _NCCL_TESTS,
    "C3",
)
define(
    "rail-mapping-undefined",
    "Rails are declared, and nothing says which NIC is on which",
    "NCCL keeps traffic on a rail as long as NIC i of every node hangs on the same switch. One cable swapped between "
    "two rails sends that pair over the spine: the job runs, slower, and no link is down.",
    "State network.fabric.rail_mapping, and have the provider show it (ibnetdiscover, LLDP) at hand-over.",
    _NCCL_ENV,
    "N1",
)
define(
    "failure-domain-undefined",
    "Nobody named what fails together",
    "A switch, a rack or a power feed takes all its nodes at once. Spares, placement and checkpoints are sized on one "
    "lost node, unless it is known which nodes share a fate.",
    "State network.fabric.failure_domains, and keep a spare outside of each.",
    _SLURM_TOPOLOGY,
    "N1",
)
define(
    "fabric-without-owner",
    "The fabric has no owner",
    "A flapping link or a bad optic shows as a slow job of somebody else; without an owner the search begins anew "
    "each time, between tenant, platform team and provider.",
    "Name network.fabric.owner: who watches counters, swaps optics and answers at night.",
    "https://docs.nvidia.com/networking/",
    "N1",
)
define(
    "fabric-unobserved",
    "The operator can't see what the fabric suffers",
    "Symbol errors, link flaps and congestion halve a collective long before anything is down. Without counters and "
    "retransmits a slow job can't be told from a slow fabric.",
    "Have the provider export port counters and congestion, and list them in network.fabric.visibility.",
    "https://docs.nvidia.com/networking/display/ufmenterpriseumlatest",
    "N1",
)
define(
    "border-without-owner",
    "A border that requests cross has no owner",
    "DNS, ingress, mesh, node, rack and egress each add latency and each can refuse; a border without an owner is "
    "measured by nobody and mended by nobody.",
    "Name the owner of each entry in network.borders.",
    "https://kubernetes.io/docs/concepts/services-networking/",
    "N5",
)
define(
    "nic-rate-below-published",
    "GPUs have less than half of the NIC rate that published nodes have",
    "The share of the NICs is the ceiling of every byte that leaves the node. At half of the usual share a step that "
    "is bound by all-reduce takes twice as long, at the same price for the GPUs.",
    "Ask for the usual NICs of this GPU, or show by all_reduce on the small shape that the step can bear it.",
    _NCCL_TESTS,
    "C3",
)
define(
    "allreduce-target-implausible",
    "The target of all-reduce lies above everything that was published",
    "A gate that no such cluster has ever passed fails good hardware, and is then waived: shipped gates for the same "
    "two nodes differ eightfold. Bus bandwidth depends on nodes, transport and size.",
    "Set targets.all_reduce_busbw from a published figure of the same case less a tolerance; `fourplane explain "
    "all_reduce` lists them.",
    _NCCL_TESTS,
    "N2",
)
define(
    "placement-wish-unanswered",
    "The brief asks for a placement group, and the fabric promises none",
    "A placement group is a promise of the provider; what is only wished for is placed anew at each start.",
    "State network.fabric.placement as the provider promises it, or drop the wish from the brief.",
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html",
    "N1",
)
