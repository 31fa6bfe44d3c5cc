"""Counts that say something about the judgments, whatever the ranking."""

from collections.abc import Mapping, Sequence
from typing import Final

from pinakes.evaluators.base import Family, Measure, Values
from pinakes.records import Judgments, Rankings


def count_relevant(
    measures: Sequence[Measure], rankings: Rankings, judgments: Judgments
) -> Mapping[str, Values]:
    """How many papers of each judged query have at least the grade `rel`, also where no ranking answers it.

    pytrec_eval counts grade 1 alone, and only for answered queries.
    """
    return {
        measure.name: {
            query_id: float(sum(grade >= measure.parameters.get("rel", 1) for grade in grades.values()))
            for query_id, grades in judgments.items()
        }
        for measure in measures
    }


NUM_REL: Final = Family("NumRel", count_relevant, parameters={"rel": 1}, is_count=True)
