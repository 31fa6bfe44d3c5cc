"""JSON Lines in files, folders and archives: which are found, and how their records are numbered."""

import hashlib
import io
import tarfile
import zlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.errors import InputError, LoadError
from pinakes.loaders.reading import streams
from pinakes.loaders.reading.finding import find_line_files
from pinakes.loaders.reading.json_records import read_json_line_files
from pinakes.loaders.staging import Accepted, Rejected, Rows


def _parse(record: dict[str, Any]) -> Rows:
    return {"papers": [{"source_id": record["id"]}]}


def _write_tar(path: Path, entries: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_a_folders_shards_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "a/1.jsonl.gz", "a/notes.txt", ".cache/0.jsonl", "c.tar.gz", "manifest"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    _write_tar(tmp_path / "c.tar.gz", {"3.jsonl": b"", "notes.txt": b"", ".hidden.jsonl": b""})
    _write_tar(tmp_path / "d.tar.gz", {"notes.txt": b""})
    found = find_line_files(tmp_path, suffixes=(".jsonl",))
    assert [file.name for file in found] == ["a/1.jsonl.gz", "b/2.jsonl", "c.tar.gz"]
    assert [file.documents for file in found] == [(), (), ("3.jsonl",)]
    assert {file.role for file in found} == {"papers"}


def test_an_archive_is_one_file_whose_records_are_numbered_through(tmp_path: Path) -> None:
    path = _write_tar(
        tmp_path / "release.tar.gz",
        {
            "x/1.jsonl": b'{"id": "a"}\n\n{"id": "b"}\r\n',
            "x/LICENSE": b"not read",
            "x/2.jsonl": b'{"id": "c"\n{"id": "d"}',
        },
    )
    records = list(read_json_line_files(find_line_files(path)[0], _parse))
    assert [(type(record).__name__, record.row_number, record.location) for record in records] == [
        ("Accepted", 1, "x/1.jsonl: line 1"),
        ("Accepted", 2, "x/1.jsonl: line 3"),
        ("Rejected", 3, "x/2.jsonl: line 1"),
        ("Accepted", 4, "x/2.jsonl: line 2"),
    ]
    accepted = [record for record in records if isinstance(record, Accepted)]
    assert [record.rows["papers"][0]["source_id"] for record in accepted] == ["a", "b", "d"]


def test_a_line_that_is_too_large_is_rejected_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 16)
    long = orjson.dumps({"id": "x" * 100})
    path = _write_tar(tmp_path / "release.tar.gz", {"1.jsonl": long + b'\n{"id": "b"}\n'})
    records = list(read_json_line_files(find_line_files(path)[0], _parse))
    assert [getattr(record, "reason", "accepted") for record in records] == ["too_large", "accepted"]


def test_an_archive_without_lines_is_refused(tmp_path: Path) -> None:
    path = _write_tar(tmp_path / "release.tar.gz", {"README": b"nothing"})
    with pytest.raises(InputError, match=r"has no file ending in \.jsonl, "):
        find_line_files(path)


def test_a_cut_archive_gives_what_came_before(tmp_path: Path) -> None:
    ids = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(40_000)]
    lines = b"".join(orjson.dumps({"id": source_id}) + b"\n" for source_id in ids)
    path = _write_tar(tmp_path / "release.tar.gz", {"1.jsonl": lines})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    records = read_json_line_files(find_line_files(path)[0], _parse)
    found: list[Accepted | Rejected] = []
    with pytest.raises(LoadError, match="damaged or cut short"):
        found.extend(records)
    stream = zlib.decompressobj(31)
    assert len(found) == stream.decompress(path.read_bytes()).count(b"\n")
