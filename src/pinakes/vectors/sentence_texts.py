"""Stored vectors of the sentences and queries of `SummaryQuestions`, read document by document."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Session
from pinakes.matrices import to_matrix
from pinakes.vectors.stored import digest_of, select_distinct_texts
from pinakes.workload.summaries import PARTS, SummaryQuestions

Vectors = NDArray[np.float32]

DOCUMENTS_AT_ONCE: Final = 256


def select_texts(questions: SummaryQuestions, parts: Sequence[str] = PARTS) -> sa.Select[Any]:
    """text_digest and text of every query and sentence of the parts: what an encoder has to have read."""
    return select_distinct_texts(questions.select_query_texts(parts), questions.select_paper_texts(parts))


def read_query_vectors(
    session: Session, questions: SummaryQuestions, table: sa.Table, parts: Sequence[str] = PARTS
) -> dict[str, Vectors]:
    """Query id -> vector (d,) of every query of the parts that has one: its text is not empty."""
    texts = questions.select_query_texts(parts).subquery("texts")
    found = session.fetch_arrow(_join(texts, table, texts.c.query_id))
    if not found.num_rows:
        return {}
    return dict(zip(found["query_id"].to_pylist(), to_matrix(found["embedding"]), strict=True))


def read_document_vectors(
    session: Session, questions: SummaryQuestions, table: sa.Table, documents: Sequence[int], dimensions: int
) -> Iterator[tuple[int, Vectors]]:
    """The vectors (sentences, d) of each document (places in `questions.documents`); 0 of an empty text."""
    for first in range(0, len(documents), DOCUMENTS_AT_ONCE):
        chosen = documents[first : first + DOCUMENTS_AT_ONCE]
        told = [questions.documents[document] for document in chosen]
        # One paper is one document: examples of one producer have one splitter.
        found = {one.paper_id: np.zeros((len(one.sentences), dimensions), dtype=np.float32) for one in told}
        texts = questions.select_paper_texts(papers=list(found)).subquery("texts")
        keys = [sa.type_coerce(texts.c[name], sa.BigInteger).label(name) for name in ("paper_id", "place")]
        for part in session.stream_vectors(_join(texts, table, *keys)):
            matrix = to_matrix(part["embedding"])
            papers, places = part["paper_id"].to_numpy(), part["place"].to_numpy()
            for paper_id in np.unique(papers).tolist():
                rows = papers == paper_id
                found[paper_id][places[rows] - 1] = matrix[rows]
        for document, one in zip(chosen, told, strict=True):
            yield document, found[one.paper_id]


def _join(texts: sa.Subquery, table: sa.Table, *keys: sa.ColumnElement[Any]) -> sa.Select[Any]:
    same = table.c.text_digest == digest_of(texts.c.text).element
    return sa.select(*keys, table.c.embedding).join_from(texts, table, same)
