"""trec_eval's own code (ir-measures over pytrec_eval) on columns: for measures that no kernel computes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import ir_measures
import numpy as np
from ir_measures.providers.pytrec_eval_provider import PytrecEvalProvider

from pinakes.evaluators.base import Evaluated, Floats, Measure

_PROVIDER: Final[Any] = PytrecEvalProvider
"""pinned, since ir-measures would take whichever of its providers is installed"""


def compute_by_trec_eval(measures: Sequence[Measure], evaluated: Evaluated) -> Mapping[str, Floats]:
    """Measure name -> the value of each judged query; 0 for a query that ranks nothing.

    Trap: ir-measures puts nDCG and NumRet into the first evaluator that it has built, whatever gains or
    judged-only rule that one carries. Hence one fresh evaluator for each set of parameters.
    """
    run, judged = _list_rankings(evaluated), _list_judgments(evaluated)
    values = {measure.name: np.zeros(len(judged)) for measure in measures}
    answered = {query: judged[query] for query in run}
    for group in _group_by_parameters(measures) if run else ():
        given = {_translate(measure): measure.name for measure in group}
        for metric in _PROVIDER().evaluator(list(given), answered).iter_calc(run):
            values[given[metric.measure]][int(metric.query_id)] = metric.value
    return values


def _list_rankings(evaluated: Evaluated) -> dict[str, dict[str, float]]:
    """Position of each query that ranks a paper -> paper -> score."""
    ranked = evaluated.ranked
    papers, scores = _name_papers(ranked.paper), ranked.score.tolist()
    return {
        str(query): dict(zip(papers[start:end], scores[start:end], strict=True))
        for query, start, end in _split(ranked.query, len(evaluated.judged.query_ids))
        if start < end
    }


def _list_judgments(evaluated: Evaluated) -> dict[str, dict[str, int]]:
    """Position of each query -> paper -> grade; zeros where all are negative, which is worth the same.

    Trap: of a query without a grade from 0 on, trec_eval's code writes beyond its arrays.
    """
    judged = evaluated.judged
    papers, grades = _name_papers(judged.paper), judged.grade.tolist()
    listed = {}
    for query, start, end in _split(judged.query, len(judged.query_ids)):
        of_query = grades[start:end] if max(grades[start:end]) >= 0 else [0] * (end - start)
        listed[str(query)] = dict(zip(papers[start:end], of_query, strict=True))
    return listed


def _name_papers(numbers: Any) -> list[str]:
    """Names that are ordered byte by byte as the numbers of papers are, and so as the source's ids.

    >>> _name_papers(np.array([9, 10]))
    ['0000000009', '0000000010']
    """
    return [f"{number:010}" for number in numbers.tolist()]


def _split(query: Any, queries: int) -> Iterator[tuple[int, int, int]]:
    """Each query with the first row of its own and the one after the last; queries ascending."""
    ends = np.searchsorted(query, np.arange(queries + 1)).tolist()
    yield from zip(range(queries), ends[:-1], ends[1:], strict=True)


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
