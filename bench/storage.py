"""The storage probe's sequential I/O beside fio: 1 MiB blocks, direct, one job, the same file size.

python bench/storage.py [--rounds 9] [--size 268435456] [--folder .]

fio runs psync with fsync at the end, as the probe does. Without fio it says so and measures nothing. Put ``--folder``
on the storage to be looked at; a virtual disk's host cache makes reads vary, which A against A then shows.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from _pairs import compare, table

from fourplane.probes.parts import block_io
from fourplane.probes.parts.frame import Guard

LONG_S = 600.0


def fio(path: Path, kind: str, size: int) -> float:
    """Let fio write or read the file; return MB/s."""
    command = ["fio", "--name=bench", f"--filename={path}", f"--rw={kind}", "--bs=1m", f"--size={size}"]
    command += ["--ioengine=psync", "--direct=1", "--end_fsync=1", "--fallocate=posix", "--output-format=json"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=LONG_S)
    return float(json.loads(done.stdout)["jobs"][0][kind]["bw_bytes"]) / 1e6


def write_by_fio(path: Path, size: int) -> float:
    """Write a new file with fio."""
    path.unlink(missing_ok=True)
    return fio(path, "write", size)


def write_by_probe(path: Path, size: int) -> float:
    """Write a new file as the probe does."""
    path.unlink(missing_ok=True)
    written, seconds = block_io.write_sequentially(str(path), size, LONG_S, os.O_DIRECT, Guard())
    return written / seconds / 1e6


def read_by_fio(path: Path, size: int) -> float:
    """Read the file with fio."""
    return fio(path, "read", size)


def read_by_probe(path: Path, size: int) -> float:
    """Read the file as the probe does."""
    done, seconds = block_io.read_sequentially(str(path), size, LONG_S, os.O_DIRECT, Guard())
    return done / seconds / 1e6


Measure = Callable[[Path, int], float]


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=int, default=256 << 20)
    parser.add_argument("--folder", default=".", help="folder on the storage to be looked at")
    args = parser.parse_args()
    size = args.size >> 20 << 20
    if shutil.which("fio") is None:
        print("skipped: no fio on this machine")
        return
    kinds: dict[str, tuple[Measure, Measure]] = {
        "write": (write_by_fio, write_by_probe),
        "read": (read_by_fio, read_by_probe),
    }
    with TemporaryDirectory(dir=args.folder, prefix=".bench-") as folder:
        if not block_io.takes_direct(folder):
            print(f"skipped: {args.folder} takes no direct I/O")
            return
        path = Path(folder) / "file"
        write_by_probe(path, size)
        rows = []
        for name, (by_fio, by_probe) in kinds.items():
            rounds = []
            for number in range(args.rounds):
                print(f"{name}: round {number + 1} of {args.rounds}", file=sys.stderr)
                rounds.append((by_fio(path, size), by_probe(path, size), by_fio(path, size)))
            rows.append(compare(name, rounds))
    print(f"1 MiB blocks, direct, one job, {size >> 20} MiB, {args.rounds} rounds of fio, probe, fio\n")
    print(table(rows, "MB/s", "fio psync", "probe"))


if __name__ == "__main__":
    main()
