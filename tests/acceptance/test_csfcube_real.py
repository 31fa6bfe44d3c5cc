"""CSFCube's release through both databases: the paper's statistics from SQL, and its second task."""

from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.queries.definition import read_benchmark
from pinakes.run.run import RunRequest, run
from pinakes.systems.base import SystemOptions
from pinakes.tasks.ranking.task import VIEWS
from tests.benching import read_hits, read_named_rows, read_view
from tests.long import long
from tests.real_data import REAL_DATA, needs_real_data

Pair = tuple[Database, Database]


@pytest.fixture(scope="module")
def both(both_initialised: Pair) -> Pair:
    """DuckDB and Postgres side by side, each with the release."""
    for database in both_initialised:
        load(database, LoadRequest("csfcube", REAL_DATA / "csfcube"))
    return both_initialised


NAMES = [
    "query-facet pairs",
    "query papers",
    "mean pool size",
    "judged pairs",
    "rated 1 or more, min",
    "rated 1 or more, max",
    "rated 1 or more, mean",
    "rated 2 or more, min",
    "rated 2 or more, max",
    "rated 2 or more, mean",
    "rated exactly 1, min",
    "rated exactly 1, max",
    "rated exactly 1, mean",
]
STATISTICS = {
    "all": [50, 34, 124.88, 6244, 12, 87, 36.88, 1, 35, 9.92, 4, 74, 26.96],
    "background": [16, 16, 117.3125, 1877, 22, 87, 50.3125, 5, 35, 13.75, 17, 74, 36.5625],
    "method": [17, 17, 2174 / 17, 2174, 12, 47, 491 / 17, 1, 14, 116 / 17, 4, 42, 375 / 17],
    "result": [17, 17, 129, 2193, 13, 65, 548 / 17, 2, 18, 160 / 17, 11, 51, 388 / 17],
}


@needs_real_data
def test_the_collection_has_the_statistics_of_table_1(both: Pair) -> None:
    for database in both:
        found: dict[str, dict[str, float]] = {}
        for facet, statistic, value in read_view(database, "csfcube", "collection_statistics"):
            found.setdefault(facet, {})[statistic] = value
        assert found == {
            facet: dict(zip(NAMES, map(float, row), strict=True)) for facet, row in STATISTICS.items()
        }


@needs_real_data
def test_table_1_is_as_printed_but_for_one_mean_that_leaves_the_self_candidates_out(both: Pair) -> None:
    exhibit = next(one for one in read_benchmark("csfcube").exhibits if one.view == "collection_statistics")
    values = {
        f"{row[0]} / {row[1]}": row[2] for row in read_view(both[0], "csfcube", "collection_statistics")
    }
    differing = {
        row: (f"{values[row]:.{len(printed.partition('.')[2])}f}", printed)
        for row, (printed,) in (exhibit.published or {}).items()
        if f"{values[row]:.{len(printed.partition('.')[2])}f}" != printed
    }
    assert differing == {"all / rated 2 or more, mean": ("9.9", "9.8")}
    graded = [row[1] for row in read_named_rows(both[0], "csfcube", "judgments")]
    assert sum(grade >= 2 for grade in graded) / 50 == 9.88


FACET_PAIRS = {
    ("background", "method"): "229 36 8 0  127 38 15 2  36 12 8 0  5 3 1 0",
    ("background", "result"): "234 18 8 0  96 65 12 1  15 27 10 4  3 7 5 3",
    ("method", "result"): "512 57 14 0  72 50 18 2  11 11 6 1  1 1 2 3",
}
"""facets -> candidates by the grade under the first, then under the second"""


@needs_real_data
def test_the_same_candidates_have_these_grades_under_two_facets(both: Pair) -> None:
    cells = {
        (a, b, x, y): int(counted)
        for (a, b), counts in FACET_PAIRS.items()
        for (x, y), counted in zip(((x, y) for x in range(4) for y in range(4)), counts.split(), strict=True)
    }
    for database in both:
        assert {row[:4]: row[4] for row in read_view(database, "csfcube", "facet_pairs")} == cells


CITED = {"background": [112, 104, 43, 12], "method": [220, 81, 33, 5], "result": [231, 79, 39, 9]}


@needs_real_data
def test_cited_papers_are_graded_as_appendix_d_says_with_its_decimals_cut_off(both: Pair) -> None:
    exhibit = next(one for one in read_benchmark("csfcube").exhibits if one.view == "cited_low_grades")
    for database in both:
        shares = read_view(database, "csfcube", "cited_grades")
        assert shares == [
            (facet, grade, counted, counted / sum(row))
            for facet, row in CITED.items()
            for grade, counted in enumerate(row)
        ]
        low = read_view(database, "csfcube", "cited_low_grades")
        assert [row[:3] for row in low] == [
            ("background", 271, 216),
            ("method", 339, 301),
            ("result", 358, 310),
        ]
        assert [f"{row[3]:.2f}" for row in low] == ["79.70", "88.79", "86.59"]
        assert {row[0]: (str(int(row[3])),) for row in low} == exhibit.published


@needs_real_data
def test_every_query_has_a_sentence_of_its_facet(both: Pair) -> None:
    for database in both:
        said = read_view(database, "csfcube", "query_sentences")
        assert (len(said), len({query_id for query_id, _, _ in said})) == (104, 50)
        assert said == read_view(database, "csfcube_sentences", "query_sentences")


@needs_real_data
@pytest.mark.parametrize("system", ["bm25", long("tfidf")])
def test_without_selections_both_tasks_give_the_same_hits_and_scores(
    both: Pair, tmp_path: Path, system: str
) -> None:
    for view in (*VIEWS, "query_sentences"):
        duck, post = (read_named_rows(database, "csfcube_sentences", view) for database in both)
        assert duck == post != []
    found = []
    for database in both:
        options = SystemOptions(tmp_path / database.name)
        for benchmark in ("csfcube", "csfcube_sentences"):
            index(database, benchmark, system, options=options)
            made = run(database, RunRequest(benchmark, system, options))
            (result,) = evaluate(database, benchmark, run_ids=[made.run_id])
            scores = {
                (score.measure, score.subset, score.query_id): score.value
                for score in result.scores
                if not score.subset.startswith("selection=")
            }
            found.append((read_hits(database, made.run_id), scores))
    assert len(found[0][0]) == 6242
    assert all(one == found[0] for one in found[1:])
