"""The views of candidate types, disagreement, repeats and pool sizes, by hand, on both databases."""

from typing import Any

import pytest

from pinakes.database import Database
from pinakes.schema import (
    constructed_candidates,
    corpora,
    paper_fields,
    pool_sources,
    pools,
    sampled_queries,
    scores,
)
from tests.sampled_rows import add_hits, add_rows, add_run, add_scores

NAMES = "run_id, other_run_id, benchmark, system, other_system"


def ask(database: Database, text: str) -> list[tuple[Any, ...]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(text)]


def add_corpus(database: Database, corpus_id: int, name: str, sources: dict[tuple[str, int], str]) -> None:
    """A corpus whose pools are given as (query, paper) -> sources."""
    add_rows(database, corpora, [(corpus_id, name, *[name] * 4)])
    rows = [
        (corpus_id, query, paper, source, 1)
        for (query, paper), names in sources.items()
        for source in names.split()
    ]
    add_rows(database, pool_sources, rows)


def add_typed_candidates(database: Database) -> None:
    """q1 has two cited papers, two of bm25 and one of graph; q2 one cited paper and two random ones."""
    benchmark = "mdcr_constructed"
    types = {
        "q1": {1: "cited", 2: "cited", 3: "bm25", 4: "bm25", 5: "graph"},
        "q2": {6: "cited", 7: "random", 8: "random"},
        "q3": {6: "cited", 7: "random"},
        "q4": {7: "random"},
    }
    rows = [
        (benchmark, query, paper, source, 1) for query, one in types.items() for paper, source in one.items()
    ]
    add_rows(database, constructed_candidates, rows)
    add_rows(
        database,
        sampled_queries,
        [
            (benchmark, query, 9, field, "test")
            for query, field in (("q1", "Art"), ("q2", "Law"), ("q3", "Law"))
        ],
    )


def test_mdcr_candidate_has_one_type_and_any_other_one_of_each_method(database: Database) -> None:
    add_corpus(database, 1, "mdcr", {("q1", 1): "cited bm25", ("q1", 2): "bm25 random"})
    add_corpus(database, 2, "csfcube", {("q1", 1): "tfidf specter"})
    add_rows(database, constructed_candidates, [("mdcr_constructed", "q1", 1, "graph", 1)])
    query = "SELECT benchmark, query_id, paper_id, source FROM candidate_types ORDER BY 1, 2, 3, 4"
    assert ask(database, query) == [
        ("csfcube", "q1", 1, "specter"),
        ("csfcube", "q1", 1, "tfidf"),
        ("mdcr", "q1", 1, "cited"),
        ("mdcr", "q1", 2, "random"),
        ("mdcr_constructed", "q1", 1, "graph"),
    ]


ABOVE = """
SELECT query_id, field, source, candidates, candidates_ranked, above_first_cited, above_last_cited,
    pairs_above, pairs, share_above
FROM types_above_cited
WHERE run_id = 1
ORDER BY query_id, source
"""


def test_candidates_above_cited_papers_are_counted_by_type(database: Database) -> None:
    add_typed_candidates(database)
    add_run(database, 1, "mdcr_constructed", "bm25")
    add_hits(database, 1, {"q1": [3, 1, 4, 2, 5], "q2": [8, 6, 7], "q4": [7]})
    assert ask(database, ABOVE) == [
        ("q1", "Art", "bm25", 2, 2, 1, 2, 3, 4, 0.75),
        ("q1", "Art", "graph", 1, 1, 0, 0, 0, 2, 0.0),
        ("q2", "Law", "random", 2, 2, 1, 1, 1, 2, 0.5),
    ]


def test_unranked_candidate_is_below_every_ranked_one_and_above_none(database: Database) -> None:
    add_typed_candidates(database)
    add_run(database, 1, "mdcr_constructed", "bm25")
    add_hits(database, 1, {"q1": [4, 1], "q2": [7]})
    assert ask(database, ABOVE) == [
        ("q1", "Art", "bm25", 2, 1, 1, 1, 2, 4, 0.5),
        ("q1", "Art", "graph", 1, 0, 0, 0, 0, 2, 0.0),
        ("q2", "Law", "random", 2, 1, 1, 1, 1, 2, 0.5),
    ]


def test_each_run_is_counted_for_itself(database: Database) -> None:
    add_typed_candidates(database)
    for run_id, system, ranked in ((1, "bm25", [1, 2, 3, 4, 5]), (2, "other", [5, 4, 3, 2, 1])):
        add_run(database, run_id, "mdcr_constructed", system)
        add_hits(database, run_id, {"q1": ranked})
    query = "SELECT system, SUM(pairs_above) AS above FROM types_above_cited GROUP BY system ORDER BY system"
    assert ask(database, query) == [("bm25", 0), ("other", 6)]


def test_disagreement_is_of_the_first_ten_and_of_the_first_two_hundred(database: Database) -> None:
    for run_id, benchmark in ((1, "tiny"), (2, "tiny"), (3, "other")):
        add_run(database, run_id, benchmark, f"system {run_id}")
    add_hits(database, 1, {"q1": list(range(1, 21)), "q2": [1]})
    add_hits(database, 2, {"q1": list(range(6, 26)), "q3": [1]})
    add_hits(database, 3, {"q1": [1]})
    query = f"SELECT {NAMES}, query_id, depth, shared, papers, jaccard FROM run_disagreement WHERE run_id = 1"
    pair = (1, 2, "tiny", "system 1", "system 2")
    assert ask(database, f"{query} ORDER BY query_id, depth") == [
        (*pair, "q1", 10, 5, 15, pytest.approx(1 / 3)),
        (*pair, "q1", 200, 15, 25, 0.6),
        (*pair, "q2", 10, 0, 1, 0.0),
        (*pair, "q2", 200, 0, 1, 0.0),
        (*pair, "q3", 10, 0, 1, 0.0),
        (*pair, "q3", 200, 0, 1, 0.0),
    ]


def test_disagreement_is_the_same_in_either_order_and_of_no_other_benchmark(database: Database) -> None:
    for run_id, benchmark in ((1, "tiny"), (2, "tiny"), (3, "other")):
        add_run(database, run_id, benchmark, f"system {run_id}")
        add_hits(database, run_id, {"q1": [1, run_id + 1]})
    query = "SELECT run_id, other_run_id, shared, papers FROM run_disagreement WHERE depth = 10"
    assert ask(database, f"{query} ORDER BY run_id") == [(1, 2, 1, 3), (2, 1, 1, 3)]


def test_hits_beyond_a_depth_are_not_read_to_it(database: Database) -> None:
    for run_id in (1, 2):
        add_run(database, run_id, "tiny", "bm25")
    add_hits(database, 1, {"q1": list(range(1, 301))})
    add_hits(database, 2, {"q1": list(range(300, 0, -1))})
    query = "SELECT depth, shared, papers FROM run_disagreement WHERE run_id = 2 ORDER BY depth"
    assert ask(database, query) == [(10, 0, 20), (200, 100, 300)]


def test_score_difference_is_of_the_same_query_measure_and_subset(database: Database) -> None:
    for run_id, benchmark in ((1, "tiny"), (2, "tiny"), (3, "other")):
        add_run(database, run_id, benchmark, f"system {run_id}")
    add_scores(database, 1, "AP", {("all", "q1"): 0.5, ("type=graph", "q1"): 1.0, ("all", None): 0.5})
    add_scores(database, 2, "AP", {("all", "q1"): 0.25, ("all", "q2"): 1.0, ("all", None): 0.25})
    add_scores(database, 2, "nDCG", {("all", "q1"): 0.75})
    add_scores(database, 3, "AP", {("all", "q1"): 0.75})
    query = (
        f"SELECT {NAMES}, measure, subset, query_id, value, other_value, difference FROM score_differences"
    )
    assert ask(database, f"{query} ORDER BY run_id") == [
        (1, 2, "tiny", "system 1", "system 2", "AP", "all", "q1", 0.5, 0.25, 0.25),
        (2, 1, "tiny", "system 2", "system 1", "AP", "all", "q1", 0.25, 0.5, -0.25),
    ]


def test_spread_is_over_the_repeats_of_a_subset(database: Database) -> None:
    add_run(database, 1, "large_scale", "bm25")
    values = {
        ("pool_size=200000/repeat=1", None): 0.5,
        ("pool_size=200000/repeat=2", None): 0.25,
        ("pool_size=200000/repeat=3", None): 0.75,
        ("pool_size=500000/repeat=1", None): 0.25,
        ("pool_size=200000", None): 9.0,
        ("all", "200000/1/repeat=1"): 9.0,
    }
    add_scores(database, 1, "AP", values)
    query = (
        "SELECT measure, subset, repeats, mean, deviation, lowest, highest FROM repeat_spread ORDER BY subset"
    )
    assert ask(database, query) == [
        ("AP", "pool_size=200000", 3, 0.5, pytest.approx(0.25), 0.25, 0.75),
        ("AP", "pool_size=500000", 1, 0.25, None, 0.25, 0.25),
    ]


def test_repeats_over_different_queries_have_no_deviation(database: Database) -> None:
    add_run(database, 1, "field_level", "bm25")
    add_scores(database, 1, "AP", {("all/repeat=1", None): 0.5})
    add_rows(database, scores, [(1, "AP", "all/repeat=2", None, 1.0, 2, 2, 0)])
    query = "SELECT subset, repeats, mean, deviation FROM repeat_spread"
    assert ask(database, query) == [("all", 2, 0.75, None)]


def add_sized_pools(database: Database) -> None:
    """Two sizes of two repeats, two test queries: q1 has two fields, q2 has one; and what is for tuning."""
    benchmark = "large_scale"
    rows = [
        (benchmark, f"{size}/{repeat}", f"s{repeat}", size, size, repeat, None, "test")
        for size in (20, 100)
        for repeat in (1, 2)
    ]
    add_rows(database, pools, [*rows, (benchmark, "validation/20/1", "v", 20, 20, 1, None, "validation")])
    queries = [("q1", 1, "test"), ("q2", 2, "test"), ("q3", 3, "validation")]
    add_rows(database, sampled_queries, [(benchmark, q, paper, None, fold) for q, paper, fold in queries])
    fields = [(1, "Art"), (1, "Law"), (2, "Art")]
    add_rows(database, paper_fields, [(paper, "mag", field) for paper, field in fields])


def test_effect_of_pool_size_is_told_by_field_and_against_the_smallest_pool(database: Database) -> None:
    add_sized_pools(database)
    for run_id in (1, 2):
        add_run(database, run_id, "large_scale", "bm25")
    values = {
        ("all", "20/1/q1"): 1.0,
        ("all", "20/2/q1"): 0.5,
        ("all", "20/1/q2"): 0.25,
        ("all", "20/2/q2"): 0.25,
        ("all", "100/1/q1"): 0.25,
        ("all", "100/2/q1"): 0.125,
        ("all", "100/1/q2"): 0.0,
        ("all", "100/2/q2"): 0.0,
        ("type=graph", "100/2/q2"): 9.0,
        ("all", None): 9.0,
    }
    add_scores(database, 1, "AP", values)
    add_scores(database, 2, "AP", {("all", "100/1/q2"): 0.0})
    query = """
    SELECT run_id, assigned_by, field, pool_size, repeats, queries, mean, difference_from_smallest,
        ratio_to_smallest
    FROM pool_size_effect WHERE benchmark = 'large_scale' AND measure = 'AP'
    ORDER BY run_id, COALESCE(field, ''), pool_size"""
    assert ask(database, query) == [
        (1, None, None, 20, 2, 2, 0.5, 0.0, 1.0),
        (1, None, None, 100, 2, 2, 0.09375, -0.40625, 0.1875),
        (1, "mag", "Art", 20, 2, 2, 0.5, 0.0, 1.0),
        (1, "mag", "Art", 100, 2, 2, 0.09375, -0.40625, 0.1875),
        (1, "mag", "Law", 20, 2, 1, 0.75, 0.0, 1.0),
        (1, "mag", "Law", 100, 2, 1, 0.1875, -0.5625, 0.25),
        (2, None, None, 100, 1, 1, 0.0, 0.0, None),
        (2, "mag", "Art", 100, 1, 1, 0.0, 0.0, None),
    ]
