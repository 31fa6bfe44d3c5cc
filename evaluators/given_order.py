"""Measures over the whole judged pool, in the order that the ranking was given in; and nDCG of these."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from pinakes.errors import EvaluationError
from pinakes.evaluators.base import Cutoff, Evaluated, Family, Floats, Measure, ScoreQueries

Grades = Sequence[int]
"""the grades of a whole pool, best-ranked first"""


def list_grades(evaluated: Evaluated) -> Iterator[tuple[int, list[int]]]:
    """Each query that ranks a paper, with the grades of its whole pool in the ranking's given order.

    Judged papers that the ranking lacks follow at the end, ids byte-wise descending, so that a partial
    ranking cannot shrink the pool. Raises `EvaluationError` for a ranked paper outside the pool.
    """
    ranked, judged = evaluated.ranked, evaluated.judged
    queries = np.arange(len(judged.query_ids) + 1)
    starts, judged_starts = np.searchsorted(ranked.query, queries), np.searchsorted(judged.query, queries)
    for query in np.flatnonzero(evaluated.ranks.retrieved).tolist():
        own = slice(judged_starts[query], judged_starts[query + 1])
        grades = dict(zip(judged.paper[own].tolist(), judged.grade[own].tolist(), strict=True))
        papers = ranked.paper[starts[query] : starts[query + 1]].tolist()
        _require_judged(query, papers, grades, evaluated)
        lacking = sorted(grades.keys() - set(papers), reverse=True)
        yield query, [grades[paper] for paper in [*papers, *lacking]]


def _require_judged(
    query: int, papers: Sequence[int], grades: Mapping[int, int], evaluated: Evaluated
) -> None:
    outside = next((paper for paper in papers if paper not in grades), None)
    if outside is not None:
        query_id, source_id = evaluated.judged.query_ids[query], evaluated.judged.name_paper(outside)
        raise EvaluationError(
            f"query {query_id!r} ranks paper {source_id!r}, which is not in its judged pool of "
            f"{len(grades)}; rank the pool alone, or choose measures that allow unjudged papers"
        )


def over_pool(value_of: Callable[[Grades, int], float]) -> ScoreQueries:
    """A scoring function from a formula over the pool's grades and a number of ranks.

    The number of ranks is the measure's cutoff, its share of the pool rounded down, or the whole pool.
    """

    def score_queries(measures: Sequence[Measure], evaluated: Evaluated) -> Mapping[str, Floats]:
        values = {measure.name: np.zeros(len(evaluated.judged.query_ids)) for measure in measures}
        for query, grades in list_grades(evaluated):
            for measure in measures:
                values[measure.name][query] = value_of(grades, count_ranks(measure, len(grades)))
        return values

    return score_queries


def count_ranks(measure: Measure, pool_size: int) -> int:
    """How many ranks of a pool the measure looks at; a share is rounded down, by whole numbers alone."""
    if measure.cutoff is None:
        return pool_size
    if measure.family.cutoff == "share":
        return int(measure.cutoff) * pool_size // 100
    return int(measure.cutoff)


def pool_family(base: str, value_of: Callable[[Grades, int], float], cutoff: Cutoff = "none") -> Family:
    """The family of a formula over the pool's grades."""
    return Family(base, over_pool(value_of), cutoff, in_given_order=True)


def normalised_gain(grades: Grades, ranks: int) -> float:
    """nDCG over the first `ranks`: linear gains, trec_eval's 1 / log2(rank + 1); 0 where nothing has a gain.

    A pool too small for one rank gives 0.

    >>> round(normalised_gain([2, 1, 2, 0], 4), 7)
    0.9651955
    """
    ideal = _discounted_gain(sorted(grades, reverse=True)[:ranks])
    return _discounted_gain(grades[:ranks]) / ideal if ideal > 0 else 0.0


def _discounted_gain(grades: Grades) -> float:
    # a negative grade ("judged, worse than not relevant") gains nothing, as in trec_eval
    return math.fsum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


NDCG_SHARE: Final = pool_family("nDCG", normalised_gain, "share")
"""`nDCG%20`: nDCG over the first fifth of the pool"""
