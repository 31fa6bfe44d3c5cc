"""Rankings and judgments in, scores of single queries out.

A query that the ranking does not hold, or holds without any paper, is missing: every measure of the
ranking gives it zero. A ranking of a query that has no judgments is left aside, since it owes nothing.
"""

from collections.abc import Iterable, Mapping

from pinakes.evaluators.base import Measure, ScoreQueries, Values
from pinakes.evaluators.checking import check_judgments, select_answered
from pinakes.evaluators.registry import parse_measure
from pinakes.records import Judgments, Rankings, Score


def evaluate(
    rankings: Rankings, judgments: Judgments, measures: Iterable[str], subset: str = "all"
) -> list[Score]:
    """One score for each measure and judged query: measures as given, queries by id.

    `Score.measure` is the canonical name (`parse_measure(name).name`); two spellings of one measure give
    it once. `queries_answered` is 0 for a missing query. `subset` is what the scores say of which papers were
    ranked: `all`, or a type of candidates. For millions of ranked papers there is `evaluate_columns`.

    Raises `UnknownNameError` for an unknown measure; `EvaluationError` for a query without judged papers,
    a NaN score, a paper ranked twice, or a ranking that a measure does not allow.
    """
    wanted = list({measure.name: measure for measure in map(parse_measure, measures)}.values())
    judged = check_judgments(judgments)
    answered = select_answered(rankings, judged)
    values = _score_families(wanted, answered, judged)
    return [
        Score(
            measure=measure.name,
            subset=subset,
            query_id=query_id,
            value=values[measure.name].get(query_id, 0.0),
            queries_expected=1,
            queries_answered=int(query_id in answered),
        )
        for measure in wanted
        for query_id in judged
    ]


def _score_families(
    measures: Iterable[Measure], answered: Rankings, judged: Judgments
) -> Mapping[str, Values]:
    together: dict[ScoreQueries, list[Measure]] = {}
    for measure in measures:
        together.setdefault(measure.family.score_queries, []).append(measure)
    values: dict[str, Values] = {}
    for score_queries, members in together.items():
        values.update(score_queries(members, answered, judged))
    return values
