"""The folder of a side index: whole or not there, and never read when a file changed after the build."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import IndexingError
from pinakes.indexers import side_folder
from pinakes.indexers.side_folder import (
    check_seal,
    describe_file,
    read_parameters,
    whole_folder,
    write_parameters,
)


def build(folder: Path) -> Path:
    with whole_folder(folder) as building:
        (building / "part").mkdir()
        (building / "part" / "postings.bin").write_bytes(b"\x01\x02\x03")
        (building / ".writer.lock").write_bytes(b"")
        write_parameters(building, {"kind": "toy", "rows": 3})
    return folder


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    assert read_parameters(build(tmp_path / "index"), "toy") == {"kind": "toy", "rows": 3}


@pytest.mark.parametrize("content", [b"\x01\x02\x07", b"\x01\x02", b"\x01\x02\x03\x00"])
def test_a_changed_file_is_never_searched(tmp_path: Path, content: bytes) -> None:
    folder = build(tmp_path / "index")
    (folder / "part" / "postings.bin").write_bytes(content)
    with pytest.raises(IndexingError, match=r"is damaged: part/postings\.bin changed after the build; build"):
        read_parameters(folder, "toy")


def test_changed_parameters_are_damage_too(tmp_path: Path) -> None:
    folder = build(tmp_path / "index")
    write_parameters(folder, {"kind": "toy", "rows": 4})
    with pytest.raises(IndexingError, match=r"is damaged: parameters\.json"):
        read_parameters(folder, "toy")


@pytest.mark.parametrize("name", ["part/postings.bin", "files.json", "parameters.json"])
def test_a_missing_file_is_no_finished_index(tmp_path: Path, name: str) -> None:
    folder = build(tmp_path / "index")
    (folder / name).unlink()
    with pytest.raises(IndexingError, match="is not a finished toy index"):
        read_parameters(folder, "toy")


@pytest.mark.parametrize("content", ["[]", "{", '{"part/postings.bin": 1}'])
def test_an_unreadable_seal_is_no_finished_index(tmp_path: Path, content: str) -> None:
    folder = build(tmp_path / "index")
    (folder / "files.json").write_text(content)
    with pytest.raises(IndexingError, match="toy index"):
        read_parameters(folder, "toy")


def test_a_lock_file_may_come_and_go(tmp_path: Path) -> None:
    folder = build(tmp_path / "index")
    (folder / ".writer.lock").unlink()
    (folder / ".meta.lock").write_bytes(b"held")
    assert read_parameters(folder, "toy")["rows"] == 3


def test_a_build_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    folder = build(tmp_path / "index")

    def fail() -> None:
        with whole_folder(folder) as building:
            (building / "half").write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert read_parameters(folder, "toy")["rows"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index"]


def test_an_index_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="does not describe a bm25 index"):
        read_parameters(build(tmp_path / "index"), "bm25")


def test_files_that_look_as_when_they_were_read_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build(tmp_path / "index")
    read: list[str] = []

    def describe(path: Path) -> dict[str, Any]:
        read.append(path.name)
        return describe_file(path)

    monkeypatch.setattr(side_folder, "describe_file", describe)
    for _ in range(2):  # a moment ago: a change within the clock's step would not be seen
        read_parameters(folder, "toy")
    assert read == 2 * ["parameters.json", "postings.bin"]
    monkeypatch.setattr(side_folder, "CLOCK_STEP_NS", 0)
    read_parameters(folder, "toy")
    read.clear()
    for _ in range(2):
        read_parameters(folder, "toy")
    assert read == []
    check_seal(folder)
    assert sorted(read) == ["parameters.json", "postings.bin"]


def test_a_change_that_keeps_size_and_time_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = build(tmp_path / "index")
    monkeypatch.setattr(side_folder, "CLOCK_STEP_NS", 0)
    read_parameters(folder, "toy")
    assert (folder / side_folder.SEEN_FILE).exists()
    changed = folder / "part" / "postings.bin"
    times = changed.stat().st_atime_ns, changed.stat().st_mtime_ns
    time.sleep(0.05)
    changed.write_bytes(b"\x01\x02\x07")
    os.utime(changed, ns=times)
    with pytest.raises(IndexingError, match="is damaged"):
        read_parameters(folder, "toy")


def test_what_was_seen_is_of_one_seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = build(tmp_path / "index")
    monkeypatch.setattr(side_folder, "CLOCK_STEP_NS", 0)
    read_parameters(folder, "toy")
    for content in ("", "[]", "{", '{"parameters.json": 1}'):
        (folder / side_folder.SEEN_FILE).write_text(content)
        assert read_parameters(folder, "toy")["rows"] == 3
    seal = (folder / "files.json").read_text()
    (folder / "files.json").write_text(seal.replace('"bytes": 3', '"bytes": 4'))
    with pytest.raises(IndexingError, match="is damaged"):
        read_parameters(folder, "toy")


def test_a_failed_build_leaves_nothing_where_a_file_is_made_while_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = shutil.rmtree
    calls: list[Path] = []

    def remove_with_another_at_work(folder: Path, ignore_errors: bool) -> None:
        remove(folder, ignore_errors=ignore_errors)
        calls.append(folder)
        if len(calls) == 1:
            folder.mkdir()
            (folder / ".tantivy-meta.lock").touch()

    monkeypatch.setattr(shutil, "rmtree", remove_with_another_at_work)
    with pytest.raises(KeyError, match="no"), whole_folder(tmp_path / "index"):
        raise KeyError("no")
    assert list(tmp_path.iterdir()) == []
    assert len(calls) == 2
