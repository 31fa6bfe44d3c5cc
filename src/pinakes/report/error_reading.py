"""Queries with their texts and errors, read from a benchmark's views and the stored hits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from pinakes.database import Session
from pinakes.queries.definition import Benchmark
from pinakes.report.error_data import ErrorCandidate, ErrorQuery, ErrorRun, QuerySentence, Ranked
from pinakes.report.error_selects import (
    FALSE_POSITIVE,
    LOW,
    select_abstract_sentences,
    select_errors,
    select_relevant_counts,
    select_requested,
    select_sources,
)


@dataclass(frozen=True, slots=True)
class ErrorReader:
    """Reads the errors of some runs on some queries of a benchmark, in one session.

    Attributes:
        runs: the one that the queries are ordered by first.
        query_ids: in the order in which they are to be shown.
        values: run id -> query -> value of the headline measure.
    """

    session: Session
    benchmark: Benchmark
    runs: Sequence[ErrorRun]
    query_ids: Sequence[str]
    values: Mapping[int, Mapping[str, float]]

    def read(self, level: int, top: int) -> list[ErrorQuery]:
        """The queries with their errors, in the given order."""
        requested = {
            row["query_id"]: row for row in self._rows(select_requested(self.benchmark, self.query_ids))
        }
        sentences = self._read_sentences()
        candidates = self._read_candidates(level, top)
        counted = self._rows(select_relevant_counts(self.benchmark, self.query_ids, level))
        relevant = {row["query_id"]: row["relevant"] for row in counted}
        return [
            ErrorQuery(
                query_id=query_id,
                groups={name: str(row[name]) for name in self.benchmark.group_by if row[name] is not None},
                values={
                    run_id: of_run[query_id] for run_id, of_run in self.values.items() if query_id in of_run
                },
                relevant=relevant.get(query_id, 0),
                text=row["text"] or "",
                title=row["title"] or "",
                abstract=row["abstract"] or "",
                sentences=tuple(sentences.get(query_id, ())),
                false_positives=self._order_high(candidates.get((query_id, FALSE_POSITIVE), [])),
                low=self._order_low(candidates.get((query_id, LOW), [])),
            )
            for query_id in self.query_ids
            if (row := requested.get(query_id))
        ]

    def _rows(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        return self.session.rows(query)

    def _read_sentences(self) -> dict[str, list[QuerySentence]]:
        found: dict[str, list[QuerySentence]] = {}
        for row in self._rows(select_abstract_sentences(self.benchmark, self.query_ids)):
            sentence = QuerySentence(row["text"], bool(row["is_requested"]))
            found.setdefault(row["query_id"], []).append(sentence)
        return found

    def _read_sources(self) -> dict[tuple[str, int], str]:
        """Query and paper -> what put it into the pool; empty where the view does not say."""
        if self.benchmark.pool != "per_query":
            return {}
        view = sa.table("candidates", schema=self.benchmark.name)
        names = self.session.fetch_arrow(sa.select(sa.text("*")).select_from(view).limit(0)).column_names
        if "source" not in names:
            return {}
        found: dict[tuple[str, int], list[str]] = {}
        for row in self._rows(select_sources(self.benchmark, self.query_ids)):
            found.setdefault((row["query_id"], row["paper_id"]), []).append(row["source"] or "")
        return {key: ", ".join(sorted(set(",".join(several).split(",")))) for key, several in found.items()}

    def _read_candidates(self, level: int, top: int) -> dict[tuple[str, str], list[ErrorCandidate]]:
        """Query and kind -> its candidates, in no order."""
        sources = self._read_sources()
        run_ids = [run.run_id for run in self.runs]
        rows: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
        for row in self._rows(select_errors(self.benchmark, run_ids, self.query_ids, level, top)):
            rows.setdefault((row["query_id"], row["kind"], row["paper_id"]), []).append(row)
        found: dict[tuple[str, str], list[ErrorCandidate]] = {}
        for (query_id, kind, paper_id), of_runs in rows.items():
            first = of_runs[0]
            candidate = ErrorCandidate(
                first["source_id"],
                first["title"] or "",
                first["abstract"] or "",
                first["grade"],
                sources.get((query_id, paper_id), ""),
                {
                    row["run_id"]: Ranked(row["rank"], row["score"])
                    for row in of_runs
                    if row["run_id"] is not None
                },
            )
            found.setdefault((query_id, kind), []).append(candidate)
        return found

    def _order_high(self, candidates: Sequence[ErrorCandidate]) -> tuple[ErrorCandidate, ...]:
        """By the highest rank that a run gives them, then by that of the first run."""

        def key(one: ErrorCandidate) -> tuple[float, list[float], str]:
            ranks = one.find_ranks(self.runs)
            return min(ranks), ranks, one.source_id

        return tuple(sorted(candidates, key=key))

    def _order_low(self, candidates: Sequence[ErrorCandidate]) -> tuple[ErrorCandidate, ...]:
        """By the lowest rank that a run gives them, then the higher grade, then by that of the first run."""

        def key(one: ErrorCandidate) -> tuple[float, int, list[float], str]:
            ranks = [-rank for rank in one.find_ranks(self.runs)]
            return min(ranks), -(one.grade or 0), ranks, one.source_id

        return tuple(sorted(candidates, key=key))
