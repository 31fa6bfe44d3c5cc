"""Rankings and judgments as records, scored as the columns that they stand for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pinakes.evaluators.columns import JudgedColumns, RankedColumns, round_to_float32
from pinakes.evaluators.evaluate import evaluate_columns
from pinakes.evaluators.registry import parse_measures
from pinakes.records import Judgments, Score


class RankedPaper(NamedTuple):
    """One row of a ranking."""

    source_id: str
    score: float


Rankings = Mapping[str, Sequence[RankedPaper]]
"""query id -> its ranking, in the order that its maker gave"""


def evaluate(
    rankings: Rankings, judgments: Judgments, measures: Iterable[str], subset: str = "all"
) -> list[Score]:
    """One score for each measure and judged query; two spellings of one measure give it once."""
    return evaluate_columns(*to_columns(rankings, judgments), parse_measures(measures), subset)


def to_columns(rankings: Rankings, judgments: Judgments) -> tuple[RankedColumns, JudgedColumns]:
    """Records as columns, rankings in their given order and without those of queries that are not judged."""
    query_ids = sorted(judgments)
    ranked = [
        (position, paper.source_id, paper.score)
        for position, query_id in enumerate(query_ids)
        for paper in rankings.get(query_id, ())
    ]
    judged = [
        (position, source_id, grade)
        for position, query_id in enumerate(query_ids)
        for source_id, grade in judgments[query_id].items()
    ]
    source_ids = sorted({pair[1] for pair in [*ranked, *judged]}, key=str.encode)
    numbers = {source_id: number for number, source_id in enumerate(source_ids)}
    return (
        RankedColumns(
            np.array([position for position, _, _ in ranked], dtype=np.int32),
            np.array([numbers[source_id] for _, source_id, _ in ranked], dtype=np.int32),
            round_to_float32(np.array([score for _, _, score in ranked], dtype=np.float64)),
        ),
        JudgedColumns(
            query_ids,
            np.array([position for position, _, _ in judged], dtype=np.int64),
            np.array([numbers[source_id] for _, source_id, _ in judged], dtype=np.int64),
            np.array([grade for _, _, grade in judged], dtype=np.int64),
            source_ids.__getitem__,
        ),
    )
