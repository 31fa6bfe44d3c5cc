"""What CSFCube's release leaves open, and what the views and measures make of it (docs/decisions/0017)."""

import json
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.report.gather import gather_report
from pinakes.run.import_run import ImportRequest, import_run
from pinakes.run.run import RunRequest
from tests.benching import read_hits, read_named_rows
from tests.integration.test_runs import make

pytestmark = pytest.mark.in_turn


def score_partial(database: Database, folder: Path, ranked: list[str]) -> dict[str, float]:
    """The measures of 2_background, whose pool is 9 (grade 2), 7 (1), 5 and 4 (0), by a list of some."""
    path = folder / "test-pid2pool-csfcube-theirs-background-ranked.json"
    path.write_text(json.dumps({"2": [[paper, float(rank)] for rank, paper in enumerate(ranked)]}))
    made = import_run(database, ImportRequest("csfcube", "theirs", [path], "csfcube"))
    assert (made.hit_count, made.queries_expected, made.queries_answered) == (len(ranked), 5, 1)
    measures = ["CSFCube.nDCG%100", "CSFCube.RP", "CSFCube.R@2"]
    (result,) = evaluate(database, "csfcube", run_ids=[made.run_id], measures=measures)
    return {score.measure: score.value for score in result.scores if score.query_id == "2_background"}


def test_candidates_that_a_ranking_lacks_follow_at_its_end_and_shorten_nothing(
    prepared: Database, tmp_path: Path
) -> None:
    # As 4, 5, 9, 7: gains 0, 0, 2 / log2(3) and 1 / 2 of an ideal 2 + 1; cut to two papers, worth 0.
    found = score_partial(prepared, tmp_path, ["4", "5"])
    assert found["CSFCube.nDCG%100"] == pytest.approx((2 / 1.584962500721156 + 1 / 2) / 3)
    assert (found["CSFCube.RP"], found["CSFCube.R@2"]) == (1 / 3, 0.0)


def test_a_ranking_of_the_relevant_alone_is_worth_what_the_whole_is(
    prepared: Database, tmp_path: Path
) -> None:
    assert score_partial(prepared, tmp_path, ["9"]) == {
        "CSFCube.nDCG%100": 1.0,
        "CSFCube.RP": 1.0,
        "CSFCube.R@2": 1.0,
    }


def test_a_paper_in_its_own_pool_is_counted_in_the_collection_and_never_ranked(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    for view in ("candidates", "judgments"):
        rows = read_named_rows(prepared, "csfcube", view)
        assert [row for row in rows if row[0] == "1_background" and row[-1] == "1"] == []
    for system in ("tfidf", f"sentences:{toy_folder}"):
        made = make(prepared, RunRequest("csfcube", system), tmp_path)
        ranked = {hit[:2] for hit in read_hits(prepared, made.run_id)}
        assert ("1_background", "1") not in ranked
        assert ("1_background", "3") in ranked


def test_equal_scores_of_a_pool_are_ordered_by_the_sources_id_descending(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    for system in ("tfidf", toy_folder, f"sentences:{toy_folder}"):
        made = make(prepared, RunRequest("csfcube", system), tmp_path)
        of_1 = [hit for hit in read_hits(prepared, made.run_id) if hit[0] == "1_method"]
        scores = {source_id: score for _, source_id, _, score in of_1}
        order = [source_id for _, source_id, _, _ in of_1]
        assert scores["5"] == scores["6"]
        assert order.index("5") == order.index("6") + 1


@pytest.mark.in_turn
@pytest.mark.parametrize("kind", ["text", "sentences"])
def test_a_query_without_a_sentence_of_its_facet_counts_as_zero_and_is_warned_of(
    prepared: Database, tmp_path: Path, toy_folder: str, kind: str
) -> None:
    made = make(
        prepared, RunRequest("csfcube", toy_folder if kind == "text" else f"sentences:{toy_folder}"), tmp_path
    )
    assert (made.queries_expected, made.queries_answered) == (5, 4)
    (result,) = evaluate(prepared, "csfcube", run_ids=[made.run_id])
    values = {s.query_id: s.value for s in result.scores if s.query_id and s.measure == "CSFCube.nDCG%100"}
    assert values["2_method"] == 0.0
    mean = next(s for s in result.aggregates() if (s.subset, s.measure) == ("all", "CSFCube.nDCG%100"))
    assert mean.value == pytest.approx(sum(values.values()) / 5)
    (warning,) = gather_report(prepared, "csfcube").warnings
    assert warning.endswith("has no answer to 1 of 5 queries; each counts as zero.")
