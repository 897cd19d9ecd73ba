"""The vocabulary of metrics: every name that an observation may carry, with unit and meaning.

Probes write these names, planes and review read them; a name outside this table is refused on entry.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["METRICS", "Metric", "metric"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: name (its first word is the plane), unit ("" for text, flags and counts), meaning."""

    name: str
    unit: str
    meaning: str

    @property
    def plane(self) -> str:
        """Return the plane: compute, network, storage or control."""
        return self.name.split(".", 1)[0]


_TABLE = """
compute.cpu.model                  |       | CPU model name
compute.cpu.architecture           |       | instruction set, as uname -m
compute.cpu.sockets                |       | CPU packages
compute.cpu.cores                  |       | physical cores on line
compute.cpu.threads                |       | logical CPUs on line
compute.numa.nodes                 |       | NUMA nodes
compute.memory.total               | B     | memory that the kernel manages (MemTotal)
compute.memory.swap                | B     | swap space
compute.gpu.count                  |       | GPUs that the vendor's tool reports; 0 when the tool reports none, absent without a tool
compute.gpu.pci                    |       | display controllers and accelerators on the PCI bus, with driver, link and NUMA node
compute.gpu.model                  |       | product name, one per gpu: subject, and the list of different ones on the node
compute.gpu.memory                 | B     | memory of one GPU
compute.gpu.mig                    |       | MIG mode of one GPU: Enabled, Disabled, or [N/A]
compute.gpu.topology               |       | matrix of link classes between GPUs and NICs
compute.gpu.driver                 |       | GPU driver version
compute.gpu.power_limit            | W     | enforced power limit of one GPU
compute.gpu.ecc_uncorrected        |       | volatile uncorrected ECC errors of one GPU
compute.cuda.version               |       | newest CUDA that the driver supports
compute.cuda.toolkit               |       | CUDA toolkit installed on the node
compute.nccl.version               |       | NCCL library found on the node
compute.os.image                   |       | operating system, name and version
compute.kernel.version             |       | kernel release
compute.container.runtime          |       | container runtimes on PATH with version
compute.container.toolkit          |       | NVIDIA container toolkit version
network.nic.count                  |       | physical network interfaces
network.nic.speed                  | b/s   | link speed of one interface, on subject nic:
network.nic.devices                |       | interfaces with driver, speed, state and NUMA node
network.rdma.devices               |       | RDMA devices with port state and rate
network.fabric.kind                |       | what the RDMA ports say: infiniband, roce, efa; ethernet without RDMA
network.gpudirect.modules          |       | kernel modules for GPUDirect RDMA, GDRCopy and GPUDirect Storage that are loaded
network.allreduce.world_size       |       | ranks that really formed one world
network.allreduce.wrong            |       | elements that came out wrong
network.allreduce.latency          | us    | time of one 8-byte all-reduce
network.allreduce.busbw_peak       | GB/s  | largest bus bandwidth over all sizes, 2(n-1)/n * bytes / time
network.allreduce.curve            |       | per size: bytes, time_us, algbw_gbps, busbw_gbps, iterations, wrong
network.allreduce.transport        |       | what carried the data: nvlink, nvls, ib, roce, efa, socket, shm
storage.local.devices              |       | block devices with size, kind and model
storage.local.nvme_total           | B     | sum of the NVMe devices
storage.scratch.filesystem         |       | file system type under the scratch folder
storage.scratch.free               | B     | free space under the scratch folder
storage.scratch.clean              |       | true when nothing of the probe was left behind
storage.staging.source             |       | where the dataset came from: directory or object store
storage.staging.throughput         | MB/s  | bytes copied from source to scratch per second, fsync included
storage.staging.file_rate          | 1/s   | files copied per second
storage.checkpoint.write_throughput| MB/s  | sharded checkpoint write with fsync
storage.checkpoint.stall           | s     | time a training step waits for one checkpoint
storage.checkpoint.restore_throughput| MB/s | reading the checkpoint back, cold cache, verified
storage.checkpoint.restore_verified|       | true when every shard's hash was right
storage.checkpoint.crash_consistent|       | true when a writer killed in mid-write left the last good checkpoint restorable
storage.checkpoint.recovery        | s     | from the kill to the last good checkpoint verified in memory
storage.weights.cold_throughput    | MB/s  | reading weights after the page cache was dropped for them
storage.weights.warm_throughput    | MB/s  | reading the same weights again
storage.io.sequential_write        | MB/s  | 1 MiB blocks, direct I/O
storage.io.sequential_read         | MB/s  | 1 MiB blocks, direct I/O
storage.io.random_read             | 1/s   | 4 KiB random reads, direct I/O
storage.io.random_read_p99         | us    | 99th percentile of one such read
storage.io.random_write            | 1/s   | 4 KiB random writes, direct I/O
control.scheduler.kind             |       | schedulers that answered a query from the node; a client tool alone is none
control.slurm.version              |       | Slurm version found
control.kubernetes.version         |       | kubelet or kubectl version found
control.clock.offset               | s     | offset to the time source, where one answers
"""


def _parse() -> dict[str, Metric]:
    rows = (line.split("|") for line in _TABLE.strip().splitlines())
    table = {}
    for name, unit, meaning in rows:
        table[name.strip()] = Metric(name.strip(), unit.strip(), meaning.strip())
    return table


METRICS: dict[str, Metric] = _parse()


def metric(name: str) -> Metric:
    """Return the metric of that name.

    Raises:
        KeyError: the name is not in the vocabulary.
    """
    return METRICS[name]
