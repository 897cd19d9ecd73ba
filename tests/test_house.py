"""The rules of the house, held by tests: sizes, floors, codes, locks, probes for old Pythons."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fourplane
from fourplane.base.codes import all_codes
from fourplane.records.metrics import METRICS

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PROBES = [path for path in (ROOT / "src/fourplane/probes").rglob("*.py") if path.name != "__init__.py"]


def _import_all_codes() -> None:
    for module in pkgutil.walk_packages(fourplane.__path__, "fourplane."):
        if module.name.endswith(".codes") or ".planes." in module.name:
            importlib.import_module(module.name)


def _string_literals(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("path", [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))], ids=lambda p: p.name)
def test_no_file_is_above_800_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 800


def test_imports_go_down_only() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", PROBES, ids=lambda p: p.name)
def test_probes_parse_as_python_3_8_and_import_no_product_code(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    imported = {
        # pieces of probes are packed into one file with the probe that imports them
        name if name.startswith("fourplane.probes.parts") else name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    allowed = set(sys.stdlib_module_names) | {"mpi4py", "torch", "obstore"}
    assert {name for name in imported if not name.startswith("fourplane.probes.parts")} <= allowed


def test_every_metric_is_written_by_a_probe_or_derived() -> None:
    writers = [*PROBES, ROOT / "src/fourplane/prove/derive.py"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in writers)
    missing = [name for name in METRICS if name not in text and name.rsplit(".", 1)[-1] not in text]
    assert missing == []


def test_every_code_says_what_why_and_how_to_mend() -> None:
    _import_all_codes()
    codes = all_codes()
    assert len(codes) > 20
    for code in codes:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", code.code), code.code
        for text in (code.title, code.reason, code.fix):
            assert len(text) > 10, code.code
        assert not code.link or code.link.startswith("https://"), code.code


def test_lock_files_carry_hashes_and_no_addresses() -> None:
    locks = sorted((ROOT / "requirements").glob("*.txt"))
    assert locks
    for lock in locks:
        text = lock.read_text(encoding="utf-8")
        assert "--hash=sha256:" in text
        assert not re.search(r"https?://|--index-url|--find-links|@ file", text), lock.name


def test_the_readme_names_only_make_targets_and_files_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([a-z-]+)", readme):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for link in re.findall(r"\]\(([^)#]+)\)", readme):
        if not link.startswith("https://"):
            assert (ROOT / link).exists(), link


def test_help_imports_no_heavy_library() -> None:
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from fourplane.cli.main import cli\n"
        "result = CliRunner().invoke(cli, ['--help'])\n"
        "assert result.exit_code == 0, result.output\n"
        "heavy = {'pydantic', 'yaml', 'rich', 'jinja2', 'ClusterShell'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
