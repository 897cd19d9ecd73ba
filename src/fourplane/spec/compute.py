"""Compute plane as declared and as promised: node shapes, pools, life cycle (C1, C4)."""

from __future__ import annotations

from enum import StrEnum

from fourplane.spec.types import BitRate, Count, Day, Duration, Flag, HostList, Model, Name, Power, Rate, Size, Text

__all__ = [
    "Component", "Cpu", "FormFactor", "Gpu", "LifeCycle", "Nic", "NodeEntry", "NodeShape", "Nvme", "Pool",
    "PoolRole", "Replacement", "Sharing",
]  # fmt: skip


class FormFactor(StrEnum):
    """How the GPU sits in the node."""

    SXM = "sxm"
    PCIE = "pcie"
    NVL = "nvl"
    OAM = "oam"
    SUPERCHIP = "superchip"


class Sharing(StrEnum):
    """How one GPU is divided (A2)."""

    WHOLE = "whole-gpu"
    MIG = "mig"
    VGPU = "vgpu"
    TIME_SLICING = "time-slicing"


class PoolRole(StrEnum):
    """What a pool is for."""

    TRAINING = "training"
    INFERENCE = "inference"
    LOGIN = "login"
    CPU = "cpu"
    STAND_IN = "stand-in"
    """A machine on which the path is proven before the target hardware exists; it proves nothing about GPUs."""


class Gpu(Model):
    """GPUs of one node; ``interconnect`` is nvswitch, nvlink, infinity-fabric or pcie."""

    model: Text | None = None
    count: Count | None = None
    memory: Size | None = None
    form_factor: FormFactor | None = None
    interconnect: Text | None = None


class Cpu(Model):
    """CPUs of one node; ``cores`` are physical."""

    model: Text | None = None
    sockets: Count | None = None
    cores: Count | None = None
    numa_nodes: Count | None = None


class Nvme(Model):
    """Local NVMe of one node: devices, size in sum, sequential rates in sum."""

    devices: Count | None = None
    total: Size | None = None
    read: Rate | None = None
    write: Rate | None = None


class Nic(Model):
    """One kind of network interface: how many, how fast each, what for; ``kind`` as Fabric.kind."""

    count: Count | None = None
    speed: BitRate | None = None
    kind: Text | None = None
    role: Text | None = None
    gpu_direct: Flag | None = None


class NodeShape(Model):
    """Facts of one node; a missing fact is a fact nobody stated."""

    gpu: Gpu | None = None
    cpu: Cpu | None = None
    memory: Size | None = None
    nvme: Nvme | None = None
    nics: tuple[Nic, ...] = ()
    power: Power | None = None


class Component(Model):
    """Life cycle of one layer of software."""

    version: Text | None = None
    owner: Text | None = None
    upgrade_window: Text | None = None
    end_of_support: Day | None = None
    rollback: Text | None = None


class LifeCycle(Model):
    """Life cycle of the node's software, layer by layer."""

    driver: Component | None = None
    cuda: Component | None = None
    nccl: Component | None = None
    container_toolkit: Component | None = None
    container_runtime: Component | None = None
    os_image: Component | None = None


class Replacement(Model):
    """What happens when a node dies: time to a new one, same kind or not, spares at hand."""

    time: Duration | None = None
    like_for_like: Flag | None = None
    spares: Count | None = None
    owner: Text | None = None


class NodeEntry(Model):
    """One node, or a host list of nodes, whose facts differ from the pool's shape."""

    name: HostList
    rack: Text | None = None
    switch: Text | None = None
    serial: Text | None = None
    shape: NodeShape | None = None


class Pool(Model):
    """Nodes of one shape and purpose."""

    name: Name
    role: PoolRole | None = None
    count: Count | None = None
    hosts: HostList | None = None
    shape: NodeShape | None = None
    nodes: tuple[NodeEntry, ...] = ()
    sharing: Sharing | None = None
    mig_profile: Text | None = None
    lifecycle: LifeCycle | None = None
    replacement: Replacement | None = None
    homogeneous: Flag | None = None
