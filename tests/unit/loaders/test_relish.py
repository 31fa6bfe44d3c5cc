"""RELISH: texts, judgments by assessor, and what is refused."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_files

ANSWERS: list[dict[str, Any]] = [
    {"uid": "u1", "pmid": "1", "response": {"relevant": ["2"], "partial": ["3"], "irrelevant": [4]}},
    {"uid": "u2", "pmid": "1", "response": {"relevant": [], "partial": [], "irrelevant": ["2"]}},
]
TEXTS = b"PMID\ttitle\tabstract\n1\tOne\tA1\n2\tTwo\t\n"

FILES: dict[str, object] = {"documents.tsv": TEXTS, "RELISH_v1.json": ANSWERS}


def _judgment(row_number: int, source_id: str, assessor: str, grade: int) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "query_id": "1",
        "source_id": source_id,
        "assessor": assessor,
        "split": "all",
        "grade": grade,
    }


def test_answers_become_judgments_by_assessor_of_one_query(tmp_path: Path) -> None:
    staged, rejected = stage_all("relish", write_files(tmp_path, FILES))
    assert rejected == []
    assert staged == {
        "documents.tsv": {
            "papers": [
                {"row_number": 1, "source_id": "1", "title": "One", "abstract": "A1"},
                {"row_number": 2, "source_id": "2", "title": "Two"},
            ],
            "identifiers": [
                {"row_number": 1, "source_id": "1", "scheme": "pubmed", "identifier": "1"},
                {"row_number": 2, "source_id": "2", "scheme": "pubmed", "identifier": "2"},
            ],
        },
        "RELISH_v1.json": {
            "judgments": [
                _judgment(1, "2", "u1", 2),
                _judgment(1, "3", "u1", 1),
                _judgment(1, "4", "u1", 0),
                _judgment(2, "2", "u2", 0),
            ],
            "queries": [{"row_number": 1, "query_id": "1", "paper_source_id": "1"}],
        },
    }


def test_answers_of_another_shape_are_rejected_and_bring_no_query(tmp_path: Path) -> None:
    answers = [
        {"uid": "u1", "pmid": "1", "response": {"relevant": ["2"], "partial": ["2"]}},
        {"uid": "u1", "pmid": "1", "response": {"maybe": ["2"]}},
        {"uid": "u1", "pmid": "1", "response": {"relevant": "2"}},
        {"uid": "u1", "response": {}},
        {"uid": "u1", "pmid": "1", "response": []},
        {"uid": "u1", "pmid": "1", "response": {"relevant": ["2"]}},
        {"uid": "u1", "pmid": "1", "response": {"irrelevant": ["2"]}},
    ]
    staged, rejected = stage_all("relish", write_files(tmp_path, FILES | {"RELISH_v1.json": answers}))
    assert staged["RELISH_v1.json"]["queries"] == [{"row_number": 6, "query_id": "1", "paper_source_id": "1"}]
    assert [(row.location, row.reason) for row in rejected] == [
        ("[0]", "invalid_value"),
        ("[1]", "invalid_value"),
        ("[2]", "invalid_value"),
        ("[3]", "missing_field"),
        ("[4]", "invalid_value"),
        ("[6]", "duplicate_id"),
    ]


def test_a_load_that_goes_on_gives_the_rows_of_an_undisturbed_one(tmp_path: Path) -> None:
    loader = find_loader("relish")
    file = loader.find_files(write_files(tmp_path, FILES), {})[1]
    (whole,) = loader.read_chunks(file, {}, 1)
    (rest,) = loader.read_chunks(file, {}, 2)
    assert rest.tables["judgments"].to_pylist() == whole.tables["judgments"].to_pylist()[3:]
    assert "queries" not in rest.tables


@pytest.mark.parametrize(
    ("name", "whole", "expected"),
    [
        ("RELISH_v1.json", orjson.dumps(ANSWERS), (2, 2, 0)),
        ("documents.tsv", TEXTS, (2, 2, 0)),
    ],
    ids=["answers", "texts"],
)
def test_damaged_files_are_never_lost(
    tmp_path: Path, name: str, whole: bytes, expected: tuple[int, int, int]
) -> None:
    check_damage("relish", tmp_path / name, whole, expected)


@needs_real_data
def test_relish_has_its_published_records() -> None:
    staged, rejected = stage_all("relish", REAL_DATA / "relish")
    assert rejected == []
    papers = staged["RELISH_documents_pruned.tsv.gz"]["papers"]
    assert [len(papers), *((papers[i]["source_id"], len(papers[i]["abstract"])) for i in (0, 5, -1))] == [
        10,
        ("22569528", 2056),
        ("19242111", 1157),
        ("19816936", 1698),
    ]
    answers = staged["RELISH_v1.json.gz"]
    assert [len(answers["judgments"]), len(answers["queries"]), answers["judgments"][-1]["row_number"]] == [
        196680,
        3194,
        3278,
    ]
    grades = [row["grade"] for row in answers["judgments"]]
    assert [grades.count(grade) for grade in (2, 1, 0)] == [70797, 68193, 57690]
    middle = answers["judgments"][98340]
    assert (middle["query_id"], middle["source_id"], middle["grade"]) == ("27449600", "21284949", 2)
    assert middle["assessor"] == "5b156d84fdb55a8d26a68784"
