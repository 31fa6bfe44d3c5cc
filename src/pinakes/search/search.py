"""The nearest papers of a corpus to a text, or to a paper of it, by a lexical index or by vectors.

Filtered, a search gives as many papers as pass, k at most: where terms or an approximate index find fewer,
the rest is ranked exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError
from pinakes.indexers.lexical import Ids, Ranked, TieOrder, check_k, positions_of, trec_tie_order
from pinakes.indexers.names import EXACT
from pinakes.queries.relations import read_template
from pinakes.queries.sentence_relations import ABSTRACT
from pinakes.schema import corpora, papers, sentences
from pinakes.search.filter import PaperFilter, find_pool
from pinakes.search.found import Found
from pinakes.search.held_papers import read_tie_ranks
from pinakes.systems.base import CorpusQuery, System, SystemOptions, note_stored
from pinakes.systems.registry import find_system, require_ability
from pinakes.workload.benchmark import find_index_folder
from pinakes.workload.readers import SEARCH
from pinakes.workload.scope import PAPER_TEMPLATE, CorpusScope, open_corpus
from pinakes.workload.templates import find_own_templates

IDS_AT_ONCE: Final = 2_000


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
    system, scope = find_searched(database, request)
    pool = find_pool(database, scope.corpus, request.wanted)
    ties = order_by_source_id(database, scope.corpus)
    if request.paper is None:
        query = CorpusQuery(scope, request.text, request.k, pool, ties)
        return _describe(database, system.search(database, query))
    requested = read_requested_paper(database, scope.corpus, request.paper, request.sentences)
    # One more than is requested: the paper itself is mostly the nearest.
    query = CorpusQuery(scope, requested.text, request.k + 1, pool, ties, by_paper=True)
    return _describe(database, _leave_out(system.search(database, query), requested.paper_id, request.k))


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


def find_searched(database: Database, request: SearchRequest) -> tuple[System, CorpusScope]:
    """The system that searches, and the corpus as it reads it.

    Raises:
        UnknownNameError: no such corpus, system or template.
        InputError: the system cannot search, or not through what is asked for.
    """
    options = replace(request.options or SystemOptions(find_index_folder(database)), own_format=SEARCH)
    template = request.paper_template or find_own_templates(request.system, options.choice)[1]
    scope = open_corpus(database, request.corpus, template)
    system = find_system(request.system, note_stored(database, options))
    require_ability(system, "search")
    if options.through != EXACT:
        require_ability(system, "search_through")
    return system, scope


def order_by_source_id(database: Database, corpus: str) -> TieOrder:
    """trec_eval's order; a few papers' source ids are asked for by id, many are read with the corpus."""

    def order(paper_ids: Ids) -> Ids:
        with database.read() as session:
            if len(paper_ids) > IDS_AT_ONCE:
                ids, ranks = read_tie_ranks(session, corpus)
                return ranks[positions_of(paper_ids, ids, "the corpus")]
            columns = sa.select(papers.c.paper_id, papers.c.source_id)
            found = session.fetch_arrow(columns.where(papers.c.paper_id.in_(paper_ids.tolist())))
        source_ids = dict(zip(found["paper_id"].to_pylist(), found["source_id"].to_pylist(), strict=True))
        return trec_tie_order(source_ids)(paper_ids)

    return order


@dataclass(frozen=True, slots=True)
class RequestedPaper:
    """A paper, and the text to search by."""

    paper_id: int
    text: str


def read_requested_paper(
    database: Database, corpus: str, source_id: str, positions: Sequence[int] = ()
) -> RequestedPaper:
    """The paper with its title and abstract; with positions, with these sentences, in the abstract's order.

    `positions` are those of sentences in the abstract, from 1.

    Raises:
        InputError: the corpus has no such paper, its abstract no such sentence, or there is no text.
    """
    text = read_template("papers", PAPER_TEMPLATE)
    of_corpus = papers.join(corpora, papers.c.corpus_id == corpora.c.corpus_id)
    chosen = (corpora.c.name == corpus, papers.c.source_id == source_id)
    with database.read() as session:
        row = session.first(sa.select(papers.c.paper_id, text).select_from(of_corpus).where(*chosen))
        if row is None:
            raise InputError(f"{corpus} holds no paper {source_id!r}; expected the source's own id of one.")
        requested = RequestedPaper(int(row["paper_id"]), str(row["text"]))
        if positions:
            requested = RequestedPaper(
                requested.paper_id, _join_sentences(session, requested.paper_id, source_id, positions)
            )
    if not requested.text.strip():
        raise InputError(f"the paper {source_id} has no text to search by.")
    return requested


def _join_sentences(session: Session, paper_id: int, source_id: str, positions: Sequence[int]) -> str:
    of_abstract = (sentences.c.paper_id == paper_id, sentences.c.section_number == ABSTRACT)
    columns = (sentences.c.position, sentences.c.text)
    rows = session.rows(sa.select(*columns).where(*of_abstract).order_by(sentences.c.position))
    held = {int(row["position"]): str(row["text"]) for row in rows}
    unknown = sorted(set(positions) - held.keys())
    if unknown:
        listed = ", ".join(map(str, held)) or "none: it was not split into sentences when it was loaded"
        raise InputError(f"the abstract of {source_id} has no sentence {unknown[0]}; it has {listed}.")
    return " ".join(held[position] for position in sorted(set(positions)))


def _describe(database: Database, ranked: Ranked) -> list[Found]:
    columns = (papers.c.paper_id, papers.c.source_id, papers.c.title, papers.c.year)
    with database.read() as session:
        chosen = sa.select(*columns).where(papers.c.paper_id.in_(ranked.paper_ids.tolist()))
        known: dict[int, dict[str, Any]] = {row["paper_id"]: row for row in session.rows(chosen)}
    return [
        Found(rank, float(score), **known[int(paper_id)])
        for rank, (paper_id, score) in enumerate(zip(*ranked, strict=True), start=1)
    ]
