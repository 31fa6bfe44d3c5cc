"""What a run ranks: the queries and candidates of a benchmark, with the texts that decide the ranking.

Queries of the folds that are for tuning alone are left out, with the pools that only they have.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import BenchmarkError
from pinakes.queries.definition import Benchmark, require_task
from pinakes.queries.relations import select_candidate_texts, select_queries
from pinakes.queries.tasks import RANKING
from pinakes.schema import papers
from pinakes.workload.digest import digest_workload, order_ties, renumber_ranks
from pinakes.workload.pools import read_pools
from pinakes.workload.scope import CorpusScope

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Queries and candidates, ready to rank.

    Attributes:
        query_ids, query_texts: the queries, by id; a text may be empty.
        paper_ids: every candidate of any query, ascending (n,).
        source_ids: the source's id of each, in that order (n,), Python strings.
        tie_order: the rank of each among equal scores, lowest first: source ids byte-wise descending (n,).
        has_text: whether a candidate has a text to rank by (n,).
        pools: query id -> rows of `paper_ids` that are its candidates; None: all of them, for every query, or
            those of `groups`.
        digest: sha256 over ids, texts and pools.
        groups: pool -> rows of `paper_ids`, ascending; None unless the benchmark's pools are grouped.
        query_pools: the pool of each query; None as `groups` is.
        query_rows: the row of each query's own paper in `paper_ids`, -1 where it is no candidate; None as
            `groups` is. It is in no ranking of the query.
    """

    benchmark: Benchmark
    query_template: str
    paper_template: str
    query_ids: list[str]
    query_texts: list[str]
    paper_ids: Ids
    source_ids: NDArray[np.object_]
    tie_order: Ids
    has_text: NDArray[np.bool_]
    pools: Mapping[str, Ids] | None
    digest: str
    groups: Mapping[str, Ids] | None = None
    query_pools: list[str] | None = None
    query_rows: Ids | None = None

    @property
    def queries_expected(self) -> int:
        """How many queries are to be ranked for."""
        return len(self.query_ids)

    @property
    def candidates_expected(self) -> int:
        """(query, candidate) pairs; the candidates themselves where pools are shared, each pool once."""
        return sum(len(rows) for rows in self._expected())

    @property
    def candidates_without_text(self) -> int:
        """Of the candidates expected, how many have no text to rank by."""
        return sum(len(rows) - int(self.has_text[rows].sum()) for rows in self._expected())

    def _expected(self) -> Iterator[Ids]:
        if self.groups is None and self.pools is None:
            yield np.arange(len(self.paper_ids))
        else:
            yield from (self.groups or self.pools or {}).values()

    def pool_of(self, position: int) -> Ids:
        """The rows of `paper_ids`, ascending, that are candidates of the query at a position."""
        if self.groups is not None and self.query_pools is not None:
            return self.groups[self.query_pools[position]]
        return np.arange(len(self.paper_ids)) if self.pools is None else self.pools[self.query_ids[position]]

    @property
    def scope(self) -> CorpusScope:
        """The corpus of the candidates, read as they are."""
        return CorpusScope(self.benchmark.corpus, self.paper_template, self.benchmark.name)

    def select_query_texts(self) -> sa.Select[Any] | None:
        """A select whose column `text` has every text that a query asks with."""
        return select_queries(self.benchmark, self.query_template)

    def select_paper_texts(self) -> sa.Select[Any]:
        """paper_id and text of every candidate, by paper_id."""
        return select_candidate_texts(self.benchmark, self.paper_template)

    def parts(self) -> Iterator["WorkloadPart"]:
        """Each pool of a grouped workload with its queries, as a workload of one shared pool; by name."""
        requested: dict[str, list[int]] = {pool: [] for pool in self.groups or {}}
        for position, pool in enumerate(self.query_pools or ()):
            requested[pool].append(position)
        for pool, rows in sorted((self.groups or {}).items()):
            yield WorkloadPart(
                pool, self._cut(pool, rows, requested[pool]), rows, np.array(requested[pool], np.int64)
            )

    def _cut(self, pool: str, rows: Ids, queries: list[int]) -> "Workload":
        return replace(
            self,
            benchmark=replace(self.benchmark, pool="shared", part=pool),
            query_ids=[self.query_ids[position] for position in queries],
            query_texts=[self.query_texts[position] for position in queries],
            paper_ids=self.paper_ids[rows],
            source_ids=self.source_ids[rows],
            tie_order=renumber_ranks(self.tie_order[rows], len(self.paper_ids)),
            has_text=self.has_text[rows],
            groups=None,
            query_pools=None,
            query_rows=None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class WorkloadPart:
    """One pool of a grouped workload.

    Attributes:
        pool: its name.
        workload: its candidates and the queries that name it, as a workload of one shared pool; the digest is
            that of the whole.
        rows: rows of the whole's `paper_ids` that its own are.
        queries: positions in the whole's `query_ids` that its own have.
    """

    pool: str
    workload: Workload
    rows: Ids
    queries: Ids


def read_workload(
    database: Database,
    benchmark: Benchmark,
    query_template: str | None = None,
    paper_template: str | None = None,
    *,
    tuning: bool = False,
) -> Workload:
    """The queries and candidates of an installed benchmark, read with the templates or its folder's.

    With `tuning`, the queries of its `tuning_folds` alone; a benchmark without such folds has them all.

    Raises:
        BenchmarkError: the benchmark does not ask for rankings, the corpus is not loaded, it is not sampled
            yet, or a view gives what it must not.
    """
    require_task(benchmark, RANKING)
    benchmark = replace(benchmark, tuning=tuning)
    _require_sampled(benchmark)
    with database.read() as session:
        queries = _read_queries(session, benchmark, query_template)
        listed = read_papers(session, select_candidate_texts(benchmark, paper_template))
        _require_rows(session, benchmark, queries, listed)
        paper_ids = listed["paper_id"].to_numpy().astype(np.int64)
        held = read_pools(session, benchmark, queries, paper_ids)
    tie_order = order_ties(listed["source_id"])
    return Workload(
        benchmark=benchmark,
        query_template=query_template or benchmark.query_template,
        paper_template=paper_template or benchmark.paper_template,
        query_ids=queries["query_id"].to_pylist(),
        query_texts=queries["text"].to_pylist(),
        paper_ids=paper_ids,
        source_ids=listed["source_id"].to_numpy(zero_copy_only=False),
        tie_order=tie_order,
        has_text=listed["has_text"].to_numpy(zero_copy_only=False),
        digest=digest_workload(queries, listed, tie_order, *held),
        pools=held.pools,
        groups=held.groups,
        query_rows=held.query_rows,
        query_pools=queries["pool"].to_pylist() if held.groups is not None else None,
    )


def _require_sampled(benchmark: Benchmark) -> None:
    if benchmark.sampling is None or benchmark.corpus:
        return
    command = "construct" if "from" in benchmark.sampling else "sample"
    corpus = "" if command == "construct" else " --corpus CORPUS"
    raise BenchmarkError(
        f"{benchmark.name} has no queries in this database yet; sample it first with "
        f"`pinakes {command} {benchmark.name}{corpus}`."
    )


def _read_queries(session: Session, benchmark: Benchmark, template: str | None) -> pa.Table:
    # Sorted here too: an id that a view computes may have a collation of the database's own.
    queries = session.fetch_arrow(select_queries(benchmark, template)).sort_by("query_id")
    query_ids = queries["query_id"]
    if query_ids.null_count:
        raise BenchmarkError(f"the view {benchmark.name}.queries gives a query_id that is null.")
    if len(query_ids.unique()) != len(query_ids):
        raise BenchmarkError(f"the view {benchmark.name}.queries gives a query_id twice; expected each once.")
    return queries


def read_papers(session: Session, texts: sa.Select[Any]) -> pa.Table:
    """paper_id, source_id, text_digest and has_text of every paper of a select of texts, by paper_id."""
    inner = texts.add_columns(papers.c.source_id).order_by(None).subquery("texts")
    digest = sa.func.md5(inner.c.text).label("text_digest")
    columns = (inner.c.paper_id, inner.c.source_id, digest, (inner.c.text != "").label("has_text"))
    return session.fetch_arrow(sa.select(*columns).order_by(inner.c.paper_id))


def _require_rows(session: Session, benchmark: Benchmark, queries: pa.Table, listed: pa.Table) -> None:
    if queries.num_rows and listed.num_rows:
        return
    known = session.scalar(sa.select(sa.func.count()).select_from(papers))
    missing = "queries" if not queries.num_rows else "candidates"
    if benchmark.tuning and benchmark.tuning_folds:
        missing += f" of {benchmark.fold_column} {', '.join(sorted(benchmark.tuning_folds))}"
    raise BenchmarkError(
        f"the benchmark {benchmark.name} has no {missing} in this database ({known} papers "
        f"in all); load its corpus {benchmark.corpus} first, with `pinakes load`."
    )
