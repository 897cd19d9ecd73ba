"""Whole-process time of ``fourplane check`` on 1,000 differing nodes and 100 teams, beside PyYAML's own loading.

    python bench/check_thousand_nodes.py [--rounds 9]

Each round runs check, load, check: the first two give the ratio, the two checks give the spread of the machine.
The reference is a process that does nothing but ``yaml.load`` of the same file with ``CSafeLoader``: no places, no
types, no bounds. Times are wall-clock of the whole process, interpreter start included.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL_S = 1.0

_LOAD = "import sys, yaml; yaml.load(open(sys.argv[1], 'rb'), Loader=yaml.CSafeLoader)"

_NODE = """\
      - name: n{number:04d}
        rack: r{rack:03d}
        switch: leaf-{leaf}
        serial: SN{serial:09d}
        shape:
          gpu: {{model: H100, count: {gpus}, memory: {gpu_memory} GB, form_factor: sxm, interconnect: nvswitch}}
          cpu:
            sockets: 2
            cores: {cores}
            numa_nodes: 2
          memory: {memory} GiB
          nvme:
            devices: 8
            total: {nvme} GB
            read: {read} GB/s
          nics:
            - count: 8
              speed: {speed} Gb/s
              kind: infiniband
              role: fabric
              gpu_direct: true
          power: {power} W
"""

_TEAM = """\
  - name: team-{number:03d}
    owner: owner {number}
    project: project-{number}
    environment: production
    cost_label: label-{number}
    quotas:
      big: {quota}
    share: 1 %
    priority: {number}
    budget_per_month: {budget}.50
"""


def declaration(nodes: int = 1000, teams: int = 100) -> str:
    """Return a declaration whose nodes differ from each other in name, place, serial, CPU, memory, disks and power."""
    dice = random.Random(7)
    text = f"name: thousand\npools:\n  - name: big\n    role: training\n    count: {nodes}\n"
    text += f"    hosts: n[0001-{nodes:04d}]\n    nodes:\n"
    for number in range(1, nodes + 1):
        text += _NODE.format(
            number=number, rack=number // 8, leaf=number // 32, serial=dice.randrange(10**9), gpus=8, gpu_memory=80,
            cores=96 + number % 33, memory=1900 + number, nvme=20_000 + number, read=20 + number % 17,
            speed=400 if number % 5 else 200, power=9000 + number,
        )  # fmt: skip
    text += "teams:\n"
    for number in range(teams):
        text += _TEAM.format(number=number, quota=8 * (number % 9), budget=1000 + number)
    return text


def _time(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Return wall-clock and CPU seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    spent = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr.decode())
    return spent, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Run the rounds and print medians, ratio and spread as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fourplane.yaml"
        file.write_text(declaration(), encoding="utf-8")
        # compiled modules as an installation has them, whatever this shell says about writing them
        env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        env["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        check = [sys.executable, "-m", "fourplane.cli.main", "check", folder, "--json"]
        load = [sys.executable, "-c", _LOAD, str(file)]
        _time(check, env)
        _time(load, env)
        pairs = [(_time(check, env), _time(load, env), _time(check, env)) for _ in range(rounds)]
    checks = [one for first, _, second in pairs for one in (first, second)]
    spread = statistics.median(max(a[0], c[0]) / min(a[0], c[0]) for a, _, c in pairs)
    median = statistics.median(wall for wall, _ in checks)
    verdict = "reached" if median * spread < GOAL_S else "missed" if median / spread > GOAL_S else "unproven"
    result = {
        "bench": "check of 1,000 differing nodes and 100 teams",
        "rounds": rounds,
        "check_median_s": round(median, 3),
        "check_best_s": round(min(wall for wall, _ in checks), 3),
        "check_cpu_median_s": round(statistics.median(cpu for _, cpu in checks), 3),
        "yaml_load_median_s": round(statistics.median(b[0] for _, b, _ in pairs), 3),
        "ratio_to_yaml_load": round(statistics.median(a[0] / b[0] for a, b, _ in pairs), 2),
        "spread_check_against_check": round(spread, 3),
        "goal_s": GOAL_S,
        "verdict": verdict,
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
