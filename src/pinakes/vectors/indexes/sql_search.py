"""Nearest papers of a corpus by SQL: exactly on both databases, through pgvector's HNSW index on Postgres.

SQL gives candidates; they are scored again (`exact_scores`), and an exact search asks for more until no text
that it has not seen can belong, so both databases give the same hits to the bit. A walk through the index
that ends with too few is done again exactly: never fewer than min(k, pool).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, cast

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.database.pgvector_index import HnswSpec, find_hnsw
from pinakes.database.vector_sql import (
    POOL_TABLE,
    allow_temporary_tables,
    largest_length,
    nearest_exact,
    nearest_hnsw,
    use_exact,
    use_hnsw,
)
from pinakes.distinct import find_distinct
from pinakes.errors import RunError
from pinakes.indexers.exact.scores import Vectors, check_vectors, require_distance, score_rows
from pinakes.indexers.faiss.index import Found
from pinakes.indexers.lexical import Ids, Ranked, TieOrder, check_k
from pinakes.indexers.names import Distance
from pinakes.schema import vectors_table
from pinakes.vectors.indexes.base import (
    VectorQuery,
    encoder_in_words,
    require_postgres,
    require_vectors,
    select_text_digests,
)
from pinakes.workload.scope import CorpusScope

EF_SEARCH: Final = 128
EXTRA: Final = 16
MOST_TUPLES: Final = 200_000
WHOLE_TABLE_SHARE: Final = 4
UNIT_ROUNDOFF: Final = 2.0**-24
MODES: Final = ("exact", "hnsw")


def search_by_sql(
    database: Database,
    query: VectorQuery,
    *,
    mode: str = "exact",
    ef_search: int = EF_SEARCH,
    workers: int = 2,
) -> Found:
    """The best papers for each query: min(k, papers of the pool with a text) hits each.

    `mode` is exact (a scan, with parallel workers on Postgres) or hnsw (Postgres alone).

    Raises:
        RunError: a text has no vector, or there is no index of that distance; the message has the command.
        IndexingError: hnsw on DuckDB.
    """
    with open_sql_search(database, query, mode) as search:
        return search.search(query.vectors, query.k, query.tie_order, ef_search=ef_search, workers=workers)


@contextmanager
def open_sql_search(database: Database, query: VectorQuery, mode: str) -> Iterator["SqlSearch"]:
    """A search over one snapshot of the query's corpus and pool."""
    require_distance(query.distance)
    if mode not in MODES:
        raise RunError(f"vectors are searched by {' or '.join(MODES)}, not by {mode!r}")
    if mode == "hnsw":
        require_postgres(database)
    encoder, distance = query.encoder, query.distance
    require_vectors(database, query.scope, encoder)
    table = vectors_table(encoder.name, encoder.dimensions)
    with database.read() as session:
        allow_temporary_tables(session)
        spec = find_hnsw(session, table) if mode == "hnsw" else None
        if mode == "hnsw" and (spec is None or spec.distance != distance):
            raise RunError(
                f"there is no HNSW index of {encoder.name} by {distance} in this database; build it with "
                f"`pinakes index pgvector {encoder_in_words(encoder)} --distance {distance}`."
            )
        yield SqlSearch(session, table, _stage_texts(session, query.scope, query.pool), distance, spec)


def select_numbered_texts(table: sa.Table) -> sa.Subquery:
    """paper_id and text_digest: each text of an encoder as a paper that is numbered from 1, by digest."""
    number = sa.func.row_number().over(order_by=table.c.text_digest)
    return sa.select(number.label("paper_id"), table.c.text_digest).subquery("numbered")


def search_every_text(session: Session, table: sa.Table, spec: HnswSpec) -> "SqlSearch":
    """A search through the index over all texts of an encoder, as `select_numbered_texts` numbers them."""
    papers = _number_texts(session, select_numbered_texts(table), sa.true())
    return SqlSearch(session, table, papers, cast(Distance, spec.distance), spec)


class SqlSearch:
    """Searches over one snapshot. Made by `open_sql_search`, or by `search_every_text`."""

    def __init__(
        self,
        session: Session,
        table: sa.Table,
        papers: tuple[Ids, Ids],
        distance: Distance,
        spec: HnswSpec | None,
    ) -> None:
        self.session, self.table, self.distance, self.spec = session, table, distance, spec
        self._numbers, self._papers = papers
        self._texts = len(find_distinct(self._numbers))
        held = int(session.scalar(sa.select(sa.func.count()).select_from(table)))
        self._whole_table = self._texts * WHOLE_TABLE_SHARE >= held
        self._largest = largest_length(session, table) if distance == "inner_product" else 1.0

    def search(self, queries: Vectors, k: int, tie_order: TieOrder, *, ef_search: int, workers: int) -> Found:
        """As `search_by_sql`."""
        check_k(k)
        checked = check_vectors(queries, "query")
        rankings: list[Ranked | None] = [None] * len(queries)
        if self.spec is not None:
            use_hnsw(self.session, max(ef_search, k + EXTRA), MOST_TUPLES)
            rankings = [self._walk(query, k, tie_order) for query in checked.values]
        short = [number for number, ranked in enumerate(rankings) if ranked is None]
        if short:
            use_exact(self.session, workers)
        for number in short:
            rankings[number] = self._scan(checked.values[number], k, tie_order)
        return Found([ranked for ranked in rankings if ranked is not None], len(short) if self.spec else 0)

    def _walk(self, query: Vectors, k: int, tie_order: TieOrder) -> Ranked | None:
        """What the index finds; None where that is fewer than there are."""
        if self.spec is None:
            return None
        numbers, vectors = nearest_hnsw(self.session, self.table, query, k + EXTRA, self.spec)
        ranked = self._rank(query, numbers, vectors, tie_order)
        if len(ranked.scores) < min(k, len(self._papers)):
            return None
        return Ranked(ranked.paper_ids[:k], ranked.scores[:k])

    def _scan(self, query: Vectors, k: int, tie_order: TieOrder) -> Ranked:
        """What is best, exactly: asked for more until the rest is too far away whatever SQL rounded."""
        limit = k + EXTRA
        while True:
            numbers, vectors, reached = nearest_exact(
                self.session, self.table, query, limit, self.distance, whole_table=self._whole_table
            )
            ranked = self._rank(query, numbers, vectors, tie_order)
            enough = len(ranked.scores) >= k
            if reached is None or (enough and ranked.scores[k - 1] > self._best_unseen(query, reached)):
                return Ranked(ranked.paper_ids[:k], ranked.scores[:k])
            limit *= 4

    def _rank(self, query: Vectors, numbers: list[int], vectors: Vectors, tie_order: TieOrder) -> Ranked:
        """All papers of the texts, best first."""
        found = np.asarray(numbers, dtype=np.int64)
        starts, ends = (np.searchsorted(self._numbers, found, side) for side in ("left", "right"))
        counts = ends - starts
        papers = np.concatenate([self._papers[a:b] for a, b in zip(starts, ends, strict=True)] or [found])
        left, right = check_vectors(query[None, :], "query"), check_vectors(vectors, "document")
        which = np.repeat(np.arange(len(found)), counts)
        scores = score_rows(left, right, np.zeros(len(which), np.int64), which, self.distance)
        order = np.lexsort((tie_order(papers), -scores))
        return Ranked(papers[order], scores[order])

    def _best_unseen(self, query: Vectors, reached: float) -> float:
        """The best score that a text can have which SQL put at `reached` or farther.

        SQL adds up d products in float32, in any order: Higham, Accuracy and Stability, section 3.1.
        """
        slack = 4.0 * (len(query) + 32) * UNIT_ROUNDOFF
        if self.distance == "l2":
            return -reached * (1 - slack) + 1e-30
        if self.distance == "cosine":
            return 1.0 - reached + slack
        length = float(np.linalg.norm(query.astype(np.float64)))
        return -reached + slack * length * self._largest * 1.01


def _stage_texts(session: Session, scope: CorpusScope, pool: Ids | None) -> tuple[Ids, Ids]:
    """Make the table of the texts that may be found; each paper's text number, ascending, and the papers."""
    digests = select_text_digests(scope).order_by(None).subquery("digests")
    if pool is None:
        return _number_texts(session, digests, sa.true())
    # Kept as long as the transaction: the rows are copied.
    with session.staged({"pool_papers": pa.table({"paper_id": find_distinct(pool)})}):
        wanted = sa.table("pool_papers", sa.column("paper_id"))
        return _number_texts(session, digests, digests.c.paper_id.in_(sa.select(wanted.c.paper_id)))


def _number_texts(
    session: Session, digests: sa.Subquery, condition: sa.ColumnElement[bool]
) -> tuple[Ids, Ids]:
    session.execute(
        "CREATE TEMPORARY TABLE pool_members (paper_id BIGINT, text_digest UUID, text_number BIGINT)"
    )
    number = sa.func.dense_rank().over(order_by=digests.c.text_digest)
    chosen = sa.select(digests.c.paper_id, digests.c.text_digest, number).where(condition)
    names = ("paper_id", "text_digest", "text_number")
    members = sa.table("pool_members", *(sa.column(name) for name in names))
    session.execute(sa.insert(members).from_select(names, chosen))
    session.execute(f"CREATE TEMPORARY TABLE {POOL_TABLE} (text_digest UUID, text_number BIGINT)")
    texts = sa.table(POOL_TABLE, *(sa.column(name) for name in names[1:]))
    distinct = sa.select(members.c.text_digest, members.c.text_number).distinct()
    session.execute(sa.insert(texts).from_select(names[1:], distinct))
    session.execute(f"CREATE UNIQUE INDEX {POOL_TABLE}_digest ON {POOL_TABLE} (text_digest)")
    session.execute(f"ANALYZE {POOL_TABLE}")
    ordered = sa.select(members.c.text_number, members.c.paper_id).order_by(
        members.c.text_number, members.c.paper_id
    )
    found = session.fetch_arrow(ordered)
    numbers, papers = (found[name].to_numpy().astype(np.int64) for name in ("text_number", "paper_id"))
    return numbers, papers
