"""The measures of trec_eval, computed by trec_eval's own code (ir-measures over pytrec_eval).

Order is trec_eval's (versions 9): scores as 32-bit floats, descending; equal scores by the paper's id,
byte-wise descending; the order in which the ranking is given plays no part. A paper without a judgment
counts as not relevant, except where `judged_only=True` removes it. `IPrec` takes the recall level's
number of papers as int(level * relevant + 0.9), where version 10 rounds.

Leaves out, because pytrec_eval does not give them: geometric means, ERR, RBP, unjudged rates; and the
beta of `SetF`, which trec_eval squares differently from the textbook.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import ir_measures
import numpy as np
from ir_measures.providers.pytrec_eval_provider import PytrecEvalProvider

from pinakes.evaluators.base import Family, Measure, Values
from pinakes.evaluators.columns import round_to_float32
from pinakes.records import Judgments, RankedPaper, Rankings

_PROVIDER: Final[Any] = PytrecEvalProvider
"""pinned, since ir-measures would take whichever of its providers is installed"""
_LEVEL: Final[dict[str, Any]] = {"rel": 1}
_JUDGED: Final[dict[str, Any]] = {"judged_only": False}


def score_queries(
    measures: Sequence[Measure], rankings: Rankings, judgments: Judgments
) -> Mapping[str, Values]:
    """Measure name -> query id -> value, for every query of `rankings` (all must be judged).

    Trap: ir-measures puts nDCG and NumRet into the first evaluator that it has built, whatever gains or
    judged-only rule that one carries. Hence one fresh evaluator for each set of parameters.
    """
    if not rankings:
        return {measure.name: {} for measure in measures}
    run = {query_id: round_scores(ranking) for query_id, ranking in rankings.items()}
    judged = {query_id: raise_grades(judgments[query_id]) for query_id in run}
    values: dict[str, dict[str, float]] = {measure.name: {} for measure in measures}
    for group in _group_by_parameters(measures):
        given = {_translate(measure): measure.name for measure in group}
        for metric in _PROVIDER().evaluator(list(given), judged).iter_calc(run):
            values[given[metric.measure]][metric.query_id] = float(metric.value)
    return values


def raise_grades(judged: Mapping[str, int]) -> dict[str, int]:
    """The grades of one query; zeros where all are negative, which is worth the same to every measure.

    Trap: of a query without a grade from 0 on, trec_eval's code writes beyond its arrays.

    >>> raise_grades({"a": -2, "b": -1}), raise_grades({"a": -2, "b": 0})
    ({'a': 0, 'b': 0}, {'a': -2, 'b': 0})
    """
    return dict(judged) if max(judged.values()) >= 0 else dict.fromkeys(judged, 0)


def round_scores(ranking: Sequence[RankedPaper]) -> dict[str, float]:
    """Paper -> its score as a 32-bit float; beyond their range it is infinite.

    >>> round_scores([RankedPaper("a", 1 + 2**-25), RankedPaper("b", -1e300)])
    {'a': 1.0, 'b': -inf}
    """
    scores = round_to_float32(np.array([paper.score for paper in ranking], dtype=np.float64))
    return dict(zip([paper.source_id for paper in ranking], scores.tolist(), strict=True))


def _group_by_parameters(measures: Sequence[Measure]) -> Iterator[list[Measure]]:
    groups: dict[str, list[Measure]] = {}
    for measure in measures:
        groups.setdefault(repr(measure.parameters), []).append(measure)
    yield from groups.values()


def _translate(measure: Measure) -> Any:
    template = ir_measures.measures.registry[measure.family.base]
    cutoff = {} if measure.cutoff is None else {template.AT_PARAM: measure.cutoff}
    if measure.family.cutoff == "recall":
        cutoff = {template.AT_PARAM: float(measure.cutoff or 0)}
    return template(**measure.parameters, **cutoff)


AP: Final = Family("AP", score_queries, "optional_rank", _LEVEL | _JUDGED)
BPREF: Final = Family("Bpref", score_queries, parameters=_LEVEL)
INF_AP: Final = Family("infAP", score_queries, parameters=_LEVEL)
IPREC: Final = Family("IPrec", score_queries, "recall", _LEVEL | _JUDGED)
NDCG: Final = Family("nDCG", score_queries, "optional_rank", {"gains": None} | _JUDGED)
NUM_RET: Final = Family("NumRet", score_queries, parameters={"rel": None}, is_count=True)
P: Final = Family("P", score_queries, "rank", _LEVEL | _JUDGED)
R: Final = Family("R", score_queries, "rank", _LEVEL | _JUDGED)
RPREC: Final = Family("Rprec", score_queries, parameters=_LEVEL | _JUDGED)
RR: Final = Family("RR", score_queries, parameters=_LEVEL | _JUDGED)
SET_AP: Final = Family("SetAP", score_queries, parameters=_LEVEL | _JUDGED)
SET_F: Final = Family("SetF", score_queries, parameters=_LEVEL | _JUDGED)
SET_P: Final = Family("SetP", score_queries, parameters=_LEVEL | _JUDGED | {"relative": False})
SET_R: Final = Family("SetR", score_queries, parameters=_LEVEL)
SUCCESS: Final = Family("Success", score_queries, "rank", _LEVEL | _JUDGED)
