"""SPECTER's training data: metadata, the graph with its folds, and what is refused."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.errors import InputError
from pinakes.loaders.base import InputFile
from pinakes.loaders.registry import find_loader
from tests.fuzzing import check_damage
from tests.loading import stage_all
from tests.real_data import REAL_DATA, needs_real_data
from tests.writing import write_files

GRAPH = {"a": {"b": {"count": 5}, "c": {"count": 1}}, "d": {"a": {"count": 5}}, "e": {}}
METADATA = {"a": {"paper_id": "a", "title": "A", "abstract": " AA "}, "b": {"title": "B", "abstract": None}}

FILES: dict[str, object] = {
    "metadata.json": METADATA,
    "data.json": GRAPH,
    "train.txt": "a\n",
    "val.txt": "d\nz\n",
}


def _judgment(row_number: int, query_id: str, source_id: str, grade: int, split: str) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "query_id": query_id,
        "source_id": source_id,
        "assessor": "published",
        "split": split,
        "grade": grade,
    }


def test_a_graph_becomes_queries_with_folds_and_only_five_is_a_citation(tmp_path: Path) -> None:
    staged, rejected = stage_all("specter", write_files(tmp_path, FILES))
    assert rejected == []
    assert staged == {
        "metadata.json": {
            "papers": [
                {"row_number": 1, "source_id": "a", "title": "A", "abstract": "AA"},
                {"row_number": 2, "source_id": "b", "title": "B"},
            ]
        },
        "data.json": {
            "papers": [
                {"row_number": 1, "source_id": "a"},
                {"row_number": 2, "source_id": "d"},
                {"row_number": 3, "source_id": "e"},
            ],
            "queries": [
                {"row_number": 1, "query_id": "a", "paper_source_id": "a", "fold": "train"},
                {"row_number": 2, "query_id": "d", "paper_source_id": "d", "fold": "dev"},
                {"row_number": 3, "query_id": "e", "paper_source_id": "e"},
            ],
            "judgments": [
                _judgment(1, "a", "b", 5, "train"),
                _judgment(1, "a", "c", 1, "train"),
                _judgment(2, "d", "a", 5, "dev"),
            ],
            "citations": [
                {"row_number": 1, "citing_source_id": "a", "reference_key": "b"},
                {"row_number": 2, "citing_source_id": "d", "reference_key": "a"},
            ],
        },
    }


def test_a_graph_of_counts_has_no_citations(tmp_path: Path) -> None:
    staged, _ = stage_all("specter", write_files(tmp_path, FILES), {"cites": "no"})
    assert staged["data.json"]["citations"] == []
    assert len(staged["data.json"]["judgments"]) == 3
    with pytest.raises(InputError, match="cites='perhaps': expected yes or no"):
        find_loader("specter").find_files(tmp_path, {"cites": "perhaps"})


def test_metadata_and_graph_describe_different_parts_of_a_paper() -> None:
    describes = find_loader("specter").describes
    assert describes("papers") == {"title", "abstract", "year", "venue"}
    assert describes("queries") == {"citations"}


def test_another_list_of_a_fold_makes_it_another_file(tmp_path: Path) -> None:
    def digest() -> str | None:
        return next(
            file.digest for file in find_loader("specter").find_files(tmp_path, {}) if file.role == "queries"
        )

    write_files(tmp_path, FILES)
    before = digest()
    assert digest() == before
    (tmp_path / "train.txt").write_text("a\ne\n")
    assert digest() not in (None, before)


def test_what_is_no_graph_and_no_paper_is_rejected(tmp_path: Path) -> None:
    graph = {"a": [], "b": {"c": 5}, "c": {"d": {}}, "d": {"e": {"count": "many"}}, "e": {"a": {"count": 1}}}
    (write_files(tmp_path, FILES | {"data.json": graph}) / "metadata.json").write_text(
        '{"a": 1, "b": {"title": {}}, "c": {"paper_id": []}}'
    )
    staged, rejected = stage_all("specter", tmp_path)
    assert [row["query_id"] for row in staged["data.json"]["queries"]] == ["e"]
    assert [(row.location, row.reason) for row in rejected] == [
        (".a", "not_an_object"),
        (".b", "invalid_value"),
        (".c", "invalid_value"),
        (".a", "not_an_object"),
        (".b", "not_an_object"),
        (".c", "missing_field"),
        (".d", "invalid_value"),
    ]


def test_a_stream_has_no_lists_beside_it() -> None:
    file = InputFile(None, "data.json", "queries")
    with pytest.raises(InputError, match=r"data\.json is not a file on disk"):
        list(find_loader("specter").read_chunks(file, {}, 1))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [("metadata.json", METADATA, (2, 2, 0)), ("data.json", GRAPH, (3, 3, 0))],
    ids=["metadata", "graph"],
)
def test_damaged_files_are_never_lost(
    tmp_path: Path, name: str, content: object, expected: tuple[int, int, int]
) -> None:
    check_damage("specter", tmp_path / name, orjson.dumps(content), expected)


@needs_real_data
def test_the_published_sample_has_its_records() -> None:
    staged, rejected = stage_all("specter", REAL_DATA / "specter")
    assert rejected == []
    assert {name: {kind: len(rows) for kind, rows in tables.items()} for name, tables in staged.items()} == {
        "data/sample-metadata.json": {"papers": 55},
        "data/training/metadata.json": {"papers": 17},
        "data/training/data.json": {"papers": 20, "queries": 20, "judgments": 422, "citations": 85},
    }
    papers = staged["data/sample-metadata.json"]["papers"]
    assert [(papers[i]["source_id"][:8], len(papers[i]["abstract"])) for i in (0, 27, -1)] == [
        ("00021eee", 1327),
        ("0073ef30", 582),
        ("00f36718", 706),
    ]
    graph = staged["data/training/data.json"]
    folds = [row.get("fold") for row in graph["queries"]]
    assert [folds.count(fold) for fold in ("train", "dev", "test", None)] == [12, 2, 3, 3]
    grades = [row["grade"] for row in graph["judgments"]]
    assert [grades.count(5), grades.count(1)] == [85, 337]
    assert [
        (graph["judgments"][i]["query_id"][:8], graph["judgments"][i]["source_id"][:8]) for i in (0, 211, -1)
    ] == [
        ("0000fcfd", "05aba481"),
        ("000f9038", "3461f066"),
        ("0013fae7", "f264e8b3"),
    ]
