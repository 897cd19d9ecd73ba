"""On what each path of the product was run: a feature counts as working on what it was tried on, no more."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["PATHS", "ProvenPath", "Tried"]


class Tried(StrEnum):
    """How a path was tried, strongest first."""

    HARDWARE = "on hardware"
    SERVICE = "on a real service"
    REPLAYED = "replayed from a recording"
    NEVER = "never run"


@dataclass(frozen=True, slots=True)
class ProvenPath:
    """One path: what it is, how it was tried, on what, when, and the test that repeats it ("" without one)."""

    name: str
    tried: Tried
    where: str
    test: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the stable JSON form."""
        return {"path": self.name, "tried": str(self.tried), "where": self.where, "test": self.test}


_HERE = "x86-64 virtual machine, 2 cores, Debian 12, Python 3.11, no GPU; 2026-12-01"

PATHS: tuple[ProvenPath, ...] = (
    ProvenPath("inventory of CPU, memory, disks, NICs", Tried.HARDWARE, _HERE, "tests/probes/test_inventory.py"),
    ProvenPath(
        "inventory of NVIDIA GPUs through nvidia-smi",
        Tried.REPLAYED,
        "texts in nvidia-smi's layouts; no GPU was at hand",
        "tests/formats",
    ),
    ProvenPath("inventory of AMD GPUs through rocm-smi or amd-smi", Tried.NEVER, "no AMD GPU was at hand"),
    ProvenPath(
        "all-reduce over Open MPI 5.0 with mpi4py, one node", Tried.HARDWARE, _HERE, "tests/probes/test_allreduce.py"
    ),
    ProvenPath("all-reduce over NCCL through PyTorch", Tried.NEVER, "needs two GPUs"),
    ProvenPath("all-reduce over NCCL through nccl-tests", Tried.NEVER, "needs two GPUs; its log parser is replayed"),
    ProvenPath(
        "storage: staging, checkpoint, weights, direct I/O", Tried.HARDWARE, _HERE, "tests/probes/test_storage.py"
    ),
    ProvenPath("storage: staging from an object store", Tried.NEVER, "needs a bucket"),
    ProvenPath("local engine", Tried.HARDWARE, _HERE, "tests/engines"),
    ProvenPath("report page in Chromium", Tried.SERVICE, "Chromium 156, Debian 12; 2026-12-01", "tests/lab"),
)
