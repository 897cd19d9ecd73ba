"""Reading a sacct listing of 38 columns, beside Python's own csv.reader on the same file.

    python bench/sacct_read.py [--rows 200000] [--rounds 9] [--file PATH]

Without --file a listing is generated: arrays, requeued attempts, heterogeneous jobs, steps, typed GPUs and Unicode.
Each round runs csv.reader, the reader, csv.reader, the reader: pairs give the ratio of speeds, and the second run of
each beside its first the spread of the machine. ``parsed`` also asks every row for id, state, GPUs, elapsed time and
end, and is reported only. Memory is the peak of a process that does nothing but read.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fourplane.formats.slurm.sacct_row import SacctRow
from fourplane.formats.slurm.sacct_rows import lines_of_file, read_rows

GOAL_RATIO = 0.6
GOAL_MB = 100

COLUMNS = (
    "JobID", "JobIDRaw", "Cluster", "User", "UID", "Account", "QOS", "Partition", "WCKey", "JobName", "Submit",
    "Eligible", "Start", "End", "Suspended", "Elapsed", "ElapsedRaw", "Timelimit", "State", "ExitCode",
    "DerivedExitCode", "Reason", "Restarts", "Flags", "Constraints", "ReqTRES", "AllocTRES", "NNodes", "AllocCPUS",
    "ReqMem", "NodeList", "Reservation", "TotalCPU", "MaxRSS", "AveRSS", "ConsumedEnergyRaw", "TRESUsageInTot",
    "DBIndex",
)  # fmt: skip
_NAMES = ("train", "eval-7b", "расчёт", "模型微调", "naïve-bayes", "finetune_λ", "preprocess", "sweep")
_KINDS = ("h100", "h200", "a100", "a100_3g.20gb")


def generate(path: Path, rows: int) -> None:
    """Write a listing of about ``rows`` rows, the same for every call."""
    dice = random.Random(4)
    written = 0
    job = 1_000_000
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("|".join(COLUMNS) + "\n")
        while written < rows:
            job += 1
            shape = dice.random()
            if shape < 0.15:  # an array: the last task has the raw id of the whole
                tasks = dice.randrange(2, 40)
                ids = [(f"{job}_{task}", str(job if task == tasks else job + task)) for task in range(1, tasks + 1)]
                job += tasks
            elif shape < 0.2:
                ids = [(f"{job}+{part}", str(job + part)) for part in range(dice.randrange(2, 4))]
                job += 3
            else:
                ids = [(str(job), str(job))]
            for shown, raw in ids:
                for _ in range(2 if dice.random() < 0.05 else 1):  # requeued: the same id again
                    lines = _job(dice, shown, raw)
                    file.writelines(lines)
                    written += len(lines)


def _job(dice: random.Random, shown: str, raw: str) -> list[str]:
    nodes = dice.choice((1, 1, 1, 2, 4, 16, 64))
    gpus, kind = nodes * dice.choice((0, 1, 4, 8)), dice.choice(_KINDS)
    start = 1_790_000_000 + dice.randrange(20_000_000)
    length = dice.randrange(200_000)
    state = dice.choice(("COMPLETED", "COMPLETED", "FAILED", "TIMEOUT", f"CANCELLED by {dice.randrange(1000, 9999)}",
                         "NODE_FAIL", "REQUEUED", "RUNNING"))  # fmt: skip
    end = "Unknown" if state == "RUNNING" else str(start + length)
    tres = f"billing={nodes * 32},cpu={nodes * 32},"
    tres += (f"gres/gpu:{kind}={gpus}," + (f"gres/gpu={gpus}," if dice.random() < 0.8 else "")) if gpus else ""
    tres += f"mem={nodes * 240}G,node={nodes}"
    user = dice.randrange(200)
    elapsed = f"{length // 86400}-{length // 3600 % 24:02d}:{length // 60 % 60:02d}:{length % 60:02d}"
    hosts = f"gpu[{dice.randrange(100, 500):04d}-{dice.randrange(500, 999):04d}]" if nodes > 1 else f"gpu{user:04d}"
    common = [str(start - 4000), str(start - 3990), str(start), end, "00:00:00", elapsed, str(length)]
    rows = [
        [shown, raw, "alpha", f"user{user}", str(10_000 + user), f"group{user % 17}", "normal", "gpu", "",
         dice.choice(_NAMES), *common, "2-00:00:00", state, "0:0", "0:0", "None", "0", "SchedBackfill", "h100", tres,
         tres, str(nodes), str(nodes * 32), f"{nodes * 240}G", hosts, "", "12:31:44", "", "", "", "", str(start)],
    ]  # fmt: skip
    plain = state.partition(" ")[0]
    for step in ("batch", "extern", "0")[: dice.randrange(4)]:
        usage = f"cpu=01:02:03,energy=0,fs/disk={length},gres/gpumem=40960M,gres/gpuutil=97,mem=10621726720,vmem=0"
        rows.append(
            [f"{shown}.{step}", f"{raw}.{step}", "alpha", "", "", f"group{user % 17}", "", "", "", step, *common, "",
             plain, "0:0", "", "", "", "", "", "", tres, str(nodes), str(nodes * 32), "", hosts, "", "01:02:03",
             "7284K", "7284K", "0", usage, str(start)]
        )  # fmt: skip
    return ["|".join(row) + "\n" for row in rows]


def with_csv(path: Path) -> int:
    """Return the number of rows that csv.reader gives."""
    count = 0
    with path.open(encoding="utf-8", newline="") as file:
        for _ in csv.reader(file, delimiter="|", quoting=csv.QUOTE_NONE):
            count += 1
    return count - 1


def with_reader(path: Path) -> int:
    """Return the number of rows that the reader gives, from bytes, with every check it makes."""
    count = 0
    with path.open("rb") as file:
        for row in read_rows(lines_of_file(file)):
            count += isinstance(row, SacctRow)
    return count


def with_parsing(path: Path) -> int:
    """Return the number of rows, after asking each for what accounting needs."""
    count = 0
    with path.open("rb") as file:
        for row in read_rows(lines_of_file(file)):
            if isinstance(row, SacctRow):
                count += (row.job, row.state, row.allocated, row.elapsed_s, row.moment("end")) is not None
    return count


def timed(work: Callable[[Path], int], path: Path, rows: int) -> float:
    """Return seconds of CPU that reading takes; the number of rows must be right."""
    before = time.process_time()
    found = work(path)
    seconds = time.process_time() - before
    if found != rows:
        raise SystemExit(f"{work.__name__} gave {found:,} rows, {rows:,} were written")
    return seconds


def peak_mb(path: Path) -> float:
    """Return the peak resident memory of a process that reads the file, in MB of 10⁶ bytes."""
    code = (
        "import resource, sys; from fourplane.formats.slurm.sacct_rows import read_rows, lines_of_file\n"
        "for row in read_rows(lines_of_file(open(sys.argv[1], 'rb'))): pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> int:
    """Print one line of JSON; the exit status tells whether both goals are met."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "sacct.psv"
        if options.file is None:
            generate(path, options.rows)
        rows = with_csv(path)
        ratios, spreads = [], []
        own = reference = 0.0
        for _ in range(options.rounds):
            first_csv, first_own = timed(with_csv, path, rows), timed(with_reader, path, rows)
            second_csv, second_own = timed(with_csv, path, rows), timed(with_reader, path, rows)
            ratios += [first_csv / first_own, second_csv / second_own]
            spreads += [second_csv / first_csv, second_own / first_own]
            own, reference = (
                min(own or first_own, first_own, second_own),
                min(reference or first_csv, first_csv, second_csv),
            )
        parsed = timed(with_parsing, path, rows)
        result = {
            "rows": rows,
            "columns": len(COLUMNS) if options.file is None else None,
            "file_mb": round(os.path.getsize(path) / 1e6, 1),  # noqa: PTH202 (one number)
            "pairs": len(ratios),
            "ratio_median": round(statistics.median(ratios), 3),
            "ratio_lowest": round(min(ratios), 3),
            "spread_same_work": [round(min(spreads), 3), round(max(spreads), 3)],
            "csv_rows_per_s": round(rows / reference),
            "reader_rows_per_s": round(rows / own),
            "parsed_rows_per_s": round(rows / parsed),
            "peak_mb": round(peak_mb(path), 1),
            "goal_ratio": GOAL_RATIO,
            "goal_mb": GOAL_MB,
        }
    print(json.dumps(result))
    return 0 if result["ratio_median"] >= GOAL_RATIO and result["peak_mb"] <= GOAL_MB else 1


if __name__ == "__main__":
    raise SystemExit(main())
