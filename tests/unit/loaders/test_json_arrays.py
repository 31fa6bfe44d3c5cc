"""Loaders of JSON Lines take the same records as one JSON array, as many tools write them."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.json_records import is_json_array, read_json_lines
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Rejected

DATA = Path(__file__).parents[2] / "data"
SOURCES = ("arxiv", "beir", "csfcube", "jsonl", "mdcr", "openalex", "s2orc_2020", "unarxive")
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


@pytest.mark.parametrize("name", SOURCES)
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
