"""What the vector indexes share: their rows of `side_indexes`, and which texts of a corpus they are of.

A corpus's digest is over its paper ids, the digests of their texts, and the encoder: the same texts by the
same weights are the same vectors, so no vector has to be read to see that an index is stale.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import IndexingError, RunError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.lexical import Ids, TieOrder, by_paper_id
from pinakes.indexers.names import PRECISIONS, Distance
from pinakes.progress import Progress
from pinakes.queries.relations import select_corpus_texts
from pinakes.schema import encoders, vectors_table
from pinakes.vectors.stored import (
    StoredEncoder,
    count_texts,
    digest_of,
    select_distinct_texts,
    select_missing,
)
from pinakes.workload.scope import CorpusScope


@dataclass(frozen=True, slots=True, eq=False)
class VectorQuery:
    """The vectors (q, d) of queries for `k` papers each, and which papers of a corpus may answer them.

    A paper of the `pool` (ids; None: all) without a text has no vector and cannot be found.
    """

    scope: CorpusScope
    encoder: StoredEncoder
    vectors: Vectors
    k: int
    distance: Distance = "cosine"
    pool: Ids | None = None
    tie_order: TieOrder = by_paper_id


@dataclass(frozen=True, slots=True)
class VectorIndexSummary:
    """An index as it is now; `built` is False where it was there already.

    Recall is against exact search, of the search that users make (`pinakes.indexers.recall`).
    """

    kind: str
    row_count: int
    recall_10: float | None
    recall_100: float | None
    parameters: dict[str, Any]
    built: bool
    elapsed_s: float


class PhaseProgress:
    """A `Progress` fed by (phase, done, total): each phase is a task of its own."""

    def __init__(self, progress: Progress, label: str) -> None:
        self._progress, self._label = progress, label
        self._phase: str | None = None
        self._done = 0

    def __call__(self, phase: str, done: int, total: int) -> None:
        """So much of the phase is done; a new phase ends the one before."""
        if phase != self._phase:
            self.finish()
            self._progress.start(f"{self._label}: {phase}", total or None)
            self._phase, self._done = phase, 0
        self._progress.advance(max(0, done - self._done))
        self._done = max(self._done, done)

    def finish(self) -> None:
        """The last phase ended."""
        if self._phase is not None:
            self._progress.finish()
            self._phase = None


def select_text_digests(scope: CorpusScope) -> sa.Select[Any]:
    """paper_id and text_digest of every paper of the corpus that has a text, by paper_id."""
    texts = select_corpus_texts(scope.corpus, scope.paper_template).order_by(None).subquery("texts")
    return (
        sa.select(texts.c.paper_id, digest_of(texts.c.text))
        .where(texts.c.text != "")
        .order_by(texts.c.paper_id)
    )


def digest_corpus(session: Session, scope: CorpusScope, encoder: StoredEncoder) -> tuple[str, int]:
    """The digest of what an index of the corpus's vectors would be built from, and the number of vectors."""
    weights = session.scalar(sa.select(encoders.c.weights_digest).where(encoders.c.name == encoder.name))
    digest = hashlib.sha256(f"{encoder.name} {encoder.dimensions} {weights}\n".encode())
    rows = 0
    for paper_id, text in session.stream_rows(select_text_digests(scope)):
        digest.update(f"{paper_id} {text}\n".encode())
        rows += 1
    return digest.hexdigest(), rows


def require_postgres(database: Database) -> None:
    """Raise IndexingError on DuckDB, which has no pgvector."""
    if database.name != "postgresql":
        raise IndexingError(
            "pgvector is an extension of Postgres, and this database is DuckDB; search exactly, or build an "
            "index beside it with `pinakes index faiss`"
        )


def require_vectors(database: Database, scope: CorpusScope, encoder: StoredEncoder) -> None:
    """Raise RunError, with the command to run, where a text of the corpus has no vector."""
    texts = select_distinct_texts(select_corpus_texts(scope.corpus, scope.paper_template))
    with database.read() as session:
        vectors = vectors_table(encoder.name, encoder.dimensions)
        missing = count_texts(session, select_missing(texts, vectors))
    if missing:
        raise RunError(
            f"{missing} texts of the corpus {scope.corpus} have no vector of {encoder.name}; encode them "
            f"with `pinakes index --corpus {scope.corpus} {encoder_in_words(encoder)}`."
        )


def summarise(row: Mapping[str, Any], *, built: bool, elapsed_s: float) -> VectorIndexSummary:
    """What a row of `side_indexes` says of itself."""
    return VectorIndexSummary(
        row["kind"],
        row["row_count"],
        row["recall_10"],
        row["recall_100"],
        orjson.loads(row["parameters"]),
        built,
        elapsed_s,
    )


def spoken_options(options: Mapping[str, Any]) -> str:
    """Options as they are typed.

    >>> spoken_options({"m": 16})
    ' --option m=16'
    """
    return "".join(f" --option {name}={value}" for name, value in options.items())


def encoder_in_words(encoder: StoredEncoder) -> str:
    """`--system NAME --precision P`, as a command names the encoder: its table's name has both."""
    name, _, precision = encoder.name.rpartition("_")
    return (
        f"--system {name} --precision {precision}" if precision in PRECISIONS else f"--system {encoder.name}"
    )
