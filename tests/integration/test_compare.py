"""Pairs of runs, compared over all queries from their stored scores."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.errors import EvaluationError
from pinakes.pipeline.compare import compare_runs
from pinakes.pipeline.evaluate import evaluate
from pinakes.pipeline.import_run import ImportRequest, import_run
from pinakes.pipeline.index import index
from pinakes.pipeline.run import RunRequest, run
from pinakes.pipeline.systems.base import SystemOptions
from tests.benching import change

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


def test_only_the_newest_run_of_a_system_is_compared_unless_all_are_asked_for(
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
