"""What a run ranks: the queries and candidates of a benchmark, with the texts that decide the ranking.

Leaves out: scores. `Workload.digest` is the same on both databases, whatever ids of ours the papers have.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError
from pinakes.pipeline.scope import CorpusScope
from pinakes.queries.definition import Benchmark
from pinakes.queries.relations import select_candidate_texts, select_candidates, select_queries
from pinakes.schema import papers

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Queries and candidates, ready to rank.

    Attributes:
        query_ids, query_texts: the queries, by id; a text may be empty.
        paper_ids: every candidate of any query, ascending (n,).
        source_ids: the source's id of each, in that order.
        tie_order: the rank of each among equal scores, lowest first: source ids byte-wise descending (n,).
        has_text: whether a candidate has a text to rank by (n,).
        pools: query id -> rows of `paper_ids` that are its candidates; None: all of them, for every query.
        digest: sha256 over ids, texts and pools.
    """

    benchmark: Benchmark
    query_template: str
    paper_template: str
    query_ids: list[str]
    query_texts: list[str]
    paper_ids: Ids
    source_ids: list[str]
    tie_order: Ids
    has_text: NDArray[np.bool_]
    pools: Mapping[str, Ids] | None
    digest: str

    @property
    def candidates_owed(self) -> int:
        """(query, candidate) pairs; the candidates themselves where the pool is shared."""
        return len(self.paper_ids) if self.pools is None else sum(map(len, self.pools.values()))

    @property
    def scope(self) -> CorpusScope:
        """The corpus of the candidates, read as they are."""
        return CorpusScope(self.benchmark.corpus, self.paper_template, self.benchmark.name)


def read_workload(
    database: Database,
    benchmark: Benchmark,
    query_template: str | None = None,
    paper_template: str | None = None,
) -> Workload:
    """The queries and candidates of an installed benchmark.

    Raises:
        BenchmarkError: the corpus is not loaded, or a view gives what it must not.
    """
    with database.read() as session:
        # Sorted here too: an id that a view computes may have a collation of the database's own.
        queries = _sort(session.fetch_arrow(select_queries(benchmark, query_template)))
        candidates = _sort(session.fetch_arrow(select_candidates(benchmark)))
        texts = session.fetch_arrow(_with_digest(select_candidate_texts(benchmark, paper_template)))
        _require_rows(session, benchmark, queries, candidates)
    query_ids, query_texts = queries["query_id"].to_pylist(), queries["text"].to_pylist()
    _require_distinct(benchmark, query_ids)
    paper_ids, source_ids = _read_papers(candidates)
    if benchmark.pool == "shared" and len(paper_ids) != candidates.num_rows:
        raise BenchmarkError(f"the view {benchmark.name}.candidates gives a paper twice; expected each once.")
    digests = texts["text_digest"].to_pylist()
    return Workload(
        benchmark=benchmark,
        query_template=query_template or benchmark.query_template,
        paper_template=paper_template or benchmark.paper_template,
        query_ids=query_ids,
        query_texts=query_texts,
        paper_ids=paper_ids,
        source_ids=source_ids,
        tie_order=_order_ties(source_ids),
        has_text=np.asarray(texts["has_text"].to_pylist(), dtype=bool),
        pools=None
        if benchmark.pool == "shared"
        else _read_pools(benchmark, candidates, query_ids, paper_ids),
        digest=_digest(query_ids, query_texts, source_ids, digests, candidates),
    )


def _with_digest(texts: sa.Select[tuple[int, str]]) -> sa.Select[tuple[int, str, bool]]:
    inner = texts.order_by(None).subquery("texts")
    digest = sa.func.md5(inner.c.text).label("text_digest")
    return sa.select(inner.c.paper_id, digest, (inner.c.text != "").label("has_text")).order_by(
        inner.c.paper_id
    )


def _sort(rows: pa.Table) -> pa.Table:
    keys = [name for name in ("query_id", "paper_id") if name in rows.column_names]
    return rows.sort_by([(name, "ascending") for name in keys])


def _require_rows(session: Session, benchmark: Benchmark, queries: pa.Table, candidates: pa.Table) -> None:
    if queries.num_rows and candidates.num_rows:
        return
    known = session.scalar(sa.select(sa.func.count()).select_from(papers))
    missing = "queries" if not queries.num_rows else "candidates"
    raise BenchmarkError(
        f"the benchmark {benchmark.name} has no {missing} in this database ({known} papers in all); load its "
        f"corpus {benchmark.corpus} first, with `pinakes load`."
    )


def _require_distinct(benchmark: Benchmark, query_ids: list[str]) -> None:
    if None in query_ids:
        raise BenchmarkError(f"the view {benchmark.name}.queries gives a query_id that is null.")
    if len(set(query_ids)) != len(query_ids):
        raise BenchmarkError(f"the view {benchmark.name}.queries gives a query_id twice; expected each once.")


def _read_papers(candidates: pa.Table) -> tuple[Ids, list[str]]:
    ids = candidates["paper_id"].to_numpy().astype(np.int64)
    distinct, first = np.unique(ids, return_index=True)
    return distinct, candidates["source_id"].take(pa.array(first)).to_pylist()


def _order_ties(source_ids: list[str]) -> Ids:
    """The rank of each id when they are sorted byte-wise descending: trec_eval's order among equal scores.

    >>> _order_ties(["a", "c", "b"]).tolist()
    [2, 0, 1]
    """
    descending = sorted(range(len(source_ids)), key=lambda row: source_ids[row].encode(), reverse=True)
    ranks = np.empty(len(source_ids), dtype=np.int64)
    ranks[descending] = np.arange(len(source_ids))
    return ranks


def _read_pools(
    benchmark: Benchmark, candidates: pa.Table, query_ids: Iterable[str], paper_ids: Ids
) -> dict[str, Ids]:
    owners = candidates["query_id"].to_numpy(zero_copy_only=False)
    rows = np.searchsorted(paper_ids, candidates["paper_id"].to_numpy())
    distinct, first = np.unique(owners, return_index=True)
    ends = [*first[1:].tolist(), len(owners)]
    pools = {str(owner): rows[start:end] for owner, start, end in zip(distinct, first, ends, strict=True)}
    for query_id, pool in pools.items():
        if len(np.unique(pool)) != len(pool):
            raise BenchmarkError(
                f"the view {benchmark.name}.candidates gives query {query_id} a paper twice."
            )
    unknown = sorted(pools.keys() - set(query_ids))
    if unknown:
        raise BenchmarkError(
            f"{benchmark.name}.candidates has a pool for {unknown[0]}, which {benchmark.name}.queries lacks."
        )
    empty = [query_id for query_id in query_ids if query_id not in pools]
    if empty:
        raise BenchmarkError(f"{len(empty)} queries of {benchmark.name} have no candidate, as {empty[0]}.")
    return pools


def _digest(
    query_ids: list[str],
    query_texts: list[str],
    source_ids: list[str],
    digests: list[str],
    candidates: pa.Table,
) -> str:
    digest = hashlib.sha256()
    for columns in (zip(query_ids, query_texts, strict=True), sorted(zip(source_ids, digests, strict=True))):
        for row in columns:
            digest.update("\0".join(row).encode("utf-8", "surrogatepass") + b"\n")
    if "query_id" in candidates.column_names:
        pairs = zip(candidates["query_id"].to_pylist(), candidates["source_id"].to_pylist(), strict=True)
        digest.update("\n".join("\0".join(pair) for pair in sorted(pairs)).encode())
    return digest.hexdigest()
