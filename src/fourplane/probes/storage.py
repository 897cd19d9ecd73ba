#!/usr/bin/env python3
"""Measure storage: staging a dataset, checkpoints, loading weights, sequential and random I/O.

    python3 storage.pyz --part io --scratch /path --budget 20

One file when packed, Python 3.8 or newer, standard library only (obstore for object stores, fio for random I/O where
they are there); JSON lines on stdout. Sizes follow free space, ``--max-bytes`` and the speed of a short first write, so
that a part ends within about ``--budget`` seconds. What is written is incompressible and checked. MB/s is 10^6 bytes a
second.
"""

from __future__ import annotations

import argparse
import sys

from fourplane.probes.parts import block_io, checkpoint, staging, weights
from fourplane.probes.parts.frame import Guard, Output
from fourplane.probes.parts.run import NAME, VERSION, Run
from fourplane.probes.parts.scratch import Scratch, finish

__all__ = ["main"]

PARTS = {"staging": staging, "checkpoint": checkpoint, "weights": weights, "io": block_io}


def main(argv: list[str]) -> int:
    """Run one part; 0 when nothing broke and nothing was left behind."""
    if argv[:1] == ["--writer"]:  # the victim of the checkpoint part's crash test
        return checkpoint.be_writer(argv[1], int(argv[2]), int(argv[3]), argv[4])
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=sorted(PARTS), required=True)
    parser.add_argument("--scratch", required=True, help="folder on the storage to be measured")
    parser.add_argument("--source", default="", help="staging: folder (read only) or object-store URL; else synthetic")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for the whole part, about")
    parser.add_argument("--max-bytes", type=int, default=8 << 30, help="most that lies in scratch at once")
    parser.add_argument("--fio", choices=("auto", "never"), default="auto", help="io: let fio do the random part")
    parser.add_argument("--deadline", type=float, default=0.0, help="seconds after which the probe ends itself")
    parser.add_argument("--watch-stdin", action="store_true", help="end when stdin closes")
    args = parser.parse_args(argv)
    out, guard, scratch = Output(NAME, VERSION), Guard(), Scratch(args.scratch)
    run = Run(out, guard, scratch, args)
    method = "%s/%d part=%s" % (NAME, VERSION, args.part)
    run.plan.update({metric: (unit, method) for metric, unit in PARTS[args.part].METRICS.items()})

    def body() -> None:
        guard.install(args.deadline, args.watch_stdin)
        PARTS[args.part].measure(run)

    return finish(out, guard, scratch, run.plan, method, body)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
