"""The vectors of sentences: each a text of its own, or read within its paper.

Alone they lie in the encoder's table, beside those of whole texts. In context a paper is encoded in one pass,
one vector a sentence, in `sentence_vectors_<encoder>`; a sentence behind the length limit is stored there as
one of no tokens, and pairs with nothing.
"""

import uuid
from typing import Any, Final, Protocol, cast

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.model_settings import Pooling
from pinakes.indexers.encoder.sentences import SentenceBatch, encode_sentences
from pinakes.matrices import to_lists
from pinakes.progress import Progress
from pinakes.queries.relations import requested_candidates
from pinakes.queries.sentence_relations import (
    select_candidate_sentences,
    select_contextual_texts,
    select_query_sentences,
)
from pinakes.schema import sentence_vectors_table, vectors_table
from pinakes.systems.sentences.requested import SelectedVectors, require_sentences
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.stored import (
    StoredEncoder,
    count_texts,
    digest_of,
    find_encoder,
    register_encoder,
    select_distinct_texts,
    select_missing,
    set_texts_aside,
)
from pinakes.vectors.writing import encode_until_none, write_paced
from pinakes.workload.workload import Workload

POOLINGS: Final = ("mean", "layers_mean")


class SentenceVectors(Protocol):
    """The vectors of a workload's sentences by one encoder; `context` is `yes` or `no`."""

    context: str

    def encode(self, database: Database, workload: Workload, progress: Progress) -> tuple[int, int]:
        """Encode what has no vector yet: how many texts now, how many before."""
        ...

    def require(self, database: Database, workload: Workload, kind: str) -> StoredEncoder:
        """The stored encoder; `RunError` with the command for a system of that kind where a vector lacks."""
        ...

    def select(self, workload: Workload, stored: StoredEncoder) -> SelectedVectors:
        """The vectors of the queries' and of the candidates' sentences."""
        ...

    def describe(self, database: Database, workload: Workload, stored: StoredEncoder) -> dict[str, Any]:
        """What else a run records of them."""
        ...


class SentencesAlone:
    """Sentences that are each a text of its own."""

    context = "no"

    def __init__(self, encoder: EncoderSession) -> None:
        self._encoder = encoder

    def encode(self, database: Database, workload: Workload, progress: Progress) -> tuple[int, int]:
        """As texts of the encoder."""
        require_sentences(database, workload)
        label = f"the sentences of {workload.benchmark.name}"
        return self._encoder.encode(database, _select_alone(workload), label, progress)

    def require(self, database: Database, workload: Workload, kind: str) -> StoredEncoder:
        """As `SentenceVectors` has it."""
        require_sentences(database, workload)
        requested = f"--system {kind}:{self._encoder.requested_as} --precision {self._encoder.precision}"
        if self._encoder.source.preset and self._encoder.source.preset.contextual:
            requested += " --option context=no"
        command = f"`pinakes index {workload.benchmark.name} {requested}`"
        return self._encoder.require(database, _select_alone(workload), command)

    def select(self, workload: Workload, stored: StoredEncoder) -> SelectedVectors:
        """By the digests of the sentences."""
        vectors = vectors_table(stored.name, stored.dimensions)
        return SelectedVectors(
            _join_vectors(select_query_sentences(workload.benchmark), vectors),
            _join_vectors(select_candidate_sentences(workload.benchmark), vectors),
        )

    def describe(self, database: Database, workload: Workload, stored: StoredEncoder) -> dict[str, Any]:
        """Nothing."""
        return {}


class SentencesInContext:
    """Sentences that are read within their paper, as ASPIRE reads them."""

    context = "yes"

    def __init__(self, encoder: EncoderSession, pooling: str) -> None:
        self._encoder = encoder
        self._pooling = pooling

    @property
    def _table_name(self) -> str:
        suffix = "" if self._pooling == POOLINGS[0] else f"_{self._pooling}"
        return f"{self._encoder.table_name}_sentences{suffix}"

    def encode(self, database: Database, workload: Workload, progress: Progress) -> tuple[int, int]:
        """Paper by paper, one transaction a batch, as `EncoderSession.encode` holds the database."""
        require_sentences(database, workload, of_papers=True)
        session = self._encoder
        pooling = cast(Pooling, self._pooling)
        database.release()
        encoder = load_encoder(session.source, session.precision, session.device, pooling=pooling)
        stored = register_encoder(database, self._table_name, encoder)
        table = sentence_vectors_table(stored.name, stored.dimensions)
        with database.begin() as writer:
            table.create(writer.connection, checkfirst=True)
        texts = _select_contextual(workload)
        missing = select_missing(texts, table)
        with database.read() as reader:
            expected, total = count_texts(reader, texts), count_texts(reader, missing)
        database.release()

        def encode_missing() -> int:
            with set_texts_aside(database, missing) as pairs:
                parts = map(_tabulate, encode_sentences(encoder, pairs))
                return write_paced(database, stored, table, parts, progress)

        task = f"encode the sentences of {workload.benchmark.name} by {stored.name}"
        added = encode_until_none(database, missing, total, encode_missing, task, progress)
        return added, expected - total

    def require(self, database: Database, workload: Workload, kind: str) -> StoredEncoder:
        """As `SentenceVectors` has it."""
        encoder = self._encoder
        requested = (
            f"--system {kind}:{encoder.requested_as} --precision {encoder.precision} --option context=yes"
        )
        if self._pooling != POOLINGS[0]:
            requested += f" --option pooling={self._pooling}"
        command = f"`pinakes index {workload.benchmark.name} {requested}`"
        require_sentences(database, workload, of_papers=True)
        with database.read() as session:
            stored = find_encoder(session, self._table_name)
            if stored is None:
                others = encoder.name_others(session)
                raise RunError(
                    f"no sentence was encoded by {self._table_name} yet; do it with {command}.{others}"
                )
            table = sentence_vectors_table(stored.name, stored.dimensions)
            missing = count_texts(session, select_missing(_select_contextual(workload), table))
        if missing:
            raise RunError(
                f"{missing} papers have no sentence vectors of {self._table_name}; make them with {command}."
            )
        return stored

    def select(self, workload: Workload, stored: StoredEncoder) -> SelectedVectors:
        """By the digests of the papers' texts and the positions of the sentences."""
        table = sentence_vectors_table(stored.name, stored.dimensions)
        return SelectedVectors(_select_queries(workload, table), _select_candidates(workload, table))

    def describe(self, database: Database, workload: Workload, stored: StoredEncoder) -> dict[str, Any]:
        """How many sentences lie behind the length limit."""
        table = sentence_vectors_table(stored.name, stored.dimensions)
        texts = _select_contextual(workload).subquery("texts")
        cut = sa.select(sa.func.count()).select_from(
            texts.join(table, table.c.text_digest == texts.c.text_digest)
        )
        with database.read() as session:
            return {"sentences_behind_limit": int(session.scalar(cut.where(table.c.token_count == 0)))}


def _select_alone(workload: Workload) -> sa.Select[Any]:
    return select_distinct_texts(
        select_query_sentences(workload.benchmark), select_candidate_sentences(workload.benchmark)
    )


def _join_vectors(sentences: sa.Select[Any], vectors: sa.Table) -> sa.Select[Any]:
    of = sentences.subquery("sentences_of")
    keys = [column for column in of.c if column.name != "text"]
    same = vectors.c.text_digest == digest_of(of.c.text).element
    return sa.select(*keys, vectors.c.embedding).join_from(of, vectors, same)


def _select_contextual(workload: Workload) -> sa.Select[Any]:
    texts = select_contextual_texts(workload.benchmark).subquery("contextual")
    return sa.select(texts.c.text_digest, texts.c.text).distinct()


def _select_candidates(workload: Workload, table: sa.Table) -> sa.Select[Any]:
    texts = select_contextual_texts(workload.benchmark).subquery("texts")
    candidates = requested_candidates(workload.benchmark)
    return (
        sa.select(texts.c.paper_id, table.c.sentence_position.label("position"), table.c.embedding)
        .join_from(texts, table, table.c.text_digest == texts.c.text_digest)
        .where(texts.c.paper_id.in_(sa.select(candidates.c.paper_id)), table.c.token_count > 0)
    )


def _select_queries(workload: Workload, table: sa.Table) -> sa.Select[Any]:
    texts = select_contextual_texts(workload.benchmark).subquery("texts")
    requested = select_query_sentences(workload.benchmark).subquery("requested")
    of_query = sa.and_(
        table.c.text_digest == texts.c.text_digest, table.c.sentence_position == requested.c.position
    )
    return (
        sa.select(requested.c.query_id, requested.c.position, table.c.embedding)
        .select_from(requested.join(texts, texts.c.paper_id == requested.c.paper_id).join(table, of_query))
        .where(table.c.token_count > 0)
    )


def _tabulate(batch: SentenceBatch[uuid.UUID]) -> tuple[pa.Table, int]:
    rows = pa.table(
        {
            "text_digest": pa.array([str(key) for key in batch.keys]),
            "sentence_position": pa.array(batch.positions.astype(np.int32)),
            "token_count": pa.array(batch.token_counts.astype(np.int32)),
            "embedding": to_lists(batch.vectors),
        }
    )
    return rows, batch.texts
