"""Which papers the cited works are, and citations that came before the paper that cites.

A cited work is a paper that we hold by the source's own id, else by an identifier, else by its normalised
title where the years allow it. Where several papers answer, none is taken: they go to
`ambiguous_references`. Ids apart, all of it is worked out again each time, so that the order in which files
came does not show.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from pinakes.database import Database, Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.load.corpus import find_corpus
from pinakes.schema import check_schema, cited_references, next_id

MIN_TITLE_CHARACTERS: Final = 12
"""A shorter normalised title ("Introduction") says nothing."""
MAX_YEARS_APART: Final = 1
"""A preprint and its publication are a year apart; a reference may name either."""
PART_REFERENCES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Resolved:
    """What was newly found out: cited works by their source's id, by identifier or title, and mentions.

    `changed` counts the works whose answer by identifier or title is another one than before.
    """

    by_source_id: int
    changed: int
    mentions: int

    @property
    def any(self) -> bool:
        """Whether anything was found out."""
        return bool(self.by_source_id or self.changed or self.mentions)


def resolve(database: Database, corpus: str) -> Resolved:
    """Join the references and citations of a corpus with its papers."""
    check_schema(database)
    with database.read() as session:
        corpus_id = find_corpus(session, corpus)
    return resolve_in_parts(database, corpus_id)


def resolve_in_parts(database: Database, corpus_id: int) -> Resolved:
    """As `resolve_corpus`, with a transaction for each `PART_REFERENCES` cited works that an id tells.

    What a transaction changes is held in memory until it ends. Stopped and started again it ends alike. What
    another command brings meanwhile is joined by that command.
    """
    with database.read() as session:
        if not _has_references(session, corpus_id):
            return Resolved(0, 0, 0)
        last = next_id(session, cited_references.c.reference_id) - 1
    before = 0
    for first in range(1, last + 1, PART_REFERENCES):
        with database.begin() as session:
            before += _resolve_by_id(session, corpus_id, first, first + PART_REFERENCES - 1)
    with database.begin() as session:
        return replace(_resolve_others(session, corpus_id), by_source_id=before)


def _has_references(session: Session, corpus_id: int) -> bool:
    """Whether the corpus cites anything; if not, the works that others cite are not gone through for it."""
    return bool(session.scalar(_read("has_references"), {"corpus_id": corpus_id}))


def _resolve_by_id(session: Session, corpus_id: int, first: int, last: int) -> int:
    values = {"corpus_id": corpus_id, "first_id": first, "last_id": last}
    return session.execute(_read("by_source_id"), values)


def resolve_corpus(session: Session, corpus_id: int) -> Resolved:
    """Join the references and citations of a corpus, by its id, with its papers."""
    if not _has_references(session, corpus_id):
        return Resolved(0, 0, 0)
    last = next_id(session, cited_references.c.reference_id) - 1
    by_source_id = _resolve_by_id(session, corpus_id, 1, last)
    return replace(_resolve_others(session, corpus_id), by_source_id=by_source_id)


def _resolve_others(session: Session, corpus_id: int) -> Resolved:
    """Bring in the mentions that waited, and find by identifier and title what no id of the source tells."""
    mentions = 0
    if session.scalar(_read("has_pending"), {"corpus_id": corpus_id}):
        session.execute(_read("insert_pending"), {"corpus_id": corpus_id})
        mentions = session.execute(_read("delete_pending"), {"corpus_id": corpus_id})
    return Resolved(0, _match(session, corpus_id), mentions)


def _read(block: str) -> str:
    return read_blocks("pinakes.load", "sql", "resolve.sql")[block]


def _match(session: Session, corpus_id: int) -> int:
    """Resolve by identifier and title; how many works have another answer than before."""
    limits = {"min_characters": MIN_TITLE_CHARACTERS, "years_apart": MAX_YEARS_APART}
    values: dict[str, Any] = {"corpus_id": corpus_id}
    session.execute(_read("delete_ambiguous"), values)
    if not session.scalar(_read("has_matchable"), values):
        return 0
    # In the database, not here: there are as many as cited works.
    session.execute(_read("create_matches"))
    session.execute(_read("insert_matches"), {**values, **limits})
    changed = session.execute(_read("forget"), values) + session.execute(_read("update"), values)
    session.execute(_read("insert_ambiguous"))
    session.execute(_read("drop_matches"))
    return changed
