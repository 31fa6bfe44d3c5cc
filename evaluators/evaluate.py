"""Rankings and judgments in, scores of single queries out; a query without a ranked paper is worth zero."""

from collections.abc import Mapping, Sequence

import numpy as np

from pinakes.errors import EvaluationError
from pinakes.evaluators.base import Evaluated, Floats, Measure, ScoreQueries
from pinakes.evaluators.columns import JudgedColumns, RankedColumns
from pinakes.evaluators.judged_ranks import rank_judged
from pinakes.records import Score


def evaluate_columns(
    ranked: RankedColumns, judged: JudgedColumns, measures: Sequence[Measure], subset: str = "all"
) -> list[Score]:
    """One score for each measure and judged query: measures as given, queries by id.

    A query without a ranked row is missing: its `queries_answered` is 0. `subset` is what the scores say of
    which papers were ranked: `all`, or a type of candidates.

    Raises `EvaluationError` for a query without judged papers, a NaN score, a paper ranked twice, or a
    ranking that a measure does not allow.
    """
    _require_judged(judged)
    ranked = _sort_by_query(ranked)
    ranks = rank_judged(ranked, judged)
    values = _score_families(measures, Evaluated(ranked, judged, ranks))
    answered = (ranks.retrieved > 0).astype(int).tolist()
    return [
        Score(measure.name, subset, query_id, value, 1, is_answered)
        for measure in measures
        for query_id, value, is_answered in zip(
            judged.query_ids, values[measure.name].tolist(), answered, strict=True
        )
    ]


def _require_judged(judged: JudgedColumns) -> None:
    if not judged.query_ids:
        raise EvaluationError("there are no judgments; expected at least one judged query")
    unjudged = np.flatnonzero(np.bincount(judged.query, minlength=len(judged.query_ids)) == 0)
    if len(unjudged):
        raise EvaluationError(
            f"query {judged.query_ids[unjudged[0]]!r} is a query with no judged candidate; "
            "judge a paper or drop the query"
        )


def _sort_by_query(ranked: RankedColumns) -> RankedColumns:
    """The rows by query, those of each in the order in which they stood."""
    if np.any(ranked.query[1:] < ranked.query[:-1]):
        return ranked.select(np.argsort(ranked.query, kind="stable"))
    return ranked


def _score_families(measures: Sequence[Measure], evaluated: Evaluated) -> Mapping[str, Floats]:
    together: dict[ScoreQueries, list[Measure]] = {}
    for measure in measures:
        together.setdefault(measure.family.score_queries, []).append(measure)
    values: dict[str, Floats] = {}
    for score_queries, members in together.items():
        values.update(score_queries(members, evaluated))
    return values
