from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fourplane.base.files import fsync_directory, make_directories, sha256_hex, write_atomic


def test_sha256_is_that_of_the_standard() -> None:
    # FIPS 180-4, the message "abc"
    assert sha256_hex(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_an_older_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for data in (b"one", b"", b"three"):
        write_atomic(path, data)
        assert path.read_bytes() == data
        assert list(tmp_path.iterdir()) == [path]


def test_the_file_is_synced_before_the_rename_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    replace = os.replace

    def fsync(fd: int) -> None:
        order.append("folder" if Path(f"/proc/self/fd/{fd}").readlink() == tmp_path else "file")

    def renamed(source: object, target: object) -> None:
        order.append("rename")
        replace(str(source), str(target))

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", renamed)
    write_atomic(tmp_path / "a", b"x")
    assert order == ["file", "rename", "folder"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failed_write_leaves_the_older_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, fails)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_the_temporary_file_lies_where_asked_and_never_goes_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch, victim = tmp_path / "scratch", tmp_path / "victim"
    scratch.mkdir()
    victim.write_bytes(b"mine")
    (scratch / f".a.{os.getpid()}.tmp").symlink_to(victim)
    seen: list[list[str]] = []
    replace = os.replace

    def renamed(source: object, target: object) -> None:
        seen.append(sorted(path.name for path in scratch.iterdir()))
        replace(str(source), str(target))

    monkeypatch.setattr(os, "replace", renamed)
    write_atomic(tmp_path / "a", b"x", scratch=scratch)
    assert victim.read_bytes() == b"mine" and (tmp_path / "a").read_bytes() == b"x"
    assert seen == [[f".a.{os.getpid()}-1.tmp", f".a.{os.getpid()}.tmp"]]


def test_folders_are_made_with_their_parents_each_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(Path(f"/proc/self/fd/{fd}").readlink()))
    make_directories(tmp_path / "a/b/c")
    make_directories(tmp_path / "a/b/c")
    assert (tmp_path / "a/b/c").is_dir()
    assert synced == [tmp_path, tmp_path / "a", tmp_path / "a/b"]


@pytest.mark.parametrize(("number", "raised"), [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)])
def test_a_file_system_that_cannot_sync_folders_is_lived_with_and_a_failing_disk_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, raised: bool
) -> None:
    def fails(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fails)
    before = len(list(Path("/proc/self/fd").iterdir()))
    if raised:
        with pytest.raises(OSError, match=os.strerror(number)):
            fsync_directory(tmp_path)
    else:
        fsync_directory(tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
