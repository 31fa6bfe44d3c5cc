"""What a document says about a query: its k best sentences, in its own order.

The query is words, or the abstract of a paper or of a cited work. Nothing of it is syntax.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.indexers.analysis import well_formed
from pinakes.indexers.lexical import check_k
from pinakes.schema import cited_references, corpora
from pinakes.search.documents import SPLITTERS, Document, ScoredSentence, Splitter, Summary
from pinakes.search.papers import clean_id, find_paper, read_paper
from pinakes.search.sentence_scorers import ScorerOptions, find_scorer
from pinakes.search.text_files import read_file
from pinakes.workload.scope import open_corpus

_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """Which document, and what to look for in it.

    Attributes:
        file: a text file; None: the paper of the corpus.
        paper: the source's id of the paper.
        query: any words; empty where `about` says the query.
        about: a paper of the corpus by its source's id, or a cited work by its reference_key; its abstract is
            the query.
        splitter: who says where a sentence ends.
    """

    file: Path | None = None
    corpus: str | None = None
    paper: str | None = None
    query: str = ""
    about: str | None = None
    k: int = 5
    system: str = "tfidf"
    splitter: Splitter = "punkt"
    encoding: str = "utf-8"
    options: ScorerOptions = field(default_factory=ScorerOptions)

    @property
    def needs_database(self) -> bool:
        """Whether anything of it is in the database."""
        return self.file is None or self.about is not None


def summarize(database: Database | None, request: SummaryRequest) -> Summary:
    """The k best sentences of the document; of equal scores the one that comes first.

    A scorer of terms gives no sentence that shares none with the query: fewer than k where fewer do.

    Raises:
        InputError: the request is incomplete, there is no such file, paper or text, or the query has no word.
        UnknownNameError: there is no such encoder.
    """
    check_k(request.k)
    check_request(request)
    scorer = find_scorer(request.system, request.options)
    query = _read_query(database, request)
    document = _read_document(database, request)
    scores = scorer.score(well_formed(query), [well_formed(one.text) for one in document.sentences])
    held = np.flatnonzero(scores > 0) if scorer.by_terms else np.arange(len(scores))
    best = held[np.argsort(-scores[held], kind="stable")[: request.k]]
    chosen = tuple(ScoredSentence(document.sentences[row], float(scores[row])) for row in np.sort(best))
    notes = (document.note, _say_fewer(request.k, len(chosen), len(document.sentences)))
    return Summary(document, query, scorer.name, request.splitter, chosen, tuple(filter(None, notes)))


def _say_fewer(asked: int, found: int, held: int) -> str:
    if found == asked:
        return ""
    if found == held:
        return f"The document has {held} sentences; {asked} were asked for."
    if not found:
        return f"None of {held} sentences shares a term with the query."
    return f"{found} of {held} sentences share a term with the query; {asked} were asked for."


def check_request(request: SummaryRequest) -> None:
    """Raise `InputError` where it is not said, once, what to read and what to look for."""
    if (request.file is None) == (request.paper is None):
        raise InputError("expected either a text file or --paper with --corpus, and not both.")
    if request.needs_database and request.corpus is None:
        raise InputError("--paper and --about are papers of a corpus; name it with --corpus.")
    if bool(request.query) == (request.about is not None):
        raise InputError("expected either --query or --about, and not both.")
    if request.splitter not in SPLITTERS:
        raise InputError(f"there is no splitter {request.splitter!r}; expected {' or '.join(SPLITTERS)}.")


def _read_document(database: Database | None, request: SummaryRequest) -> Document:
    if request.file is not None:
        return read_file(request.file, request.splitter, request.encoding)
    return read_paper(*_require(database, request.corpus), request.paper or "", request.splitter)


def _read_query(database: Database | None, request: SummaryRequest) -> str:
    """The words of the query, its white space collapsed."""
    query = request.query
    if request.about is not None:
        query = read_abstract(*_require(database, request.corpus), request.about)
    if not _WORD.search(query):
        said = f"the abstract of {request.about}" if request.about is not None else f"the query {query!r}"
        raise InputError(f"{said} has no word; expected letters or digits.")
    return " ".join(query.split())


def _require(database: Database | None, corpus: str | None) -> tuple[Database, str]:
    """A database that holds the corpus, and its name."""
    if database is None or corpus is None:
        raise InputError("a paper is read from a database and a corpus of it; both are needed.")
    return database, open_corpus(database, corpus).corpus


def read_abstract(database: Database, corpus: str, key: str) -> str:
    """The abstract of a paper of the corpus, or of a work that its papers cite.

    Raises:
        InputError: neither has that id, or its abstract is missing.
    """
    cited = cited_references.join(corpora, cited_references.c.corpus_id == corpora.c.corpus_id)
    wanted = (corpora.c.name == corpus, cited_references.c.reference_key == clean_id(key))
    with database.read() as session:
        found = find_paper(session, corpus, key) or session.first(
            sa.select(cited_references.c.abstract).select_from(cited).where(*wanted)
        )
    if found is None:
        raise InputError(
            f"{corpus} holds no paper and no cited work {key!r}; expected the source's own id of one."
        )
    if not (found["abstract"] or "").strip():
        raise InputError(f"{key} has no abstract in {corpus}; give the query in words, with --query.")
    return str(found["abstract"])
