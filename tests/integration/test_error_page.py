"""The error analysis from real tables: selection, order, bounds, the command, on DuckDB and on Postgres."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.errors import EvaluationError, InputError
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.report.errors import gather as error_analysis
from pinakes.report.errors.data import ErrorCandidate, ErrorQuery, ErrorReport
from pinakes.report.errors.gather import ErrorRequest, find_relevant, gather_errors
from pinakes.report.errors.page import render_error_lines, render_error_page, write_errors
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.workload.benchmark import open_benchmark
from tests.benching import change
from tests.calling import Call
from tests.integration.ranked_csfcube import import_rankings, write_trec
from tests.integration.test_grouped_runs import write_grouped

pytestmark = pytest.mark.in_turn


def find(errors: ErrorReport, query_id: str) -> ErrorQuery:
    return next(query for query in errors.queries if query.query_id == query_id)


def ranks(candidates: tuple[ErrorCandidate, ...], *run_ids: int) -> list[tuple[object, ...]]:
    """Source id, grade and rank in each run, None where it is not ranked."""
    return [
        (one.source_id, one.grade, *(ranked and ranked.rank for ranked in map(one.ranked.get, run_ids)))
        for one in candidates
    ]


def test_run_has_what_it_ranks_too_high_and_too_low(ranked: Database) -> None:
    errors = gather_errors(ranked, ErrorRequest("csfcube", [2]))
    assert (errors.measure, errors.scale, errors.relevant_from) == ("CSFCube.nDCG%20", "percent", 2)
    query = find(errors, "1_background")
    assert ranks(query.false_positives, 2) == [("4", 0, 1), ("5", 1, 2)]
    assert ranks(query.low, 2) == [("6", 2, None), ("8", 2, None), ("3", 3, 3)]
    assert query.relevant == 3
    assert query.low[2].ranked[2].score == -3.0
    assert (query.low[2].title, query.low[2].abstract) == ("Title 3", "The citation graph of a paper.")
    assert [one.sources for one in query.low] == ["", "", "cited, specter"]


def test_query_without_an_answer_has_every_relevant_paper_missing(ranked: Database) -> None:
    query = find(gather_errors(ranked, ErrorRequest("csfcube", [2])), "2_result")
    assert query.values == {2: 0.0}
    assert query.false_positives == ()
    assert ranks(query.low, 2) == [("7", 3, None)]


def test_two_runs_stand_side_by_side_for_the_candidates_of_either(ranked: Database) -> None:
    errors = gather_errors(ranked, ErrorRequest("csfcube", [2, 1], top=1))
    assert [run.label for run in errors.runs] == ["other", "SPECTER"]
    query = find(errors, "1_background")
    assert ranks(query.false_positives, 2, 1) == [("4", 0, 1, 5), ("5", 1, 2, 4)]
    assert ranks(query.low, 2, 1) == [("8", 2, None, 3), ("6", 2, None, 2)]


def test_worst_query_is_first_and_the_first_run_decides(ranked: Database) -> None:
    errors = gather_errors(ranked, ErrorRequest("csfcube", [2, 1]))
    values = [query.values[2] for query in errors.queries]
    assert values == sorted(values)
    assert errors.queries[0].query_id == "1_background"
    assert len(errors.queries) == 5


def test_best_run_is_taken_where_none_is_named(ranked: Database) -> None:
    assert [run.run_id for run in gather_errors(ranked, ErrorRequest("csfcube")).runs] == [1]


def test_relevance_may_be_requested_for(ranked: Database) -> None:
    query = find(gather_errors(ranked, ErrorRequest("csfcube", [2], relevant_from=1)), "1_background")
    assert ranks(query.false_positives, 2) == [("4", 0, 1)]
    assert [one.source_id for one in query.low] == ["6", "8", "3", "5"]
    assert query.relevant == 4


def test_requested_sentences_are_those_of_the_facet(ranked: Database) -> None:
    errors = gather_errors(ranked, ErrorRequest("csfcube", [2]))
    query = find(errors, "1_method")
    assert (query.title, query.text, query.groups) == ("Title 1", "", {"facet": "method"})
    assert [(one.text, one.is_requested) for one in query.sentences] == [
        ("Citation graph retrieval.", False),
        ("A model of the graph.", True),
    ]
    assert [one.is_requested for one in find(errors, "2_method").sentences] == [False, False]


def test_hit_that_nobody_judged_is_too_high(ranked: Database) -> None:
    change(ranked, "DELETE FROM judgments WHERE query_id = '1_method' AND grade = 1")
    query = find(gather_errors(ranked, ErrorRequest("csfcube", [2])), "1_method")
    assert ranks(query.false_positives, 2) == [("4", 0, 1), ("9", None, 2)]


def test_shared_pool_and_queries_of_text_have_errors_too(prepared: Database, tmp_path: Path) -> None:
    path = write_trec(tmp_path, "mine", "q1 p2 p10 p1")
    import_run(prepared, ImportRequest("scifact", "mine", [path]))
    evaluate(prepared, "scifact")
    errors = gather_errors(prepared, ErrorRequest("scifact"))
    assert errors.relevant_from == 1
    (query,) = errors.queries
    assert (query.text, query.title, query.sentences) == ("graph models", "", ())
    assert ranks(query.false_positives, 1) == [("p2", None, 1), ("p10", None, 2)]
    assert ranks(query.low, 1) == [("p1", 1, 3)]
    assert query.low[0].sources == ""


def test_grouped_pools_have_errors_in_each_pool(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(write_grouped(tmp_path / "benchmarks")))
    options = SystemOptions(tmp_path / "indexes", device="cpu")
    index(prepared, "own", "tfidf", options=options)
    run(prepared, RunRequest("own", "tfidf", options))
    evaluate(prepared, "own")
    errors = gather_errors(prepared, ErrorRequest("own", top=2))
    assert {query.groups["pool"] for query in errors.queries} == {"even", "few"}
    for query in errors.queries:
        assert query.query_id.startswith(f"{query.groups['pool']}/")
        assert [one.ranked[1].rank for one in query.false_positives] == sorted(
            one.ranked[1].rank for one in query.false_positives
        )
        assert all(one.grade is None for one in query.false_positives)
        assert (len(query.low), query.relevant > 2) == (2, True)


def test_queries_beyond_the_bound_are_counted_and_can_be_requested_for(
    ranked: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [query.query_id for query in gather_errors(ranked, ErrorRequest("csfcube", [2])).queries]
    monkeypatch.setattr(error_analysis, "MOST_QUERIES", 2)
    errors = gather_errors(ranked, ErrorRequest("csfcube", [2]))
    assert ([query.query_id for query in errors.queries], errors.left_out) == (whole[:2], 3)
    requested = gather_errors(ranked, ErrorRequest("csfcube", [2], [whole[4], whole[3], whole[4]]))
    assert ([query.query_id for query in requested.queries], requested.left_out) == (whole[3:], 0)


def test_relevant_grade_is_that_of_the_measures(prepared: Database) -> None:
    benchmark = open_benchmark(prepared, "csfcube")
    assert find_relevant(benchmark) == 2
    assert find_relevant(replace(benchmark, measures=("CSFCube.RP",))) == 1
    assert find_relevant(replace(benchmark, headline_measure="P(rel=3)@5")) == 3


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        (ErrorRequest("csfcube", [9]), EvaluationError, "csfcube has no run 9; its runs: 1, 2"),
        (
            ErrorRequest("csfcube", [], ["nobody"]),
            EvaluationError,
            "no query 'nobody' was evaluated; expected one of 5, as 1_background",
        ),
        (ErrorRequest("csfcube", top=0), InputError, "--top is 0; expected 1 or more"),
        (ErrorRequest("scifact"), EvaluationError, "scifact has no run yet"),
    ],
)
def test_what_is_not_there_is_said(
    ranked: Database, request_: ErrorRequest, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        gather_errors(ranked, request_)


def test_run_that_was_not_evaluated_is_not_the_best(ranked: Database) -> None:
    change(ranked, "DELETE FROM scores WHERE run_id = 1")
    assert [run.run_id for run in gather_errors(ranked, ErrorRequest("csfcube")).runs] == [2]
    change(ranked, "DELETE FROM scores")
    with pytest.raises(EvaluationError, match=r"no run of csfcube has scores by CSFCube\.nDCG%20; make them"):
        gather_errors(ranked, ErrorRequest("csfcube"))


def test_both_databases_give_the_same_bytes(both_prepared: tuple[Database, Database], tmp_path: Path) -> None:
    pages = []
    for database in both_prepared:
        import_rankings(database, tmp_path)
        errors = gather_errors(database, ErrorRequest("csfcube", [2, 1]))
        pages.append((render_error_page(errors), render_error_lines(errors)))
    assert pages[0] == pages[1]


def test_analysis_is_two_files(ranked: Database, tmp_path: Path) -> None:
    errors = gather_errors(ranked, ErrorRequest("csfcube", [2]))
    folder = tmp_path / "made" / "errors"
    assert write_errors(errors, folder) == [folder / "errors.html", folder / "errors.jsonl"]
    assert sorted(path.name for path in folder.iterdir()) == ["errors.html", "errors.jsonl"]
    with pytest.raises(InputError, match="cannot be written to"):
        write_errors(errors, folder / "errors.html")


def test_command_prints_a_row_for_each_query_and_says_what_it_wrote(
    call: Call, prepared: Database, tmp_path: Path
) -> None:
    import_rankings(prepared, tmp_path)
    prepared.close()
    outcome = call("errors", "csfcube", "--run", 2, "--query", "1_background", "--top", 1, "--folder", "out")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "CSFCube.nDCG%20 of the worst queries of csfcube"
    assert lines[3].split()[0] == "1_background"
    assert lines[3].split()[2:] == ["3", "4", "(rank", "1)", "6", "(not", "ranked)"]
    assert len(lines) == 4
    assert outcome.err == "written: out/errors.html\nwritten: out/errors.jsonl\n"
    told = [json.loads(line) for line in (tmp_path / "out" / "errors.jsonl").read_text().splitlines()]
    assert [(line["kind"], line["source_id"]) for line in told] == [("false_positive", "4"), ("low", "6")]
    quiet = call("errors", "csfcube", "-r", 1, "--relevant-from", 3, "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert (tmp_path / "csfcube-errors" / "errors.html").is_file()
    assert call("errors", "csfcube", "--query", "nobody").code == 1
    assert call("errors", "csfcube", "--top", 0).code == 2
