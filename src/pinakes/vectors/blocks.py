"""Vectors out of the database for an exact search: block by block, each with the rows that it is of.

The database hands vectors out in no order, since sorting millions of them would cost more than comparing
them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.errors import RunError
from pinakes.indexers.exact.search import Block
from pinakes.indexers.lexical import positions_of
from pinakes.queries.relations import select_candidate_texts, select_corpus_texts
from pinakes.schema import papers
from pinakes.vectors.stored import stream_documents
from pinakes.workload.scope import CorpusScope
from pinakes.workload.workload import Ids, Workload


class CandidateBlocks:
    """The vectors of a workload's candidates that have a text.

    Attributes:
        rows: the rows of `workload.paper_ids` that are searched, ascending.
        ties: the rank of each among equal scores.
    """

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self.rows = np.flatnonzero(workload.has_text)
        self.ties = workload.tie_order[self.rows]

    def read(self, session: Session, tables: list[sa.Table]) -> Iterator[Block]:
        """Read each candidate's vector once."""
        texts = select_candidate_texts(self._workload.benchmark, self._workload.paper_template)
        return _read(session, texts, tables, self._workload.paper_ids[self.rows], whole=True)


class CorpusBlocks:
    """The vectors of a corpus's papers that have a text, or of those of a pool (ascending ids).

    Attributes:
        paper_ids: the papers that are searched, ascending.
        ties: the rank of each among equal scores: source ids byte-wise descending.
    """

    def __init__(self, session: Session, scope: CorpusScope, pool: Ids | None) -> None:
        self._texts = select_corpus_texts(scope.corpus, scope.paper_template)
        ranked = session.fetch_arrow(_select_ranks(self._texts))
        ids, ranks = (ranked[name].to_numpy().astype(np.int64) for name in ("paper_id", "tie_rank"))
        chosen = slice(None) if pool is None else np.isin(ids, pool)
        self.paper_ids, self.ties = ids[chosen], ranks[chosen]

    def read(self, session: Session, tables: list[sa.Table]) -> Iterator[Block]:
        """Read each vector once."""
        return _read(session, self._texts, tables, self.paper_ids, whole=False)


def _read(
    session: Session, texts: sa.Select[Any], tables: list[sa.Table], paper_ids: Ids, *, whole: bool
) -> Iterator[Block]:
    """The vectors of `paper_ids` (ascending), each once; `whole`: the texts are of no other papers."""
    count = 0
    for ids, vectors in stream_documents(session, texts, tables):
        if not whole:
            wanted = np.isin(ids, paper_ids)
            ids, vectors = ids[wanted], vectors[wanted]
        count += len(ids)
        yield Block(positions_of(ids, paper_ids, "the papers as they were read before"), vectors)
    if count != len(paper_ids):
        raise RunError("the database changed while its vectors were read; start again.")


def _select_ranks(texts: sa.Select[Any]) -> sa.Select[Any]:
    """paper_id and the rank of its source id, for the papers with a text, by paper_id."""
    rank = sa.func.row_number().over(order_by=papers.c.source_id.desc()).label("tie_rank")
    inner = texts.add_columns(rank).order_by(None).subquery("texts")
    chosen = inner.c.text != ""
    return sa.select(inner.c.paper_id, inner.c.tie_rank).where(chosen).order_by(inner.c.paper_id)
