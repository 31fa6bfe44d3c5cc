"""Vectors out of the database for an exact search: block by block, each with what it is the vector of.

The ids and the order among equal scores fill up as blocks are read, because the database hands vectors out
in no order. Leaves out: SQL (`vectors`) and the search (`pinakes.indexers.exact`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.errors import RunError
from pinakes.indexers.lexical import positions_of
from pinakes.pipeline.scope import CorpusScope
from pinakes.pipeline.systems.vectors import (
    Vectors,
    stream_documents,
)
from pinakes.pipeline.workload import Ids, Workload
from pinakes.queries.relations import select_candidate_texts, select_corpus_texts
from pinakes.schema import papers

CHANGED = "the database changed while its vectors were read; start again."


class CandidateBlocks:
    """The vectors of a workload's candidates.

    Attributes:
        rows: the row of `workload.paper_ids` of each vector that was read so far.
        ties: the rank of each among equal scores.
    """

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self.count = int(workload.has_text.sum())
        self.rows = np.zeros(self.count, dtype=np.int64)
        self.ties = np.zeros(self.count, dtype=np.int64)

    def read(self, session: Session, tables: list[sa.Table]) -> Iterator[Vectors]:
        """Read each candidate's vector once; `rows` and `ties` are filled as the blocks come."""
        workload, start = self._workload, 0
        texts = select_candidate_texts(workload.benchmark, workload.paper_template)
        for paper_ids, vectors in stream_documents(session, texts, tables):
            rows = positions_of(paper_ids, workload.paper_ids, "the candidates as they were read before")
            part = slice(start, start + len(rows))
            if part.stop > self.count:
                raise RunError(CHANGED)
            self.rows[part], self.ties[part] = rows, workload.tie_order[rows]
            start = part.stop
            yield vectors
        if start != self.count:
            raise RunError(CHANGED)


class CorpusBlocks:
    """The vectors of a corpus's papers that have a text, or of those of a pool (ascending ids).

    Attributes:
        paper_ids: the paper of each vector that was read so far.
        ties: the rank of each among equal scores: source ids byte-wise descending.
    """

    def __init__(self, session: Session, scope: CorpusScope, pool: Ids | None) -> None:
        self._texts = select_corpus_texts(scope.corpus, scope.paper_template)
        ranked = session.fetch_arrow(_select_ranks(self._texts))
        ids, ranks = (ranked[name].to_numpy().astype(np.int64) for name in ("paper_id", "tie_rank"))
        chosen = slice(None) if pool is None else np.isin(ids, pool)
        self._known_ids, self._known_ranks = ids[chosen], ranks[chosen]
        self.paper_ids = np.zeros_like(self._known_ids)
        self.ties = np.zeros_like(self._known_ids)

    def read(self, session: Session, tables: list[sa.Table]) -> Iterator[Vectors]:
        """Read each vector once; `paper_ids` and `ties` are filled as the blocks come."""
        start, count = 0, len(self._known_ids)
        for ids, vectors in stream_documents(session, self._texts, tables):
            kept = np.isin(ids, self._known_ids)
            places = positions_of(ids[kept], self._known_ids, "the corpus as it was read before")
            part = slice(start, start + len(places))
            if part.stop > count:
                raise RunError(CHANGED)
            self.paper_ids[part], self.ties[part] = ids[kept], self._known_ranks[places]
            start = part.stop
            yield vectors[kept]
        if start != count:
            raise RunError(CHANGED)


def _select_ranks(texts: sa.Select[Any]) -> sa.Select[Any]:
    """paper_id and the rank of its source id, for the papers with a text, by paper_id."""
    rank = sa.func.row_number().over(order_by=papers.c.source_id.desc()).label("tie_rank")
    inner = texts.add_columns(rank).order_by(None).subquery("texts")
    chosen = inner.c.text != ""
    return sa.select(inner.c.paper_id, inner.c.tie_rank).where(chosen).order_by(inner.c.paper_id)
