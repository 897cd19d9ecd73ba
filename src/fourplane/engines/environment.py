"""What a probe sees of the caller's environment: a short list, so that no secret travels by accident."""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["clean_environment"]

_NAMES = frozenset({"PATH", "HOME", "USER", "LOGNAME", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV"})
_PREFIXES = ("CUDA_", "NVIDIA_", "NCCL_", "UCX_", "FI_", "HIP_", "HSA_", "ROCR_", "RCCL_")
"""Settings of GPUs and fabrics. Left out on purpose: launchers' own (OMPI_*, PMIX_*, SLURM_*), which would make an
inner mpirun believe that it is part of an outer job, and PYTHON*, which would change what a probe imports."""

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def clean_environment(extra: Mapping[str, str], base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a probe: the short list out of ``base``, fixed language and buffering, ``extra``.

    Args:
        extra: variables that the task asks for; they win.
        base: the caller's environment, ``os.environ`` by default.
    """
    source = os.environ if base is None else base
    kept = {name: value for name, value in source.items() if name in _NAMES or name.startswith(_PREFIXES)}
    kept.setdefault("PATH", _DEFAULT_PATH)
    # tools print numbers and messages in one language; Python still speaks UTF-8
    return {**kept, "LC_ALL": "C", "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", **extra}
