"""The whole table of figures known for CSFCube's own sample rankings (SPECTER)."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from pinakes.evaluators.aggregate import Aggregation, aggregate
from tests.real_data import REAL_DATA, needs_real_data
from tests.scoring import RankedPaper, evaluate

FOLDER = REAL_DATA / "csfcube"
FACETS = ("background", "method", "result")
RULE = Aggregation(group_by=("facet",), fold_column="fold", splits={"dev": [["A"]], "test": [["B"], ["A"]]})
SELF_CANDIDATE = "8781666"

MEASURES = [
    "CSFCube.RP",
    "Rprec(rel=2)",
    "CSFCube.P@20",
    "CSFCube.R@20",
    "CSFCube.nDCG%100",
    "CSFCube.nDCG@20",
    "CSFCube.nDCG%20",
    "nDCG%20",
    "CSFCube.AP",
    "CSFCube.RR",
]

TABLE = {
    "facet=background/test": "24.81 39.87 35.31 57.45 82.24 66.24 66.70 67.22 43.95 71.61",
    "facet=method/test": "11.72 17.44 13.58 40.81 62.77 37.65 37.41 37.80 22.44 44.46",
    "facet=result/test": "18.62 31.74 23.78 52.72 75.47 56.43 56.67 57.41 36.79 70.28",
    "all/test": "18.29 29.46 23.97 50.14 73.30 53.14 53.28 53.82 34.23 61.81",
    "all/dev": "19.29 29.79 23.33 49.35 73.79 53.39 53.02 53.49 35.43 67.24",
    "all": "18.25 29.44 24.00 50.17 73.28 53.13 53.29 53.83 34.18 61.59",
}

SELF_KEPT_AND_FIRST = {
    "facet=background/test": "67.35 44.58",
    "facet=result/test": "57.47 37.82",
    "all/test": "53.75 34.76",
}


def read_json(name: str) -> Any:
    return json.loads((FOLDER / name).read_text())


def read_rankings() -> dict[str, list[RankedPaper]]:
    folder = "eval_scripts/sample_ranked_pools"
    return {
        f"{paper}_{facet}": [RankedPaper(source_id, -distance) for source_id, distance in ranking]
        for facet in FACETS
        for paper, ranking in read_json(f"{folder}/test-pid2pool-csfcube-specter-{facet}-ranked.json").items()
    }


def read_judgments() -> dict[str, dict[str, int]]:
    return {
        f"{paper}_{facet}": dict(zip(pool["cands"], pool["relevance_adju"], strict=True))
        for facet in FACETS
        for paper, pool in read_json(f"test-pid2anns-csfcube-{facet}.json").items()
    }


def read_attributes() -> dict[str, dict[str, str | None]]:
    splits = read_json("evaluation_splits.json")
    return {
        query_id: {"facet": facet, "fold": fold}
        for facet in FACETS
        for fold, part in (("A", "fold1_dev"), ("B", "fold2_dev"))
        for query_id in splits[facet][part]
    }


def tabulate(
    rankings: dict[str, list[RankedPaper]], judgments: dict[str, dict[str, int]], measures: Sequence[str]
) -> dict[str, str]:
    scores = aggregate(evaluate(rankings, judgments, measures), read_attributes(), RULE)
    values = {(score.subset, score.measure): score.value for score in scores}
    return {
        subset: " ".join(f"{100 * values[subset, measure]:.2f}" for measure in measures)
        for subset in dict.fromkeys(subset for subset, _ in values)
    }


@needs_real_data
def test_sample_rankings_give_the_whole_table_to_its_printed_digits() -> None:
    judgments = read_judgments()
    removed = [
        judged.pop(SELF_CANDIDATE) for query, judged in judgments.items() if query.startswith(SELF_CANDIDATE)
    ]
    assert (len(judgments), sum(map(len, judgments.values())), removed) == (50, 6242, [3, 3])
    table = tabulate(read_rankings(), judgments, MEASURES)
    assert {subset: table[subset] for subset in TABLE} == TABLE


@needs_real_data
def test_query_kept_in_its_own_pool_and_ranked_first_raises_the_figures_as_known() -> None:
    judgments = read_judgments()
    rankings = {
        query: [RankedPaper(SELF_CANDIDATE, 0.0), *ranking]
        if query.startswith(SELF_CANDIDATE) and SELF_CANDIDATE in judgments[query]
        else ranking
        for query, ranking in read_rankings().items()
    }
    table = tabulate(rankings, judgments, ["CSFCube.nDCG%20", "CSFCube.AP"])
    assert {subset: table[subset] for subset in SELF_KEPT_AND_FIRST} == SELF_KEPT_AND_FIRST


@needs_real_data
@pytest.mark.parametrize(
    ("subset", "expected"), [("all", 50), ("all/dev", 24), ("all/test", 50), ("facet=method", 17)]
)
def test_every_query_is_expected_and_answered(subset: str, expected: int) -> None:
    judgments = read_judgments()
    scores = aggregate(evaluate(read_rankings(), judgments, ["CSFCube.RR"]), read_attributes(), RULE)
    (score,) = [score for score in scores if score.subset == subset]
    assert (score.queries_expected, score.queries_answered) == (expected, expected)
