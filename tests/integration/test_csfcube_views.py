"""CSFCube's statistics from SQL on a collection small enough to count by hand, the same on both databases."""

from typing import Any

import pytest

from pinakes.database import Database
from tests.benching import change, read_view

STATISTICS = {
    "all": "5 2 3.8 19 1 5 2.6 1 4 1.8 0 1 0.8",
    "background": "2 2 5.0 10 2 5 3.5 1 4 2.5 1 1 1.0",
    "method": "2 2 3.0 6 1 3 2.0 1 2 1.5 0 1 0.5",
    "result": "1 1 3.0 3 2 2 2.0 1 1 1.0 1 1 1.0",
}
"""facet -> its values in the order of `NAMES`; paper 1 counts in its own pool"""

NAMES = [
    "query-facet pairs",
    "query papers",
    "mean pool size",
    "judged pairs",
    *(
        f"rated {which}, {what}"
        for which in ("1 or more", "2 or more", "exactly 1")
        for what in ("min", "max", "mean")
    ),
]

PAIRS = {
    ("background", "method"): {(0, 0): 1, (0, 2): 1, (1, 3): 1, (2, 2): 1},
    ("background", "result"): {(1, 3): 1, (2, 0): 1},
    ("method", "result"): {(0, 1): 1},
}
"""facets -> the grades of one candidate under the first and the second -> candidates"""


def test_statistics_are_those_counted_by_hand(untouched: Database) -> None:
    found: dict[str, dict[str, float]] = {}
    for facet, statistic, value in read_view(untouched, "csfcube", "collection_statistics"):
        found.setdefault(facet, {})[statistic] = value
    assert found == {
        facet: dict(zip(NAMES, map(float, values.split()), strict=True))
        for facet, values in STATISTICS.items()
    }


def test_a_query_that_nobody_judged_counts_as_an_empty_pool(prepared: Database) -> None:
    change(prepared, "DELETE FROM judgments WHERE query_id = '2_result'")
    values = {
        statistic: value
        for facet, statistic, value in read_view(prepared, "csfcube", "collection_statistics")
        if facet == "all"
    }
    assert (values["query-facet pairs"], values["judged pairs"], values["mean pool size"]) == (5, 16, 3.2)
    assert values["rated 1 or more, min"] == 0


def test_pairs_of_facets_have_all_cells_and_the_facets_in_order(untouched: Database) -> None:
    cells = read_view(untouched, "csfcube", "facet_pairs")
    assert len(cells) == 3 * 16
    found: dict[tuple[str, str], dict[tuple[int, int], int]] = {}
    for facet_a, facet_b, grade_a, grade_b, candidates in cells:
        found.setdefault((facet_a, facet_b), {})[grade_a, grade_b] = candidates
    assert found == {
        facets: {(a, b): counts.get((a, b), 0) for a in range(4) for b in range(4)}
        for facets, counts in PAIRS.items()
    }


def test_a_pair_of_facets_that_no_paper_is_requested_under_has_no_cells(prepared: Database) -> None:
    change(prepared, "DELETE FROM benchmark_queries WHERE query_id IN ('1_method', '2_method')")
    cells = read_view(prepared, "csfcube", "facet_pairs")
    assert {row[:2] for row in cells} == {("background", "result")}


def test_cited_candidates_are_counted_by_grade_and_by_low_grades(prepared: Database) -> None:
    change(
        prepared,
        "INSERT INTO pool_sources (corpus_id, query_id, paper_id, source, batch_id) "
        "SELECT corpus_id, query_id, paper_id, 'cited', batch_id FROM judgments "
        "WHERE query_id = '2_result' AND assessor = 'adjudicated'",
    )
    third = 1 / 3
    cells: list[tuple[Any, ...]] = [
        ("background", 0, 0, 0.0),
        ("background", 1, 0, 0.0),
        ("background", 2, 0, 0.0),
        ("background", 3, 1, 1.0),
        ("result", 0, 1, third),
        ("result", 1, 1, third),
        ("result", 2, 0, 0.0),
        ("result", 3, 1, third),
    ]
    assert read_view(prepared, "csfcube", "cited_grades") == cells
    assert read_view(prepared, "csfcube", "cited_low_grades") == [
        ("background", 1, 0, 0.0),
        ("result", 3, 2, pytest.approx(200 / 3, abs=1e-12)),
    ]


@pytest.mark.parametrize("view", ["cited_grades", "cited_low_grades", "collection_statistics", "facet_pairs"])
def test_both_databases_give_the_same_statistics(both_prepared: tuple[Database, Database], view: str) -> None:
    duck, post = (read_view(database, "csfcube", view) for database in both_prepared)
    assert duck == post != []
