"""Mutation check: change one operator or constant at a time in a copy of the tree, and see whether a test notices.

    python tools/mutate.py --count 30 --seed 1
    python tools/mutate.py --packages planes --list

Each mutation is applied alone to a copy in a temporary folder, and the tests of its package run there (``pytest
tests/PACKAGE -x``). A mutation is *caught* when a test fails or does not end in time, and has *survived* when all pass.
Mutations that no test can catch, since the program behaves the same, are listed in ``equivalent_mutants.txt`` beside
this file, each with its reason; they are printed with the others, and left out of the share.

Exit status: 0 the share asked for was caught, 1 it was not, 2 the unchanged tree does not pass its own tests.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
PACKAGES = ("planes", "review", "evidence")
COPIED = ("src", "tests", "docs", "examples", "pyproject.toml", "README.md")
"""What the tests of these packages read."""

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
MEMBERS = {
    "Verdict": {"PASSED": "FAILED", "FAILED": "PASSED", "UNPROVEN": "PASSED", "STALE": "PASSED", "WAIVED": "PASSED"},
    "Level": {"ERROR": "WARNING", "WARNING": "ERROR", "INFO": "WARNING"},
    "State": {"MEASURED": "ABSENT", "ABSENT": "MEASURED", "FAILED": "ABSENT"},
}
"""Enumerations whose members decide: each member is replaced by the one that would do most harm."""


@dataclass(frozen=True, order=True)
class Mutation:
    """One change: where it is, what stood there, what stands there now."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str

    @property
    def told(self) -> str:
        """Return the change in one line."""
        return f"{' '.join(self.before.split())}  ->  {' '.join(self.after.split())}"

    @property
    def package(self) -> str:
        """Return the package whose tests have to notice."""
        return self.path.split("/")[2]


class _Finder(ast.NodeVisitor):
    """Collects every mutation of one module; texts, annotations and decorators are left alone."""

    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.source = source.encode()
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Mutation] = []

    def _add(self, node: ast.expr, after: str) -> None:
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = self.source[start:end].decode()
        self.found.append(Mutation(self.path, node.lineno, start, end, before, after))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip: parts of a formatted text have no places of their own."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Visit the value only."""
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Visit defaults and body; levels of rules stand in the decorator, and they count."""
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "rule":
                self.visit(decorator)
        for part in (*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None), *node.body):
            self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Visit the body only."""
        for part in node.body:
            self.visit(part)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Swap each comparison for its neighbour."""
        for index, operator in enumerate(node.ops):
            if type(operator) in COMPARISONS:
                ops = [*node.ops]
                ops[index] = COMPARISONS[type(operator)]()
                self._add(node, f"({ast.unparse(ast.Compare(node.left, ops, node.comparators))})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Swap ``and`` and ``or``."""
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, f"({ast.unparse(ast.BoolOp(other, node.values))})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Swap plus and minus, times and over; joined texts and paths would only end in a type error."""
        if type(node.op) in OPERATORS and not _is_text(node.left) and not _is_text(node.right):
            changed = ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
            self._add(node, f"({ast.unparse(changed)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Take ``not`` away."""
        if isinstance(node.op, ast.Not):
            self._add(node, f"(bool({ast.unparse(node.operand)}))")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Turn a truth value; move a number."""
        if isinstance(node.value, bool):
            self._add(node, str(not node.value))
        elif isinstance(node.value, int):
            self._add(node, f"({node.value + 1})")
        elif isinstance(node.value, float):
            self._add(node, f"({node.value * 1.5 + 0.1!r})")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Replace a member of an enumeration that decides."""
        if isinstance(node.value, ast.Name):
            other = MEMBERS.get(node.value.id, {}).get(node.attr)
            if other:
                self._add(node, f"{node.value.id}.{other}")
        self.generic_visit(node)


def _is_text(node: ast.expr) -> bool:
    """Tell whether an operand is a text or a path by its looks."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return True
    return any(word in ast.unparse(node).lower() for word in ("root", "folder", "path", "parent", "name", "tree"))


def modules(packages: list[str]) -> Iterator[Path]:
    """Yield the modules of the packages; those that only define codes hold texts and are left out."""
    for package in packages:
        for path in sorted((ROOT / "src/fourplane" / package).rglob("*.py")):
            if path.name not in ("__init__.py", "codes.py"):
                yield path


def mutations(packages: list[str]) -> list[Mutation]:
    """Return every mutation of the packages, in order."""
    found: list[Mutation] = []
    for path in modules(packages):
        source = path.read_text(encoding="utf-8")
        finder = _Finder(path.relative_to(ROOT).as_posix(), source)
        finder.visit(ast.parse(source))
        found += finder.found
    return sorted(set(found))


def equivalents() -> dict[tuple[str, str], str]:
    """Return the reasons of mutations that change nothing, by path and change."""
    found: dict[tuple[str, str], str] = {}
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines() if EQUIVALENT.exists() else ():
        if line.strip() and not line.startswith("#"):
            path, told, reason = (part.strip() for part in line.split(" | ", 2))
            found[path, told] = reason
    return found


def copy_tree(to: Path) -> None:
    """Copy what the tests need."""
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc", ".hypothesis")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=ignore)
        elif source.exists():
            shutil.copy2(source, to / name)


def run_tests(tree: Path, package: str, timeout: float) -> tuple[str, str]:
    """Run the tests of a package in the copy; return passed, failed or timed out, and the test that said so."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    # no plug-ins of the project's own runs in parallel, and the same examples for every mutation
    command = [
        sys.executable, "-m", "pytest", f"tests/{package}", "-x", "-q", "-n0", "-p", "no:cacheprovider",
        "--hypothesis-seed=0", "--tb=no",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return "timed out", ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == 0:
        return "passed", ""
    told = failed[0].split(" - ")[0] if failed else (done.stderr.strip().splitlines() or ["no word"])[-1]
    return "failed", told.removeprefix("FAILED ").removeprefix("ERROR ")


def imports_the_copy(tree: Path) -> bool:
    """Tell whether the tests would run against the copy, and not against the installed package."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-c", "import fourplane; print(fourplane.__file__)"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True, cwd=tree)
    return Path(done.stdout.strip()).is_relative_to(tree)


def apply(tree: Path, mutation: Mutation) -> bytes:
    """Write the mutation into the copy and return what stood in the file."""
    path = tree / mutation.path
    old = path.read_bytes()
    new = old[: mutation.start] + mutation.after.encode() + old[mutation.end :]
    ast.parse(new)
    path.write_bytes(new)
    return old


def check(chosen: list[Mutation], timeout: float) -> dict[str, list[Mutation]] | None:
    """Apply each mutation in turn and print what became of it; None where the unchanged tree fails already."""
    same = equivalents()
    outcome: dict[str, list[Mutation]] = {"caught": [], "survived": [], "equivalent": []}
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        tree = Path(folder).resolve()
        copy_tree(tree)
        if not imports_the_copy(tree):
            print("the copy is not what Python imports", file=sys.stderr)
            return None
        for package in sorted({one.package for one in chosen}):
            result, by = run_tests(tree, package, 10 * timeout)
            if result != "passed":
                print(f"tests/{package} do not pass unchanged: {result} {by}", file=sys.stderr)
                return None
        for number, one in enumerate(chosen, 1):
            began = time.monotonic()
            old = apply(tree, one)
            try:
                result, by = run_tests(tree, one.package, timeout)
            finally:
                (tree / one.path).write_bytes(old)
            reason = same.get((one.path, one.told), "")
            state = "caught" if result != "passed" else "equivalent" if reason else "survived"
            outcome[state].append(one)
            print(f"{number:3} {state:10} {time.monotonic() - began:5.1f} s  {one.path}:{one.line}")
            print(f"      {one.told}")
            print(f"      {by or reason or result}", flush=True)
    return outcome


def main() -> int:
    """Choose, apply, count."""
    parser = argparse.ArgumentParser(description="Change one thing at a time, and see whether a test notices.")
    parser.add_argument("--count", type=int, default=30, help="how many mutations (30)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES), help="packages below src/fourplane")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for the tests of one mutation (120)")
    parser.add_argument("--least", type=float, default=0.9, help="share that must be caught (0.9)")
    parser.add_argument("--only", default="", help="take mutations only whose path holds this text")
    parser.add_argument("--list", action="store_true", help="print the chosen mutations and change nothing")
    options = parser.parse_args()
    every = [one for one in mutations(options.packages) if options.only in one.path]
    chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))  # noqa: S311 - no secret
    if options.list:
        for one in chosen:
            print(f"{one.path}:{one.line}\n      {one.told}")
        return 0
    print(f"{len(chosen)} of {len(every):,} mutations of {', '.join(options.packages)}, seed {options.seed}")
    outcome = check(chosen, options.timeout)
    if outcome is None:
        return 2
    judged = len(outcome["caught"]) + len(outcome["survived"])
    share = len(outcome["caught"]) / judged if judged else 1.0
    print(
        f"caught {len(outcome['caught'])}, survived {len(outcome['survived'])}, "
        f"equivalent {len(outcome['equivalent'])}: {share:.0%} of {judged}"
    )
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
