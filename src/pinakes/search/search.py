"""The nearest papers of a corpus to a text, or to a paper of it, by a lexical index or by vectors.

Filtered, a search gives as many papers as pass, k at most: where terms or an approximate index find fewer,
the rest is ranked exactly.
"""

from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.indexers.lexical import Ranked, TieOrder, check_k, trec_tie_order
from pinakes.schema import corpora, papers
from pinakes.search.filter import PaperFilter, find_pool
from pinakes.search.query_paper import read_requested_paper
from pinakes.systems import find_system
from pinakes.systems.base import SystemOptions
from pinakes.systems.registry import is_lexical
from pinakes.workload.benchmark import find_index_folder
from pinakes.workload.scope import CorpusScope, open_corpus
from pinakes.workload.templates import find_own_templates

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
        text: any words; none of them is syntax. Empty where a paper is asked with.
        wanted: the papers that the search is about.
        paper: the source's id of the paper to ask with, which is then not found itself; None: the text.
        sentences: positions, from 1, of the sentences of its abstract to ask with; none: title and abstract.
    """

    corpus: str
    text: str = ""
    system: str = "bm25"
    k: int = 10
    wanted: PaperFilter = field(default_factory=PaperFilter)
    paper_template: str | None = None
    options: SystemOptions | None = None
    paper: str | None = None
    sentences: tuple[int, ...] = ()


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
    """The best papers for a text or a paper, score descending, ties by the source's id, byte-wise descending.

    Without a filter a lexical system gives the papers that share a term with the text; with one, min(k,
    papers that pass), where those that share none score 0.

    Raises:
        UnknownNameError: no such corpus, system or template.
        InputError: no paper passes the filter, or there is nothing to ask with, or no such paper or sentence.
        RunError: an index is missing or stale; the message has the command that makes it.
    """
    check_k(request.k)
    _check_requested(request)
    template = request.paper_template or find_own_templates(request.system)[1]
    scope = open_corpus(database, request.corpus, template)
    options = request.options or SystemOptions(find_index_folder(database))
    searcher = _find_searcher(request, options)
    pool = find_pool(database, scope.corpus, request.wanted)
    ties = _tie_order(database, scope.corpus)
    if request.paper is None:
        return _describe(database, searcher.search(database, scope, request.text, request.k, pool, ties))
    requested = read_requested_paper(database, scope.corpus, request.paper, request.sentences)
    # One more than is wanted: the paper itself is mostly the nearest.
    ranked = searcher.search(database, scope, requested.text, request.k + 1, pool, ties)
    return _describe(database, _leave_out(ranked, requested.paper_id, request.k))


def _check_requested(request: SearchRequest) -> None:
    if request.paper is None and request.sentences:
        raise InputError("sentences are of a paper; name it with --paper.")
    if request.paper is not None and request.text:
        raise InputError("expected either a text or a paper to ask with, not both.")
    if request.paper is None and not request.text.strip():
        raise InputError("the text to search for is empty; expected words.")


def _leave_out(ranked: Ranked, paper_id: int, k: int) -> Ranked:
    kept = np.flatnonzero(ranked.paper_ids != paper_id)[:k]
    return Ranked(ranked.paper_ids[kept], ranked.scores[kept])


def _find_searcher(request: SearchRequest, options: SystemOptions) -> Searcher:
    system = find_system(request.system, options)
    if options.through != "exact" and is_lexical(request.system):
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
