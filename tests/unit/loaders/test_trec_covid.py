"""TREC-COVID: CORD-19's metadata with its repeated ids, topics, and qrels with their rounds."""

from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_files

HEADER = (
    "cord_uid,sha,source_x,title,doi,pmcid,pubmed_id,license,abstract,publish_time,authors,journal,mag_id,"
    "who_covidence_id,arxiv_id,pdf_json_files,pmc_json_files,url,s2_id\n"
)
METADATA = (
    HEADER
    + 'u1,aa; bb,PMC,"A title, with ""quotes""",10.1/X,PMC7,8,cc0,"Line 1\nLine 2",2020-03-11,'
    + '"Lee, A.; Kim, B.",V,,,,,,,99\n'
    + "u2,,arXiv,Two,,,,,,2020,,,,#12,2003.00001v2,,,,\n"
    + "u1,,arXiv,Another title,10.2/Y,,,,Another,2019,,W,,,,,,,99\n"
)
QRELS = b"1 4.5 u1 2\n1 0 u2 -1\n"

FILES: dict[str, object] = {
    "metadata.csv": METADATA,
    "topics-rnd5.xml": '<topics><topic number="1"><query>q</query><question>w</question></topic></topics>',
    "qrels-rnd5.txt": QRELS,
}


def _identifier(row_number: int, source_id: str, scheme: str, identifier: str) -> dict[str, Any]:
    return {"row_number": row_number, "source_id": source_id, "scheme": scheme, "identifier": identifier}


def test_rows_of_one_cord_uid_are_merged_into_its_first(tmp_path: Path) -> None:
    staged, rejected = stage_all("trec-covid", write_files(tmp_path, FILES))
    assert rejected == []
    assert staged["metadata.csv"] == {
        "papers": [
            {
                "row_number": 1,
                "source_id": "u1",
                "title": 'A title, with "quotes"',
                "abstract": "Line 1\nLine 2",
                "year": 2020,
                "venue": "V",
            },
            {"row_number": 2, "source_id": "u2", "title": "Two", "year": 2020},
        ],
        "mentioned_papers": [
            {
                "row_number": 3,
                "source_id": "u1",
                "title": "Another title",
                "abstract": "Another",
                "year": 2019,
                "venue": "W",
            }
        ],
        "identifiers": [
            _identifier(1, "u1", "doi", "10.1/x"),
            _identifier(1, "u1", "pmc", "7"),
            _identifier(1, "u1", "pubmed", "8"),
            _identifier(1, "u1", "corpus", "99"),
            _identifier(1, "u1", "pdf_sha1", "aa"),
            _identifier(1, "u1", "pdf_sha1", "bb"),
            _identifier(1, "u1", "doi", "10.2/y"),
            _identifier(2, "u2", "arxiv", "2003.00001"),
            _identifier(2, "u2", "who_covidence", "#12"),
        ],
        "authorships": [
            {
                "row_number": 1,
                "source_id": "u1",
                "position": 1,
                "author_source_id": "name:Lee, A.",
                "author_name": "Lee, A.",
            },
            {
                "row_number": 1,
                "source_id": "u1",
                "position": 2,
                "author_source_id": "name:Kim, B.",
                "author_name": "Kim, B.",
            },
        ],
    }


def test_the_headers_of_older_releases_are_read(tmp_path: Path) -> None:
    metadata = "cord_uid,title,Microsoft Academic Paper ID,WHO #Covidence\nu1,T,55,#7\n"
    staged, rejected = stage_all("trec-covid", write_files(tmp_path, FILES | {"metadata.csv": metadata}))
    assert rejected == []
    assert staged["metadata.csv"]["identifiers"] == [
        _identifier(1, "u1", "mag", "55"),
        _identifier(1, "u1", "who_covidence", "#7"),
    ]


def test_a_judgment_keeps_its_round_as_pool_source(tmp_path: Path) -> None:
    staged, _ = stage_all("trec-covid", write_files(tmp_path, FILES))
    judged = {"query_id": "1", "assessor": "published", "split": "test"}
    assert staged["topics-rnd5.xml"]["queries"] == [
        {"row_number": 1, "query_id": "1", "text": "q", "description": "w"}
    ]
    assert staged["qrels-rnd5.txt"] == {
        "judgments": [
            {"row_number": 1, **judged, "source_id": "u1", "grade": 2},
            {"row_number": 2, **judged, "source_id": "u2", "grade": -1},
        ],
        "pool_sources": [
            {"row_number": 1, "query_id": "1", "source_id": "u1", "source": "round 4.5"},
            {"row_number": 2, "query_id": "1", "source_id": "u2", "source": "round 0"},
        ],
    }


def test_broken_rows_are_rejected_and_a_later_row_takes_their_place(tmp_path: Path) -> None:
    metadata = "cord_uid,title,publish_time\nu1,T,soon\nu1,T,2020-01\n,T,2020\nu2,T\n"
    write_files(tmp_path, FILES | {"metadata.csv": metadata})
    (tmp_path / "qrels-rnd5.txt").write_text("1 0 u1 high\n# nothing\n1 0 u1\n1 0 u1 1\n")
    staged, rejected = stage_all("trec-covid", tmp_path)
    assert staged["metadata.csv"]["papers"] == [
        {"row_number": 2, "source_id": "u1", "title": "T", "year": 2020}
    ]
    assert [(row.row_number, row.location, row.reason) for row in rejected] == [
        (1, "line 2", "invalid_value"),
        (3, "line 4", "missing_field"),
        (4, "line 5", "malformed_line"),
        (1, "line 1", "invalid_value"),
        (2, "line 3", "malformed_line"),
    ]
    assert [row["row_number"] for row in staged["qrels-rnd5.txt"]["judgments"]] == [3]


def test_unknown_judged_papers_are_created_unless_told_otherwise(tmp_path: Path) -> None:
    loader = find_loader("trec-covid")
    assert [loader.creates_unknown(given) for given in ({}, {"unknown": "reject"})] == [True, False]
    with pytest.raises(InputError, match="unknown='perhaps': expected reject or create"):
        loader.find_files(write_files(tmp_path, FILES), {"unknown": "perhaps"})


@pytest.mark.parametrize(
    ("name", "whole", "expected"),
    [("metadata.csv", METADATA.encode(), (3, 3, 0)), ("qrels.txt", QRELS, (2, 2, 0))],
    ids=["metadata", "qrels"],
)
def test_damaged_files_are_never_lost(
    tmp_path: Path, name: str, whole: bytes, expected: tuple[int, int, int]
) -> None:
    check_damage("trec-covid", tmp_path / name, whole, expected)


@needs_real_data
def test_trec_covid_has_its_published_records_and_rounds() -> None:
    staged, rejected = stage_all("trec-covid", REAL_DATA / "trec" / "covid")
    assert rejected == []
    assert len(staged["topics.covid-round5.xml"]["queries"]) == 50
    qrels = staged["qrels.covid-complete.txt.gz"]
    assert [len(qrels["judgments"]), len(qrels["pool_sources"])] == [69318, 69318]
    rounds = [row["source"] for row in qrels["pool_sources"]]
    named = ("0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5")
    assert [rounds.count(f"round {number}") for number in named] == [
        2557,
        5971,
        5632,
        6178,
        5103,
        7473,
        4676,
        8577,
        5954,
        17197,
    ]
    assert [(row["source_id"], row["grade"]) for row in (qrels["judgments"][i] for i in (0, 34659, -1))] == [
        ("005b2j4b", 2),
        ("71jjbyds", 0),
        ("zz8wvos9", 1),
    ]
