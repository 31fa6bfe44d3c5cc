"""The texts of a corpus as lexical systems read them: digested, counted, or handed to an index.

The corpus may be another than the one that is ranked (the option `trained_on`).
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.indexers.analysis import Analysis
from pinakes.indexers.term_statistics import TermStatistics, count_terms
from pinakes.progress import Progress
from pinakes.queries.relations import select_corpus_texts
from pinakes.schema import corpora


def require_loaded(database: Database, corpus: str, purpose: str) -> None:
    """Raise `RunError` unless a corpus of that name is loaded; `purpose` is what for, in words."""
    with database.read() as session:
        loaded = sorted(str(row["name"]) for row in session.rows(sa.select(corpora.c.name)))
    if corpus not in loaded:
        raise RunError(
            f"no corpus {corpus} is loaded to {purpose}; expected one of {', '.join(loaded) or 'none'}. Load "
            "it first, with `pinakes load`."
        )


def digest_texts(database: Database, corpus: str, template: str, digest: "hashlib._Hash") -> tuple[str, int]:
    """The digest, with every paper's id and text added, and how many papers they are."""
    # The select's own order would sort the texts themselves.
    texts = select_corpus_texts(corpus, template).order_by(None).subquery("texts")
    text_digest = sa.func.md5(texts.c.text + "\n" + texts.c.title).label("text_digest")
    query = sa.select(texts.c.paper_id, text_digest).order_by(texts.c.paper_id)
    rows = 0
    with database.read() as session:
        for part in session.stream(query):
            rows += part.num_rows
            told = zip(*(column.to_pylist() for column in part.columns), strict=True)
            digest.update("".join([f"{paper_id} {text}\n" for paper_id, text in told]).encode())
    return digest.hexdigest(), rows


def count_corpus(database: Database, corpus: str, template: str, analysis: Analysis) -> TermStatistics:
    """The corpus's N, mean length and df of every term."""
    with database.read() as session:
        parts = session.stream(select_corpus_texts(corpus, template).order_by(None))
        return count_terms((text for part in parts for text in part["text"].to_pylist()), analysis)


def read_documents(
    parts: Iterator[Any], weights: Mapping[str, float], progress: Progress
) -> Iterator[tuple[int, dict[str, str | None]]]:
    """paper_id and the texts of the fields of every row of some Arrow tables."""
    for part in parts:
        columns = {name: part[name].to_pylist() for name in weights}
        for row, paper_id in enumerate(part["paper_id"].to_pylist()):
            yield paper_id, {name: values[row] for name, values in columns.items()}
        progress.advance(part.num_rows)
