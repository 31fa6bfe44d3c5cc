"""Columns of rankings and judgments in, scores of single queries out: `evaluate` for millions of papers.

Gives to the last bit what `evaluate` gives for the same rankings, for the measures that have an array kernel
(`array_measures.find_kernel`).
"""

from collections.abc import Sequence

import numpy as np

from pinakes.errors import EvaluationError
from pinakes.evaluators.array_measures import compute
from pinakes.evaluators.base import Measure
from pinakes.evaluators.columns import JudgedColumns, RankedColumns
from pinakes.evaluators.judged_ranks import rank_judged
from pinakes.records import Score


def evaluate_columns(
    ranked: RankedColumns, judged: JudgedColumns, measures: Sequence[Measure], subset: str = "all"
) -> list[Score]:
    """One score for each measure and judged query: measures as given, queries by id.

    Args:
        ranked: the rankings; a query without a row is missing and worth zero.
        judged: the judgments.
        measures: such as have a kernel.
        subset: what the scores say of which papers were ranked: `all`, or a type of candidates.

    Raises `EvaluationError` for a query without judged papers, a NaN score or a paper ranked twice.
    """
    _require_judged(judged)
    ranks = rank_judged(ranked, judged)
    answered = (ranks.retrieved > 0).astype(int).tolist()
    return [
        Score(measure.name, subset, query_id, value, 1, is_answered)
        for measure in measures
        for query_id, value, is_answered in zip(
            judged.query_ids, compute(measure, ranks).tolist(), answered, strict=True
        )
    ]


def _require_judged(judged: JudgedColumns) -> None:
    if not judged.query_ids:
        raise EvaluationError("there are no judgments; a benchmark owes at least one judged query")
    unjudged = np.flatnonzero(np.bincount(judged.query, minlength=len(judged.query_ids)) == 0)
    if len(unjudged):
        raise EvaluationError(
            f"query {judged.query_ids[unjudged[0]]!r} is a query with no judged candidate; "
            "judge a paper or drop the query"
        )
