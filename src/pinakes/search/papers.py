"""A paper of a corpus as a document."""

from typing import Any

import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError
from pinakes.queries.sentence_relations import ABSTRACT
from pinakes.schema import corpora, distinct_sentences, papers, sections
from pinakes.search.documents import Document, Part, Splitter, number_sentences, split_text


def read_paper(database: Database, corpus: str, source_id: str, splitter: Splitter = "punkt") -> Document:
    """The sentences of a paper's full text, in its order; of its abstract where the full text is missing.

    Raises:
        InputError: the corpus has no such paper, or the paper no sentence of that splitter.
    """
    with database.read() as session:
        paper = find_paper(session, corpus, source_id)
        if paper is None:
            raise unknown_paper(corpus, source_id)
        read = _split_sections if splitter == "punkt" else _read_sentences
        parts = read(session, paper, is_abstract=False)
        note = ""
        if not any(texts for _number, _title, texts in parts):
            parts = read(session, paper, is_abstract=True)
            note = f"{source_id} has no full text{_of_source(splitter)}: these are sentences of its abstract."
    document = Document(source_id, paper["title"], tuple(number_sentences(parts)), note)
    if not document.sentences:
        hint = "; --splitter punkt splits its text" if splitter == "source" else ""
        wanted = f"a full text nor an abstract with a sentence{_of_source(splitter)}"
        raise InputError(f"{source_id} has neither {wanted}{hint}.")
    return document


def _of_source(splitter: Splitter) -> str:
    return " that its source splits" if splitter == "source" else ""


def find_paper(session: Session, corpus: str, source_id: str) -> dict[str, Any] | None:
    """paper_id, title and abstract of a paper; None: the corpus holds no such paper."""
    columns = (papers.c.paper_id, papers.c.title, papers.c.abstract)
    of_corpus = papers.join(corpora, papers.c.corpus_id == corpora.c.corpus_id)
    wanted = (corpora.c.name == corpus, papers.c.source_id == clean_id(source_id))
    row = session.first(sa.select(*columns).select_from(of_corpus).where(*wanted))
    return None if row is None else dict(row)


def clean_id(text: str) -> str:
    """An id as the database can be asked for it: with NUL, which Postgres takes in no text, it is none."""
    return text.replace("\0", "\ufffd")


def unknown_paper(corpus: str, source_id: str) -> InputError:
    """What is said where a corpus lacks a paper."""
    return InputError(f"{corpus} holds no paper {source_id!r}; expected the source's own id of one.")


def _split_sections(session: Session, paper: dict[str, Any], *, is_abstract: bool) -> list[Part]:
    if is_abstract:
        return [(ABSTRACT, None, split_text(paper["abstract"] or ""))]
    columns = (sections.c.section_number, sections.c.title, sections.c.text)
    rows = session.rows(
        sa.select(*columns)
        .where(sections.c.paper_id == paper["paper_id"])
        .order_by(sections.c.section_number)
    )
    return [(int(row["section_number"]), row["title"], split_text(row["text"])) for row in rows]


def _read_sentences(session: Session, paper: dict[str, Any], *, is_abstract: bool) -> list[Part]:
    """The sentences that the source says, not those that a generator made."""
    said = distinct_sentences.c
    joined = distinct_sentences.outerjoin(
        sections,
        sa.and_(sections.c.paper_id == said.paper_id, sections.c.section_number == said.section_number),
    )
    part = said.section_number == ABSTRACT if is_abstract else said.section_number > ABSTRACT
    rows = session.rows(
        sa.select(said.section_number, sections.c.title, said.text)
        .select_from(joined)
        .where(said.paper_id == paper["paper_id"], said.text_digest.is_(None), part)
        .order_by(said.section_number, said.position)
    )
    return [(int(row["section_number"]), row["title"], [row["text"]]) for row in rows]
