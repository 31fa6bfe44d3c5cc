"""The queries that parameters are tuned on, and their scores: never those of a benchmark's own scores, where
it can be.

The folds that a benchmark keeps for tuning alone, where it has any; else, in this order: queries of the
corpus that the benchmark leaves out and that a split dev, validation or train judges; the folds of a split of
that name; else the half of the benchmark's queries whose md5 is even, so that the other half stays clean.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError
from pinakes.evaluators.columns import JudgedColumns, RankedColumns
from pinakes.evaluators.evaluate import evaluate_columns
from pinakes.evaluators.registry import parse_measure
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import read_template, relation, select_judgments
from pinakes.records import Judgments
from pinakes.schema import benchmark_queries, corpora, judgments, papers
from pinakes.systems.base import Ranking
from pinakes.workload.workload import Workload

SPLITS: Final = ("dev", "validation", "train")


@dataclass(frozen=True, slots=True)
class ValidationQueries:
    """Query id -> text, their judgments by the source's ids, and in words which queries these are."""

    texts: Mapping[str, str]
    judgments: Judgments
    described: str


def find_validation(database: Database, workload: Workload) -> ValidationQueries:
    """The validation queries of a benchmark; each has a text and a judged paper.

    `workload` is the one that is read with `tuning`.

    Raises:
        BenchmarkError: there is none.
    """
    benchmark = workload.benchmark
    with database.read() as session:
        is_free = workload.pools is None and not benchmark.tuning_folds
        found = (_find_split(session, workload) if is_free else None) or _find_own(session, workload)
    if not found.texts:
        raise BenchmarkError(
            f"{benchmark.name} has no query to tune on: none of {found.described} has a text and a judgment."
        )
    return found


def _find_split(session: Session, workload: Workload) -> ValidationQueries | None:
    """The queries that a split judges and the benchmark does not ask."""
    benchmark = workload.benchmark
    own = relation(benchmark, "queries")
    of_corpus = judgments.join(corpora, judgments.c.corpus_id == corpora.c.corpus_id).join(
        papers, judgments.c.paper_id == papers.c.paper_id
    )
    for split in SPLITS:
        statement = (
            sa.select(judgments.c.query_id, papers.c.source_id, judgments.c.grade)
            .select_from(of_corpus)
            .where(
                corpora.c.name == benchmark.corpus,
                judgments.c.split == split,
                judgments.c.query_id.not_in(sa.select(own.c.query_id)),
            )
            .order_by(judgments.c.query_id, papers.c.source_id, judgments.c.assessor)
        )
        judged = _group(session, statement)
        if judged:
            texts = _read_texts(session, benchmark.corpus, workload.query_template)
            return _keep_both(texts, judged, f"split={split}")
    return None


def _read_texts(session: Session, corpus: str, template: str) -> dict[str, str]:
    queries = benchmark_queries.alias("queries")
    joined = queries.join(corpora, queries.c.corpus_id == corpora.c.corpus_id).outerjoin(
        papers, queries.c.paper_id == papers.c.paper_id
    )
    text = read_template("queries", template)
    statement = sa.select(queries.c.query_id, text).select_from(joined).where(corpora.c.name == corpus)
    return dict(session.stream_rows(statement.order_by(queries.c.query_id)))


def _find_own(session: Session, workload: Workload) -> ValidationQueries:
    """Queries of the workload: those of folds, or half of them."""
    benchmark = workload.benchmark
    texts = dict(zip(workload.query_ids, workload.query_texts, strict=True))
    judged = _group(session, select_judgments(benchmark))
    split = next((name for name in SPLITS if benchmark.splits.get(name)), None)
    if benchmark.tuning_folds:  # the workload holds no other queries
        folds = benchmark.tuning_folds
    elif split is None or benchmark.fold_column is None:
        half = {query_id: text for query_id, text in texts.items() if is_even(query_id)}
        return _keep_both(half, judged, "the half of its queries with an even md5")
    else:
        folds = frozenset().union(*benchmark.splits[split])
        of_fold = _read_folds(session, benchmark)
        texts = {query_id: text for query_id, text in texts.items() if of_fold[query_id] in folds}
    return _keep_both(texts, judged, f"{benchmark.fold_column}={','.join(sorted(folds))}")


def _read_folds(session: Session, benchmark: Benchmark) -> dict[str, str]:
    queries = relation(benchmark, "queries")
    statement = sa.select(queries.c.query_id, queries.c[str(benchmark.fold_column)])
    return {query_id: str(fold) for query_id, fold in session.stream_rows(statement)}


def _group(session: Session, statement: sa.Select[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    """query -> paper -> its highest grade."""
    grouped: dict[str, dict[str, int]] = {}
    for query_id, source_id, grade in session.stream_rows(statement):
        grades = grouped.setdefault(query_id, {})
        grades[source_id] = max(grade, grades.get(source_id, grade))
    return grouped


def _keep_both(
    texts: Mapping[str, str], judged: Mapping[str, Mapping[str, int]], described: str
) -> ValidationQueries:
    requested = sorted(query_id for query_id, text in texts.items() if text and judged.get(query_id))
    return ValidationQueries(
        {query_id: texts[query_id] for query_id in requested},
        {query_id: dict(judged[query_id]) for query_id in requested},
        described,
    )


def is_even(query_id: str) -> bool:
    """Whether the md5 of the id is an even number: half of all ids, the same half everywhere.

    >>> [query_id for query_id in ("1", "2", "3", "4", "5", "6") if is_even(query_id)]
    ['2', '4', '6']
    """
    return int(hashlib.md5(query_id.encode(), usedforsecurity=False).hexdigest(), 16) % 2 == 0


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
        if not ranked:
            return 0.0
        lengths = [len(one.rows) for one in ranked]
        columns = RankedColumns(
            np.repeat([self._positions[one.query_id] for one in ranked], lengths).astype(np.int32),
            self._numbers[np.concatenate([one.rows for one in ranked])].astype(np.int32),
            np.concatenate([one.scores for one in ranked]).astype(np.float32),
        )
        scores = evaluate_columns(columns, self._judged, [self._measure])
        return float(np.sum([one.value for one in scores]))

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
