"""SciRepEval's tasks over data in their published layouts: each view's rows, alike on both databases."""

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from pinakes.database import Database, connect
from pinakes.load.load import LoadRequest, load
from pinakes.queries.definition import list_benchmarks, read_benchmark
from pinakes.queries.install import initialise
from pinakes.workload.examples import read_labelled
from tests.benching import read_named_rows
from tests.scirepeval_release import CLASSES, FIELDS, GRADES, NUMBERS, write_release

Pair = tuple[Database, Database]
OF_CONFIG = {"hIndex": "hindex"}
"""published name -> the end of the benchmark's, where it is another"""


@pytest.fixture(scope="module")
def both(both_initialised: Pair, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """DuckDB and Postgres with every task, a corpus each."""
    release = write_release(tmp_path_factory.mktemp("scirepeval") / "release")
    for database in both_initialised:
        for task, source in release.items():
            summary = load(database, LoadRequest("scirepeval", source, {"task": task}))
            assert summary.rows_rejected == 0
    return both_initialised


def read_examples(both: Pair, benchmark: str, target: str) -> list[tuple[Any, ...]]:
    """query_id, source_id, split, position and target of the examples, alike on both databases, in order."""
    statement = sa.text(
        f"SELECT examples.query_id, papers.source_id, examples.split, examples.position, examples.{target} "
        f"FROM {benchmark}.examples INNER JOIN papers ON examples.paper_id = papers.paper_id"
    )
    found = []
    for database in both:
        with database.read() as session:
            found.append([tuple(row.values()) for row in session.rows(statement)])
    duck, post = (sorted(rows, key=repr) for rows in found)
    assert duck == post
    return duck


def name_benchmark(task: str) -> str:
    return f"scirepeval_{OF_CONFIG.get(task, task)}"


@pytest.mark.parametrize("task", CLASSES)
def test_classes_are_those_of_the_files_in_their_order(both: Pair, task: str) -> None:
    expected = [
        (paper, paper, split, position, str(label))
        for split, rows in CLASSES[task].items()
        for position, (paper, label) in enumerate(rows, start=1)
    ]
    assert read_examples(both, name_benchmark(task), "label") == sorted(expected, key=repr)


@pytest.mark.parametrize("task", NUMBERS)
def test_numbers_are_those_of_the_files_in_their_order(both: Pair, task: str) -> None:
    expected = [
        (paper, paper, split, position, float(value))
        for split, rows in NUMBERS[task].items()
        for position, (paper, value) in enumerate(rows, start=1)
    ]
    assert read_examples(both, name_benchmark(task), "value") == sorted(expected, key=repr)


def test_a_paper_of_several_fields_has_a_row_each_and_one_of_none_a_row_without_a_label(both: Pair) -> None:
    assert read_examples(both, "scirepeval_fos", "label") == sorted(
        [
            ("f1", "f1", "train", 1, "00"),
            ("f2", "f2", "train", 2, "02"),
            ("f2", "f2", "train", 2, "10"),
            ("f3", "f3", "train", 3, None),
            ("f4", "f4", "test", 1, "10"),
            ("f5", "f5", "test", 2, None),
        ],
        key=repr,
    )
    labelled = read_labelled(both[0], read_benchmark("scirepeval_fos"), "label")
    assert labelled.names == ["00", "02", "10"]
    assert labelled.train.members.tolist() == [[True, False, False], [False, True, True], [False] * 3]
    assert labelled.test.members.tolist() == [[False, False, True], [False] * 3]
    assert len(FIELDS["train"]) == len(labelled.train) == 3


@pytest.mark.parametrize(("task", "leaked"), [("drsm", 1), ("biomimicry", 0)])
def test_a_test_paper_that_is_also_trained_on_is_counted(both: Pair, task: str, leaked: int) -> None:
    for database in both:
        assert read_labelled(database, read_benchmark(name_benchmark(task)), "label").leaked == leaked


@pytest.mark.parametrize("task", GRADES)
def test_queries_pools_and_grades_are_those_of_the_qrels(both: Pair, task: str) -> None:
    name = name_benchmark(task)
    expected = [
        (f"{task}:{query}", max(grade, 0), paper)
        for query, pool in GRADES[task].items()
        for paper, grade in pool.items()
    ]
    asked = [
        (f"{task}:{query}", f"words of {query}", None)
        if query.startswith("q")
        else (f"{task}:{query}", None, query)
        for query in GRADES[task]
    ]
    for database in both:
        assert read_named_rows(database, name, "queries") == sorted(asked, key=repr)
        assert read_named_rows(database, name, "judgments") == sorted(expected, key=repr)
        pooled = [(query, None, paper) for query, _, paper in expected]
        assert read_named_rows(database, name, "candidates") == sorted(pooled, key=repr)


def test_triplets_are_one_pool_a_query(both: Pair) -> None:
    expected = [
        ("cite_prediction:1", 0, "3"),
        ("cite_prediction:1", 0, "5"),
        ("cite_prediction:1", 1, "2"),
        ("cite_prediction:1", 1, "4"),
        ("cite_prediction:2", 0, "1"),
        ("cite_prediction:2", 1, "4"),
    ]
    for database in both:
        assert read_named_rows(database, "scirepeval_cite_prediction", "judgments") == expected
        candidates = read_named_rows(database, "scirepeval_cite_prediction", "candidates")
        assert candidates == sorted(((query, None, paper) for query, _, paper in expected), key=repr)


def test_every_task_of_the_suite_is_among_those_that_are_tested() -> None:
    tested = {name_benchmark(task) for task in (*CLASSES, *NUMBERS, *GRADES, "fos", "cite_prediction")}
    bundled = {name for name in list_benchmarks() if name.startswith("scirepeval_")}
    assert tested <= bundled
    others = {"scirepeval_paper_reviewer_matching", "scirepeval_s2and"}
    assert bundled - tested <= others


def test_files_for_training_models_are_asked_where_no_others_are_loaded(both: Pair, tmp_path: Path) -> None:
    (tmp_path / "fos").mkdir()
    lines = [
        '{"corpus_id": 1, "title": "A", "labels_text": ["Law", "Art"]}',
        '{"corpus_id": 2, "title": "B", "labels_text": []}',
    ]
    (tmp_path / "fos" / "train.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "fos" / "validation.jsonl").write_text(
        '{"corpus_id": 3, "title": "C", "labels_text": ["Art"]}\n'
    )
    with connect("duckdb:///:memory:") as database:
        initialise(database)
        load(database, LoadRequest("scirepeval", tmp_path / "fos", {"task": "fos"}))
        alone = read_labelled(database, read_benchmark("scirepeval_fos"), "label")
        assert (alone.train.query_ids, alone.test.query_ids) == (["1", "2"], ["3"])
        assert alone.names == ["Art", "Law"]
        assert alone.train.members.tolist() == [[True, True], [False, False]]
        for split, label in (("train", 3), ("test", 4)):
            (tmp_path / f"{split}.jsonl").write_text(f'{{"paper_id": "9", "label": [{label}]}}\n')
            load(database, LoadRequest("scirepeval", tmp_path / f"{split}.jsonl", {"task": "fos"}))
        published = read_labelled(database, read_benchmark("scirepeval_fos"), "label")
        assert (published.train.query_ids, published.test.query_ids) == (["9"], ["9"])
