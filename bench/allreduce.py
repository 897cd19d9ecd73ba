"""The all-reduce probe beside the same loop in C, over the same MPI: what Python costs at each size.

python bench/allreduce.py [--rounds 9] [--budget 2] [--max-bytes 67108864]

Needs the ``mpi`` extra and a C compiler; without them it says so and measures nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from _pairs import compare, table

import fourplane.probes
from fourplane.engines.environment import clean_environment
from fourplane.engines.folders import private_folder
from fourplane.engines.mpi import SHARED_MEMORY, find_mpirun, mpi_variables, mpirun_argv

RANKS = 2
PROBE = Path(fourplane.probes.__file__).with_name("allreduce.py")
LAUNCH = 3
"""Where mpirun stands in the engine's command line, behind the leash."""


def build(mpirun: str, folder: Path) -> str:
    """Compile the C loop with the mpicc beside mpirun; return its path."""
    program = folder / "allreduce"
    source = Path(__file__).with_suffix(".c")
    subprocess.run([Path(mpirun).with_name("mpicc"), "-O2", "-o", program, source], check=True, timeout=120)
    return str(program)


def run(argv: list[str], env: dict[str, str]) -> str:
    """Run one MPI job and return what it printed."""
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def from_c(text: str) -> dict[int, float]:
    """Return GB/s by size from the C loop's output."""
    rows = (line.split() for line in text.splitlines())
    return {int(size): int(size) / float(time_us) / 1e3 for size, time_us in rows}


def from_probe(text: str) -> dict[int, float]:
    """Return GB/s by size from the probe's output."""
    lines = (json.loads(line) for line in text.splitlines())
    curve = next(line["value"] for line in lines if line.get("metric") == "network.allreduce.curve")
    return {row["bytes"]: row["bytes"] / row["time_us"] / 1e3 for row in curve}


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of one sweep")
    parser.add_argument("--max-bytes", type=int, default=64 << 20)
    args = parser.parse_args()
    mpirun = find_mpirun(sys.executable)
    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if mpirun is None or compiler is None:
        print(f"skipped: {'no mpirun' if mpirun is None else 'no C compiler'} on this machine")
        return
    with TemporaryDirectory() as temporary, private_folder() as home, private_folder(SHARED_MEMORY) as segments:
        env = clean_environment({"HOME": str(home), **mpi_variables(home, segments), "OMPI_CC": compiler, **kept()})
        program = build(mpirun, Path(temporary))
        launch = mpirun_argv(mpirun, sys.executable, RANKS, [], 1)[LAUNCH:-1]
        c = [*launch, program, str(args.max_bytes), str(args.budget)]
        probe = [*launch, sys.executable, str(PROBE), "--expect-ranks", str(RANKS)]
        probe += ["--budget", str(args.budget), "--max-bytes", str(args.max_bytes), "--backend", "mpi"]
        rounds = []
        for number in range(args.rounds):
            print(f"round {number + 1} of {args.rounds}", file=sys.stderr)
            rounds.append((from_c(run(c, env)), from_probe(run(probe, env)), from_c(run(c, env))))
    rows = [
        compare(f"{size:,}", [(first[size], middle[size], last[size]) for first, middle, last in rounds])
        for size in rounds[0][1]
    ]
    print(f"all-reduce, {RANKS} ranks, {args.rounds} rounds of C, probe, C; one core each of {os.cpu_count()}\n")
    print(table(rows, "GB/s", "C", "probe"))


def kept() -> dict[str, str]:
    """Return the caller's home, where there is one."""
    return {"HOME": os.environ["HOME"]} if os.environ.get("HOME") else {}


if __name__ == "__main__":
    main()
