"""What rankings and judgments must be before anything is computed from them."""

import math
import operator
from collections import Counter
from collections.abc import Sequence

from pinakes.errors import EvaluationError
from pinakes.records import Judgments, RankedPaper, Rankings


def check_judgments(judgments: Judgments) -> dict[str, dict[str, int]]:
    """The judgments with plain whole numbers as grades, queries in the order of their ids.

    Raises `EvaluationError` where there is no query, a query has no judged paper, or a grade is not whole.
    """
    if not judgments:
        raise EvaluationError("there are no judgments; a benchmark owes at least one judged query")
    checked = {}
    for query_id in sorted(judgments):
        if not judgments[query_id]:
            raise EvaluationError(
                f"query {query_id!r} is a query with no judged candidate; judge a paper or drop the query"
            )
        try:
            # pytrec_eval refuses the whole numbers of NumPy
            checked[query_id] = {
                source_id: operator.index(grade) for source_id, grade in judgments[query_id].items()
            }
        except TypeError as error:
            raise EvaluationError(
                f"query {query_id!r} has a grade that is not a whole number ({error}); grades are integers"
            ) from error
    return checked


def select_answered(rankings: Rankings, judgments: Judgments) -> dict[str, Sequence[RankedPaper]]:
    """The rankings of judged queries, those without a paper left out, in the order of the judgments.

    Raises `EvaluationError` where a score is NaN or a paper is ranked twice.
    """
    answered = {query_id: rankings[query_id] for query_id in judgments if rankings.get(query_id)}
    for query_id, ranking in answered.items():
        _check_ranking(query_id, ranking)
    return answered


def _check_ranking(query_id: str, ranking: Sequence[RankedPaper]) -> None:
    for paper in ranking:
        if math.isnan(paper.score):
            raise EvaluationError(
                f"the score of paper {paper.source_id!r} for query {query_id!r} is not a number (NaN); "
                "a ranking needs numbers"
            )
    counted = Counter(paper.source_id for paper in ranking)
    repeated = sorted(source_id for source_id, count in counted.items() if count > 1)
    if repeated:
        raise EvaluationError(
            f"query {query_id!r} ranks paper {repeated[0]!r} more than once ({len(repeated)} such papers); "
            "keep each paper's best rank"
        )
