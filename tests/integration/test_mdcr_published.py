"""MDCR as published: pools in, scores in, and the averages that its authors print."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.load.load import LoadRequest, load
from pinakes.run.import_run import ImportRequest, import_run
from tests.mdcr_reference import ask

pytestmark = pytest.mark.in_turn

POOLS: dict[str, dict[str, dict[str, list[str]]]] = {
    "Art": {
        # 3 is of two types and counts as the last of them; 5 is cited whatever else it is.
        "1": {"bm25": ["2", "3", "17"], "graph": ["3", "4", "5"], "specter": ["2"], "true": ["5", "6"]},
        "13": {"bm25": ["14"], "random": ["15"], "true": ["16"]},
    },
    "History": {"7": {"bm25": ["8"], "most_cited": ["9"], "true": ["10", "11", "12"]}},
}
SCORES = {
    "1": {"5": 0.9, "2": 0.8, "6": 0.7, "3": 0.1, "4": 0.0, "17": -1.0},  # relevant at 1 and 3
    "13": {"14": 3.0, "16": 2.0, "15": 1.0},  # relevant at 2
    "7": {"8": 0.9, "10": 0.8, "11": 0.7, "9": 0.6, "12": 0.5},  # relevant at 2, 3 and 5
}


def load_published(database: Database, folder: Path) -> None:
    """The pools of a test file, and one query of a validation file."""
    folder.mkdir(exist_ok=True)
    (folder / "mdcr_test.json").write_text(json.dumps(POOLS))
    (folder / "mdcr_val.json").write_text(json.dumps({"Art": {"20": {"bm25": ["21"], "true": ["22"]}}}))
    scores = {f"{query}_{paper}": score for query, found in SCORES.items() for paper, score in found.items()}
    (folder / "scincl_scores.json").write_text(json.dumps(scores))
    load(database, LoadRequest("mdcr", folder))


def score(database: Database, folder: Path) -> dict[tuple[str, str], float]:
    """(subset, measure) -> value, of the scores' run."""
    request = ImportRequest("mdcr", "scincl", [folder / "scincl_scores.json"], "mdcr")
    import_run(database, request)
    (result,) = evaluate(database, "mdcr")
    return {(found.subset, found.measure): found.value for found in result.aggregates()}


def test_a_candidate_of_several_types_has_the_last_that_its_authors_read(
    initialised: Database, tmp_path: Path
) -> None:
    load_published(initialised, tmp_path / "mdcr")
    rows = ask(
        initialised,
        "SELECT papers.source_id, candidates.source, judgments.grade FROM mdcr.candidates AS candidates "
        "INNER JOIN mdcr.judgments AS judgments ON candidates.query_id = judgments.query_id "
        "AND candidates.paper_id = judgments.paper_id "
        "INNER JOIN papers ON candidates.paper_id = papers.paper_id "
        "WHERE candidates.query_id = '1' ORDER BY papers.source_id",
    )
    assert rows == [
        ("17", "bm25", 0),
        ("2", "specter", 0),
        ("3", "graph", 0),
        ("4", "graph", 0),
        ("5", "cited", 1),
        ("6", "cited", 1),
    ]


def test_imported_scores_give_the_authors_averages(initialised: Database, tmp_path: Path) -> None:
    load_published(initialised, tmp_path / "mdcr")
    values = score(initialised, tmp_path / "mdcr")
    one, two, three = 5 / 6, 1 / 2, (1 / 2 + 2 / 3 + 3 / 5) / 3
    expected: dict[tuple[str, str], Any] = {
        ("field=Art", "AP"): (one + two) / 2,
        ("field=History", "AP"): three,
        ("field=Art", "nDCG"): ((1 + 1 / 2) / (1 + 1 / math.log2(3)) + 1 / math.log2(3)) / 2,
        ("field=Art", "R@5"): 1.0,
        ("all", "AP"): (one + two + three) / 3,
        ("mean(field)", "AP"): ((one + two) / 2 + three) / 2,
    }
    assert {key: values[key] for key in expected} == pytest.approx(expected, abs=1e-12)
    # evaluate.py rounds 66.66… and 58.88… per cent to four decimals, and means those.
    printed = (66.6667 + 58.8889) / 2
    assert 100 * values["mean(rounded field)", "AP"] == pytest.approx(printed, abs=1e-9)
    assert abs(100 * values["mean(field)", "AP"] - printed) > 1e-5


def test_a_type_is_scored_over_its_candidates_and_what_is_cited(
    initialised: Database, tmp_path: Path
) -> None:
    load_published(initialised, tmp_path / "mdcr")
    values = score(initialised, tmp_path / "mdcr")
    # 5 and 6 before 17; 14 before 16; 8 before 10, 11 and 12.
    assert values["type=bm25", "AP"] == pytest.approx((1 + 1 / 2 + (1 / 2 + 2 / 3 + 3 / 4) / 3) / 3)


def test_the_validation_fold_is_in_no_score(initialised: Database, tmp_path: Path) -> None:
    load_published(initialised, tmp_path / "mdcr")
    assert ask(initialised, "SELECT fold FROM mdcr.queries WHERE query_id = '20'") == [("dev",)]
    score(initialised, tmp_path / "mdcr")
    counted = ask(
        initialised, "SELECT DISTINCT queries_expected FROM scores WHERE subset = 'all' AND query_id IS NULL"
    )
    assert counted == [(3,)]


def test_published_figures_stand_beside_ours(initialised: Database, tmp_path: Path) -> None:
    load_published(initialised, tmp_path / "mdcr")
    score(initialised, tmp_path / "mdcr")
    joined = ask(
        initialised,
        "SELECT published_scores.system, published_scores.subset, published_scores.measure, "
        "published_scores.printed FROM published_scores INNER JOIN scores "
        "ON published_scores.subset = scores.subset AND published_scores.measure = scores.measure "
        "WHERE published_scores.benchmark = 'mdcr' AND scores.query_id IS NULL "
        "AND published_scores.system = 'SciNCL' AND published_scores.subset LIKE 'mean%' ORDER BY 2, 3",
    )
    assert joined == [
        ("SciNCL", "mean(field)", "AP", "32.6"),
        ("SciNCL", "mean(field)", "R@5", "27.3"),
        ("SciNCL", "mean(rounded field)", "AP", "32.5704"),
        ("SciNCL", "mean(rounded field)", "R@5", "27.2675"),
        ("SciNCL", "mean(rounded field)", "nDCG", "58.9317"),
    ]
