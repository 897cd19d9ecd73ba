"""Run every benchmark in this folder, one after the other, and print what each found.

python bench/run.py [NAME ...]

A benchmark is a file here that is no helper (``_*.py``). Figures never decide the exit status: it is 1 only when a
benchmark broke.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["discover", "main"]

HERE = Path(__file__).parent


def discover(folder: Path = HERE) -> list[Path]:
    """Return the benchmarks of a folder in alphabetical order."""
    return sorted(path for path in folder.glob("*.py") if not path.name.startswith("_") and path.name != "run.py")


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; return 1 when one broke."""
    found = {path.stem: path for path in discover()}
    unknown = sorted(set(names) - set(found))
    if unknown:
        print(f"no benchmark named {', '.join(unknown)}; there are {', '.join(found)}", file=sys.stderr)
        return 2
    broken = []
    for name in names or found:
        print(f"\n== {name}\n", flush=True)
        if subprocess.run([sys.executable, found[name]], check=False).returncode:
            broken.append(name)
    if broken:
        print(f"\nbroken: {', '.join(broken)}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
