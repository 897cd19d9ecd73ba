"""Codes of the engines."""

from __future__ import annotations

from fourplane.base.codes import define

__all__ = ["MPIRUN_MISSING", "NODE_UNKNOWN"]

NODE_UNKNOWN = define(
    "engine-node-unknown",
    "The engine doesn't reach a node of that name",
    "A task for an unknown node would run nowhere, and its missing result could be read as a healthy node.",
    "Choose from the nodes that the engine lists.",
)
MPIRUN_MISSING = define(
    "engine-mpirun-missing",
    "No mpirun was found for an MPI task",
    "An all-reduce needs ranks that form one world, and mpirun starts them; without it each would be a world of one.",
    "Install the extra: pip install 'fourplane[mpi]', or put an mpirun that fits mpi4py on PATH.",
    link="https://docs.open-mpi.org/en/v5.0.x/launching-apps/index.html",
    requirement="N2",
)
