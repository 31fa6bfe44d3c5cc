"""Pairs of runs, compared over all queries from their stored scores."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pinakes.cli import run_command
from pinakes.database import Database
from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluate.compare import PairComparison, compare_subsets
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest, run
from pinakes.sample.sample import sample
from pinakes.systems.base import SystemOptions
from tests.benching import BENCHMARK_TOML, change, write_benchmark
from tests.sampled_rows import add_run, add_scores

pytestmark = pytest.mark.in_turn

GOOD = {
    "1_background": "3 6 8 5 4",
    "1_method": "5 6 9 4",
    "2_background": "9 7 5 4",
    "2_result": "7 3 9",
}
BAD = {
    "1_background": "4 5 8 6 3",
    "1_method": "4 9 6 5",
    "2_background": "9 7 5 4",
    "2_method": "5 3",
}
RUNS = {"good": GOOD, "same": GOOD, "bad": BAD}
"""system -> query -> candidates, best first"""


def compare_runs(database: Database, benchmark: str, **given: Any) -> list[PairComparison]:
    return compare_subsets(database, benchmark, **given).pairs


def bring(database: Database, tmp_path: Path, names: list[str]) -> None:
    for name in names:
        lines = [
            f"{query} Q0 {candidate} 0 {-rank} t\n"
            for query, ranked in RUNS[name].items()
            for rank, candidate in enumerate(ranked.split())
        ]
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(lines))
        import_run(database, ImportRequest("csfcube", name, [path]))


def test_every_pair_is_compared_and_corrected_over_the_pairs(prepared: Database, tmp_path: Path) -> None:
    bring(prepared, tmp_path, ["good", "same", "bad"])
    evaluate(prepared, "csfcube", measures=["RR(rel=2)"])
    pairs = compare_runs(prepared, "csfcube", measure="RR(rel=2)")
    assert [(pair.system_a, pair.system_b, pair.run_a, pair.run_b) for pair in pairs] == [
        ("good", "same", 1, 2),
        ("good", "bad", 1, 3),
        ("same", "bad", 2, 3),
    ]
    same, worse, _ = (pair.comparison for pair in pairs)
    assert (same.queries, same.mean_difference, same.ties, same.t_test_p) == (5, 0.0, 5, 1.0)
    # good: 1, 1, 1, 0, 1; bad: 1/3, 1/3, 1, 1, 0
    assert worse.mean_difference == pytest.approx((-2 / 3 - 2 / 3 + 0 + 1 - 1) / 5)
    assert (worse.wins, worse.ties, worse.losses) == (1, 1, 3)
    assert pairs[1].holm_t_test == pytest.approx(min(1.0, 3 * worse.t_test_p))
    assert pairs[1].holm_randomisation == pytest.approx(min(1.0, 3 * worse.randomisation_p))
    assert compare_runs(prepared, "csfcube", measure="RR(rel=2)") == pairs


def test_the_headline_measure_is_compared_unless_one_is_named(prepared: Database, tmp_path: Path) -> None:
    bring(prepared, tmp_path, ["good", "bad"])
    evaluate(prepared, "csfcube")
    (pair,) = compare_runs(prepared, "csfcube")
    assert pair.measure == "CSFCube.nDCG%20"
    (turned,) = compare_runs(prepared, "csfcube", run_ids=[2, 1])
    assert turned == pair


def test_a_comparison_needs_two_runs_with_scores(prepared: Database, tmp_path: Path) -> None:
    bring(prepared, tmp_path, ["good"])
    with pytest.raises(EvaluationError, match="csfcube has 1 run to compare; expected two or more"):
        compare_runs(prepared, "csfcube")
    bring(prepared, tmp_path, ["bad"])
    with pytest.raises(EvaluationError, match="run 1 has no scores by AP; compute them"):
        compare_runs(prepared, "csfcube", measure="AP")


def test_only_the_newest_run_of_a_system_is_compared_unless_all_are_requested_for(
    prepared: Database, tmp_path: Path
) -> None:
    options = SystemOptions(tmp_path)
    for system in ("bm25", "tfidf"):
        index(prepared, "synthetic", system, options=options)
        run(prepared, RunRequest("synthetic", system, options))
    change(prepared, "UPDATE papers SET title = 'Another title' WHERE source_id = 'syn-00000007'")
    index(prepared, "synthetic", "bm25", options=options)
    newer = run(prepared, RunRequest("synthetic", "bm25", options))
    evaluate(prepared, "synthetic")
    newest = compare_runs(prepared, "synthetic")
    assert [(pair.run_a, pair.run_b) for pair in newest] == [(2, newer.run_id)]
    every = compare_runs(prepared, "synthetic", all_runs=True)
    assert [(pair.run_a, pair.run_b) for pair in every] == [(1, 2), (1, 3), (2, 3)]


TOPICS = {
    "art": ("a1", "a2", "a3", "a4", "a5", "a6"),
    "law": ("l1", "l2", "l3", "l4"),
    "maths": ("m1",),
    None: ("n1",),
}
"""group -> its queries"""

VALUES = {
    "low": (0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.50, 0.40, 0.30, 0.20, 0.90, 0.10),
    "mid": (0.20, 0.40, 0.60, 0.30, 0.90, 0.60, 0.45, 0.55, 0.40, 0.20, 0.10, 0.30),
    "high": (0.35, 0.41, 0.57, 0.72, 0.88, 0.93, 0.60, 0.52, 0.44, 0.36, 0.80, 0.70),
}
"""system -> the values of the queries of `TOPICS`"""


@pytest.fixture
def topical(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A database with a benchmark `own` that groups its queries by topic, and three scored runs of it."""
    row = "SELECT CAST('{}' AS TEXT) AS query_id, CAST(NULL AS BIGINT) AS paper_id, CAST('x' AS TEXT) AS text"
    queries = [
        f"{row.format(query)}, NULLIF('{topic}', 'None') AS topic"
        for topic, of_topic in TOPICS.items()
        for query in of_topic
    ]
    toml = f'{BENCHMARK_TOML}\n[aggregation]\ngroup_by = ["topic"]\n'
    folder = write_benchmark(tmp_path / "own", toml=toml, queries=" UNION ALL ".join(queries))
    monkeypatch.setenv("PINAKES_BENCHMARKS", str(folder))
    for number, (system, values) in enumerate(VALUES.items(), start=1):
        add_run(database, number, "own", system)
        names = [query for of_topic in TOPICS.values() for query in of_topic]
        stored = zip(names, values, strict=True)
        add_scores(database, number, "nDCG@10", {("all", query): value for query, value in stored})
    return database


def by_subset(pairs: list[PairComparison]) -> dict[str, list[PairComparison]]:
    found: dict[str, list[PairComparison]] = {}
    for pair in pairs:
        found.setdefault(pair.subset, []).append(pair)
    return found


def test_each_group_is_compared_over_all_of_its_queries_as_scipy_does(topical: Database) -> None:
    found = by_subset(compare_runs(topical, "own", by="topic"))
    places = {"all": slice(0, 12), "topic=art": slice(0, 6), "topic=law": slice(6, 10)}
    assert list(found) == list(places)
    for subset, place in places.items():
        pairs = [(pair.system_a, pair.system_b) for pair in found[subset]]
        assert pairs == [("low", "mid"), ("low", "high"), ("mid", "high")]
        for pair in found[subset]:
            a, b = (np.array(VALUES[system][place]) for system in (pair.system_a, pair.system_b))
            result = pair.comparison
            assert result.queries == len(a)
            assert result.mean_difference == pytest.approx(float(np.mean(b - a)), abs=1e-12)
            assert result.t_test_p == pytest.approx(float(stats.ttest_rel(b, a).pvalue), abs=1e-12)
            signs = stats.permutation_test(
                (b - a,), np.mean, permutation_type="samples", n_resamples=math.inf
            )
            assert result.randomisation_p == pytest.approx(float(signs.pvalue), abs=1e-12)
            assert result.randomisation_draws == 0


def test_a_group_of_four_queries_equals_the_hand_worked_example(topical: Database) -> None:
    # law, low against high: 0.10, 0.12, 0.14, 0.16: mean 0.13, deviation 0.02 * sqrt(5 / 3), so that t is
    # 13 * sqrt(3 / 5); p as the distribution with 3 degrees of freedom has it in closed form. All are of
    # one sign: of 16 assignments two are as far from zero
    _, pair, _ = by_subset(compare_runs(topical, "own", by="topic"))["topic=law"]
    assert pair.comparison.mean_difference == pytest.approx(0.13, abs=1e-12)
    angle = math.atan(13 * math.sqrt(3 / 5) / math.sqrt(3))
    p = 1 - 2 / math.pi * (angle + math.sin(angle) * math.cos(angle))
    assert pair.comparison.t_test_p == pytest.approx(p, abs=1e-9)
    assert (pair.comparison.wins, pair.comparison.losses) == (4, 0)
    assert pair.comparison.randomisation_p == 0.125


def test_p_values_are_corrected_over_the_pairs_of_their_own_subset(topical: Database) -> None:
    for of_subset in by_subset(compare_runs(topical, "own", by="topic")).values():
        raw = [pair.comparison.t_test_p for pair in of_subset]
        lowest, middle, highest = sorted(raw)
        steps = [min(1.0, 3 * lowest), min(1.0, 2 * middle), highest]
        expected = dict(zip((lowest, middle, highest), np.maximum.accumulate(steps), strict=True))
        corrected = [pair.holm_t_test for pair in of_subset]
        assert corrected == pytest.approx([expected[p] for p in raw], abs=1e-12)


def test_groups_change_nothing_of_the_comparison_over_all_queries(topical: Database) -> None:
    alone = compare_runs(topical, "own")
    assert {pair.subset for pair in alone} == {"all"}
    assert by_subset(compare_runs(topical, "own", by="topic"))["all"] == alone


def test_a_group_of_one_query_is_told_and_hides_no_other(topical: Database) -> None:
    found = compare_subsets(topical, "own", by="topic")
    assert found.not_compared == {"topic=maths": 1}
    assert list(by_subset(found.pairs)) == ["all", "topic=art", "topic=law"]


def test_the_order_in_which_runs_are_named_changes_nothing(topical: Database) -> None:
    expected = compare_runs(topical, "own", by="topic")
    for order in ([3, 1, 2], [2, 3, 1], [3, 2, 1]):
        assert compare_runs(topical, "own", run_ids=order, by="topic") == expected
    for order in ([3, 1], [1, 3]):
        of_two = compare_runs(topical, "own", run_ids=order, by="topic")
        assert [(pair.run_a, pair.run_b) for pair in of_two] == [(1, 3)] * 3


def test_an_unknown_column_is_refused_with_the_grouping_columns(topical: Database) -> None:
    with pytest.raises(UnknownNameError, match="unknown grouping column of own 'facet'; known: topic"):
        compare_runs(topical, "own", by="facet")


def test_both_databases_compare_groups_alike_to_the_bit(
    both_prepared: tuple[Database, Database], tmp_path: Path
) -> None:
    found = []
    for database in both_prepared:
        bring(database, tmp_path, ["good", "bad"])
        evaluate(database, "csfcube")
        found.append(compare_subsets(database, "csfcube", by="facet"))
    assert found[0] == found[1]
    assert found[0].not_compared == {"facet=result": 1}


def test_a_query_of_several_pools_counts_once_in_each_group(database: Database) -> None:
    load(database, LoadRequest("synthetic", options={"papers": "1500"}))
    request: dict[str, Any] = {"queries": 8, "validation_queries": 5, "validation_pool_size": 120}
    sample(database, "large_scale", "synthetic", {**request, "pool_sizes": (150, 400)})
    with database.read() as session:
        rows = session.rows(
            "SELECT query_id, pool_size, repeat FROM large_scale.queries WHERE fold = 'test' "
            "ORDER BY query_id"
        )
    assert len(rows) == 8 * 2 * 3
    for number, factor in ((1, 0.0), (2, 1.0)):
        add_run(database, number, "large_scale", f"system{number}")
        values = {
            ("all", row["query_id"]): factor * (int(row["pool_size"]) / 1000 + int(row["repeat"]) / 10)
            for row in rows
        }
        add_scores(database, number, "AP", values)
    pairs = compare_runs(database, "large_scale", measure="AP", by="pool_size")
    assert [pair.comparison.queries for pair in pairs] == [8, 8, 8]
    # the repeats 1 to 3 have a mean of 2, the sizes one of 275
    assert {pair.subset: pair.comparison.mean_difference for pair in pairs} == pytest.approx(
        {"all": 0.475, "pool_size=150": 0.35, "pool_size=400": 0.6}, abs=1e-12
    )


def test_the_command_prints_the_subset_and_tells_what_it_did_not_compare(
    topical: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    db = ["--db", topical.url.render_as_string(hide_password=False)]
    if topical.name == "duckdb":
        topical.close()
    assert run_command(["compare", "own", "--by", "topic", "--run", "1", "--run", "3", *db]) == 0
    printed = capsys.readouterr()
    for subset in ("all", "topic=art", "topic=law"):
        assert f" {subset} " in printed.out
    assert printed.err == "topic=maths has 1 query, and a test needs two; not compared\n"
    assert run_command(["compare", "own", "--by", "topic", "--quiet", *db]) == 0
    assert capsys.readouterr().err == ""
