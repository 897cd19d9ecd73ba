"""``fourplane doctor``: what this machine can measure, and on what each path was tried."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from importlib import util
from pathlib import Path

import click

from fourplane.cli.output import print_json

__all__ = ["command"]


@dataclass(frozen=True, slots=True)
class _Check:
    """One thing that a measurement needs: name, where it was found ("" if not), what it is for, how to get it."""

    name: str
    found: str
    purpose: str
    remedy: str


@click.command("doctor", short_help="Say what this machine can measure, and which paths were run where.")
@click.option("--paths", is_flag=True, help="List on what each path of the product was tried.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(paths: bool, as_json: bool) -> int:
    """Say what this machine can measure, and on what each path was tried.

    A missing tool makes a measurement unproven, never passed. Exit status 0 when
    the measurements of the four planes can run, 3 when one of them can't.
    """
    if paths:
        from fourplane.prove.paths import PATHS

        if as_json:
            print_json({"paths": [path.to_json() for path in PATHS]})
            return 0
        for path in PATHS:
            click.echo(f"{path.tried:<26} {path.name}")
            click.echo(f"{'':<26}   {path.where}")
        return 0
    needed, optional = _needed(), _optional()
    missing = [check for check in needed if not check.found]
    if as_json:
        print_json(
            {
                "ready": not missing,
                "checks": [
                    {
                        "name": check.name,
                        "needed": check in needed,
                        "found": check.found,
                        "for": check.purpose,
                        "fix": "" if check.found else check.remedy,
                    }
                    for check in (*needed, *optional)
                ],
            }
        )
        return 3 if missing else 0
    for title, checks in (("Needed", needed), ("Makes more measurable", optional)):
        click.echo(f"{title}:")
        for check in checks:
            mark = "yes" if check.found else "no "
            click.echo(f"  {mark}  {check.name:<22} {check.purpose}")
            if not check.found:
                click.echo(f"       {'':<22} fix: {check.remedy}")
    click.echo("Ready." if not missing else "Not ready: what is missing above would stay unproven.")
    return 3 if missing else 0


def _needed() -> list[_Check]:
    binaries = Path(sys.executable).parent
    mpirun = str(binaries / "mpirun") if (binaries / "mpirun").exists() else shutil.which("mpirun") or ""
    return [
        _Check("linux", "linux" if sys.platform == "linux" else "", "probes read /proc and /sys", "run on Linux"),
        _Check("mpi4py", _module("mpi4py"), "all-reduce probe", "pip install 'fourplane[mpi]'"),
        _Check("mpirun", mpirun, "starts its ranks", "pip install 'fourplane[mpi]', or a system MPI"),
        _Check(
            "2 cores",
            "yes" if len(os.sched_getaffinity(0)) >= 2 else "",
            "two ranks without sharing a core",
            "figures of one core are oversubscribed and say so",
        ),
    ]


def _optional() -> list[_Check]:
    def tool(name: str, purpose: str, remedy: str) -> _Check:
        return _Check(name, shutil.which(name) or "", purpose, remedy)

    return [
        tool("nvidia-smi", "facts of NVIDIA GPUs", "install the NVIDIA driver"),
        tool("rocm-smi", "facts of AMD GPUs", "install ROCm"),
        tool("all_reduce_perf", "NCCL all-reduce over GPUs", "build nccl-tests and put it on PATH"),
        _Check("torch", _module("torch"), "NCCL all-reduce without nccl-tests", "pip install torch (CUDA build)"),
        tool("fio", "random I/O at depth", "install fio; without it the probe's own loop is used"),
        tool("sinfo", "Slurm on this node", "install the Slurm client"),
        tool("kubectl", "Kubernetes on this node", "install kubectl"),
    ]


def _module(name: str) -> str:
    spec = util.find_spec(name)
    return spec.origin or name if spec else ""
