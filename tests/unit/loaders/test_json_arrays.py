"""Loaders of JSON Lines take the same records as one JSON array, as many tools write them."""

import gzip
import shutil
import tracemalloc
import zipfile
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.loaders.base import InputFile, Options
from pinakes.loaders.reading.compression import strip_compression
from pinakes.loaders.reading.finding import find_line_files
from pinakes.loaders.reading.gathering import gather_by_role
from pinakes.loaders.reading.json_records import is_json_array, read_json_line_files, read_json_lines
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Rejected
from tests.fuzzing import check_damage
from tests.loading import DATA
from tests.sources import SOURCES, copy_folder, hand_in, pack_folder
from tests.writing import write_file, write_zip

FOLDERS = ("arxiv", "beir", "csfcube", "jsonl", "mdcr", "openalex", "s2orc_2020", "unarxive")
LOADERS = {"s2orc_2020": "s2orc"}
# What says where a record stands, not what it says.
PLACES = {"row_number", "location"}


def read(source: Path, loader: str) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """What each file of a source stages, by table, without the places."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    chosen = find_loader(loader)
    for file in chosen.find_files(source, {}):
        tables = found.setdefault(file.name, {})
        for chunk in chosen.read_chunks(file, {}, 1):
            rejected = [{"reason": one.reason, "message": one.message} for one in chunk.rejected]
            tables.setdefault("rejected", []).extend(rejected)
            for name, table in chunk.tables.items():
                kept = [column for column in table.column_names if column not in PLACES]
                tables.setdefault(name, []).extend(table.select(kept).to_pylist())
    return found


def list_records(source: Path) -> dict[Path, list[dict[str, Any]]]:
    """The objects of every file of JSON lines below the source; one line named `.json` is a document."""
    found = {}
    for file in (*source.rglob("*.json*"), *source.rglob("part_*.gz")):
        objects = [value for line in unpack(file).splitlines() if isinstance(value := load(line), dict)]
        if len(objects) > (file.suffix == ".json"):
            found[file] = objects
    return found


def unpack(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def write(file: Path, content: bytes) -> None:
    file.write_bytes(gzip.compress(content, mtime=0) if file.suffix == ".gz" else content)


def load(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


@pytest.mark.parametrize("name", FOLDERS)
def test_an_array_of_the_same_records_is_the_same_source(name: str, tmp_path: Path) -> None:
    loader = LOADERS.get(name, name)
    source = tmp_path / name
    shutil.copytree(DATA / name, source)
    records = list_records(source)
    assert records
    for file, objects in records.items():
        write(file, b"".join(orjson.dumps(one) + b"\n" for one in objects))
    expected = read(source, loader)
    for file, objects in records.items():
        write(file, b"\xef\xbb\xbf " + orjson.dumps(objects, option=orjson.OPT_INDENT_2))
    assert read(source, loader) == expected


PACKED = ("arxiv", "beir", "jsonl", "s2orc of 2020", "unarxive")


@pytest.mark.parametrize(
    ("packed", "suffix"),
    [
        ("", ".tar.gz"),
        (".Z", ".zip"),
        *(pytest.param(*rest, marks=pytest.mark.long) for rest in (("", ".zip"), (".gz", ".tar.gz"))),
        *(pytest.param(*rest, marks=pytest.mark.long) for rest in ((".gz", ".zip"), (".Z", ".tar.gz"))),
    ],
)
@pytest.mark.parametrize("name", PACKED)
def test_an_array_in_an_archive_is_read_as_an_unpacked_one(
    name: str, packed: str, suffix: str, tmp_path: Path
) -> None:
    folder = copy_folder(SOURCES[name], tmp_path)
    for file, objects in list_records(folder).items():
        whole = orjson.dumps([*objects, 3], option=orjson.OPT_INDENT_2)
        file.unlink()
        write_file(file.with_name(strip_compression(file.name) + packed), b"\xef\xbb\xbf \n" + whole)
    expected = hand_in(replace(SOURCES[name], source=folder))
    found = hand_in(replace(SOURCES[name], source=pack_folder(folder, suffix)))
    assert found.rows == expected.rows
    assert sum(found.rows.values()) > 3
    told = [
        Counter((one.reason, one.message, one.raw) for one in source.rejected) for source in (found, expected)
    ]
    assert told[0] == told[1]
    assert ("not_an_object", "3") in [(reason, raw) for reason, _, raw in told[0]]


def test_the_records_of_an_archive_are_numbered_through_and_say_where_they_stand(tmp_path: Path) -> None:
    path = write_zip(
        tmp_path / "a.zip",
        {
            "1.json": b' [{"id": "a"},\n 3]',
            "2.jsonl": b'\xef\xbb\xbf{"id": "b"}\n[4]\n',
            "3.json": b"[1, 2]",
            "4.json": b'[{"id": "c"}, {"id": ',
            "5.json": b"[]",
        },
    )
    records = list(read_json_line_files(find_line_files(path)[0], lambda record: {"papers": [record]}))
    assert [(one.row_number, one.location, getattr(one, "reason", "")) for one in records] == [
        (1, "1.json: [0]", ""),
        (2, "1.json: [1]", "not_an_object"),
        (3, "2.jsonl: line 1", ""),
        (4, "2.jsonl: line 2", "not_an_object"),
        (5, "3.json: line 1", "not_an_object"),
        (6, "4.json: [0]", ""),
        (7, "4.json: after 1 records", "not_json"),
    ]


def test_an_array_in_an_archive_is_read_in_constant_memory(tmp_path: Path) -> None:
    record = b'{"id": "%d", "title": "' + b"x" * 1000 + b'"},'
    content = b"[" + b"".join(record % number for number in range(20_000)) + b'{"id": "z"}]'
    path = write_zip(tmp_path / "a.zip", {"a.json": content}, zipfile.ZIP_DEFLATED)
    del content
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_json_line_files(find_line_files(path)[0], lambda _record: {}))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20  # of 20 MB
    finally:
        tracemalloc.stop()
    assert count == 20_001


def test_of_damaged_arrays_in_archives_nothing_is_lost(tmp_path: Path) -> None:
    lines = [orjson.loads(line) for line in (DATA / "jsonl" / "library.jsonl").read_bytes().splitlines()[:3]]

    def find_files(source: Path | None, options: Options) -> list[InputFile]:
        """An archive of the file that is damaged."""
        assert source is not None
        path = write_zip(source.with_suffix(".zip"), {"a.json": source.read_bytes()})
        return find_loader("arxiv").find_files(path, options)

    loader = replace(
        find_loader("arxiv"),
        find_files=find_files,
        read_chunks=gather_by_role(
            partial(read_json_line_files, parse=lambda record: {"papers": [{"source_id": str(record)}]})
        ),
    )
    check_damage(loader, tmp_path / "a", orjson.dumps([{"id": "a"}, *lines]), (4, 4, 0))


def read_one(path: Path, content: bytes) -> list[Any]:
    path.write_bytes(content)
    return list(read_json_lines(InputFile(path, path.name, "papers"), lambda record: {"papers": [record]}))


def test_a_member_that_is_no_object_is_rejected_by_its_place(tmp_path: Path) -> None:
    good, bad = read_one(tmp_path / "a.jsonl", b'[{"source_id": "a"},\n 3]')
    assert (good.location, good.rows) == ("[0]", {"papers": [{"source_id": "a"}]})
    assert isinstance(bad, Rejected)
    assert (bad.location, bad.raw) == ("[1]", "3")


def test_an_array_that_breaks_off_keeps_what_stands_before(tmp_path: Path) -> None:
    records = read_one(tmp_path / "a.jsonl", b'[{"source_id": "a"}, {"source_id": ')
    assert [type(record).__name__ for record in records] == ["Accepted", "Rejected"]
    assert records[1].message == "the file ends before its JSON does"


@pytest.mark.parametrize(
    ("content", "is_array"),
    [
        (b' \r\n[ {"a": 1}]', True),
        (b"[]", True),
        (b"", False),
        (b"[1, 2]\n[3, 4]\n", False),
        (b'{"a": [1]}\n', False),
        (b"[section]\nkey = 1\n", False),
    ],
)
def test_only_an_array_of_objects_is_one(content: bytes, is_array: bool, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    assert is_json_array(InputFile(tmp_path / "x", "x", "papers")) is is_array


def test_a_record_over_several_lines_is_told(tmp_path: Path) -> None:
    first, *_ = read_one(tmp_path / "a.jsonl", b'{\n "source_id": "a"\n}\n')
    assert "expected one line a record" in first.message
