"""What rankings of validation queries are worth, again and again for the points of a grid."""

from collections.abc import Iterable

import numpy as np

from pinakes.evaluators.columns import JudgedColumns, RankedColumns
from pinakes.evaluators.evaluate import evaluate_columns
from pinakes.evaluators.registry import parse_measure
from pinakes.records import Score
from pinakes.systems.base import Ranking
from pinakes.tune.validation import ValidationQueries
from pinakes.workload.workload import Workload


class ValidationScores:
    """Scores rankings of a workload's validation queries by one measure."""

    def __init__(self, workload: Workload, requested: ValidationQueries, measure: str) -> None:
        self._workload, self._requested = workload, requested
        self._measure = parse_measure(measure)
        self._positions = {query_id: position for position, query_id in enumerate(sorted(requested.texts))}
        # Numbers that rise with the source's id: equal scores are ordered by it, descending.
        self._numbers = len(workload.tie_order) - 1 - workload.tie_order
        self._judged = self._number_judged()

    def add_up(self, rankings: Iterable[Ranking]) -> float:
        """The sum of the measure over the validation queries; one that is not ranked counts as zero."""
        ranked = [one for one in rankings if one.query_id in self._positions]
        return float(np.sum([one.value for one in self._score(ranked)]))

    def _score(self, ranked: list[Ranking]) -> list[Score]:
        if not ranked:
            return []
        lengths = [len(one.rows) for one in ranked]
        columns = RankedColumns(
            np.repeat([self._positions[one.query_id] for one in ranked], lengths).astype(np.int32),
            self._numbers[np.concatenate([one.rows for one in ranked])].astype(np.int32),
            np.concatenate([one.scores for one in ranked]).astype(np.float32),
        )
        return evaluate_columns(columns, self._judged, [self._measure])

    def _number_judged(self) -> JudgedColumns:
        pairs = [
            (position, source_id, grade)
            for query_id, position in self._positions.items()
            for source_id, grade in self._requested.judgments[query_id].items()
        ]
        queries, judged, grades = zip(*pairs, strict=True)
        names = dict(zip(self._workload.source_ids.tolist(), self._numbers.tolist(), strict=True))
        for source_id in judged:  # a judged paper that is no candidate is never ranked: any number will do
            names.setdefault(source_id, len(names))
        numbers = np.array([names[source_id] for source_id in judged], dtype=np.int64)
        source_ids = dict(zip(numbers.tolist(), judged, strict=True))
        return JudgedColumns(
            list(self._positions),
            np.array(queries, dtype=np.int64),
            numbers,
            np.array(grades, dtype=np.int64),
            lambda number: source_ids.get(number, str(number)),
        )
