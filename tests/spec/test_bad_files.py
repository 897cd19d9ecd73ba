"""Bad files: every finding at its line and column, all at once, none twice.

The expectations stand as comments in the files of ``tests/corpus/spec``: ``# expect: CODE LINE:COLUMN PATH``.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from fourplane.base.codes import find
from fourplane.base.findings import Finding, Level
from fourplane.spec.loader import load_file, load_workspace
from fourplane.spec.workspace import Workspace

CORPUS = sorted((Path(__file__).resolve().parents[1] / "corpus" / "spec").glob("*.yaml"))
TODAY = date(2026, 12, 1)
EXPECT = re.compile(r"^# expect: (\S+) (\d+):(\d+) (.+)$", re.MULTILINE)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_slip_is_named_with_its_place(path: Path) -> None:
    expected = [(m[1], int(m[2]), int(m[3]), m[4]) for m in EXPECT.finditer(path.read_text(encoding="utf-8"))]
    assert expected
    found = [(f.code, f.line, f.column, f.path) for f in load_file(path, today=TODAY).findings]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_finding_is_complete(path: Path) -> None:
    for one in load_file(path, today=TODAY).findings:
        assert find(one.code) is not None, one.code
        assert one.file == str(path)
        assert one.message and one.found and one.expected and one.fix, one


def findings(tmp_path: Path, text: str | bytes, **quotes: str) -> list[Finding]:
    (tmp_path / "fourplane.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, content in quotes.items():
        (tmp_path / "quotes").mkdir(exist_ok=True)
        (tmp_path / "quotes" / f"{name}.yaml").write_text(content, encoding="utf-8")
    return list(load_workspace(tmp_path, today=TODAY).findings)


def places(found: list[Finding]) -> list[tuple[str, int, int]]:
    return [(f.code, f.line, f.column) for f in found]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"", ("spec-empty", 1, 1)),
        (b"# only a comment\n", ("spec-empty", 1, 1)),
        (b"~", ("spec-empty", 1, 1)),
        (b"- a\n- b\n", ("spec-wrong-type", 1, 1)),
        (b"just a text", ("spec-wrong-type", 1, 1)),
        (b"name: a\nbrief:\n\tworkload: x\n", ("spec-yaml-syntax", 3, 1)),
        (b"name: 'open\n", ("spec-yaml-syntax", 2, 1)),
        (b"name: a: b\n", ("spec-yaml-syntax", 1, 8)),
        (b"name: @a\n", ("spec-yaml-syntax", 1, 7)),
        (b"name: a\n pools: []\n", ("spec-yaml-syntax", 2, 7)),
        (b"name: a\nbrief: {workload: x\n", ("spec-yaml-syntax", 3, 1)),
        (b"name: a\x00b\n", ("spec-yaml-syntax", 1, 8)),
        (b"name: a\nx: \x1b[31m\n", ("spec-yaml-syntax", 2, 4)),
        (b"name: a\nowner: caf\xe9\n", ("spec-not-utf8", 2, 11)),
        ("name: a\n".encode("utf-16"), ("spec-not-utf8", 1, 1)),
        (b"name: a\n---\nname: b\n", ("spec-several-documents", 2, 1)),
        (b"name: a\nbrief: " + b"[" * 80 + b"]" * 80, ("spec-too-deep", 2, 71)),
        (b"name: a\nbrief: " + b"[" * 100_000, ("spec-too-deep", 2, 1007)),
    ],
)
def test_what_is_no_declaration_is_one_finding(tmp_path: Path, text: bytes, place: tuple[str, int, int]) -> None:
    assert places(findings(tmp_path, text)) == [place]


@pytest.mark.parametrize(
    "text",
    [
        "name: a\npools:\nstorage:\nbrief: ~\n",  # keys without a value state nothing
        "\ufeffname: a\n",
        "name: a\r\nbrief:\r\n  workload: fine-tuning\r\n",
        "name: 2026\nteams: [{name: 2026-12-01}]\n",  # names that look like numbers and days
        "name: a\nnetwork: {fabric: {oversubscription: 1:1}}\n",
        "name: a\nnetwork: {fabric: {gpudirect_rdma: True}, mesh: no, dns: on}\n",
        "---\nname: a\n...\n",
        "name: !!str a\nbrief: &b\n  frameworks: [&f PyTorch, *f]\n",
        "name: a\npools: [{name: a, hosts: 'n[1-4]', count: 4, nodes: [{name: 'n[1-4]'}]}]\n",
        "name: a\npools: [{name: a, count: 2, nodes: [{name: n1}]}, {name: b, nodes: [{name: n2}]}]\n",
        "name: a\nwaivers: [{condition: R4.checkpoint_write, owner: o, reason: r, until: 2026-12-01}]\n",
        "name: a\nteams: [{name: t, quotas: {}}]\ncontrol: {queues: [{name: q, scheduler: slurm}]}\n",
    ],
)
def test_near_misses_are_no_findings(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, text) == []


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("pools: [{name: a, shape: {gpus: 8}}]", "did you mean 'gpu'?"),
        ("pools: [{name: a, gpu: {count: 8}}]", "'gpu' belongs to pools[0].shape.gpu"),
        ("brief: {workLoad: fine-tuning}", "did you mean 'workload'?"),
        ("brief: {workload: Fine Tuning}", "did you mean 'fine-tuning'?"),
        ("brief: {framework: [PyTorch]}", "did you mean 'frameworks'?"),
        ("fabric: {kind: roce}", "'fabric' belongs to network.fabric or telemetry.fabric"),
        ("network: {fabric: {kind: NDR}}", "did you mean 'infiniband'?"),
        ("network: {fabric: {oversubscription: 1:2}}", "write 2:1, downlinks first"),
        ("network: {fabric: {sharp: no}}", "write false"),
        ("pools: [{name: H100 Pool}]", "write 'h100-pool'"),
        ("pools: [{name: a, count: 1_000}]", "write 1000, without quotes or separators"),
        ("pools: {name: a}", "begin each entry with '- '"),
        ("brief: {frameworks: PyTorch}", "write [PyTorch]"),
        ("pools: [{name: a, hosts: 'n[1-3]', count: 4}]", "write 'count: 3', or correct the host list"),
        (
            "security: {secrets: {choice: vault, at start, owner: x}}",
            "a comma ends a value inside { }: put the whole text into quotes",
        ),
        ("terms: {lead_time: 14 d}", "it belongs to a quote; the declaration holds what is wanted"),
    ],
)
def test_the_fix_says_what_is_meant(tmp_path: Path, line: str, fix: str) -> None:
    assert [f.fix for f in findings(tmp_path, f"name: a\n{line}\n")] == [fix]


def test_a_wrong_value_leaves_the_rest_usable(tmp_path: Path) -> None:
    text = "name: a\npools:\n- count: 1\n- {name: B!, count: 2}\n- {name: c, count: -3, hosts: 'n[1-2]'}\n"
    (tmp_path / "fourplane.yaml").write_text(text)
    workspace = load_workspace(tmp_path)
    (pool,) = workspace.declaration.pools
    assert (pool.name, pool.count, pool.hosts) == ("c", None, "n[1-2]")
    assert workspace.cite("pools[0].name").endswith("fourplane.yaml:5:10"), "places follow the entries that are left"
    assert workspace.positions.written("pools[0].hosts") == "pools[2].hosts"
    assert {"pools[0].name", "pools[1].name", "pools[2].count"} == workspace.unreadable


def test_what_refers_to_a_wrong_name_has_no_second_fault(tmp_path: Path) -> None:
    text = "name: a\npools: [{name: Big}]\nteams: [{name: t, quotas: {Big: 8}}]\n"
    assert places(findings(tmp_path, text, q="provider: p\npools: [{name: Big}]\n")) == [
        ("spec-bad-name", 2, 16),
        ("spec-bad-name", 2, 16),
    ]


def test_an_aliased_value_is_wrong_once(tmp_path: Path) -> None:
    text = "name: a\npools:\n- {name: a, shape: &s {memory: 2 TB/s}}\n- {name: b, shape: *s}\n- {name: c, shape: *s}\n"
    assert places(findings(tmp_path, text)) == [("spec-wrong-unit", 3, 32)]


def test_quotes_are_held_against_the_declaration(tmp_path: Path) -> None:
    found = findings(tmp_path, "name: a\npools: [{name: h100}]\n", q="provider: p\npools: [{name: h10}]\n")
    assert places(found) == [("spec-unknown-reference", 2, 16)]
    assert found[0].fix == "did you mean 'h100'?"
    assert found[0].file.endswith("quotes/q.yaml")


def test_quotes_of_a_broken_declaration_are_not_blamed(tmp_path: Path) -> None:
    found = findings(tmp_path, "name: [\n", q="provider: p\npools: [{name: h100}]\n")
    assert [f.code for f in found] == ["spec-yaml-syntax"]


def test_files_that_are_passed_over_are_named(tmp_path: Path) -> None:
    found = findings(tmp_path, "name: a\n", q="provider: p\n")
    assert found == []
    (tmp_path / "quotes" / "other.yml").write_text("provider: p\n")
    (found_now,) = load_workspace(tmp_path).findings
    assert (found_now.code, found_now.level) == ("spec-ignored-file", Level.WARNING)


def test_placeholders_warn_and_count_as_not_stated(tmp_path: Path) -> None:
    (tmp_path / "fourplane.yaml").write_text("name: a\nbrief: {model: {name: TBD, licence: n/a}, frameworks: ['?']}\n")
    workspace = load_workspace(tmp_path)
    assert {(f.code, f.level) for f in workspace.findings} == {("spec-placeholder", Level.WARNING)}
    assert workspace.declaration.brief.model is not None
    assert workspace.declaration.brief.model.name is None
    assert workspace.declaration.brief.model.licence == "n/a"
    assert workspace.declaration.brief.frameworks == ()


def test_versions_stay_as_written(tmp_path: Path) -> None:
    text = "name: a\npools: [{name: a, lifecycle: {cuda: {version: 12.10}, driver: {version: 0580}}}]\n"
    (tmp_path / "fourplane.yaml").write_text(text)
    lifecycle = load_workspace(tmp_path).declaration.pools[0].lifecycle
    assert lifecycle is not None and lifecycle.cuda is not None and lifecycle.driver is not None
    assert (lifecycle.cuda.version, lifecycle.driver.version) == ("12.10", "0580")


def test_thousands_of_findings_are_cut_and_counted(tmp_path: Path) -> None:
    text = "name: a\nbrief: {" + ", ".join(f"k{i}: 1" for i in range(3000)) + "}\n"
    found = findings(tmp_path, text)
    assert len(found) == 1001
    assert [f.message for f in found if f.code == "spec-too-many-findings"] == ["2,000 more findings are not shown"]
    doubled = findings(tmp_path, "name: a\n" + "x: 1\n" * 3000)
    assert [f.message for f in doubled if f.code == "spec-too-many-findings"] == ["1,999 more findings are not shown"]


def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "quotes").mkdir()
    (tmp_path / "quotes" / "gone.yaml").symlink_to(tmp_path / "nowhere")
    assert [f.code for f in findings(tmp_path, "name: a\n")] == ["spec-unreadable-file"]


def test_a_workspace_knows_whether_its_files_changed(tmp_path: Path) -> None:
    findings(tmp_path, "name: a\n", q="provider: p\n")
    first = load_workspace(tmp_path)
    again = load_workspace(tmp_path / "fourplane.yaml")
    (tmp_path / "quotes" / "q.yaml").write_text("provider: r\n")
    changed = load_workspace(tmp_path)
    assert isinstance(first, Workspace) and first.sha256 == again.sha256 != changed.sha256
    assert len(first.sha256) == 64
