"""What a run will do, in which order, and how long it will take: decided before anything is measured.

The plan is stored with the run, so that ``--resume`` finishes what was planned and nothing else.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fourplane.base.errors import UsageError

__all__ = ["MAXIMUM_BUDGET_S", "MINIMUM_BUDGET_S", "Plan", "Step", "make_plan"]

MINIMUM_BUDGET_S = 1.0
MAXIMUM_BUDGET_S = 86_400.0
_INVENTORY_S = 4.0
_GRACE_S = 60.0
"""How much longer than planned a step may take before it counts as hanging: tools start slowly on a busy machine."""


@dataclass(frozen=True, slots=True)
class Step:
    """One probe run.

    Attributes:
        id: stable name of the step; finished steps are remembered by it.
        title: what it does, for people.
        plane: compute, network or storage.
        probe: file name in ``fourplane.probes``.
        args: arguments of the probe.
        ranks: MPI ranks, 0 for a probe that is no MPI program.
        estimate_s: how long it should take.
        metrics: what it must say something about; what it leaves out is recorded as failed.
    """

    id: str
    title: str
    plane: str
    probe: str
    args: tuple[str, ...]
    ranks: int
    estimate_s: float
    metrics: tuple[str, ...]

    @property
    def deadline_s(self) -> float:
        """Return when the step counts as hanging."""
        return 2 * self.estimate_s + _GRACE_S


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in order, with what was asked for."""

    steps: tuple[Step, ...]
    budget_s: float
    scratch: str
    version: str

    @property
    def estimate_s(self) -> float:
        """Return how long all steps should take together."""
        return sum(step.estimate_s for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """Return the form that is stored with the run."""
        return {
            "version": self.version,
            "budget_s": self.budget_s,
            "scratch": self.scratch,
            "steps": [asdict(step) for step in self.steps],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Plan:
        """Read the stored form back."""
        steps = tuple(
            Step(**{**raw, "args": tuple(raw["args"]), "metrics": tuple(raw["metrics"])}) for raw in data["steps"]
        )
        return cls(steps, data["budget_s"], data["scratch"], data["version"])


_ALLREDUCE = tuple(
    f"network.allreduce.{name}"
    for name in ("world_size", "wrong", "latency", "busbw_peak", "curve", "transport")
)  # fmt: skip
_STORAGE: dict[str, tuple[str, float, tuple[str, ...]]] = {
    # part: (title, share of the budget, metrics)
    "staging": (
        "stage a dataset from its source to scratch",
        0.2,
        ("storage.staging.source", "storage.staging.throughput", "storage.staging.file_rate"),
    ),
    "checkpoint": (
        "write, kill, restore a sharded checkpoint",
        0.25,
        tuple(
            f"storage.checkpoint.{name}"
            for name in (
                "write_throughput", "stall", "restore_throughput", "restore_verified", "crash_consistent", "recovery",
            )
        ),
    ),
    "weights": (
        "load weights, cold and warm",
        0.15,
        ("storage.weights.cold_throughput", "storage.weights.warm_throughput"),
    ),
    "io": (
        "sequential and random direct I/O",
        0.2,
        tuple(
            f"storage.io.{name}"
            for name in ("sequential_write", "sequential_read", "random_read", "random_read_p99", "random_write")
        ),
    ),
}  # fmt: skip
_ALLREDUCE_SHARE = 0.2


def make_plan(
    *, budget_s: float, ranks: int, scratch: str, version: str, dataset: str = "", max_bytes: int = 0
) -> Plan:
    """Plan the proving of one machine.

    Args:
        budget_s: seconds for all measurements together; sizes follow from it.
        ranks: ranks of the all-reduce, at least 2.
        scratch: folder in which storage is measured.
        version: version of Fourplane that makes the plan.
        dataset: directory or object-store URL to stage from; "" for a synthetic dataset.
        max_bytes: upper bound of what one storage step writes, 0 for the probe's own.

    Raises:
        UsageError: the budget is out of range.
    """
    if not MINIMUM_BUDGET_S <= budget_s <= MAXIMUM_BUDGET_S:
        raise UsageError(
            "prove-budget-out-of-range",
            f"a budget of {budget_s:g} s measures nothing useful",
            f"give --budget of {MINIMUM_BUDGET_S:g} s to {MAXIMUM_BUDGET_S:,.0f} s",
        )
    steps = [
        Step(
            id="inventory",
            title="inventory of CPU, memory, GPUs, NICs, disks, software",
            plane="compute",
            probe="inventory.py",
            args=("--scratch", scratch),
            ranks=0,
            estimate_s=_INVENTORY_S,
            metrics=("compute.cpu.threads", "compute.memory.total", "compute.gpu.count"),
        ),
        Step(
            id="allreduce",
            title=f"all-reduce over {ranks} ranks, 8 B to 64 MiB, results checked",
            plane="network",
            probe="allreduce.py",
            args=("--budget", _seconds(budget_s * _ALLREDUCE_SHARE), "--expect-ranks", str(ranks)),
            ranks=ranks,
            estimate_s=budget_s * _ALLREDUCE_SHARE,
            metrics=_ALLREDUCE,
        ),
    ]
    for part, (title, share, metrics) in _STORAGE.items():
        args = ["--part", part, "--scratch", scratch, "--budget", _seconds(budget_s * share)]
        if part == "staging" and dataset:
            args += ["--source", dataset]
        if max_bytes:
            args += ["--max-bytes", str(max_bytes)]
        steps.append(
            Step(
                id=f"storage-{part}",
                title=title,
                plane="storage",
                probe="storage.py",
                args=tuple(args),
                ranks=0,
                estimate_s=budget_s * share,
                metrics=(*metrics, "storage.scratch.clean"),
            )
        )
    return Plan(tuple(steps), budget_s, scratch, version)


def _seconds(value: float) -> str:
    return f"{value:.2f}"
