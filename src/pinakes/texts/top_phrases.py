"""The more important half of a corpus's noun phrases, which one code deletes; variants of older ones go.

`phrase_statistics` says with which phrases the rows of a producer are made. Where they have changed, these
rows go in the transaction that says so: from then on all that are there are of the new phrases.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.schema import absent_variants, paper_variants, papers, phrase_statistics
from pinakes.texts.generator import Generator
from pinakes.texts.neighbours.analysis import AnalysedText, read_json
from pinakes.texts.neighbours.codes import CODES
from pinakes.texts.neighbours.generate import Settings
from pinakes.texts.neighbours.phrases import PhraseCounts, choose_top_phrases, count_phrases
from pinakes.texts.outdated import select_current_analyses

TOP_CODE: Final = next(name for name, code in CODES.items() if code.needs == "top phrases")
"""the code whose variants depend on all papers of the corpus"""


def renew_top_phrases(
    database: Database,
    corpus_id: int,
    generator: Generator,
    settings: Settings,
    make: Callable[[Settings, pa.Table], pa.Table],
) -> Generator:
    """The generator with the corpus's top phrases as they are now; its rows of other ones are gone.

    All papers of the corpus are analysed.
    """
    with database.read() as session:
        counts = count_phrases(_read_abstracts(session, corpus_id, str(generator.analysis)))
    top = frozenset(choose_top_phrases(counts))
    digest = _digest(top)
    with database.begin() as session:
        if _read_digest(session, corpus_id, generator.producer) != digest:
            _forget(session, corpus_id, generator.producer)
            _store(session, corpus_id, generator.producer, digest, counts)

    def still_holds(session: Session) -> bool:
        return _read_digest(session, corpus_id, generator.producer) == digest

    made_by = partial(make, replace(settings, top_phrases=top))
    return replace(generator, make=made_by, still_holds=still_holds)


def _read_abstracts(session: Session, corpus_id: int, producer: str) -> Iterator[AnalysedText | None]:
    query = select_current_analyses(producer).where(papers.c.corpus_id == corpus_id)
    for title, abstract, analysis in session.stream_rows(query, rows=1_000):
        yield read_json(analysis, title, abstract).abstract


def _digest(top: frozenset[str]) -> str:
    return hashlib.sha256("\n".join(sorted(top)).encode("utf-8", "surrogatepass")).hexdigest()


def _read_digest(session: Session, corpus_id: int, producer: str) -> str | None:
    same = phrase_statistics.c.corpus_id == corpus_id, phrase_statistics.c.producer == producer
    row = session.first(sa.select(phrase_statistics.c.top_digest).where(*same))
    return None if row is None else str(row["top_digest"])


def _forget(session: Session, corpus_id: int, producer: str) -> None:
    of_corpus = sa.select(papers.c.paper_id).where(papers.c.corpus_id == corpus_id)
    for table in (paper_variants, absent_variants):
        same = table.c.producer == producer, table.c.code == TOP_CODE, table.c.paper_id.in_(of_corpus)
        session.execute(sa.delete(table).where(*same))
    same_corpus = phrase_statistics.c.corpus_id == corpus_id, phrase_statistics.c.producer == producer
    session.execute(sa.delete(phrase_statistics).where(*same_corpus))


def _store(session: Session, corpus_id: int, producer: str, digest: str, counts: PhraseCounts) -> None:
    row = {
        "corpus_id": corpus_id,
        "producer": producer,
        "top_digest": digest,
        "phrases": len(counts.occurrences),
        "papers": counts.papers,
    }
    session.execute(sa.insert(phrase_statistics).values(**row))
