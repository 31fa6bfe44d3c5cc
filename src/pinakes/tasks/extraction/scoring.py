"""Stored scores of sentences to scores of examples and of all of them, and to values over resamples.

A sample is of papers, whose examples are drawn together: examples of one paper are not independent.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.evaluators.bootstrap import Resampling, resample_means
from pinakes.evaluators.relevance import (
    Thresholds,
    average_precisions,
    find_thresholds,
    roc_areas,
    two_standard_errors,
)
from pinakes.queries.definition import Benchmark
from pinakes.records import Score
from pinakes.tasks.base import Deciding, Resampled, ResampleRun, ScoreRun
from pinakes.tasks.extraction.measures import CURVES, FLAT, name_measure, parse_rouge
from pinakes.tasks.extraction.stored import Stored, find_asked, read_stored
from pinakes.tasks.extraction.summaries import score_summaries
from pinakes.workload.summaries import SummaryQuestions, read_summaries, select_labels

Values = NDArray[np.float64]

ALL = "all"
MEASURE_CURVE = {"AP": average_precisions, "AUC": roc_areas}


def prepare_scoring(database: Database, benchmark: Benchmark, names: Sequence[str]) -> ScoreRun:
    """What scores a run of the benchmark by its id. Raises `UnknownNameError` for a measure."""
    scoring = _Scoring(database, benchmark, list(dict.fromkeys(map(name_measure, names))))
    return lambda run_id: list(_score(scoring, scoring.read(run_id)))


def prepare_resampling(database: Database, benchmark: Benchmark, names: Sequence[str]) -> ResampleRun:
    """What gives the means over examples in each resample of the test papers, by a run's id.

    A measure has none where a sample of the papers may have no example that defines it.
    """
    scoring = _Scoring(database, benchmark, list(dict.fromkeys(map(name_measure, names))))
    return lambda run_id: _resample(scoring, scoring.read(run_id))


def select_deciding(benchmark: Benchmark) -> Deciding:
    """The relevant sentences; and the examples, their splits and sentences, of every corpus."""
    labels, others = select_labels(benchmark)
    return Deciding(labels, others, "labels")


@dataclass(slots=True)
class _Scoring:
    """What every run of a benchmark is scored by; the questions of one corpus and mode are read once."""

    database: Database
    benchmark: Benchmark
    measures: Sequence[str]
    read_questions: dict[tuple[object, ...], SummaryQuestions] = field(default_factory=dict)

    def read(self, run_id: int) -> Stored:
        """The answers of a run beside what it was asked."""
        asked = find_asked(self.database, run_id)
        questions = self.read_questions.get(asked)
        if questions is None:
            mode, corpus, producers = asked
            benchmark = replace(
                self.benchmark, mode=mode, corpus=corpus, asked_of=corpus, producers=producers
            )
            questions = read_summaries(self.database, benchmark, "", "")
            self.read_questions = {asked: questions}
        return read_stored(self.database, run_id, questions)


def _score(scoring: _Scoring, stored: Stored) -> Iterator[Score]:
    curves = dict(_measure_curves(stored))
    means = _list_means(scoring, stored, curves)
    for measure in scoring.measures:
        if measure in means:
            yield from _list_scores(measure, means[measure], stored)
            continue
        if measure == FLAT:
            yield Score(
                FLAT, ALL, None, _count_flat(stored), len(stored.answered), int(stored.answered.sum())
            )
            continue
        curve, _, form = measure.partition("[")
        values = curves[curve]
        defined = ~np.isnan(values)
        expected, answered = int(defined.sum()), int((defined & stored.answered).sum())
        if form == "undefined]":
            count = len(values) - expected
            yield Score(measure, ALL, None, float(count), len(values), int(stored.answered.sum()))
        elif form == "2SE]" and expected:
            yield Score(measure, ALL, None, two_standard_errors(values[defined]), expected, answered)
        elif form == "global]":
            value = float(MEASURE_CURVE[curve](_find_all(stored))[0])
            if not np.isnan(value):
                yield Score(measure, ALL, None, value, len(values), int(stored.answered.sum()))


def _count_flat(stored: Stored) -> float:
    """How many answered examples have one score for all their sentences."""
    highest, lowest = (np.full(len(stored.answered), end) for end in (-np.inf, np.inf))
    np.maximum.at(highest, stored.groups, stored.scores)
    np.minimum.at(lowest, stored.groups, stored.scores)
    return float(((highest == lowest) & stored.answered).sum())


def _list_means(scoring: _Scoring, stored: Stored, curves: Mapping[str, Values]) -> dict[str, Values]:
    """Measure -> the value of each test example (m,), of the measures that are averaged; NaN: undefined."""
    rouge = [one for one in map(parse_rouge, scoring.measures) if one is not None]
    found = {measure: curves[measure] for measure in CURVES if measure in scoring.measures}
    return found | score_summaries(stored, rouge)


def _measure_curves(stored: Stored) -> Iterator[tuple[str, Values]]:
    """Each measure of a curve with the value of each example; zero without an answer."""
    thresholds = find_thresholds(stored.groups, stored.scores, stored.labels, len(stored.answered))
    for name, measure in MEASURE_CURVE.items():
        values = measure(thresholds)
        values[~stored.answered & ~np.isnan(values)] = 0.0
        yield name, values


def _find_all(stored: Stored) -> Thresholds:
    """The thresholds of all test sentences at once."""
    return find_thresholds(np.zeros(len(stored.scores), dtype=np.intp), stored.scores, stored.labels, 1)


def _list_scores(measure: str, values: Values, stored: Stored) -> Iterator[Score]:
    defined = np.flatnonzero(~np.isnan(values))
    for place in defined.tolist():
        query_id, answered = stored.query_ids[place], int(stored.answered[place])
        yield Score(measure, ALL, query_id, float(values[place]), 1, answered)
    if len(defined):
        answered = int(stored.answered[defined].sum())
        yield Score(measure, ALL, None, float(np.mean(values[defined])), len(defined), answered)


def _resample(scoring: _Scoring, stored: Stored) -> Resampled:
    count = int(stored.papers.max(initial=-1)) + 1
    if count < 2:
        return {}
    resampling = Resampling(scoring.benchmark.name, count)
    found: dict[tuple[str, str], Values] = {}
    for measure, values in _list_means(scoring, stored, dict(_measure_curves(stored))).items():
        defined = ~np.isnan(values)
        papers = stored.papers[defined]
        weights = np.bincount(papers, minlength=count).astype(np.float64)
        sums = np.bincount(papers, values[defined], count).astype(np.float64)
        drawn = resample_means(resampling, sums[None], weights)[0]
        if not np.isnan(drawn).any():
            found[ALL, measure] = drawn
    return found
