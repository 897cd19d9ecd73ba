"""Codes of what a probe's output contradicts or repeats."""

from __future__ import annotations

from fourplane.base.codes import define, find
from fourplane.formats import codes as _formats

__all__ = ["find"]

assert _formats.find is find  # the codes of refusals are registered as well

define(
    "probe-observation-repeated",
    "A probe reported the same thing twice",
    "Within one run an observation is known by subject, metric and method; of two, one would hide the other.",
    "Look at the raw output: two probes writing into one stream is usual. The first word stands.",
)
define(
    "gpu-count-disagrees",
    "The driver lists another number of GPUs than the PCI bus",
    "A GPU that is on the bus and not in the driver's list has been lost, disabled, or kept from this container; a job "
    "that counts on it hangs or fails.",
    "Compare nvidia-smi with lspci on the host; read the kernel log for Xid 79, and reset or replace the GPU.",
    "https://docs.nvidia.com/deploy/xid-errors/index.html",
    "C2",
)
define(
    "gpu-field-in-trouble",
    "The driver answers a query about a GPU with a complaint",
    "Words such as [GPU requires reset] or [Unknown Error] stand where a figure should be: the device does not work.",
    "Reset the GPU or reboot the node; replace the board when it comes back.",
    "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
    "C1",
)
