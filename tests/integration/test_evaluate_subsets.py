"""Scores of repeats, averages and candidate types, folds that owe nothing, and columns against records."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from pinakes.database import Database, connect
from pinakes.errors import EvaluationError
from pinakes.evaluate.compare import read_query_values
from pinakes.evaluate.evaluate import evaluate
from pinakes.records import Score
from pinakes.report.output import Output
from pinakes.report.present.evaluate import print_scores
from pinakes.run.import_run import ImportRequest, import_run
from tests.benching import POOLS, change, count, read_hits, write_benchmark
from tests.scoring import RankedPaper, Rankings
from tests.scoring import evaluate as evaluate_records

pytestmark = pytest.mark.in_turn

TOML = """
title = "A benchmark of a test"
citation = "none"
licence = "none"
corpus = "csfcube"
pool = "{pool}"
query_template = "text"
paper_template = "title_abstract"
headline_measure = "AP"
measures = ["AP", "Bpref"]
[grades]
1 = "yes"
[aggregation]
group_by = ["field"]
fold_column = "fold"
tuning_folds = ["tuning"]
repeat_column = "repeat"
candidate_types = true
[aggregation.averages]
"mean(field)" = { column = "field" }
"mean(rounded field)" = { column = "field", decimals = 4 }
"""
QUERIES = """
SELECT
    query_id,
    paper_id,
    text,
    facet AS field,
    SUBSTR(query_id, 1, 1) AS repeat,
    CASE WHEN query_id = '2_method' THEN 'tuning' END AS fold
FROM benchmark_queries
INNER JOIN corpora ON benchmark_queries.corpus_id = corpora.corpus_id
WHERE corpora.name = 'csfcube'
"""
CANDIDATES = """
SELECT
    judged_papers.query_id,
    judged_papers.paper_id,
    CASE WHEN grade >= 1 THEN 'cited' WHEN papers.source_id = '4' THEN 'graph' ELSE 'random' END AS source
FROM judged_papers
INNER JOIN papers ON judged_papers.paper_id = papers.paper_id
WHERE judged_papers.corpus = 'csfcube' AND judged_papers.assessor = 'adjudicated'
"""
JUDGMENTS = """
SELECT query_id, paper_id, grade
FROM judged_papers
WHERE corpus = 'csfcube' AND assessor = 'adjudicated'
"""
TYPES = {"graph": {"4"}, "random": {"5", "9"}}
"""type -> its candidates; 9 and 5 are relevant for other queries"""
REQUESTED = {
    "type=graph": {"1_background", "1_method", "2_background"},
    "type=random": {"2_background", "2_result"},
}
"""type -> the queries that have a candidate of it without a relevant grade"""
RANKED = {
    "1_background": "4 3 6 5 8 1",
    "1_method": "4 9 6 5",
    "2_background": "5 9 4 7",
    "2_result": "9 7 3",
}


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Database], int]:
    """Bring a run of the benchmark of this module into a database."""
    views = {"toml": TOML, "queries": QUERIES, "candidates": CANDIDATES, "judgments": JUDGMENTS}
    folder = write_benchmark(tmp_path / "own", corpus="csfcube", pool="per_query", **views)
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    lines = [
        # two scores that are one as 32-bit floats, so that the ids decide
        f"{query} Q0 {candidate} 0 {1 - rank // 2 * 0.25 - rank * 1e-12:.15f} t\n"
        for query, ranked in RANKED.items()
        for rank, candidate in enumerate(ranked.split())
    ]
    path = tmp_path / "run.txt"
    path.write_text("".join(lines))

    def into(database: Database) -> int:
        return import_run(database, ImportRequest("own", "theirs", [path])).run_id

    return into


def grades(query_id: str) -> dict[str, int]:
    paper, _, facet = query_id.partition("_")
    return POOLS[facet][paper]


def read_rankings(database: Database, run_id: int) -> Rankings:
    """A run's hits as records, in the order that their maker gave."""
    rankings: dict[str, list[RankedPaper]] = {}
    for query_id, source_id, _, score in read_hits(database, run_id):
        rankings.setdefault(query_id, []).append(RankedPaper(source_id, score))
    return rankings


def cut(rankings: Rankings, candidates: set[str]) -> Rankings:
    return {
        query_id: [
            paper
            for paper in ranking
            if grades(query_id)[paper.source_id] >= 1 or paper.source_id in candidates
        ]
        for query_id, ranking in rankings.items()
    }


def test_a_type_is_scored_over_its_candidates_and_the_relevant_papers(
    prepared: Database, bring: Callable[[Database], int]
) -> None:
    run_id = bring(prepared)
    (result,) = evaluate(prepared, "own")
    per_query = [score for score in result.scores if score.query_id is not None]
    judged = {query_id: grades(query_id) for query_id in RANKED}
    rankings = read_rankings(prepared, run_id)
    expected = [
        score
        for measure in ("AP", "Bpref")
        for subset, ranked in [
            ("all", rankings),
            *((f"type={name}", cut(rankings, members)) for name, members in TYPES.items()),
        ]
        for score in evaluate_records(ranked, judged, [measure], subset)
        # these have no candidate of that type: they are not asked about it
        if score.query_id in REQUESTED.get(subset, RANKED)
    ]
    assert per_query == expected
    # what was stored is what was computed, and a comparison reads the whole rankings alone
    assert count(prepared, "scores") == len(result.scores)
    assert read_query_values(prepared, run_id, "AP") == {
        score.query_id: score.value for score in expected if score.measure == "AP" and score.subset == "all"
    }
    values = {(score.subset, score.query_id): score.value for score in per_query if score.measure == "AP"}
    # 9 and 7 are tied: 9 7 3
    assert values["all", "2_result"] == (1 / 2 + 2 / 3) / 2
    assert ("type=graph", "2_result") not in values
    assert values["type=random", "2_result"] == values["all", "2_result"]


def test_subsets_are_groups_repeats_averages_and_the_same_of_each_type(
    prepared: Database, bring: Callable[[Database], int]
) -> None:
    bring(prepared)
    (result,) = evaluate(prepared, "own", measures=["AP"])
    found = {score.subset: score for score in result.aggregates()}
    whole = [
        "all", "all/repeat=1", "all/repeat=2", "field=background", "field=background/repeat=1",
        "field=background/repeat=2", "field=method", "field=method/repeat=1", "field=result",
        "field=result/repeat=2", "mean(field)", "mean(rounded field)",
    ]  # fmt: skip
    # The one query on results has no candidate of the type graph; random ones have two queries of repeat 2.
    of_graph = [name for name in whole if "field=result" not in name]
    of_random = [name for name in whole if "repeat=1" not in name and "field=method" not in name]
    assert list(found) == [
        *whole,
        *(f"type=graph/{name}".removesuffix("/all").replace("/all/", "/") for name in of_graph),
        *(f"type=random/{name}".removesuffix("/all").replace("/all/", "/") for name in of_random),
    ]
    fields = ["background", "method", "result"]
    for name, requested in (("", fields), ("type=random/", fields[::2]), ("type=graph/", fields[:2])):
        means = [found[f"{name}field={field}"].value for field in requested]
        assert found[f"{name}mean(field)"].value == math.fsum(means) / len(means)
        rounded = round(math.fsum(round(100 * mean, 2) for mean in means) / len(means), 2) / 100
        assert found[f"{name}mean(rounded field)"].value == rounded
    assert found["mean(rounded field)"].value != found["mean(field)"].value
    expected = {
        score.subset: score.queries_expected for score in found.values() if score.subset.endswith("(field)")
    }
    assert (
        expected["mean(field)"],
        expected["type=random/mean(field)"],
        expected["type=graph/mean(field)"],
    ) == (4, 2, 3)


def test_a_fold_for_tuning_owes_nothing(prepared: Database, bring: Callable[[Database], int]) -> None:
    run_id = bring(prepared)
    first = evaluate(prepared, "own")
    change(
        prepared,
        "INSERT INTO hits (run_id, query_id, paper_id, rank, score) "
        f"SELECT {run_id}, '2_method', paper_id, 1, 1.0 FROM papers WHERE source_id = '5'",
    )
    assert evaluate(prepared, "own") == first
    assert {score.query_id for score in first[0].scores} == {*RANKED, None}
    assert all(score.queries_expected <= 4 for score in first[0].scores)


def test_both_databases_give_the_same_bits(
    both_prepared: tuple[Database, Database], bring: Callable[[Database], int]
) -> None:
    found = []
    for database in both_prepared:
        bring(database)
        found.append(evaluate(database, "own", measures=["AP", "nDCG", "R@2", "nDCG%50", "Bpref"]))
    assert found[0] == found[1]
    assert any(0 < score.value < 1 for score in found[0][0].scores)


def test_every_measure_gives_what_records_give(prepared: Database, bring: Callable[[Database], int]) -> None:
    run_id = bring(prepared)
    measures = ["AP", "nDCG%40", "nDCG@3", "CSFCube.AP", "RR(rel=2)", "Rprec", "Success@1", "P@2", "R@3"]
    (result,) = evaluate(prepared, "own", measures=measures)
    judgments = {query_id: grades(query_id) for query_id in RANKED}
    expected: list[Score] = evaluate_records(read_rankings(prepared, run_id), judgments, measures)
    whole = [score for score in result.scores if score.subset == "all" and score.query_id is not None]
    assert whole == expected
    assert len({score.value for score in whole}) > 5


def test_a_hit_of_no_paper_counts_as_not_ranked(prepared: Database, bring: Callable[[Database], int]) -> None:
    run_id = bring(prepared)
    first = evaluate(prepared, "own")
    insert = "INSERT INTO hits (run_id, query_id, paper_id, rank, score) VALUES "
    change(prepared, f"{insert} ({run_id}, '1_method', 4000, 1, 9.0)")
    assert evaluate(prepared, "own") == first


def test_a_paper_that_is_ranked_twice_is_refused(
    prepared_duckdb_url: str, bring: Callable[[Database], int]
) -> None:
    with connect(prepared_duckdb_url) as database:  # Postgres has a key over the hits
        bring(database)
        change(database, "INSERT INTO hits SELECT * FROM hits WHERE query_id = '1_method' AND rank = 1")
        with pytest.raises(EvaluationError, match="query '1_method' ranks paper '9' more than once"):
            evaluate(database, "own", measures=["AP"])


def test_types_of_a_shared_pool_are_refused(
    prepared: Database, bring: Callable[[Database], int], tmp_path: Path
) -> None:
    bring(prepared)
    views = {"toml": TOML, "queries": QUERIES, "judgments": JUDGMENTS}
    views["candidates"] = f"SELECT DISTINCT paper_id, 'graph' AS source FROM ({CANDIDATES}) AS pools"
    write_benchmark(tmp_path / "own", corpus="csfcube", pool="shared", **views)
    with pytest.raises(
        EvaluationError, match="own asks for scores by candidate type, and its pool is shared"
    ):
        evaluate(prepared, "own")


def test_the_printed_table_leaves_repeats_and_parts_of_types_to_the_database(
    prepared: Database, bring: Callable[[Database], int], capsys: pytest.CaptureFixture[str]
) -> None:
    bring(prepared)
    results = evaluate(prepared, "own", measures=["AP"])
    print_scores(results, Output(), per_query=False)
    printed = capsys.readouterr().out
    shown = [line.split()[0] for line in printed.splitlines() if line.startswith(("all", "field=", "type="))]
    assert shown == ["all", "field=background", "field=method", "field=result", "type=graph", "type=random"]
    assert f"{len(results[0].aggregates()) - len(shown) - 2} subsets more" in printed
