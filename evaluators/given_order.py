"""Measures over the whole judged pool, in the order that the ranking was given in.

What these measures share: scores are not looked at, the pool is the query's judgments, and its size
decides cutoffs given as a share.
"""

from collections.abc import Callable, Mapping, Sequence

from pinakes.errors import EvaluationError
from pinakes.evaluators.base import Cutoff, Family, Measure, ScoreQueries, Values
from pinakes.records import Judgments, RankedPaper, Rankings

Grades = Sequence[int]
"""the grades of a whole pool, best-ranked first"""


def list_grades(query_id: str, ranking: Sequence[RankedPaper], judged: Mapping[str, int]) -> list[int]:
    """The grades of a query's whole pool in the ranking's given order.

    Judged papers that the ranking lacks follow at the end, ids byte-wise descending, so that a partial
    ranking cannot shrink the pool. Raises `EvaluationError` for a ranked paper outside the pool.

    >>> list_grades("q", [RankedPaper("b", 0.5)], {"a": 1, "b": 2, "c": 3})
    [2, 3, 1]
    """
    ranked = [paper.source_id for paper in ranking]
    for source_id in ranked:
        if source_id not in judged:
            raise EvaluationError(
                f"query {query_id!r} ranks paper {source_id!r}, which is not in its judged pool of "
                f"{len(judged)}; rank the pool alone, or choose measures that allow unjudged papers"
            )
    lacking = sorted(judged.keys() - set(ranked), key=lambda source_id: source_id.encode(), reverse=True)
    return [judged[source_id] for source_id in [*ranked, *lacking]]


def over_pool(value_of: Callable[[Grades, int], float]) -> ScoreQueries:
    """A scoring function from a formula over the pool's grades and a number of ranks.

    The number of ranks is the measure's cutoff, its share of the pool rounded down, or the whole pool.
    """

    def score_queries(
        measures: Sequence[Measure], rankings: Rankings, judgments: Judgments
    ) -> Mapping[str, Values]:
        pools = {
            query_id: list_grades(query_id, ranking, judgments[query_id])
            for query_id, ranking in rankings.items()
        }
        return {
            measure.name: {
                query_id: value_of(grades, count_ranks(measure, len(grades)))
                for query_id, grades in pools.items()
            }
            for measure in measures
        }

    return score_queries


def count_ranks(measure: Measure, pool_size: int) -> int:
    """How many ranks of a pool the measure looks at; a share is rounded down, by whole numbers alone."""
    if measure.cutoff is None:
        return pool_size
    if measure.family.cutoff == "share":
        return int(measure.cutoff) * pool_size // 100
    return int(measure.cutoff)


def pool_family(
    base: str,
    value_of: Callable[[Grades, int], float],
    cutoff: Cutoff = "none",
) -> Family:
    """The family of a formula over the pool's grades."""
    return Family(base, over_pool(value_of), cutoff)
