"""SMART collections: archives and folders, and what their records become."""

import tarfile
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.loading import DATA, stage_all
from tests.real_data import REAL_DATA, needs_real_data

TOY = {
    "toy.all": {
        "papers": [
            {
                "row_number": 1,
                "source_id": "1",
                "title": "the wing in a slipstream",
                "abstract": "a study of a wing .",
                "venue": "j. of wings, 1950.",
                "year": 1950,
            },
            {"row_number": 2, "source_id": "2", "title": ".Ideal gases"},
            {"row_number": 3, "source_id": "3", "abstract": "only an abstract"},
        ],
        "authorships": [
            {
                "row_number": 1,
                "source_id": "1",
                "position": 1,
                "author_source_id": "name:a. person",
                "author_name": "a. person",
            }
        ],
    },
    "toy.qry": {
        "queries": [
            {"row_number": 1, "query_id": "1", "text": "what is known of wings"},
            {"row_number": 2, "query_id": "2", "text": "gases"},
        ],
    },
}


def _judgment(row_number: int, query_id: str, source_id: str, grade: int) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "query_id": query_id,
        "source_id": source_id,
        "assessor": "published",
        "split": "test",
        "grade": grade,
    }


TOY_JUDGMENTS = [_judgment(1, "1", "1", 2), _judgment(2, "1", "3", -1), _judgment(3, "2", "2", 1)]


def _pack(path: Path) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for file in sorted((DATA / "smart").iterdir()):
            archive.add(file, arcname=file.name)
    return path


def test_a_folder_and_an_archive_become_the_same_rows(tmp_path: Path) -> None:
    expected = {**TOY, "toyqrel": {"judgments": TOY_JUDGMENTS}}
    assert stage_all("smart", DATA / "smart") == (expected, [])
    assert stage_all("smart", _pack(tmp_path / "toy.tar.gz")) == (expected, [])


def test_the_corpus_is_named_after_the_archive() -> None:
    loader = find_loader("smart")
    assert loader.describe_corpus(Path("cran.tar.gz"), {}).name == "cranfield"
    assert loader.describe_corpus(Path("ADI.tar.gz"), {}).name == "adi"


@needs_real_data
def test_cranfield_has_its_published_records() -> None:
    staged, rejected = stage_all("smart", REAL_DATA / "smart" / "cran.tar.gz")
    assert rejected == []
    papers = staged["cran.all.1400"]["papers"]
    assert len(papers) == 1400
    assert [papers[i]["source_id"] for i in (0, 9, -1)] == ["1", "10", "1400"]
    assert papers[9]["title"] == "the theory of the impact tube at low pressure ."
    assert [papers[i]["venue"] for i in (0, 9, -1)] == [
        "j. ae. scs. 25, 1958, 324.",
        "j. ae. scs. 15, 1948, 735.",
        "arc r + m.2971, 1953.",
    ]
    queries = staged["cran.qry"]["queries"]
    assert [len(queries), *(queries[i]["query_id"] for i in (0, 9, -1))] == [225, "1", "10", "225"]
    assert [queries[i]["text"][:40] for i in (0, 9, -1)] == [
        "what similarity laws must be obeyed when",
        "are real-gas transport properties for ai",
        "what design factors can be used to contr",
    ]
    judgments = staged["cranqrel"]["judgments"]
    assert [len(judgments), judgments[0], judgments[9], judgments[-1]] == [
        1837,
        _judgment(1, "1", "184", 2),
        _judgment(10, "1", "57", 2),
        _judgment(1837, "225", "1188", -1),
    ]


@needs_real_data
def test_adi_has_its_published_records() -> None:
    staged, rejected = stage_all("smart", REAL_DATA / "smart" / "adi.tar.gz")
    assert rejected == []
    papers = staged["ADI.ALL"]["papers"]
    assert [len(papers), *(papers[i]["source_id"] for i in (0, 9, -1))] == [82, "1", "10", "82"]
    assert papers[9]["title"] == "accrediting information science programs ."
    queries = staged["ADI.QRY"]["queries"]
    assert [len(queries), *(queries[i]["query_id"] for i in (0, 9, -1))] == [35, "1", "10", "35"]
    judgments = staged["ADI.REL"]["judgments"]
    assert [len(judgments), judgments[0], judgments[9], judgments[-1]] == [
        170,
        _judgment(1, "1", "17", 1),
        _judgment(10, "4", "29", 1),
        _judgment(170, "35", "79", 1),
    ]


def _write_collection(folder: Path, papers: bytes, queries: bytes = b".I 1\n.W\nx\n") -> Path:
    (folder / "toy.all").write_bytes(papers)
    (folder / "toy.qry").write_bytes(queries)
    (folder / "toyqrel").write_bytes(b"")
    return folder


def test_records_that_break_the_format_are_rejected_with_their_raw_text(tmp_path: Path) -> None:
    papers = b"loose text\n.I\n.W\nno number\n.I 3\n.W\ncaf\xe9\n.I 4\n.W\ngood\n.I 4\n.W\nagain\n"
    staged, rejected = stage_all("smart", _write_collection(tmp_path, papers))
    assert [row["source_id"] for row in staged["toy.all"]["papers"]] == ["4"]
    assert [(row.row_number, row.location, row.reason, row.raw) for row in rejected] == [
        (1, "record 1", "malformed_line", "loose text"),
        (2, "record 2", "malformed_line", ".I\n.W\nno number"),
        (3, "record 3", "invalid_utf8", ".I 3\n.W\ncaf\\xe9"),
        (5, "record 5", "duplicate_id", ".I 4\n.W\nagain"),
    ]


def test_a_query_without_a_text_keeps_its_ordinal(tmp_path: Path) -> None:
    queries = b".I 1\n.W\n.I 2\n.W\nsecond\n"
    staged, rejected = stage_all("smart", _write_collection(tmp_path, b".I 1\n.W\nx\n", queries))
    assert [row["query_id"] for row in staged["toy.qry"]["queries"]] == ["2"]
    assert [(row.row_number, row.reason, row.message) for row in rejected] == [
        (1, "missing_field", "a query without .W")
    ]


def test_a_source_without_relevance_list_is_refused(tmp_path: Path) -> None:
    (_write_collection(tmp_path, b"") / "toyqrel").unlink()
    with pytest.raises(
        InputError, match=r"is no SMART collection; expected documents .* found toy\.all, toy\.qry"
    ):
        find_loader("smart").find_files(tmp_path, {})


def test_a_missing_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file or folder"):
        find_loader("smart").find_files(tmp_path / "cran.tar.gz", {})
