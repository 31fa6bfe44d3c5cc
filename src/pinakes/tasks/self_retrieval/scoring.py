"""Stored ranks and overlaps to scores of subsets, and to their values over resamples of the papers.

A score of a subset is over its pairs of paper and code. No pair has a score of its own: the tables of answers
have them all, in millions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pinakes.database import Database
from pinakes.evaluators.bootstrap import RESAMPLES, Resampling
from pinakes.queries.definition import Benchmark
from pinakes.records import Score
from pinakes.tasks.base import Resampled, ResampleRun, ScoreRun
from pinakes.tasks.self_retrieval.measures import (
    MEASURES,
    RECIPROCAL,
    ROBUST_CATEGORIES,
    ROBUSTNESS,
    Values,
    name_measure,
)
from pinakes.tasks.self_retrieval.stored import Asked, Stored, read_categories, read_stored

Key = tuple[str, str]  # subset and measure


def prepare_scoring(database: Database, benchmark: Benchmark, names: Sequence[str]) -> ScoreRun:
    """What scores a run of the benchmark by its id. Raises `UnknownNameError` for a measure."""
    scoring = _open(database, benchmark, names)
    return lambda run_id: list(_score(scoring, scoring.read(run_id)))


def prepare_resampling(database: Database, benchmark: Benchmark, names: Sequence[str]) -> ResampleRun:
    """What gives the values of a run over resamples of its papers, by its id: the same ones for a corpus.

    A subset whose papers a resample may lack altogether has none: it is too small.
    """
    scoring = _open(database, benchmark, names)
    return lambda run_id: _resample(scoring, scoring.read(run_id))


@dataclass(frozen=True, slots=True, eq=False)
class _Scoring:
    """What every run of a benchmark is scored by."""

    database: Database
    benchmark: str
    measures: Sequence[str]
    categories: Mapping[str, str]

    def read(self, run_id: int) -> Stored:
        """The answers of a run, with the values of the measures, and those that these are made of."""
        needed = {*self.measures, RECIPROCAL} if ROBUSTNESS in self.measures else set(self.measures)
        ordered = [name for name in MEASURES if name in needed]
        return read_stored(self.database, run_id, self.categories, ordered)


def _open(database: Database, benchmark: Benchmark, names: Sequence[str]) -> _Scoring:
    measures = list(dict.fromkeys(map(name_measure, names)))
    with database.read() as session:
        categories = read_categories(session, benchmark)
    return _Scoring(database, benchmark.name, measures, categories)


@dataclass(slots=True)
class _Sum:
    """What is known of a subset by a measure: the sum of its values, and how many it has."""

    total: float = 0.0
    expected: int = 0
    answered: int = 0


def _score(scoring: _Scoring, stored: Stored) -> Iterator[Score]:
    sums: dict[Key, _Sum] = {}
    for one, subset, measure, values in _list_values(stored):
        found = sums.setdefault((subset, measure), _Sum())
        found.total += float(values.sum())
        found.expected += len(values)
        found.answered += int(one.answered.sum())
    for (subset, measure), found in sorted(sums.items(), key=lambda one: _order_subsets(one[0][0])):
        if measure in scoring.measures:
            value = found.total / found.expected
            yield Score(measure, subset, None, value, found.expected, found.answered)
    parts = [sums.get((f"category={name}", RECIPROCAL)) for name in ROBUST_CATEGORIES]
    whole = [part for part in parts if part is not None]
    if ROBUSTNESS in scoring.measures and len(whole) == len(ROBUST_CATEGORIES):
        value = sum(part.total / part.expected for part in whole) / len(whole)
        counts = (sum(part.expected for part in whole), sum(part.answered for part in whole))
        yield Score(ROBUSTNESS, "all", None, value, *counts)


def _order_subsets(subset: str) -> int:
    """Tasks, then all neighbours, categories and codes; each in the order in which they come."""
    kinds = ("task", "all", "category", "code")
    return kinds.index(subset.partition("=")[0])


def _list_values(stored: Stored) -> Iterator[tuple[Asked, str, str, Values]]:
    """What was asked, and each subset and measure that its values count in."""
    for one in stored.asked:
        for subset in one.subsets:
            for measure, values in one.values.items():
                yield one, subset, measure, values


def _resample(scoring: _Scoring, stored: Stored) -> Resampled:
    """The mean of each subset and measure in each resample of the papers: sums over sums."""
    totals: dict[Key, Values] = {}
    weights: dict[Key, Values] = {}
    for part, whole_counts in Resampling(scoring.benchmark, stored.papers).draw():
        counts = whole_counts.astype(np.float64)
        for one in stored.asked:
            is_whole = len(one.papers) == stored.papers
            drawn = counts if is_whole else np.take(counts, one.papers, axis=1)
            weight = drawn.sum(axis=1)
            for measure, summed in _sum_values(drawn, one.values):
                for subset in one.subsets:
                    key = subset, measure
                    totals.setdefault(key, np.zeros(RESAMPLES))[part] += summed
                    weights.setdefault(key, np.zeros(RESAMPLES))[part] += weight
    found = {key: totals[key] / weights[key] for key in totals if weights[key].all()}
    robust = [found.get((f"category={name}", RECIPROCAL)) for name in ROBUST_CATEGORIES]
    chosen = {key: values for key, values in found.items() if key[1] in scoring.measures}
    whole = [values for values in robust if values is not None]
    if ROBUSTNESS in scoring.measures and len(whole) == len(ROBUST_CATEGORIES):
        chosen["all", ROBUSTNESS] = np.mean(whole, axis=0)
    return chosen


def _sum_values(drawn: Values, values: Mapping[str, Values]) -> Iterator[tuple[str, Values]]:
    """The sum of each measure's values in each sample (samples,); not by BLAS, whose threads change bits."""
    if values:
        sums = np.einsum("bn,mn->mb", drawn, np.stack(list(values.values())), optimize=False)
        yield from zip(values, sums, strict=True)
