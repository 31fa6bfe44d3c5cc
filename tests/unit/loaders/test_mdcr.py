"""MDCR: pools by field of study, texts, and what is refused."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.errors import InputError
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.writing import write_files

TEXTS = (
    b'{"paper_id": "1", "title": "One", "abstract": " A1 "}\n'
    b'{"paper_id": 2, "title": "Two", "abstract": null}\n'
)
POOLS = {
    "Art": {"1": {"bm25": ["2", "3"], "graph": ["4", "4"], "true": ["3"]}},
    "History": {"5": {"bm25": [], "specter": [2], "true": ["6"]}},
}

FILES: dict[str, object] = {"mdcr_val_data.jsonl": TEXTS, "mdcr_val.json": POOLS}


def _judgment(row_number: int, query_id: str, source_id: str, grade: int) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "query_id": query_id,
        "source_id": source_id,
        "assessor": "published",
        "split": "dev",
        "grade": grade,
    }


def test_pools_become_queries_with_candidates_by_type_and_what_is_cited_wins(tmp_path: Path) -> None:
    staged, rejected = stage_all("mdcr", write_files(tmp_path, FILES))
    assert rejected == []
    assert staged["mdcr_val_data.jsonl"] == {
        "papers": [
            {"row_number": 1, "source_id": "1", "title": "One", "abstract": "A1"},
            {"row_number": 2, "source_id": "2", "title": "Two"},
        ]
    }
    assert staged["mdcr_val.json"] == {
        "queries": [
            {"row_number": 1, "query_id": "1", "paper_source_id": "1", "field": "Art", "fold": "dev"},
            {"row_number": 2, "query_id": "5", "paper_source_id": "5", "field": "History", "fold": "dev"},
        ],
        "judgments": [
            _judgment(1, "1", "2", 0),
            _judgment(1, "1", "3", 1),
            _judgment(1, "1", "4", 0),
            _judgment(2, "5", "2", 0),
            _judgment(2, "5", "6", 1),
        ],
        "pool_sources": [
            {"row_number": 1, "query_id": "1", "source_id": "2", "source": "bm25"},
            {"row_number": 1, "query_id": "1", "source_id": "3", "source": "bm25"},
            {"row_number": 1, "query_id": "1", "source_id": "4", "source": "graph"},
            {"row_number": 1, "query_id": "1", "source_id": "3", "source": "cited"},
            {"row_number": 2, "query_id": "5", "source_id": "2", "source": "specter"},
            {"row_number": 2, "query_id": "5", "source_id": "6", "source": "cited"},
        ],
    }


def test_a_paper_that_is_a_query_of_two_fields_is_two_queries(tmp_path: Path) -> None:
    pools = {"Art": {"1": {"true": ["2"]}}, "Law": {"1": {"true": ["3"]}, "4": {"true": ["2"]}}}
    staged, rejected = stage_all("mdcr", write_files(tmp_path, FILES | {"mdcr_val.json": pools}))
    assert rejected == []
    queries = staged["mdcr_val.json"]["queries"]
    assert [(row["query_id"], row["paper_source_id"], row["field"]) for row in queries] == [
        ("1_Art", "1", "Art"),
        ("1_Law", "1", "Law"),
        ("4", "4", "Law"),
    ]


def test_texts_come_before_pools_and_scores_are_passed_over(tmp_path: Path) -> None:
    (write_files(tmp_path, FILES) / "scincl_scores.json").write_text('{"1_2": 0.5}')
    files = find_loader("mdcr").find_files(tmp_path, {})
    assert [(file.name, file.role) for file in files] == [
        ("mdcr_val_data.jsonl", "papers"),
        ("mdcr_val.json", "queries"),
    ]


def test_a_pool_of_another_shape_is_rejected_and_the_others_stay(tmp_path: Path) -> None:
    pools = {
        "Art": {
            "1": {"bm25": ["2"]},
            "2": {"true": "3"},
            "3": {"true": [["4"]]},
            "4": ["5"],
            "5": {"true": ["6"]},
        },
        "Law": [1],
    }
    staged, rejected = stage_all("mdcr", write_files(tmp_path, FILES | {"mdcr_val.json": pools}))
    assert [row["query_id"] for row in staged["mdcr_val.json"]["queries"]] == ["5"]
    assert [(row.row_number, row.location, row.reason, row.message) for row in rejected] == [
        (1, ".Art.1", "missing_field", "no candidates of the type true: what the query cites"),
        (2, ".Art.2", "invalid_value", "true: expected a list of papers, found '3'"),
        (3, ".Art.3", "invalid_value", "true: expected a text, found ['4']"),
        (4, ".Art.4", "not_an_object", "expected an object of candidate types for each query"),
        (6, ".Law.", "not_an_object", "expected an object of candidate types for each query"),
    ]


def test_pools_that_are_no_json_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mdcr_test.json").write_text("{")
    with pytest.raises(InputError, match=r"mdcr_test\.json is not JSON"):
        stage_all("mdcr", tmp_path)


@pytest.mark.parametrize(
    ("name", "whole", "expected"),
    [
        ("mdcr_test.json", orjson.dumps(POOLS), (2, 2, 0)),
        ("mdcr_test_data.jsonl", TEXTS, (2, 2, 0)),
    ],
    ids=["pools", "texts"],
)
def test_damaged_files_are_never_lost(
    tmp_path: Path, name: str, whole: bytes, expected: tuple[int, int, int]
) -> None:
    check_damage("mdcr", tmp_path / name, whole, expected)
