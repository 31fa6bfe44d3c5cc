"""A free text's nearest papers of a corpus, by a lexical index or by vectors, with a filter that keeps k.

Filtered, a search gives as many papers as pass, k at most: where terms or an approximate index find fewer,
the rest is ranked exactly. Leaves out: benchmarks (`pinakes.pipeline.run`).
"""

from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.indexers.lexical import Ranked, TieOrder, check_k, trec_tie_order
from pinakes.pipeline.benchmarking import find_index_folder
from pinakes.pipeline.paper_filter import PaperFilter, find_pool
from pinakes.pipeline.scope import CorpusScope, open_corpus
from pinakes.pipeline.systems import find_system
from pinakes.pipeline.systems.base import SystemOptions
from pinakes.pipeline.systems.registry import LEXICAL
from pinakes.pipeline.templates import find_own_templates
from pinakes.schema import corpora, papers

Ids = NDArray[np.int64]

IDS_AT_ONCE: Final = 2_000


@runtime_checkable
class Searcher(Protocol):
    """A system that can search a whole corpus for a text."""

    name: str

    def search(
        self,
        database: Database,
        scope: CorpusScope,
        text: str,
        k: int,
        pool: Ids | None,
        tie_order: TieOrder,
    ) -> Ranked:
        """The best `k` papers, of `pool` (ascending ids) where it is given, score descending."""
        ...


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to look for, and where.

    Attributes:
        text: any words; none of them is syntax.
        wanted: the papers that the search is about.
    """

    corpus: str
    text: str
    system: str = "bm25"
    k: int = 10
    wanted: PaperFilter = field(default_factory=PaperFilter)
    paper_template: str | None = None
    options: SystemOptions | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A paper that was found; `rank` 1 is the best."""

    rank: int
    score: float
    source_id: str
    title: str | None
    year: int | None
    paper_id: int


def search(database: Database, request: SearchRequest) -> list[Found]:
    """The best papers for a text, score descending, ties by the source's id, byte-wise descending.

    Without a filter a lexical system gives the papers that share a term with the text; with one, min(k,
    papers that pass), where those that share none score 0.

    Raises:
        UnknownNameError: no such corpus, system or template.
        InputError: no paper passes the filter, or the text is empty.
        RunError: an index is missing or stale; the message has the command that makes it.
    """
    check_k(request.k)
    if not request.text.strip():
        raise InputError("the text to search for is empty; expected words.")
    template = request.paper_template or find_own_templates(request.system)[1]
    scope = open_corpus(database, request.corpus, template)
    options = request.options or SystemOptions(find_index_folder(database))
    searcher = _find_searcher(request, options)
    pool = find_pool(database, scope.corpus, request.wanted)
    ranked = searcher.search(
        database, scope, request.text, request.k, pool, _tie_order(database, scope.corpus)
    )
    return _describe(database, ranked)


def _find_searcher(request: SearchRequest, options: SystemOptions) -> Searcher:
    system = find_system(request.system, options)
    if options.through != "exact" and request.system in LEXICAL:
        raise InputError(f"{request.system} compares no vectors: leave out through={options.through}.")
    if not isinstance(system, Searcher):
        raise InputError(f"{request.system} ranks benchmarks only; search by bm25, tfidf or an encoder.")
    return system


def _tie_order(database: Database, corpus: str) -> TieOrder:
    """trec_eval's order; a few papers' source ids are asked for by id, many are read with the corpus."""

    def order(paper_ids: Ids) -> Ids:
        columns = sa.select(papers.c.paper_id, papers.c.source_id)
        chosen = (
            columns.where(papers.c.paper_id.in_(paper_ids.tolist()))
            if len(paper_ids) <= IDS_AT_ONCE
            else columns.join(corpora, papers.c.corpus_id == corpora.c.corpus_id).where(
                corpora.c.name == corpus
            )
        )
        with database.read() as session:
            found = session.fetch_arrow(chosen)
        source_ids = dict(zip(found["paper_id"].to_pylist(), found["source_id"].to_pylist(), strict=True))
        return trec_tie_order(source_ids)(paper_ids)

    return order


def _describe(database: Database, ranked: Ranked) -> list[Found]:
    columns = (papers.c.paper_id, papers.c.source_id, papers.c.title, papers.c.year)
    with database.read() as session:
        chosen = sa.select(*columns).where(papers.c.paper_id.in_(ranked.paper_ids.tolist()))
        known: dict[int, dict[str, Any]] = {row["paper_id"]: row for row in session.rows(chosen)}
    return [
        Found(rank, float(score), **known[int(paper_id)])
        for rank, (paper_id, score) in enumerate(zip(*ranked, strict=True), start=1)
    ]
