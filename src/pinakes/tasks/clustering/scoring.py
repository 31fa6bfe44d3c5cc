"""Stored clusters to B-cubed scores: of signatures, of datasets, of all, and averages over datasets.

A score is expected of every signature in a test block whose person is known. F1 of a subset is the harmonic
mean of its precision and recall; an average over groups is the mean of the groups' F1.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import EvaluationError, UnknownNameError
from pinakes.evaluators.aggregate import Aggregation, aggregate
from pinakes.evaluators.bcubed import F1, MEASURES, PRECISION, RECALL, compare_clusterings, score_f1
from pinakes.indexers.disambiguation.split import SPLITS
from pinakes.queries.definition import Benchmark
from pinakes.records import Average, Score
from pinakes.schema import cluster_assignments
from pinakes.tasks.base import Deciding, ScoreRun
from pinakes.workload.signatures import read_persons, read_rows, select_persons


def name_measure(name: str) -> str:
    """The name itself, of a measure of clusterings."""
    if name not in MEASURES:
        raise UnknownNameError("measure", name, list(MEASURES))
    return name


@dataclass(frozen=True, slots=True, eq=False)
class _Scoring:
    """What every run of a benchmark is scored by.

    Attributes:
        persons: each signature that a score is expected of -> its dataset and cluster.
        attributes: signature -> grouping column -> value.
    """

    database: Database
    measures: Sequence[str]
    persons: Mapping[str, tuple[str, str]]
    attributes: Mapping[str, Mapping[str, str | None]]
    aggregation: Aggregation

    def score(self, run_id: int) -> list[Score]:
        """The scores of a run: of single signatures by measure, then of subsets."""
        statement = sa.select(cluster_assignments.c.query_id, cluster_assignments.c.cluster)
        with self.database.read() as session:
            found = dict(session.stream_rows(statement.where(cluster_assignments.c.run_id == run_id)))
        predicted = [found.get(query_id) for query_id in self.persons]
        compared = compare_clusterings(list(self.persons.values()), predicted)
        values = {PRECISION: compared.precision, RECALL: compared.recall, F1: compared.f1}
        single = {
            measure: [
                Score(measure, "all", query_id, value, 1, int(cluster is not None))
                for query_id, value, cluster in zip(
                    self.persons, values[measure].tolist(), predicted, strict=True
                )
            ]
            for measure in values
        }
        summed = aggregate([*single[PRECISION], *single[RECALL]], self.attributes, self.aggregation)
        subsets = [*summed, *_combine(summed, self.aggregation.averages)]
        of_signatures = (score for measure in self.measures for score in single[measure])
        of_subsets = (score for measure in self.measures for score in subsets if score.measure == measure)
        return [*of_signatures, *of_subsets]


def open_scoring(database: Database, benchmark: Benchmark, names: Sequence[str]) -> ScoreRun:
    """What scores a run of the benchmark by its id: clusters are read once.

    Raises `UnknownNameError` for a measure, `EvaluationError` where no test signature's person is known.
    """
    measures = list(dict.fromkeys(map(name_measure, names)))
    with database.read() as session:
        (rows, _), known = read_rows(session, benchmark), read_persons(session, benchmark)
    expected = sorted(
        (query_id, number)
        for number, (query_id, split) in enumerate(zip(rows["query_id"], rows["split"], strict=True))
        if split == SPLITS[2] and query_id in known
    )
    if not expected:
        raise EvaluationError(
            f"no signature in a test block of {benchmark.name} has a cluster to compare with"
        )
    persons = {query_id: (rows["dataset"][number], known[query_id]) for query_id, number in expected}
    attributes: dict[str, dict[str, Any]] = {
        query_id: {column: rows[column][number] for column in benchmark.group_by}
        for query_id, number in expected
    }
    rule = Aggregation(benchmark.group_by, averages=benchmark.averages)
    return _Scoring(database, measures, persons, attributes, rule).score


def select_deciding(benchmark: Benchmark) -> Deciding:
    """The clusters; and the signatures with their blocks and groups."""
    known, signatures = select_persons(benchmark)
    return Deciding(known, [signatures], "clustered signatures")


def _combine(summed: Sequence[Score], averages: Sequence[Average]) -> Iterator[Score]:
    """F1 of each subset that has a precision and a recall."""
    by_name = {(score.measure, score.subset): score for score in summed}
    columns = {average.name: average for average in averages}
    values: dict[str, float] = {}
    for subset in [score.subset for score in summed if score.measure == PRECISION]:
        if subset not in columns:
            values[subset] = score_f1(by_name[PRECISION, subset].value, by_name[RECALL, subset].value)
    for name, average in columns.items():
        groups = [value for subset, value in values.items() if subset.startswith(f"{average.column}=")]
        if groups and (PRECISION, name) in by_name:
            rounded = groups if average.decimals is None else [round(one, average.decimals) for one in groups]
            values[name] = math.fsum(rounded) / len(rounded)
    for subset, value in values.items():
        score = by_name[PRECISION, subset]
        yield Score(F1, subset, None, value, score.queries_expected, score.queries_answered)
