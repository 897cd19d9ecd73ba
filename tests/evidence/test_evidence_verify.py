"""Every byte and every file of a store is watched over."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest
from evidence_samples import files_below, record_inventory, seen, small_store
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourplane.base.errors import StoreError, UsageError
from fourplane.base.files import sha256_hex
from fourplane.base.findings import Finding, Level, has_errors
from fourplane.evidence.manifest import canonical
from fourplane.evidence.store import RunStore
from fourplane.evidence.verify import verify_folder
from fourplane.records.observation import RawRef


def errors(findings: list[Finding]) -> list[Finding]:
    return [one for one in findings if one.level is Level.ERROR]


def codes(findings: list[Finding]) -> set[str]:
    return {one.code for one in findings}


def test_a_flipped_bit_in_any_byte_of_any_file_is_named(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    assert verify_folder(root) == []
    for path in files_below(root):
        data = path.read_bytes()
        for position in _positions(len(data)):
            flipped = bytearray(data)
            flipped[position] ^= 1 << (position % 8)
            path.write_bytes(flipped)
            named = {one.file for one in errors(verify_folder(root))}
            assert str(path) in named, (path, position)
        path.write_bytes(data)
    assert verify_folder(root) == []


def _positions(size: int) -> list[int]:
    """Every byte of HEAD and other small files; of larger ones both ends and a sample."""
    if size <= 300:
        return list(range(size))
    return sorted({*range(60), *range(size - 60, size), *random.Random(size).sample(range(size), 120)})


def test_any_change_of_form_is_named(tmp_path: Path) -> None:
    """Whitespace, order of keys, an appended or missing newline, an empty file."""
    root = small_store(tmp_path)
    for path in files_below(root):
        data = path.read_bytes()
        forms = [data + b"\n", data[:-1], data + b" ", b"", data * 2]
        if path.suffix == ".json" or path.name == "HEAD":
            value = json.loads(data)
            forms += [json.dumps(value, indent=1).encode(), json.dumps(dict(reversed(value.items()))).encode() + b"\n"]
        for form in forms:
            path.write_bytes(form)
            assert str(path) in {one.file for one in errors(verify_folder(root))}, (path, form)
        path.write_bytes(data)


def test_every_deleted_file_is_named(tmp_path: Path) -> None:
    root = small_store(tmp_path, runs=2)
    for path in files_below(root):
        data = path.read_bytes()
        path.unlink()
        assert str(path) in {one.file for one in errors(verify_folder(root))}, path
        path.write_bytes(data)
    assert verify_folder(root) == []


@pytest.mark.parametrize("run", ["r1", "r2", "r3"])
def test_a_deleted_run_is_named_the_newest_included(tmp_path: Path, run: str) -> None:
    root = small_store(tmp_path, runs=3)
    shutil.rmtree(root / "runs" / run)
    found = errors(verify_folder(root))
    assert [one.file for one in found if one.code == "evidence-run-missing"] == [str(root / "runs" / run)]
    assert len([one for one in found if one.code == "evidence-file-missing"]) == 4


def test_the_newest_run_deleted_with_its_manifests_is_named(tmp_path: Path) -> None:
    root = small_store(tmp_path, runs=2)
    shutil.rmtree(root / "runs/r2")
    for seq in (4, 5, 6):
        (root / f"chain/{seq:06d}.json").unlink()
    found = errors(verify_folder(root))
    assert [one.file for one in found] == [str(root / f"chain/{seq:06d}.json") for seq in (4, 5, 6)]
    assert codes(found) == {"evidence-entry-missing"}
    (root / "HEAD").unlink()
    assert codes(errors(verify_folder(root))) == {"evidence-head-missing"}


def test_whole_folders_that_vanish_are_named(tmp_path: Path) -> None:
    for name in ("chain", "runs"):
        root = small_store(tmp_path / name)
        shutil.rmtree(root / name)
        assert has_errors(verify_folder(root)), name
    root = small_store(tmp_path / "bare")
    shutil.rmtree(root / "chain")
    (root / "HEAD").unlink()
    assert "evidence-head-missing" in codes(errors(verify_folder(root)))


def test_only_an_anchor_shows_a_store_rolled_back_as_a_whole(tmp_path: Path) -> None:
    root = small_store(tmp_path, runs=2)
    with RunStore.open(root) as reader:
        _, anchor = reader.head
    old = tmp_path / "old"
    older_anchor = json.loads((root / "chain/000003.json").read_bytes())["sha256"]
    shutil.copytree(root, old)
    shutil.rmtree(old / "runs/r2")
    for seq in (4, 5, 6):
        (old / f"chain/{seq:06d}.json").unlink()
    (old / "HEAD").write_bytes(canonical({"seq": 3, "sha256": older_anchor}))
    assert verify_folder(old) == []
    assert codes(errors(verify_folder(old, head=anchor))) == {"evidence-head-unknown"}
    assert verify_folder(root, head=anchor) == []
    assert verify_folder(root, head=f"sha256:{older_anchor.upper()}") == []


def test_a_chain_rewritten_as_a_whole_shows_against_the_anchor(tmp_path: Path) -> None:
    root = small_store(tmp_path / "a")
    with RunStore.open(root) as reader:
        _, anchor = reader.head
    forged = tmp_path / "b/evidence"
    with RunStore.open(forged, write=True) as store:
        store.begin("r1", {"steps": ["inventory@n1"]})
        record_inventory(store)
        store.end("r1", {"ok": True})
    assert verify_folder(forged) == []
    assert codes(errors(verify_folder(forged, head=anchor))) == {"evidence-head-unknown"}


@pytest.mark.parametrize("head", ["", "abc", "g" * 64, "0" * 63, "0" * 65])
def test_an_anchor_that_is_no_hash_is_a_usage_error(tmp_path: Path, head: str) -> None:
    root = small_store(tmp_path)
    with pytest.raises(UsageError) as stop:
        verify_folder(root, head=head)
    assert stop.value.code == "evidence-head-malformed"


def _reseal(path: Path, **changes: object) -> str:
    """Change a manifest and give it a hash that fits, as a forger would."""
    entry = json.loads(path.read_bytes())
    entry.update(changes)
    del entry["sha256"]
    entry["sha256"] = sha256_hex(canonical(entry))
    path.write_bytes(canonical(entry))
    return str(entry["sha256"])


def test_a_resealed_manifest_breaks_the_chain(tmp_path: Path) -> None:
    root = small_store(tmp_path, runs=2)
    _reseal(root / "chain/000002.json", at="2026-01-01T00:00:00Z")
    assert codes(errors(verify_folder(root))) == {"evidence-chain-broken"}
    root = small_store(tmp_path / "newest")
    _reseal(root / "chain/000003.json", at="2026-01-01T00:00:00Z")
    assert codes(errors(verify_folder(root))) == {"evidence-head-mismatch"}


def test_swapped_manifests_are_named(tmp_path: Path) -> None:
    root = small_store(tmp_path, runs=2)
    a, b = root / "chain/000002.json", root / "chain/000005.json"
    first, second = a.read_bytes(), b.read_bytes()
    a.write_bytes(second)
    b.write_bytes(first)
    found = {one.file for one in errors(verify_folder(root)) if one.code == "evidence-chain-broken"}
    assert {str(a), str(b)} <= found


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "begin", "step": ""},
        {"kind": "end", "step": ""},
        {"run": "r7"},
        {"step": "other"},
        {"files": []},
        {"files": [{"path": "runs/r1/run.json", "sha256": "0" * 64, "bytes": 1}]},
        {"files": [{"path": "../../etc/passwd", "sha256": "0" * 64, "bytes": 1}]},
        {"files": [{"path": "runs/r1/steps/inventory@n1.json", "sha256": "0" * 64, "bytes": True}]},
        {"seq": 9},
        {"extra": 1},
        {"at": "yesterday"},
        {"run": "a\nb"},
    ],
)
def test_a_forged_story_is_an_error_even_with_fitting_hashes(tmp_path: Path, changes: dict[str, object]) -> None:
    root = small_store(tmp_path)
    prev = _reseal(root / "chain/000002.json", **changes)
    newest = _reseal(root / "chain/000003.json", prev=prev)
    (root / "HEAD").write_bytes(canonical({"seq": 3, "sha256": newest}))
    found = errors(verify_folder(root))
    assert str(root / "chain/000002.json") in {one.file for one in found}
    with RunStore.open(root) as reader, pytest.raises(StoreError):
        reader.observations()


def test_head_far_behind_or_elsewhere_is_damage_and_one_behind_is_not(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    hashes = [json.loads((root / f"chain/{seq:06d}.json").read_bytes())["sha256"] for seq in (1, 2, 3)]
    head = root / "HEAD"
    for seq, digest, expected in [
        (2, hashes[1], {"evidence-head-behind"}),
        (1, hashes[0], {"evidence-head-mismatch"}),
        (2, hashes[0], {"evidence-head-mismatch"}),
        (3, hashes[1], {"evidence-head-mismatch"}),
        (0, "0" * 64, {"evidence-head-mismatch"}),
        (4, hashes[2], {"evidence-entry-missing"}),
        (10**30, hashes[2], {"evidence-entry-missing"}),
    ]:
        head.write_bytes(canonical({"seq": seq, "sha256": digest}))
        assert codes(verify_folder(root)) == expected, seq
    head.write_bytes(canonical({"seq": 2, "sha256": hashes[1]}))
    with RunStore.open(root) as reader:
        assert reader.head == (3, hashes[2]) and len(reader.observations()) == 2
    with RunStore.open(root, write=True) as store:
        assert store.verify() == []


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "HEAD.bak",
        "chain/000003.json.bak",
        "chain/3.json",
        "chain/0000003.json",
        "chain/000000.json",
        "runs/notes.txt",
        "runs/r1/notes.txt",
        "runs/r1/steps/other.json",
        "runs/r1/raw/inventory@n1/more.txt",
        "runs/r1/raw/other/lscpu.txt",
        "runs/r9/end.json",
        "runs/r9/steps/a.json",
        "runs/r9/deep/er/a.json",
        "tmp/foreign",
        "tmp/.writer.lock/x",
    ],
)
def test_an_extra_file_is_an_error(tmp_path: Path, name: str) -> None:
    root = small_store(tmp_path)
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    found = errors(verify_folder(root))
    assert codes(found) == {"evidence-file-extra"}
    assert any(str(path).startswith(one.file) for one in found)
    with RunStore.open(root, write=True) as store:  # it does not hinder work, and nothing foreign is removed
        store.begin("r2", {})
        assert has_errors(store.verify())
    assert path.read_text() == "{}"


def test_an_extra_manifest_is_an_error(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    (root / "chain/000004.json").write_bytes((root / "chain/000003.json").read_bytes())
    assert has_errors(verify_folder(root))
    (root / "chain/000004.json").write_text("{}")
    assert "evidence-entry-damaged" in codes(errors(verify_folder(root)))


def test_links_pipes_and_folders_in_the_place_of_files_are_errors(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    for path in files_below(root):
        data = path.read_bytes()
        twin = tmp_path / "twin"
        twin.write_bytes(data)
        path.unlink()
        path.symlink_to(twin)  # the same bytes, yet anybody could change them elsewhere
        assert str(path) in {one.file for one in errors(verify_folder(root))}, path
        path.unlink()
        os.mkfifo(path)
        assert str(path) in {one.file for one in errors(verify_folder(root))}, path
        path.unlink()
        path.mkdir()
        assert str(path) in {one.file for one in errors(verify_folder(root))}, path
        path.rmdir()
        path.write_bytes(data)
    assert verify_folder(root) == []


def test_a_linked_folder_is_an_error_and_not_entered(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    (root / "runs/r1").rename(tmp_path / "elsewhere")
    (root / "runs/r1").symlink_to(tmp_path / "elsewhere")
    found = errors(verify_folder(root))
    assert "evidence-not-a-file" in codes(found)
    with RunStore.open(root) as reader, pytest.raises(StoreError):
        reader.observations()


def test_a_name_that_could_drive_a_terminal_is_made_printable(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    (root / "\x1b[31m").write_text("x")
    (root / os.fsdecode(b"\xff")).write_text("x")
    found = verify_folder(root)
    assert {one.file for one in found} == {f"{root}/\\x1b[31m", f"{root}/\\udcff"}
    json.dumps([one.to_json() for one in found], ensure_ascii=False).encode()


def test_larger_stores_are_sampled(tmp_path: Path) -> None:
    root = tmp_path / "evidence"
    rng = random.Random(7)
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        raw = "".join(rng.choices("abc \n", k=200_000))
        curve = [{"bytes": 8 << n, "time_us": rng.random()} for n in range(500)]
        store.record("r1", "s", [seen("network.allreduce.curve", curve, raw=RawRef("log", ""))], {"log": raw})
    for path in files_below(root):
        data = path.read_bytes()
        for position in rng.sample(range(len(data)), k=min(12, len(data))):
            path.write_bytes(data[:position] + bytes([data[position] ^ 0x10]) + data[position + 1 :])
            assert str(path) in {one.file for one in errors(verify_folder(root))}
        path.write_bytes(data)


_PIECES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            b"{}\n",
            b"[]\n",
            b"null\n",
            b"[" * 200_000,
            b'{"a":' * 50_000,
            b'{"seq":1e999,"sha256":"x"}\n',
            b'{"seq":' + b"9" * 5000 + b"}\n",
            b'{"a":"\\ud800"}\n',
            canonical({"seq": 2, "sha256": "0" * 64}),
            canonical({"run": "r1", "step": "inventory@n1", "observations": [{}], "raws": []}),
            canonical({"observations": {"a": 1}, "raws": 3}),
            canonical({"id": "r1", "plan": []}),
        ]
    ),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(choice=st.integers(0, 6), content=_PIECES, resealed=st.booleans())
def test_garbage_never_raises_and_what_passes_can_be_read(
    tmp_path: Path, choice: int, content: bytes, resealed: bool
) -> None:
    workspace = tmp_path / os.urandom(8).hex()
    root = small_store(workspace)
    path = files_below(root)[choice]
    path.write_bytes(content)
    if resealed and path.parent.name != "chain" and path.name != "HEAD":
        _vouch(root, path, content)
    found = verify_folder(root)
    with RunStore.open(root) as reader:
        if has_errors(found):
            with pytest.raises(StoreError):
                reader.runs()
                reader.observations()
                for one in reader.observations():
                    if one.raw is not None:
                        reader.raw_text(one.raw)
        else:
            reader.runs()
            reader.observations()
    shutil.rmtree(workspace)


def _vouch(root: Path, path: Path, content: bytes) -> None:
    """Rewrite the whole chain so that its hashes fit the changed file."""
    prev = "0" * 64
    relative = str(path.relative_to(root))
    for seq in (1, 2, 3):
        entry = json.loads((root / f"chain/{seq:06d}.json").read_bytes())
        for one in entry["files"]:
            if one["path"] == relative:
                one.update(sha256=sha256_hex(content), bytes=len(content))
        prev = _reseal(root / f"chain/{seq:06d}.json", prev=prev, files=entry["files"])
    (root / "HEAD").write_bytes(canonical({"seq": 3, "sha256": prev}))


def test_a_record_of_another_form_is_named_though_its_hashes_fit(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    path = root / "runs/r1/steps/inventory@n1.json"
    record = json.loads(path.read_bytes())
    record["observations"][0]["raw"]["sha256"] = "0" * 64  # a reference that leads nowhere
    path.write_bytes(canonical(record))
    _vouch(root, path, canonical(record))
    assert [(one.code, one.file) for one in verify_folder(root)] == [("evidence-malformed", str(path))]


@pytest.mark.parametrize("name", ["HEAD", "chain/000002.json", "runs/r1/run.json"])
def test_a_file_that_the_system_refuses_to_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Root may read everything, so the refusal is played here."""
    root = small_store(tmp_path)
    real = os.open

    def refuses(path: str, flags: int, *more: int, **other: int) -> int:
        if path == name.split("/")[-1]:
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *more, **other)

    monkeypatch.setattr(os, "open", refuses)
    found = errors(verify_folder(root))
    assert ("evidence-file-unreadable", str(root / name)) in {(one.code, one.file) for one in found}


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"seq":3}\n', b'{"seq":true,"sha256":"00"}\n', b"\xff\n"])
def test_a_head_that_cannot_be_read_back_is_damage(tmp_path: Path, content: bytes) -> None:
    root = small_store(tmp_path)
    (root / "HEAD").write_bytes(content)
    assert [(one.code, one.file) for one in verify_folder(root)] == [("evidence-head-damaged", str(root / "HEAD"))]
