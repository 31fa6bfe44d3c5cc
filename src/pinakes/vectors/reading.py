"""Stored vectors out of the database: of queries at once, of papers in blocks for an exact search.

The database hands vectors out in no order, since sorting millions of them would cost more than comparing
them; with several tables a text's vector is the mean of its vectors in each.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import RunError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.exact.search import Block
from pinakes.indexers.lexical import positions_of
from pinakes.matrices import to_matrix
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import select_candidate_texts, select_corpus_texts, select_queries
from pinakes.schema import papers
from pinakes.vectors.remembered import remember_table
from pinakes.vectors.stored import PrefixedVectors, add_prefix, digest_of
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.scope import CorpusScope
from pinakes.workload.workload import Ids, Workload

BLOCK_ROWS: Final = 16_384


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

    def read(self, session: Session, tables: Sequence[PrefixedVectors]) -> Iterator[Block]:
        """Read each candidate's vector once."""
        texts = select_candidate_texts(self._workload.benchmark, self._workload.paper_template)
        return _read_blocks(session, texts, tables, self._workload.paper_ids[self.rows], whole=True)


def read_vectors(
    session: Session, texts: PaperTexts, tables: Sequence[PrefixedVectors]
) -> tuple[NDArray[np.intp], Vectors]:
    """The rows of `texts.paper_ids` that have a text, ascending, and their vectors (one for each row)."""
    rows = np.flatnonzero(texts.has_text)
    found: Vectors | None = None
    blocks = _read_blocks(session, texts.select_paper_texts(), tables, texts.paper_ids[rows], whole=True)
    for places, vectors in blocks:
        if found is None:
            found = np.empty((len(rows), vectors.shape[1]), dtype=np.float32)
        found[places] = vectors
    return rows, np.empty((0, 0), dtype=np.float32) if found is None else found


class CorpusBlocks:
    """The vectors of a corpus's papers that have a text, or of those of a pool (ascending ids).

    Which papers these are, and which vectors are theirs, is remembered in `folder` until the database
    changes.

    Attributes:
        paper_ids: the papers that are searched, ascending.
        ties: the rank of each among equal scores: source ids byte-wise descending.
    """

    def __init__(
        self,
        database: Database,
        folder: Path,
        scope: CorpusScope,
        tables: Sequence[PrefixedVectors],
        pool: Ids | None,
    ) -> None:
        self._texts = select_corpus_texts(scope.corpus, scope.paper_template)
        self._tables = tables
        # To stage digests would cost Postgres a copy; there the vectors are found by the texts themselves.
        self._knows_digests = database.backend.stages_in_place
        found = _select_searched(self._texts, tables if self._knows_digests else ())

        def find() -> pa.Table:
            with database.read() as session:
                return session.fetch_arrow(found)

        question = {"searched": str(found.compile(compile_kwargs={"literal_binds": True}))}
        searched = remember_table(database, folder, question, find)
        if pool is not None:
            searched = searched.filter(np.isin(searched["paper_id"].to_numpy(), pool))
        self._searched = searched
        self.paper_ids, self.ties = (
            searched[name].to_numpy().astype(np.int64) for name in ("paper_id", "tie_rank")
        )

    def read(self, session: Session) -> Iterator[Block]:
        """Read each vector once."""
        if self._knows_digests:
            return self._read_by_digests(session)
        return _read_blocks(session, self._texts, self._tables, self.paper_ids, whole=False)

    def _read_by_digests(self, session: Session) -> Iterator[Block]:
        digests = [f"digest_{number}" for number in range(len(self._tables))]
        staged = self._searched.select(digests).append_column("row", pa.array(np.arange(len(self.paper_ids))))
        searched = sa.table("searched_texts", *(sa.column(name) for name in staged.column_names))
        keys = [sa.cast(searched.c[name], sa.Uuid) for name in digests]
        row = sa.type_coerce(searched.c.row, sa.BigInteger).label("row")
        select = _select_vectors(searched, row, keys, self._tables)
        count = 0
        with session.staged({searched.name: staged}):
            for part in session.stream_vectors(select, rows=BLOCK_ROWS):
                count += part.num_rows
                yield Block(part["row"].to_numpy(), _mean_columns(part, len(self._tables)))
        _require_all(count, self.paper_ids)


def _read_blocks(
    session: Session, texts: sa.Select[Any], tables: Sequence[PrefixedVectors], paper_ids: Ids, *, whole: bool
) -> Iterator[Block]:
    """The vectors of `paper_ids` (ascending), each once; `whole`: the texts are of no other papers.

    Until it is exhausted the session serves nothing else.
    """
    of_text = texts.order_by(None).subquery("texts")
    count = 0
    for part in session.stream_vectors(_join_vectors(of_text, of_text.c.paper_id, tables), rows=BLOCK_ROWS):
        ids, vectors = part["paper_id"].to_numpy().astype(np.int64), _mean_columns(part, len(tables))
        if not whole:
            requested = np.isin(ids, paper_ids)
            ids, vectors = ids[requested], vectors[requested]
        count += len(ids)
        yield Block(positions_of(ids, paper_ids, "the papers as they were read before"), vectors)
    _require_all(count, paper_ids)


def _require_all(count: int, paper_ids: Ids) -> None:
    if count != len(paper_ids):
        raise RunError("the database changed while its vectors were read; start again.")


def _select_searched(texts: sa.Select[Any], tables: Sequence[PrefixedVectors]) -> sa.Select[Any]:
    """paper_id, the rank of its source id and the digest of its text for each table, where there is a text.

    By paper_id.
    """
    rank = sa.func.row_number().over(order_by=papers.c.source_id.desc()).label("tie_rank")
    inner = texts.add_columns(rank).order_by(None).subquery("texts")
    digests = [
        digest_of(add_prefix(inner.c.text, one.prefix)).element.label(f"digest_{number}")
        for number, one in enumerate(tables)
    ]
    chosen = inner.c.text != ""
    return sa.select(inner.c.paper_id, inner.c.tie_rank, *digests).where(chosen).order_by(inner.c.paper_id)


def fetch_queries(
    session: Session, workload: Workload, tables: Sequence[PrefixedVectors]
) -> tuple[list[int], Vectors]:
    """Positions in `workload.query_ids` of the queries that have a vector, ascending, and the vectors."""
    texts = select_queries(workload.benchmark, workload.query_template).order_by(None).subquery("texts")
    found = session.fetch_arrow(_join_vectors(texts, texts.c.query_id, tables))
    position = {query_id: number for number, query_id in enumerate(workload.query_ids)}
    positions = np.array([position[query_id] for query_id in found["query_id"].to_pylist()], dtype=np.int64)
    order = np.argsort(positions)
    return positions[order].tolist(), _mean_columns(found, len(tables))[order]


def fetch_distinct_queries(
    session: Session, workload: Workload, tables: Sequence[PrefixedVectors]
) -> tuple[dict[str, int], Vectors]:
    """The vectors of the distinct, non-empty texts of the queries, and which row each text's is."""
    requested = (
        select_queries(workload.benchmark, workload.query_template).order_by(None).subquery("requested")
    )
    first = sa.func.min(requested.c.query_id).label("query_id")
    texts = sa.select(first, requested.c.text).group_by(requested.c.text).subquery("texts")
    found = session.fetch_arrow(_join_vectors(texts, texts.c.query_id, tables))
    said = dict(zip(workload.query_ids, workload.query_texts, strict=True))
    rows = {said[query_id]: row for row, query_id in enumerate(found["query_id"].to_pylist())}
    return rows, _mean_columns(found, len(tables))


def _join_vectors(
    texts: sa.Subquery, key: sa.ColumnElement[Any], tables: Sequence[PrefixedVectors]
) -> sa.Select[Any]:
    digests = [digest_of(add_prefix(texts.c.text, one.prefix)).element for one in tables]
    return _select_vectors(texts, key, digests, tables).where(texts.c.text != "")


def _select_vectors(
    source: sa.FromClause,
    key: sa.ColumnElement[Any],
    digests: Sequence[sa.ColumnElement[Any]],
    tables: Sequence[PrefixedVectors],
) -> sa.Select[Any]:
    """The key and `embedding_0`, …: of each table the vector of its digest."""
    aliases = [one.table.alias(f"vectors_{number}") for number, one in enumerate(tables)]
    joined = source
    for alias, digest in zip(aliases, digests, strict=True):
        joined = joined.join(alias, alias.c.text_digest == digest)
    columns = [alias.c.embedding.label(f"embedding_{number}") for number, alias in enumerate(aliases)]
    return sa.select(key, *columns).select_from(joined)


def _mean_columns(part: pa.Table, count: int) -> Vectors:
    matrices = [to_matrix(part[f"embedding_{number}"]) for number in range(count)]
    return matrices[0] if count == 1 else mean_vectors(matrices)


def reload_vectors(benchmark: Benchmark, vectors: Vectors) -> Vectors:
    """The vectors; in the mode `published` at the precision that the published code reads them back with."""
    if benchmark.mode == "published" and benchmark.reloaded_as == "fp16":
        return vectors.astype(np.float16).astype(np.float32)
    return vectors


def mean_vectors(matrices: Sequence[Vectors]) -> Vectors:
    """The mean of vectors of several encoders, row by row, added in float64 in the order given.

    >>> mean_vectors([np.float32([[1, 2]]), np.float32([[3, 6]])])
    array([[2., 4.]], dtype=float32)
    """
    total = np.zeros(matrices[0].shape, dtype=np.float64)
    for matrix in matrices:
        total += matrix
    mean: Vectors = (total / len(matrices)).astype(np.float32)
    return mean
