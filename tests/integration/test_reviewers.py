"""Reviewers matched to submissions, from files in the published layout to scores, on both databases."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from pinakes.database import Database
from pinakes.errors import BenchmarkError, IndexingError
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.options import NoOptions
from pinakes.progress import Progress
from pinakes.run import run as run_module
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import Embedded, System, SystemDescription
from pinakes.workload.paper_texts import PaperTexts
from tests.benching import change, read_hits, read_named_rows
from tests.site_worlds import check_own_page
from tests.writing import write_lines

pytestmark = pytest.mark.in_turn

NAME = "scirepeval_paper_reviewer_matching"
VECTORS = {
    "s1": (1.0, 0.0),
    "s2": (0.0, 1.0),
    "a": (1.0, 0.0),
    "b": (0.6, 0.8),
    "c": (0.0, 1.0),
    "d": (-1.0, 0.0),
}
"""paper -> its vector; s3 and e have no text, and so none"""
WRITTEN = {"r1": ["a", "b", "c", "d"], "r2": ["b"], "r3": ["e"], "r4": [], "r5": ["c", "e"]}
HARD = [("s1", "r1", 1), ("s1", "r2", 0), ("s1", "r3", 1), ("s2", "r1", 0), ("s2", "r4", 1), ("s3", "r1", 1)]
SOFT = [("s1", "r1", 1), ("s1", "r2", 1), ("s1", "r3", 1), ("s2", "r1", 1), ("s2", "r4", 1), ("s3", "r1", 1)]


class Fixed(System):
    """Gives each paper the vector that the test says."""

    name = "fixed"
    can: ClassVar[frozenset[str]] = frozenset({"embed"})
    own_options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, vectors: dict[str, tuple[float, ...]]) -> None:
        self.vectors = vectors

    def describe(self, database: Database, workload: Any) -> SystemDescription:
        return SystemDescription({"vectors": repr(sorted(self.vectors.items()))}, "cpu")

    def embed(self, database: Database, texts: PaperTexts, progress: Progress) -> Embedded:
        assert not texts.has_text[[name not in self.vectors for name in texts.source_ids]].any()
        rows = np.flatnonzero(texts.has_text)
        found = [self.vectors[name] for name in texts.source_ids[rows]]
        return Embedded(rows, np.array(found, dtype=np.float32).reshape(len(rows), -1))


def _write(folder: Path) -> Path:
    texts = [{"doc_id": name, "title": f"Title {name}", "abstract": "Of it."} for name in sorted(VECTORS)]
    without = [{"doc_id": name, "title": "", "abstract": None} for name in ("s3", "e")]
    home = folder / "paper_reviewer_matching"
    write_lines(home / "evaluation.jsonl", *texts, *without)
    write_lines(home / "reviewer_metadata.jsonl", *({"r_id": r, "papers": own} for r, own in WRITTEN.items()))
    for name, rows in (("hard", HARD), ("soft", SOFT)):
        lines = ({"query_id": query, "cand_id": one, "score": score} for query, one, score in rows)
        write_lines(home / f"test_{name}_qrel.jsonl", *lines)
    return folder


@pytest.fixture
def reviewed(initialised: Database, tmp_path: Path) -> Database:
    """A database with the corpus."""
    load(initialised, LoadRequest("scirepeval", _write(tmp_path / "scirepeval")))
    return initialised


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> Fixed:
    """The system, to be found by any name."""
    system = Fixed(dict(VECTORS))
    monkeypatch.setattr(run_module, "find_system", lambda _name, _options: system)
    return system


def _query(name: str) -> str:
    return f"paper_reviewer_matching:{name}"


def test_the_views_have_submissions_reviewers_and_grades_of_both_lists(reviewed: Database) -> None:
    assert read_named_rows(reviewed, NAME, "queries") == [(_query(name), name) for name in ("s1", "s2", "s3")]
    assert read_named_rows(reviewed, NAME, "candidates") == sorted(
        (_query(query), reviewer) for query, reviewer, _ in HARD
    )
    grades = {(query, one): hard + soft for (query, one, hard), (_, _, soft) in zip(HARD, SOFT, strict=True)}
    assert read_named_rows(reviewed, NAME, "judgments") == sorted(
        (_query(query), grade, one) for (query, one), grade in grades.items()
    )
    with reviewed.read() as session:
        rows = session.rows(
            f"SELECT r.source_id AS reviewer, p.source_id AS paper FROM {NAME}.reviewers "
            "INNER JOIN papers AS r ON reviewers.reviewer_id = r.paper_id "
            "INNER JOIN papers AS p ON reviewers.paper_id = p.paper_id"
        )
    expected = [(reviewer, paper) for reviewer, own in WRITTEN.items() for paper in own]
    assert sorted((row["reviewer"], row["paper"]) for row in rows) == expected


def test_reviewers_are_ranked_by_their_three_nearest_papers_and_scored(
    reviewed: Database, fixed: Fixed, tmp_path: Path
) -> None:
    made = run(reviewed, RunRequest(NAME, "fixed"))
    assert (made.queries_expected, made.queries_answered, made.hit_count) == (3, 2, 6)
    near = float(np.float32(0.6)), float(np.float32(0.8))
    assert read_hits(reviewed, made.run_id) == [
        (_query("s1"), "r2", 1, near[0]),
        (_query("s1"), "r1", 2, (1.0 + near[0] + 0.0) / 3),
        (_query("s1"), "r5", 3, 0.0),
        (_query("s2"), "r5", 1, 1.0),
        (_query("s2"), "r2", 2, near[1]),
        (_query("s2"), "r1", 3, (1.0 + near[1] + 0.0) / 3),
    ]
    (result,) = evaluate(reviewed, NAME)
    found = {score.measure: score for score in result.aggregates()}
    # s1: r1 is found by the hard list, r1 and r2 by the soft one; s2: r1 by the soft one alone.
    expected = {"P(rel=2)@5": 1 / 5, "P(rel=2)@10": 1 / 10, "P@5": (2 + 1) / 5, "P@10": (2 + 1) / 10}
    assert {name: score.value for name, score in found.items()} == pytest.approx(
        {name: value / 3 for name, value in expected.items()}
    )
    assert {(score.queries_expected, score.queries_answered) for score in found.values()} == {(3, 2)}
    said = ("the task of this benchmark is reviewer matching", "no answer to 1 of 3 queries", "P(rel=2)@")
    check_own_page(reviewed, NAME, tmp_path / "site", *said)


def test_the_published_mode_ranks_whom_the_hard_list_judges(reviewed: Database, fixed: Fixed) -> None:
    made = run(reviewed, RunRequest(NAME, "fixed", mode="published"))
    assert [hit[:3] for hit in read_hits(reviewed, made.run_id)] == [
        (_query("s1"), "r2", 1),
        (_query("s1"), "r1", 2),
        (_query("s2"), "r1", 1),
    ]


def test_reviewers_without_papers_or_vectors_are_counted(reviewed: Database, fixed: Fixed) -> None:
    runs = {mode: run(reviewed, RunRequest(NAME, "fixed", mode=mode)) for mode in ("corrected", "published")}
    with reviewed.read() as session:
        rows = session.rows("SELECT run_id, candidates_expected, candidates_without_text FROM runs")
    counted = {row["run_id"]: (row["candidates_expected"], row["candidates_without_text"]) for row in rows}
    # Of five reviewers r3 has a paper without a text and r4 no paper; r4 is not asked about in `published`.
    assert counted == {runs["corrected"].run_id: (15, 6), runs["published"].run_id: (5, 1)}


def test_a_run_is_found_again_and_made_anew_when_a_reviewer_has_another_paper(
    reviewed: Database, fixed: Fixed
) -> None:
    first = run(reviewed, RunRequest(NAME, "fixed"))
    assert run(reviewed, RunRequest(NAME, "fixed")).existing
    change(reviewed, "DELETE FROM labels WHERE label = 'r5'")
    second = run(reviewed, RunRequest(NAME, "fixed"))
    assert (second.existing, second.run_id, second.hit_count) == (False, first.run_id + 1, 4)


def test_a_vector_that_is_no_number_is_an_error(reviewed: Database, fixed: Fixed) -> None:
    fixed.vectors["b"] = (np.nan, 0.0)
    with pytest.raises(IndexingError, match="is not finite"):
        run(reviewed, RunRequest(NAME, "fixed"))


def test_without_reviewers_there_is_nothing_to_rank(reviewed: Database, fixed: Fixed) -> None:
    change(reviewed, "DELETE FROM labels")
    with pytest.raises(BenchmarkError, match="has no reviewers with papers in this database"):
        run(reviewed, RunRequest(NAME, "fixed"))


def test_both_databases_ask_and_answer_the_same_by_an_encoder(
    both_initialised: tuple[Database, Database], tmp_path: Path, toy_folder: str
) -> None:
    told = []
    for database in both_initialised:
        load(database, LoadRequest("scirepeval", _write(tmp_path / "scirepeval")))
        index(database, NAME, toy_folder)
        made = run(database, RunRequest(NAME, toy_folder))
        with database.read() as session:
            digest = session.scalar("SELECT run_digest FROM runs")
        told.append((digest, read_hits(database, made.run_id)))
    assert told[0] == told[1]
    assert len(told[0][1]) == 6
