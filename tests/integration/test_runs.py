"""Runs: equal on both databases, found again when nothing changed, and never half there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pinakes.database import Database
from pinakes.errors import InputError, RunError, UnknownNameError
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.progress import Progress
from pinakes.run import run as run_module
from pinakes.run.run import RunRequest, run
from pinakes.run.stored_runs import RunSummary
from pinakes.systems.base import Ranking, SystemDescription, SystemOptions
from pinakes.tasks.ranking import answers
from pinakes.workload.workload import Workload
from pinakes.writing import table_file
from tests.benching import change, count, read_hits, write_benchmark
from tests.long import alternate

pytestmark = pytest.mark.in_turn

Pair = tuple[Database, Database]


def options(database: Database, tmp_path: Path) -> SystemOptions:
    return SystemOptions(tmp_path / "indexes" / database.name, precision="fp32", device="cpu")


def make(database: Database, request: RunRequest, tmp_path: Path) -> RunSummary:
    """Index where that is needed, then rank."""
    requested = replace(request, options=options(database, tmp_path))
    index(
        database,
        requested.benchmark,
        requested.system,
        options=requested.options,
        query_template=requested.query_template,
        paper_template=requested.paper_template,
    )
    return run(database, requested)


@pytest.mark.parametrize(
    ("benchmark", "system"), alternate(["synthetic", "csfcube", "scifact"], ["bm25", "tfidf", "toy"])
)
def test_both_databases_give_the_same_hits_bit_by_bit(
    both_prepared: Pair, tmp_path: Path, toy_folder: str, benchmark: str, system: str
) -> None:
    request = RunRequest(benchmark, toy_folder if system == "toy" else system)
    change(both_prepared[1], "UPDATE papers SET paper_id = paper_id + 5000")
    for table in ("judgments", "pool_sources", "sentences"):
        change(both_prepared[1], f"UPDATE {table} SET paper_id = paper_id + 5000")
    change(both_prepared[1], "UPDATE benchmark_queries SET paper_id = paper_id + 5000")
    summaries = [make(database, request, tmp_path) for database in both_prepared]
    duck, post = (read_hits(database, 1) for database in both_prepared)
    assert duck == post != []
    assert {(s.run_id, s.existing, s.system, s.hit_count) for s in summaries} == {
        (1, False, system, len(duck))
    }


def test_equal_scores_are_ordered_by_the_sources_id_descending(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    for number, system in enumerate(("bm25", "tfidf", toy_folder), start=1):
        make(prepared, RunRequest("scifact", system), tmp_path)
        hits = read_hits(prepared, number)
        scores = {source_id: score for _, source_id, _, score in hits}
        order = [source_id for _, source_id, _, _ in hits]
        assert scores["p2"] == scores["p10"]
        assert order.index("p10") == order.index("p2") + 1
        assert [rank for *_, rank, _ in hits] == list(range(1, len(hits) + 1))


def test_a_pool_keeps_every_candidate_and_one_without_text_scores_zero_by_terms(
    prepared: Database, tmp_path: Path
) -> None:
    made = make(prepared, RunRequest("csfcube", "bm25"), tmp_path)
    hits = read_hits(prepared, made.run_id)
    ranked = [(source_id, score > 0) for query, source_id, _, score in hits if query == "1_background"]
    assert ranked == [("3", True), ("6", True), ("5", True), ("8", False), ("4", False)]


def test_a_candidate_without_text_has_no_vector_and_is_in_no_ranking(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    made = make(prepared, RunRequest("csfcube", toy_folder), tmp_path)
    ranked = {
        source_id for query, source_id, *_ in read_hits(prepared, made.run_id) if query == "1_background"
    }
    assert ranked == {"3", "4", "5", "6"}
    with prepared.read() as session:
        row = session.rows("SELECT candidates_expected, candidates_without_text, precision, depth FROM runs")[
            0
        ]
    assert row == {
        "candidates_expected": 18,
        "candidates_without_text": 1,
        "precision": "fp32",
        "depth": None,
    }


def test_a_query_without_text_is_unanswered_and_counts_as_zero(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    for system in ("bm25", "tfidf", toy_folder):
        made = make(prepared, RunRequest("csfcube", system), tmp_path)
        assert (made.queries_expected, made.queries_answered) == (5, 4)
        assert "2_method" not in {query for query, *_ in read_hits(prepared, made.run_id)}
        (result,) = evaluate(prepared, "csfcube", run_ids=[made.run_id], measures=["CSFCube.P@20"])
        missing = next(score for score in result.scores if score.query_id == "2_method")
        assert (missing.value, missing.queries_expected, missing.queries_missing) == (0.0, 1, 1)
        whole = next(score for score in result.aggregates() if score.subset == "all")
        assert (whole.queries_expected, whole.queries_answered, whole.queries_missing) == (5, 4, 1)
        values = [score.value for score in result.scores if score.query_id]
        assert whole.value == pytest.approx(sum(values) / 5)


@pytest.mark.parametrize("system", ["bm25", "tfidf", "toy"])
def test_a_pool_smaller_than_the_corpus_never_ranks_others(
    prepared: Database, tmp_path: Path, toy_folder: str, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    few = "SELECT paper_id FROM papers WHERE source_id LIKE '%7' AND corpus_id = "
    few += "(SELECT corpus_id FROM corpora WHERE name = 'synthetic')"
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(write_benchmark(tmp_path / "own", candidates=few)))
    made = make(prepared, RunRequest("own", toy_folder if system == "toy" else system), tmp_path)
    ranked = {source_id for _, source_id, *_ in read_hits(prepared, made.run_id)}
    assert ranked
    assert {source_id[-1] for source_id in ranked} == {"7"}
    assert len(ranked) <= count(prepared, "own.candidates") == 30


def test_depth_cuts_each_querys_ranking(prepared: Database, tmp_path: Path) -> None:
    whole = make(prepared, RunRequest("synthetic", "tfidf"), tmp_path)
    cut = make(prepared, RunRequest("synthetic", "tfidf", depth=3), tmp_path)
    first = [hit for hit in read_hits(prepared, whole.run_id) if hit[2] <= 3]
    assert read_hits(prepared, cut.run_id) == first
    assert cut.run_id != whole.run_id


class Calls:
    """What a run's digest depends on, one change after the other."""

    def __init__(self, database: Database, tmp_path: Path) -> None:
        self.database, self.tmp_path = database, tmp_path

    def __call__(self, **given: object) -> tuple[int, bool]:
        request = RunRequest("synthetic", "bm25", **given)  # type: ignore[arg-type]
        made = make(self.database, request, self.tmp_path)
        return made.run_id, made.existing


def test_a_run_is_made_anew_only_when_what_decides_it_changed(prepared: Database, tmp_path: Path) -> None:
    call = Calls(prepared, tmp_path)
    assert call() == (1, False)
    assert call() == (1, True)
    change(prepared, "UPDATE judgments SET grade = 1")
    assert call() == (1, True)
    assert call(depth=5) == (2, False)
    assert call(paper_template="abstract") == (3, False)
    change(prepared, "UPDATE papers SET title = 'another' WHERE source_id = 'p1'")
    assert call() == (1, True)
    change(prepared, "UPDATE papers SET title = 'another' WHERE paper_id = 1")
    assert call() == (4, False)
    change(prepared, "UPDATE benchmark_queries SET text = 'another' WHERE query_id = 'qry-00000001'")
    assert call() == (5, False)
    assert call() == (5, True)
    assert count(prepared, "runs") == 5


def test_again_replaces_the_run_with_its_scores(prepared: Database, tmp_path: Path) -> None:
    call = Calls(prepared, tmp_path)
    call()
    before = read_hits(prepared, 1)
    evaluate(prepared, "synthetic")
    assert count(prepared, "scores") > 0
    assert call(again=True) == (1, False)
    assert read_hits(prepared, 1) == before
    assert (count(prepared, "runs"), count(prepared, "scores")) == (1, 0)


@pytest.mark.parametrize("system", ["bm25", "tfidf", "toy"])
def test_a_missing_or_stale_index_is_refused_with_the_command_that_mends_it(
    prepared: Database, tmp_path: Path, toy_folder: str, system: str
) -> None:
    name = toy_folder if system == "toy" else system
    request = RunRequest("synthetic", name, options(prepared, tmp_path))
    with pytest.raises(RunError, match=f"`pinakes index synthetic --system {name}"):
        run(prepared, request)
    make(prepared, request, tmp_path)
    change(prepared, "UPDATE papers SET abstract = 'another text' WHERE paper_id = 3")
    with pytest.raises(RunError, match=f"`pinakes index synthetic --system {name}"):
        run(prepared, request)
    assert count(prepared, "runs") == 1
    assert make(prepared, request, tmp_path).run_id == 2


def test_indexing_again_adds_nothing(prepared: Database, tmp_path: Path, toy_folder: str) -> None:
    for system, texts in (("bm25", 4), ("tfidf", 4), (toy_folder, 2)):
        first = index(prepared, "scifact", system, options=options(prepared, tmp_path))
        again = index(prepared, "scifact", system, options=options(prepared, tmp_path))
        assert (first.added, first.existing) == (texts, 0)
        assert (again.added, again.existing) == (0, texts)


class Broken:
    """A system of two rankings whose second one goes wrong."""

    name = "broken"
    can = frozenset({"rank"})

    def __init__(self, scores: list[float] | None) -> None:
        self._scores = scores

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        return SystemDescription({}, "cpu")

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        good, *_ = workload.query_ids
        yield Ranking(good, np.array([0, 1]), np.array([2, 1], np.float32))
        if self._scores is None:
            raise KeyboardInterrupt
        yield Ranking(workload.query_ids[1], np.array([0, 1]), np.array(self._scores, np.float32))


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (None, KeyboardInterrupt, None),
        ([1, float("nan")], RunError, "a candidate of query qry-00000002 is not a finite number"),
        ([float("inf"), 1], RunError, "not a finite number"),
    ],
)
def test_a_ranking_that_goes_wrong_leaves_nothing(
    untouched: Database,
    monkeypatch: pytest.MonkeyPatch,
    scores: list[float] | None,
    error: type[BaseException],
    message: str | None,
) -> None:
    monkeypatch.setattr(run_module, "find_system", lambda _name, _options: Broken(scores))
    with pytest.raises(error, match=message):
        run(untouched, RunRequest("synthetic", "broken"))
    assert (count(untouched, "runs"), count(untouched, "hits")) == (0, 0)


def test_a_run_killed_while_it_is_stored_leaves_nothing_and_an_older_one_stays(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Calls(prepared, tmp_path)
    call()
    before = read_hits(prepared, 1)
    tables = run_module.AnswerFile.read

    def break_off(file: run_module.AnswerFile) -> Iterator[object]:
        yield next(iter(tables(file)))
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module.AnswerFile, "read", break_off)
    with pytest.raises(KeyboardInterrupt):
        call(again=True)
    with pytest.raises(KeyboardInterrupt):
        call(depth=2)
    assert read_hits(prepared, 1) == before
    assert (count(prepared, "runs"), count(prepared, "hits")) == (1, len(before))


def test_hits_are_the_same_however_many_are_stored_at_once(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Calls(prepared, tmp_path)
    call()
    before = read_hits(prepared, 1)
    monkeypatch.setattr(answers, "HITS_AT_ONCE", 7)
    monkeypatch.setattr(table_file, "BYTES_IN_MEMORY", 100)
    call(again=True)
    assert read_hits(prepared, 1) == before


def test_unknown_names_list_the_known_ones(untouched: Database, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown benchmark 'no'; known: cranfield, csfcube"):
        run(untouched, RunRequest("no", "bm25"))
    with pytest.raises(UnknownNameError, match=r"unknown system 'bm26'; .* and \d+ more.* mean bm25"):
        run(untouched, RunRequest("synthetic", "bm26"))
    with pytest.raises(UnknownNameError, match="template for papers 'no'; known: abstract, scirepeval"):
        run(untouched, RunRequest("synthetic", "bm25", paper_template="no"))
    with pytest.raises(UnknownNameError, match="template for queries 'no'; known: abstract, facet_sentences"):
        run(untouched, RunRequest("synthetic", "bm25", query_template="no"))
    with pytest.raises(InputError, match="unknown precision 'fp8'; expected one of auto, fp32, bf16"):
        run(untouched, RunRequest("synthetic", "bm25", SystemOptions(tmp_path, precision="fp8")))
    with pytest.raises(InputError, match="unknown distance 'l1'; expected one of cosine, l2, inner_product"):
        run(untouched, RunRequest("synthetic", "bm25", SystemOptions(tmp_path, distance="l1")))
