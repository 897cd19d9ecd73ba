from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.errors import UsageError
from fourplane.importers.sources import Bounds, Source, open_sources


def _open(*paths: Path | str, stdin: bytes = b"", bounds: Bounds | None = None) -> list[Source]:
    return list(open_sources([str(path) for path in paths], io.BytesIO(stdin), bounds))


def _tar(path: Path, members: dict[str, bytes], mode: str = "w:gz", links: dict[str, str] | None = None) -> Path:
    with tarfile.open(path, mode) as box:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            box.addfile(info, io.BytesIO(content))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            box.addfile(info)
    return path


def test_files_and_folders_come_in_order_of_name(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "2.log").write_bytes(b"two")
    (tmp_path / "a.log").write_bytes(b"one")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x").write_bytes(b"hidden")
    assert [(Path(s.path).name, s.content) for s in _open(tmp_path)] == [("a.log", b"one"), ("2.log", b"two")]


def test_standard_input_is_a_source() -> None:
    assert _open("-", stdin=b"text") == [Source("-", b"text")]


def test_a_path_that_names_nothing_is_a_usage_error_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    with pytest.raises(UsageError) as refused:
        open_sources([str(tmp_path / "a"), str(tmp_path / "no")], io.BytesIO())
    assert refused.value.code == "import-not-found"


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_members_of_a_tar_are_named_after_it(tmp_path: Path, mode: str) -> None:
    path = _tar(tmp_path / "logs.tar", {"n1/nccl.log": b"log"}, mode)
    assert _open(path) == [Source(f"{path}!n1/nccl.log", b"log")]


def test_a_zip_and_a_compressed_file_are_opened(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as box:
        box.writestr("x/y.log", b"log")
    (tmp_path / "b.log.gz").write_bytes(gzip.compress(b"plain"))
    assert [(Path(s.path).name, s.content) for s in _open(tmp_path)] == [("y.log", b"log"), ("b.log", b"plain")]


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "..\\x", "C:\\x"])
def test_members_that_would_lie_outside_are_refused_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    found = _open(_tar(tmp_path / "t.tgz", {name: b"evil", "good": b"fine"}))
    assert [(s.code, s.content) for s in found] == [("import-unsafe-member", None), ("", b"fine")]


def test_links_are_refused_in_archives_and_left_alone_in_folders(tmp_path: Path) -> None:
    found = _open(_tar(tmp_path / "t.tgz", {}, links={"x": "/etc/passwd"}))
    assert [s.code for s in found] == ["import-unsafe-member"]
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to("/etc/passwd")
    assert _open(folder) == []


def test_a_bomb_is_refused_without_being_unpacked(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b"\0" * (64 << 20)))
    found = _open(bomb)
    assert [(s.code, s.content) for s in found] == [("import-too-large", None)]


def test_an_archive_in_an_archive_is_refused(tmp_path: Path) -> None:
    inner = gzip.compress(b"x")
    assert [s.code for s in _open(_tar(tmp_path / "t.tar", {"in.gz": inner}, "w"))] == ["import-nested-archive"]


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_cut_archive_says_so(tmp_path: Path, cut: int) -> None:
    whole = _tar(tmp_path / "t.tgz", {"a": os.urandom(4000), "b": os.urandom(4000)}).read_bytes()
    (tmp_path / "t.tgz").write_bytes(whole[: len(whole) * cut // 100])
    codes = [s.code for s in _open(tmp_path / "t.tgz")]
    assert codes and (codes[-1] == "import-archive-broken" or cut == 1)


def test_bounds_hold_for_one_file_for_all_and_for_their_number(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_bytes(b"x" * 100)
    assert {s.code for s in _open(tmp_path, bounds=Bounds(file_bytes=99))} == {"import-too-large"}
    assert [s.code for s in _open(tmp_path, bounds=Bounds(all_bytes=250))] == ["", "", "import-too-large"]
    assert [s.code for s in _open(tmp_path, bounds=Bounds(files=2))] == ["", "", "import-too-large"]


def test_a_named_pipe_holds_nothing_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [s.code for s in _open(tmp_path)] == ["import-unreadable"]


@settings(max_examples=200)
@given(st.sampled_from([b"PK\x03\x04", b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\x00", b""]), st.binary(max_size=600))
def test_no_bytes_raise(magic: bytes, rest: bytes) -> None:
    found = _open("-", stdin=magic + rest)
    assert all((s.content is None) == bool(s.code) for s in found)
