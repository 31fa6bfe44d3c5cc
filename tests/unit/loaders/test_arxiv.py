"""arXiv's metadata snapshot: what every record becomes."""

import gzip
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.errors import InputError
from pinakes.loaders.arxiv import _LAYOUT, LOADER
from pinakes.loaders.reading import columnar
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.json_records import read_json_line_files
from pinakes.loaders.staging import Chunk
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.writing import write_lines

NAME = "arxiv-metadata-oai-snapshot.json"
RECORD: dict[str, Any] = {
    "id": "0704.0001",
    "submitter": "A Person",
    "authors": "A. B. Author and C. Other",
    "title": "A title that is broken\n  over two lines",
    "comments": None,
    "journal-ref": "Phys.Rev.\n  D76:013009,2007",
    "doi": "10.1103/PhysRevD.76.013009 10.1103/PhysRevD.77.1",
    "report-no": "ANL-HEP-PR-07-12",
    "categories": "hep-ph astro-ph.CO",
    "license": None,
    "abstract": "  First line of it,\nand the second.\n",
    "versions": [
        {"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"},
        {"version": "v2", "created": "Tue, 24 Jul 2008 20:10:27 GMT"},
    ],
    "update_date": "2008-11-26",
    "authors_parsed": [["Author", "A. B.", ""], ["Other", "C.", "Jr.", "An Institute"], ["", "", ""]],
}


def test_a_record_becomes_these_rows(tmp_path: Path) -> None:
    staged, rejected = stage_all("arxiv", write_lines(tmp_path / NAME, RECORD))
    assert rejected == []
    assert staged[NAME] == {
        "papers": [
            {
                "row_number": 1,
                "source_id": "0704.0001",
                "title": "A title that is broken over two lines",
                "abstract": "First line of it, and the second.",
                "year": 2007,
                "venue": "Phys.Rev. D76:013009,2007",
            }
        ],
        "identifiers": [
            _identifier("arxiv", "0704.0001"),
            _identifier("doi", "10.1103/physrevd.76.013009"),
            _identifier("doi", "10.1103/physrevd.77.1"),
        ],
        "fields": [
            {"row_number": 1, "source_id": "0704.0001", "field": "hep-ph", "assigned_by": "arxiv"},
            {"row_number": 1, "source_id": "0704.0001", "field": "astro-ph.CO", "assigned_by": "arxiv"},
        ],
        "authorships": [_authorship(1, "A. B. Author"), _authorship(2, "C. Other Jr.")],
    }


def _identifier(scheme: str, identifier: str) -> dict[str, Any]:
    return {"row_number": 1, "source_id": "0704.0001", "scheme": scheme, "identifier": identifier}


def _authorship(position: int, name: str) -> dict[str, Any]:
    return {
        "row_number": 1,
        "source_id": "0704.0001",
        "position": position,
        "author_source_id": f"name:{name}",
        "author_name": name,
    }


def test_the_year_is_that_of_the_first_version(tmp_path: Path) -> None:
    old = {
        "id": "hep-th/9201001",
        "versions": [{"version": "v1", "created": "Tue, 31 Dec 1991 23:59:00 GMT"}],
    }
    staged, _ = stage_all("arxiv", write_lines(tmp_path / NAME, old, {"id": "0704.0002"}))
    papers = staged[NAME]["papers"]
    assert papers == [
        {"row_number": 1, "source_id": "hep-th/9201001", "year": 1991},
        {"row_number": 2, "source_id": "0704.0002"},
    ]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"id": ""}, "missing_field"),
        ({"title": ["A title"]}, "invalid_value"),
        ({"versions": [{"created": "some day"}]}, "invalid_value"),
        ({"versions": ["v1"]}, "invalid_value"),
        ({"authors_parsed": ["A. Author"]}, "invalid_value"),
        ({"authors_parsed": [["Author", 1]]}, "invalid_value"),
    ],
)
def test_a_wrong_record_is_rejected_and_the_others_stay(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    staged, rejected = stage_all("arxiv", write_lines(tmp_path / NAME, RECORD | changed, {"id": "0704.0003"}))
    assert [(row.row_number, row.location, row.reason) for row in rejected] == [(1, "line 1", reason)]
    assert [row["source_id"] for row in staged[NAME]["papers"]] == ["0704.0003"]


def test_the_snapshot_is_read_in_its_archive_and_compressed(tmp_path: Path) -> None:
    line = orjson.dumps(RECORD)
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr(NAME, line + b"\n")
        archive.writestr("README.txt", "not read")
    (tmp_path / f"{NAME}.gz").write_bytes(gzip.compress(line))
    staged, rejected = stage_all("arxiv", tmp_path)
    assert rejected == []
    assert sorted(staged) == ["archive.zip", f"{NAME}.gz"]
    assert staged["archive.zip"] == staged[f"{NAME}.gz"]
    assert staged["archive.zip"]["papers"][0]["source_id"] == "0704.0001"


def test_an_archive_of_one_entry_is_read_as_columns(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr(NAME, orjson.dumps(RECORD) + b"\n\n" + orjson.dumps({"id": "0704.0002"}))
    (file,) = LOADER.find_files(tmp_path / "archive.zip", {})
    assert (file.name, file.member) == ("archive.zip", NAME)
    staged, rejected = stage_all("arxiv", tmp_path / "archive.zip")
    assert rejected == []
    papers = staged["archive.zip"]["papers"]
    assert [(row["row_number"], row["source_id"]) for row in papers] == [(1, "0704.0001"), (3, "0704.0002")]


def test_a_folder_without_the_snapshot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file ending in"):
        stage_all("arxiv", tmp_path)


PLAIN = RECORD | {"authors_parsed": RECORD["authors_parsed"][:2]}
VARIED: list[dict[str, Any]] = [
    {"id": "0704.0001"},
    {"id": " 0704.0002v2 ", "title": "\u00a0Blank\u2003beyond\u00a0 ASCII ", "abstract": " \n "},
    {"id": "0704.0003", "title": "Tab\tand\x1cseparator", "doi": "", "categories": " math.PR  math.CA "},
    {"id": "math/0309136", "versions": [], "authors_parsed": [], "doi": "doi:10.1/A https://doi.org/10.1/B"},
    {"id": "0704.0004", "versions": [{"version": "v1", "created": None}], "journal-ref": "J.\n 1"},
    {"id": "0704.0005", "authors_parsed": [["Müller", "Ö.\u00a0", "III", "Somewhere"]]},
]
ODD: list[dict[str, Any]] = [
    {"id": 704.0001},
    {"id": "0704.0006", "doi": "10.1/A 10.1/a"},
    {"id": "0704.0007", "categories": "math.PR math.PR"},
    {"id": "0704.0008", "authors_parsed": [["", "", ""], ["Author", "", ""]]},
    {"id": "0704.0009", "authors_parsed": [["Collaboration"]]},
    {"id": "0704.0010", "versions": [{"created": "7 Nov 92 04:27:00"}]},
    {"id": "0704.0011", "versions": [None]},
    {"id": "0704.0012", "authors_parsed": [["Author", None, ""]]},
    {"id": "0704.0001"},
    {"id": "0704.0013", "title": "A NUL \x00"},
]


def _collect(chunks: Iterator[Chunk]) -> tuple[dict[str, list[str]], list[tuple[int, str, str]]]:
    """All rows of each table in an order of their own, and where and why records are rejected."""
    tables: dict[str, list[str]] = {}
    rejected = []
    for chunk in chunks:
        rejected += [(row.row_number, row.location, row.reason) for row in chunk.rejected]
        for name, table in chunk.tables.items():
            tables.setdefault(name, []).extend(map(repr, table.to_pylist()))
    return {name: sorted(rows) for name, rows in tables.items() if rows}, sorted(rejected)


@pytest.mark.parametrize("odd", [None, *range(len(ODD))])
def test_as_columns_records_say_what_they_say_one_by_one(tmp_path: Path, odd: int | None) -> None:
    records = [PLAIN | record for record in VARIED] + ([] if odd is None else [PLAIN | ODD[odd]])
    (file,) = LOADER.find_files(write_lines(tmp_path / NAME, *records), {})
    one_by_one = gather_chunks(read_json_line_files(file, _LAYOUT.parse_whole))
    assert _collect(LOADER.read_chunks(file, {}, 1)) == _collect(one_by_one)


def test_plain_records_are_read_as_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "take_record", None)  # which parses records one by one
    (file,) = LOADER.find_files(write_lines(tmp_path / NAME, *(PLAIN | record for record in VARIED)), {})
    assert [chunk.rows_in for chunk in LOADER.read_chunks(file, {}, 1)] == [len(VARIED)]


def test_no_damage_loses_a_record_or_raises(tmp_path: Path) -> None:
    whole = orjson.dumps(RECORD) + b"\n" + orjson.dumps({"id": "0704.0002"}) + b"\n"
    check_damage(LOADER, tmp_path / NAME, whole, (2, 2, 0))
