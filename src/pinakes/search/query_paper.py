"""A loaded paper as the query of a search: title and abstract, or chosen sentences of its abstract."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError
from pinakes.queries.relations import read_template
from pinakes.queries.sentence_relations import ABSTRACT
from pinakes.schema import corpora, papers
from pinakes.schema import distinct_sentences as sentences
from pinakes.workload.scope import PAPER_TEMPLATE


@dataclass(frozen=True, slots=True)
class RequestedPaper:
    """A paper, and the text to search by."""

    paper_id: int
    text: str


def read_requested_paper(
    database: Database, corpus: str, source_id: str, positions: Sequence[int] = ()
) -> RequestedPaper:
    """The paper with its title and abstract; with positions, with these sentences, in the abstract's order.

    Args:
        database: where the paper is.
        corpus: the corpus's name.
        source_id: the source's own id of the paper.
        positions: of sentences in the abstract, from 1.

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
