"""TweetPap: the table, plain and in its archive, and what is refused."""

import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data

HEADER = b"Arxiv_id,cite,publish_year,retweets,id,username,abs_pdf,favorites,tweet_year\n"
TABLE = HEADER + b"0704.0681,11,2010,2,1.4e+18,someone,None,5,2010\n2041-8205,0,2017,0,7.0,x,abs,1,2017\n"


def _label(row_number: int, what: str, source_id: str, value: float) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "task": f"tweetpap_{what}",
        "source_id": source_id,
        "split": "all",
        "label": "value",
        "value": value,
        "quality": "gold",
    }


ROWS = {
    "papers": [
        {"row_number": 1, "source_id": "0704.0681", "year": 2010, "citation_count": 11},
        {"row_number": 2, "source_id": "2041-8205", "year": 2017, "citation_count": 0},
    ],
    "identifiers": [
        {"row_number": 1, "source_id": "0704.0681", "scheme": "arxiv", "identifier": "0704.0681"}
    ],
    "labels": [
        _label(1, "retweets", "0704.0681", 2.0),
        _label(1, "favorites", "0704.0681", 5.0),
        _label(2, "retweets", "2041-8205", 0.0),
        _label(2, "favorites", "2041-8205", 1.0),
    ],
}


def test_counts_become_labels_and_only_arxiv_ids_are_identifiers(tmp_path: Path) -> None:
    (tmp_path / "papers.csv").write_bytes(TABLE)
    assert stage_all("tweetpap", tmp_path) == ({"papers.csv": ROWS}, [])


def test_the_archive_is_read_in_place_without_what_a_system_added(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "papers.csv.zip", "w") as archive:
        archive.writestr("papers.csv", TABLE)
        archive.writestr("__MACOSX/._papers.csv", b"\x00\x05")
    assert stage_all("tweetpap", tmp_path / "papers.csv.zip") == ({"papers.csv.zip/papers.csv": ROWS}, [])


def test_an_archive_without_a_table_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "papers.zip", "w") as archive:
        archive.writestr("readme.txt", b"")
    with pytest.raises(InputError, match=r"has no file ending in \.csv, plain"):
        stage_all("tweetpap", tmp_path)


def test_rows_with_broken_counts_are_rejected(tmp_path: Path) -> None:
    rows = (
        b"0704.0001,x,2010,0,1,u,abs,0,2010\n"
        b"0704.0002,1,2010,,1,u,abs,0,2010\n"
        b",1,2010,0,1,u,abs,0,2010\n"
        b"0704.0003,1,20100,0,1,u,abs,0,2010\n"
        b"0704.0004,1,2010\n"
        b"0704.0005,1,2010,0,1,u,abs,0,2010\n"
        b"0704.0005,1,2010,0,1,u,abs,0,2010\n"
    )
    (tmp_path / "papers.csv").write_bytes(HEADER + rows)
    staged, rejected = stage_all("tweetpap", tmp_path)
    assert [row["source_id"] for row in staged["papers.csv"]["papers"]] == ["0704.0005"]
    assert [(row.location, row.reason) for row in rejected] == [
        ("line 2", "invalid_value"),
        ("line 3", "missing_field"),
        ("line 4", "missing_field"),
        ("line 5", "invalid_value"),
        ("line 6", "malformed_line"),
        ("line 8", "duplicate_id"),
    ]


def test_damaged_tables_are_never_lost(tmp_path: Path) -> None:
    check_damage("tweetpap", tmp_path / "papers.csv", TABLE, (2, 2, 0))


@needs_real_data
def test_tweetpap_has_its_published_records() -> None:
    loader = find_loader("tweetpap")
    (file,) = loader.find_files(REAL_DATA / "tweetpap", {})
    chunks = list(loader.read_chunks(file, {}, 1))
    assert [row for chunk in chunks for row in chunk.rejected] == []
    papers, labels, identifiers = (
        pa.concat_tables(chunk.tables[name] for chunk in chunks)
        for name in ("papers", "labels", "identifiers")
    )
    assert [papers.num_rows, labels.num_rows, identifiers.num_rows] == [125521, 251042, 125501]
    columns = ["source_id", "year", "citation_count"]
    assert papers.take([0, 62760, 125520]).select(columns).to_pylist() == [
        {"source_id": "0219525916", "year": 2016, "citation_count": 7},
        {"source_id": "1408.3190", "year": 2014, "citation_count": 8},
        {"source_id": "2410-3896", "year": 2017, "citation_count": 0},
    ]
    retweets = labels.filter(pc.equal(labels["task"], "tweetpap_retweets"))["value"]
    assert [pc.sum(pc.equal(retweets, number)).as_py() for number in (0.0, 1.0, 2.0)] == [101064, 15559, 4286]
    is_odd = pc.invert(pc.is_in(papers["source_id"], value_set=identifiers["source_id"].combine_chunks()))
    odd = sorted(papers["source_id"].filter(is_odd).to_pylist())
    assert (len(odd), odd[:3]) == (20, ["0219525916", "1137/10081", "1211/1211"])
