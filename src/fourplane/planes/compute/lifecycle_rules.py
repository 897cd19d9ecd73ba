"""Rules on the life cycle of the node's software: which releases work together, and who can go back (C4)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fourplane.base.findings import Level
from fourplane.catalog.model import Fact, Subject, format_number
from fourplane.planes.compute import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.planes.shapes import PoolView
from fourplane.planes.versions import is_below, major
from fourplane.spec.compute import LifeCycle, Sharing

__all__: list[str] = []

_PYTORCH = re.compile(r"pytorch\s+v?(\d{1,3}\.\d{1,3})", re.IGNORECASE | re.ASCII)


def _version(view: PoolView, name: str) -> str | None:
    component = getattr(view.pool.lifecycle or LifeCycle(), name)
    return component.version if component else None


def _boards(design: Design, view: PoolView) -> list[Subject]:
    """Return the known boards of a pool, each once."""
    boards = {board.key: board for shape in view.shapes if (board := design.gpu(shape)) is not None}
    return list(boards.values())


def _said(fact: Fact) -> str:
    return f"{format_number(fact.low)} ({fact.sources[0].title}, {fact.sources[0].date})"


@rule("driver-too-old-for-cuda", Plane.COMPUTE, Level.ERROR)
def driver_too_old_for_cuda(design: Design) -> Iterator[Problem]:
    """Branch of the driver against the least branch of the CUDA release."""
    for view in design.gpu_pools:
        driver, cuda = _version(view, "driver"), _version(view, "cuda")
        fact = design.catalog.fact(f"cuda-{major(cuda)}", "least_driver")
        if fact and is_below(driver, fact.low):
            message = f"pool {view.pool.name}: CUDA {cuda} needs driver branch {_said(fact)}, and {driver} is declared"
            path = f"{view.path}.lifecycle.driver.version"
            yield Problem(path, message, str(driver), f"{format_number(fact.low)} or newer")


@rule("cuda-too-old-for-gpu", Plane.COMPUTE, Level.ERROR)
def cuda_too_old_for_gpu(design: Design) -> Iterator[Problem]:
    """CUDA release against the first that has code for the GPU."""
    yield from _too_old(design, "cuda", "least_cuda", "CUDA")


@rule("nccl-too-old-for-gpu", Plane.COMPUTE, Level.ERROR)
def nccl_too_old_for_gpu(design: Design) -> Iterator[Problem]:
    """NCCL release against the first that has code for the GPU."""
    yield from _too_old(design, "nccl", "least_nccl", "NCCL")


def _too_old(design: Design, component: str, name: str, word: str) -> Iterator[Problem]:
    for view in design.gpu_pools:
        version = _version(view, component)
        for board in _boards(design, view):
            fact = board.fact(name)
            if fact and is_below(version, fact.low):
                message = f"pool {view.pool.name}: {board.title} needs {word} {_said(fact)}, and {version} is declared"
                path = f"{view.path}.lifecycle.{component}.version"
                yield Problem(path, message, str(version), f"{format_number(fact.low)} or newer")


@rule("framework-too-old-for-gpu", Plane.COMPUTE, Level.ERROR)
def framework_too_old_for_gpu(design: Design) -> Iterator[Problem]:
    """PyTorch release, where the brief names one, against the first that has code for the GPU."""
    for number, framework in enumerate(design.brief.frameworks):
        match = _PYTORCH.search(framework)
        for view in design.gpu_pools if match else ():
            for board in _boards(design, view):
                fact = board.fact("least_pytorch")
                if match and fact and is_below(match[1], fact.low):
                    message = f"{board.title} needs PyTorch {_said(fact)}, and {match[0]} is to run on it"
                    expected = f"{format_number(fact.low)} or newer"
                    yield Problem(f"brief.frameworks[{number}]", message, match[1], expected)


@rule("mig-driver-too-old", Plane.COMPUTE, Level.ERROR)
def mig_driver_too_old(design: Design) -> Iterator[Problem]:
    """Branch of the driver against the least branch that offers MIG on the GPU."""
    for view in design.gpu_pools:
        driver = _version(view, "driver")
        for board in _boards(design, view) if view.pool.sharing is Sharing.MIG else ():
            fact = board.fact("least_driver")
            if fact and is_below(driver, fact.low):
                message = (
                    f"pool {view.pool.name}: MIG on {board.title} needs driver branch {_said(fact)}, "
                    f"and {driver} is declared"
                )
                path = f"{view.path}.lifecycle.driver.version"
                yield Problem(path, message, str(driver), f"{format_number(fact.low)} or newer")


@rule("nccl-version-undefined", Plane.COMPUTE)
def nccl_version_undefined(design: Design) -> Iterator[Problem]:
    """A pool for lock-step jobs over several nodes, driver and CUDA fixed, NCCL left open."""
    if not design.synchronous:
        return
    for view in design.gpu_pools:
        # where no release is fixed at all, the review asks for the whole life cycle
        fixed = [name for name in ("driver", "cuda") if _version(view, name)]
        if fixed and not _version(view, "nccl"):
            message = f"pool {view.pool.name}: {' and '.join(fixed)} have a release, NCCL has none"
            yield Problem(f"{view.path}.lifecycle", message, "no NCCL release", "lifecycle.nccl.version")


@rule("rollback-undefined", Plane.COMPUTE)
def rollback_undefined(design: Design) -> Iterator[Problem]:
    """Driver or OS image with a release, and no way back from the next one."""
    for view in design.gpu_pools:
        lifecycle = view.pool.lifecycle or LifeCycle()
        parts = {"driver": lifecycle.driver, "os_image": lifecycle.os_image}
        without = [name for name, part in parts.items() if part and part.version and not part.rollback]
        if without:
            message = f"pool {view.pool.name}: nothing says how to go back from a bad {' or '.join(without)}"
            yield Problem(f"{view.path}.lifecycle.{without[0]}", message, "no rollback", "rollback, such as an image")


@rule("replacement-undefined", Plane.COMPUTE)
def replacement_undefined(design: Design) -> Iterator[Problem]:
    """A pool without a time to a replacement node."""
    for view in design.gpu_pools:
        replacement = view.pool.replacement
        if replacement is None or (replacement.time is None and not replacement.spares):
            message = f"pool {view.pool.name}: nothing says how soon a dead node is replaced, and there is no spare"
            yield Problem(f"{view.path}.replacement", message, "no time, no spare", "replacement.time, or spares")
