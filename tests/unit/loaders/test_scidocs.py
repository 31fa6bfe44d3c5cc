"""SciDocs: metadata, labels, qrels and clicks, each file told by its name and folder."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.loaders.registry import find_loader
from pinakes.loaders.scidocs import judge_of_task
from tests.fuzzing import check_damage
from tests.loading import stage_all

METADATA = {
    "a": {
        "paper_id": "a",
        "title": "A",
        "abstract": "AA",
        "year": 2016,
        "authors": ["7", "8", "7"],
        "references": ["b", "c", "b"],
        "cited_by": ["d", "d", "e"],
    },
    "b": {"paper_id": "b", "title": "B", "abstract": None, "year": None},
}
FILES = {
    "paper_metadata_mag_mesh.json": orjson.dumps(METADATA),
    "mag/train.csv": b"pid,class_label\na,3\nb,0\n",
    "mesh/val.csv": b'pid,class_label\na,"Liver, diseases"\n',
    "cite/test.qrel": b"a 0 b 1\na 0 c 0\n",
    "coview/val.qrel": b"a 0 b 1\n",
    "recomm/test.csv": b'pid,clicked,shown\na,c,"b,c"\na,b,"b,d"\n',
    "recomm/propensity_scores.json": b"{}",
    "specter-embeddings/cls.jsonl": b"{}\n",
}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def _judgment(row_number: int, query_id: str, source_id: str, grade: int, split: str) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "query_id": query_id,
        "source_id": source_id,
        "assessor": "published",
        "split": split,
        "grade": grade,
    }


def _label(row_number: int, task: str, source_id: str, split: str, label: str) -> dict[str, Any]:
    return {
        "row_number": row_number,
        "task": task,
        "source_id": source_id,
        "split": split,
        "label": label,
        "quality": "gold",
    }


def test_the_files_of_the_release_come_papers_first(release: Path) -> None:
    files = find_loader("scidocs").find_files(release, {})
    assert [(file.name, file.role) for file in files] == [
        ("paper_metadata_mag_mesh.json", "papers"),
        ("mag/train.csv", "labels"),
        ("mesh/val.csv", "labels"),
        ("cite/test.qrel", "judgments"),
        ("coview/val.qrel", "judgments"),
        ("recomm/test.csv", "clicks"),
    ]


def test_metadata_becomes_papers_with_authors_references_and_a_count(release: Path) -> None:
    staged, rejected = stage_all("scidocs", release)
    assert rejected == []
    assert staged["paper_metadata_mag_mesh.json"] == {
        "papers": [
            {
                "row_number": 1,
                "source_id": "a",
                "title": "A",
                "abstract": "AA",
                "year": 2016,
                "citation_count": 2,
            },
            {"row_number": 2, "source_id": "b", "title": "B"},
        ],
        "authorships": [
            {"row_number": 1, "source_id": "a", "position": 1, "author_source_id": "7", "author_name": "7"},
            {"row_number": 1, "source_id": "a", "position": 2, "author_source_id": "8", "author_name": "8"},
        ],
        "citations": [
            {"row_number": 1, "citing_source_id": "a", "reference_key": "b"},
            {"row_number": 1, "citing_source_id": "a", "reference_key": "c"},
        ],
    }


def test_labels_carry_their_task_and_split_and_a_comma_may_stand_in_quotes(release: Path) -> None:
    staged, _ = stage_all("scidocs", release)
    assert staged["mag/train.csv"]["labels"] == [
        _label(1, "mag", "a", "train", "3"),
        _label(2, "mag", "b", "train", "0"),
    ]
    assert staged["mesh/val.csv"]["labels"] == [_label(1, "mesh", "a", "dev", "Liver, diseases")]


def test_the_same_paper_is_a_query_of_each_task(release: Path) -> None:
    staged, _ = stage_all("scidocs", release)
    assert staged["cite/test.qrel"] == {
        "judgments": [
            _judgment(1, "cite:a", "b", 1, "test"),
            _judgment(2, "cite:a", "c", 0, "test"),
        ],
        "queries": [
            {"row_number": 1, "query_id": "cite:a", "paper_source_id": "a", "field": "cite", "fold": "test"}
        ],
    }
    assert staged["coview/val.qrel"]["judgments"] == [_judgment(1, "coview:a", "b", 1, "dev")]


def test_each_impression_is_a_query_and_says_where_a_paper_stood(release: Path) -> None:
    staged, _ = stage_all("scidocs", release)
    clicks = staged["recomm/test.csv"]
    assert clicks["queries"] == [
        {
            "row_number": number,
            "query_id": f"recomm-test:{number}",
            "paper_source_id": "a",
            "field": "recomm",
            "fold": "test",
        }
        for number in (1, 2)
    ]
    assert clicks["judgments"] == [
        _judgment(1, "recomm-test:1", "b", 0, "test"),
        _judgment(1, "recomm-test:1", "c", 1, "test"),
        _judgment(2, "recomm-test:2", "b", 1, "test"),
        _judgment(2, "recomm-test:2", "d", 0, "test"),
    ]
    assert [(row["row_number"], row["source_id"], row["source"]) for row in clicks["pool_sources"]] == [
        (1, "b", "position_1"),
        (1, "c", "position_2"),
        (2, "b", "position_1"),
        (2, "d", "position_2"),
    ]


def test_a_single_file_takes_its_task_from_its_folder(release: Path) -> None:
    staged, rejected = stage_all("scidocs", release / "cite" / "test.qrel")
    assert rejected == []
    assert staged["cite/test.qrel"]["judgments"][0]["query_id"] == "cite:a"
    staged, _ = stage_all("scidocs", release / "cite")
    assert staged["test.qrel"]["judgments"][0]["query_id"] == "cite:a"


def test_what_is_not_as_published_is_rejected(release: Path) -> None:
    (release / "recomm" / "test.csv").write_text('pid,clicked,shown\na,x,"b,c"\na,,"b,c"\na,b,"b,b"\na,b\n')
    (release / "mag" / "train.csv").write_text("pid,class_label\na,\n")
    (release / "cite" / "test.qrel").write_text("a 0 b\na 0 b 1\na 0 b 1\n")
    metadata = {"a": [], "b": {"references": ["c", {}]}, "c": {"paper_id": "c"}}
    (release / "paper_metadata_mag_mesh.json").write_bytes(orjson.dumps(metadata))
    _, rejected = stage_all("scidocs", release)
    assert [(row.location, row.reason) for row in rejected] == [
        (".a", "not_an_object"),
        (".b", "invalid_value"),
        ("line 2", "missing_field"),
        ("line 1", "malformed_line"),
        ("line 3", "duplicate_id"),
        ("line 2", "invalid_value"),
        ("line 3", "missing_field"),
        ("line 4", "invalid_value"),
        ("line 5", "malformed_line"),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("paper_metadata_recomm.json", (2, 2, 0)),
        ("mag/test.csv", (2, 2, 0)),
        ("cite/test.qrel", (2, 2, 0)),
        ("recomm/test.csv", (2, 2, 0)),
    ],
    ids=str,
)
def test_damaged_files_are_never_lost(tmp_path: Path, name: str, expected: tuple[int, int, int]) -> None:
    contents = {
        **FILES,
        "paper_metadata_recomm.json": orjson.dumps(METADATA),
        "mag/test.csv": FILES["mag/train.csv"],
    }

    check_damage("scidocs", tmp_path / name, contents[name], expected)


def test_the_first_accepted_judgment_of_a_query_brings_the_query(tmp_path: Path) -> None:
    (tmp_path / "cite").mkdir()
    (tmp_path / "cite" / "test.qrel").write_text("# one\nq1 0 d1 x\nq1 0 d1 1\nq1 0 d2 0\n")
    staged, rejected = stage_all("scidocs", tmp_path)
    query = {"query_id": "cite:q1", "paper_source_id": "q1", "field": "cite", "fold": "test"}
    judgment = {"query_id": "cite:q1", "assessor": "published", "split": "test"}
    assert [(row.row_number, row.reason) for row in rejected] == [(1, "invalid_value")]
    assert staged["cite/test.qrel"] == {
        "queries": [{"row_number": 2, **query}],
        "judgments": [
            {"row_number": 2, **judgment, "source_id": "d1", "grade": 1},
            {"row_number": 3, **judgment, "source_id": "d2", "grade": 0},
        ],
    }
    alone = judge_of_task("search", "test", {"query_id": "q1"}, set(), asks_papers=False)
    assert alone == {"judgments": [{"query_id": "search:q1"}]}
