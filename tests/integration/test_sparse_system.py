"""The sparse BM25 system: k1 and b of a run, tuning on validation queries, and choices that are stale."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import InputError, RunError, UnknownNameError
from pinakes.index.index import index
from pinakes.run.run import RunRequest, run
from pinakes.schema import runs, tuned_parameters
from pinakes.systems.base import SystemOptions
from pinakes.systems.tuned import TuneSummary
from pinakes.tune.tune import TuneRequest, tune_bm25
from pinakes.tune.validation import find_validation
from pinakes.workload.benchmark import open_benchmark
from pinakes.workload.workload import read_workload
from tests.benching import change, count, read_hits

pytestmark = pytest.mark.in_turn

SYSTEM = "sparse_bm25"


def rank(
    database: Database, folder: Path, benchmark: str, options: Mapping[str, str] | None = None
) -> tuple[list[tuple[str, str, int, float]], dict[str, Any]]:
    """The hits of a run and its parameters."""
    chosen = SystemOptions(folder, parameters=dict(options or {}))
    stored = run(database, RunRequest(benchmark, SYSTEM, chosen))
    with database.read() as session:
        parameters = session.scalar(sa.select(runs.c.parameters).where(runs.c.run_id == stored.run_id))
    return read_hits(database, stored.run_id), orjson.loads(parameters)


def tune(database: Database, folder: Path, benchmark: str, **options: Any) -> TuneSummary:
    return tune_bm25(
        database,
        TuneRequest(benchmark, options=SystemOptions(folder), **options),
        clock=lambda: datetime(2026, 1, 2, tzinfo=UTC),
    )


def test_a_shared_pool_holds_the_papers_that_share_a_term(prepared: Database, tmp_path: Path) -> None:
    index(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path))
    hits, parameters = rank(prepared, tmp_path, "scifact")
    # Of 4 papers 3 hold graph; models is in p2 and p10, which are equal: the id that is greater comes first.
    assert [(query, paper, place) for query, paper, place, _ in hits] == [
        ("q1", "p2", 1),
        ("q1", "p10", 2),
        ("q1", "p1", 3),
    ]
    assert hits[0][3] == hits[1][3] > hits[2][3] > 0
    chosen = {name: parameters[name] for name in ("k1", "b", "tuning", "formula", "document_length")}
    assert chosen == {
        "k1": 1.2,
        "b": 0.75,
        "tuning": "default",
        "formula": "Lucene BM25",
        "document_length": "exact",
    }


def test_a_pool_of_its_own_is_ranked_whole(prepared: Database, tmp_path: Path) -> None:
    index(prepared, "csfcube", SYSTEM, options=SystemOptions(tmp_path))
    hits, _ = rank(prepared, tmp_path, "csfcube")
    ranked = {query: [row[1] for row in hits if row[0] == query] for query in {row[0] for row in hits}}
    assert {query: set(papers) for query, papers in ranked.items() if query.endswith("background")} == {
        "1_background": {"3", "4", "5", "6", "8"},
        "2_background": {"4", "5", "7", "9"},
    }


def test_k1_and_b_given_are_those_of_the_run(prepared: Database, tmp_path: Path) -> None:
    index(prepared, "synthetic", SYSTEM, options=SystemOptions(tmp_path))
    default, _ = rank(prepared, tmp_path, "synthetic")
    given, parameters = rank(prepared, tmp_path, "synthetic", {"k1": "0.9", "b": "0.4"})
    assert (parameters["k1"], parameters["b"], parameters["tuning"]) == (0.9, 0.4, "given")
    assert given != default
    _, parameters = rank(prepared, tmp_path, "synthetic", {"k1": "0.9"})
    assert (parameters["k1"], parameters["b"]) == (0.9, 0.75)


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"k1": "high"}, InputError, "k1 is 'high'; expected a number from 0 to 1000000"),
        ({"k1": "-1"}, InputError, "k1 is '-1'; expected a number from 0"),
        ({"b": "1.5"}, InputError, "b is '1.5'; expected a number from 0 to 1"),
        ({"k2": "1"}, UnknownNameError, "k1"),
        ({"analysis": "german"}, InputError, "lucene"),
    ],
)
def test_options_that_cannot_be_are_refused(
    untouched: Database, tmp_path: Path, options: dict[str, str], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        run(untouched, RunRequest("scifact", SYSTEM, SystemOptions(tmp_path, parameters=options)))


def test_a_changed_text_or_analysis_makes_the_index_stale(prepared: Database, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no sparse_bm25 index .*`pinakes index scifact --system sparse_bm25"):
        rank(prepared, tmp_path, "scifact")
    index(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path))
    with pytest.raises(RunError, match="other texts or settings"):
        rank(prepared, tmp_path, "scifact", {"analysis": "english"})
    change(prepared, "UPDATE papers SET title = 'Models' WHERE source_id = 'p1'")
    with pytest.raises(RunError, match="other texts or settings"):
        rank(prepared, tmp_path, "scifact")
    assert index(prepared, "scifact", SYSTEM, options=SystemOptions(tmp_path)).added == 4
    assert len(rank(prepared, tmp_path, "scifact")[0]) == 3


def test_a_tuned_pair_is_stored_and_taken_until_the_benchmark_changes(
    prepared: Database, tmp_path: Path
) -> None:
    index(prepared, "synthetic", SYSTEM, options=SystemOptions(tmp_path))
    found = tune(prepared, tmp_path, "synthetic", k1_grid=[0.9, 2.0], b_grid=[0.0, 0.4, 0.9])
    assert [(point.k1, point.b) for point in found.points] == [
        (0.9, 0.0),
        (0.9, 0.4),
        (0.9, 0.9),
        (2.0, 0.0),
        (2.0, 0.4),
        (2.0, 0.9),
    ]
    assert found.chosen.value == max(point.value for point in found.points) > 0
    assert count(prepared, "tuned_parameters") == 6
    with prepared.read() as session:
        row = session.first(sa.select(tuned_parameters).where(tuned_parameters.c.chosen))
    assert row is not None
    assert orjson.loads(row["parameters"]) == {"k1": found.chosen.k1, "b": found.chosen.b}
    assert (row["measure"], row["validation"]) == (found.measure, found.validation)
    _, parameters = rank(prepared, tmp_path, "synthetic")
    assert (parameters["k1"], parameters["b"]) == (found.chosen.k1, found.chosen.b)
    assert parameters["tuning"] == f"{found.measure} on {found.validation}"
    change(prepared, "UPDATE papers SET abstract = 'Weather' WHERE source_id = 'syn-00000007'")
    index(prepared, "synthetic", SYSTEM, options=SystemOptions(tmp_path))
    _, parameters = rank(prepared, tmp_path, "synthetic")
    assert (parameters["k1"], parameters["b"]) == (1.2, 0.75)
    assert parameters["tuning"].startswith("default: the benchmark, or its analysis, was tuned as it no")


def test_a_second_tuning_replaces_the_first(prepared: Database, tmp_path: Path) -> None:
    index(prepared, "synthetic", SYSTEM, options=SystemOptions(tmp_path))
    tune(prepared, tmp_path, "synthetic", k1_grid=[0.9, 2.0], b_grid=[0.4])
    tune(prepared, tmp_path, "synthetic", k1_grid=[1.5], b_grid=[0.4], measure="AP")
    assert count(prepared, "tuned_parameters") == 1


def test_among_equals_the_pair_nearest_to_the_usual_one_is_chosen(prepared: Database, tmp_path: Path) -> None:
    # NumRet counts what is found, whatever k1 and b.
    index(prepared, "synthetic", SYSTEM, options=SystemOptions(tmp_path))
    grid = {"k1_grid": [0.6, 1.0, 3.0], "b_grid": [0.1, 0.7, 1.0]}
    chosen = tune(prepared, tmp_path, "synthetic", measure="NumRet", **grid).chosen
    assert (chosen.k1, chosen.b) == (1.0, 0.7)


def test_a_grid_that_cannot_be_is_refused(untouched: Database, tmp_path: Path) -> None:
    wrong: tuple[dict[str, Any], ...] = ({"k1_grid": []}, {"b_grid": [2.0]}, {"k1_grid": [-1.0]})
    for grid in wrong:
        with pytest.raises(InputError, match="expected at least one of each"):
            tune(untouched, tmp_path, "scifact", **grid)


def test_queries_that_another_split_judges_are_those_to_tune_on(prepared: Database) -> None:
    change(
        prepared,
        "INSERT INTO benchmark_queries (corpus_id, query_id, text, batch_id) "
        "SELECT corpus_id, 't1', 'citation graph', batch_id FROM benchmark_queries WHERE query_id = 'q1'",
    )
    change(
        prepared,
        "INSERT INTO judgments (corpus_id, query_id, paper_id, assessor, split, grade, batch_id) "
        "SELECT corpus_id, 't1', paper_id, assessor, 'train', 1, batch_id FROM judgments "
        "WHERE query_id = 'q1'",
    )
    workload = read_workload(prepared, open_benchmark(prepared, "scifact"))
    found = find_validation(prepared, workload)
    assert "t1" not in workload.query_ids
    assert (dict(found.texts), found.judgments) == ({"t1": "citation graph"}, {"t1": {"p1": 1}})
    assert found.described == "split=train"


def test_the_folds_of_a_dev_split_are_those_to_tune_on(untouched: Database) -> None:
    workload = read_workload(untouched, open_benchmark(untouched, "csfcube"))
    found = find_validation(untouched, workload)
    assert found.described == "fold=A"
    assert set(found.texts) < set(workload.query_ids)
    assert {query.split("_")[0] for query in found.texts} == {"1"}


def test_without_a_split_half_of_the_queries_are_those_to_tune_on(untouched: Database) -> None:
    workload = read_workload(untouched, open_benchmark(untouched, "synthetic"))
    found = find_validation(untouched, workload)
    assert found.described == "the half of its queries with an even md5"
    assert 0 < len(found.texts) < len(workload.query_ids)
