"""Contextual sentence encoders as systems: ASPIRE's, whose sentences are read within title and abstract.

A paper is encoded in one pass, one vector a sentence, in `sentence_vectors_<encoder>`; a paper's score is
that of the best pair of sentences, those of the query's facet on the one side. A sentence behind the length
limit is stored as one of no tokens, and pairs with nothing.
"""

import time
import uuid
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import RunError, UnknownNameError
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.precision import device_name
from pinakes.indexers.encoder.sentences import SentenceBatch, encode_sentences
from pinakes.indexers.exact.scores import Distance
from pinakes.progress import Progress
from pinakes.queries.relations import requested_candidates
from pinakes.queries.sentence_relations import (
    select_contextual_texts,
    select_query_sentences,
)
from pinakes.schema import sentence_vectors_table
from pinakes.systems.base import IndexSummary, Ranking, SystemDescription
from pinakes.systems.sentence_facets import describe_candidates
from pinakes.systems.sentence_ranking import (
    Comparison,
    SentenceVectors,
    digest_sentences,
    rank_sentences,
    require_sentences,
)
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.stored import (
    StoredEncoder,
    count_texts,
    find_encoder,
    read_texts,
    register_encoder,
    select_missing,
)
from pinakes.workload.workload import Workload

POOLINGS: Final = ("mean", "layers_mean")


class ContextualSystem:
    """A system that compares the sentences of papers, each encoded within its paper."""

    def __init__(self, encoder: EncoderSession, pooling: str, comparison: Comparison) -> None:
        if pooling not in POOLINGS:
            raise UnknownNameError("pooling of a sentence", pooling, list(POOLINGS))
        self.name = comparison.name
        self._encoder = encoder
        self._pooling = pooling
        self._comparison = comparison

    @property
    def distance(self) -> Distance:
        """How two sentences are compared."""
        return self._comparison.distance

    @property
    def _table_name(self) -> str:
        suffix = "" if self._pooling == "mean" else f"_{self._pooling}"
        return f"{self._encoder.table_name}_sentences{suffix}"

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Encode every paper of the workload whose sentences have no vectors yet, one transaction a batch."""
        started = time.monotonic()
        require_sentences(database, workload, of_papers=True)
        work = self._encoder
        encoder = load_encoder(
            work.source,
            precision=work.precision,  # type: ignore[arg-type]
            device=work.device,
            pooling=self._pooling,  # type: ignore[arg-type]
        )
        stored = register_encoder(database, self._table_name, encoder)
        table = sentence_vectors_table(stored.name, stored.dimensions)
        with database.begin() as session:
            table.create(session.connection, checkfirst=True)
        texts = _select_texts(workload)
        missing = select_missing(texts, table)
        added = 0
        with database.read() as reader:
            expected, total = count_texts(reader, texts), count_texts(reader, missing)
            progress.start(f"encode the sentences of {workload.benchmark.name} by {stored.name}", total)
            try:
                for batch in encode_sentences(encoder, read_texts(reader, missing)):
                    _write(database, table, batch)
                    added += batch.texts
                    progress.advance(batch.texts)
            finally:
                progress.finish()
        return IndexSummary(self.name, added, expected - total, time.monotonic() - started)

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """The encoder, the match, a digest of the sentences, and how many lie behind the length limit."""
        stored = self._require(database, workload)
        compared = self._comparison
        return SystemDescription(
            {
                "encoder": stored.name,
                "distance": compared.distance,
                "search": "exact",
                "context": "yes",
                "score": f"{compared.matching.in_words} in context",
                **compared.matching.describe(),
                **describe_candidates(database, workload, compared.candidates),
                "sentences_digest": digest_sentences(database, workload),
                "sentences_behind_limit": self._count_cut(database, workload, stored),
            },
            device=device_name(self._encoder.device),
            encoder_id=stored.encoder_id,
            encoder_revision=stored.revision,
            precision=self._encoder.precision,
        )

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By exact comparison; a query or candidate without a vector is in no ranking."""
        stored = self._require(database, workload)
        table = sentence_vectors_table(stored.name, stored.dimensions)
        held = SentenceVectors(_select_queries(workload, table), _select_candidates(workload, table))
        yield from rank_sentences(database, workload, held, self._comparison, progress)

    def _require(self, database: Database, workload: Workload) -> StoredEncoder:
        work = self._encoder
        kind = self._comparison.matching.kind
        requested = f"--system {kind}:{work.requested_as} --precision {work.precision} --option context=yes"
        if self._pooling != POOLINGS[0]:
            requested += f" --option pooling={self._pooling}"
        command = f"`pinakes index {workload.benchmark.name} {requested}`"
        require_sentences(database, workload, of_papers=True)
        with database.read() as session:
            stored = find_encoder(session, self._table_name)
            if stored is None:
                raise RunError(f"no sentence was encoded by {self._table_name} yet; do it with {command}.")
            table = sentence_vectors_table(stored.name, stored.dimensions)
            missing = count_texts(session, select_missing(_select_texts(workload), table))
        if missing:
            raise RunError(
                f"{missing} papers have no sentence vectors of {self._table_name}; make them with {command}."
            )
        return stored

    def _count_cut(self, database: Database, workload: Workload, stored: StoredEncoder) -> int:
        table = sentence_vectors_table(stored.name, stored.dimensions)
        texts = _select_texts(workload).subquery("texts")
        cut = sa.select(sa.func.count()).select_from(
            texts.join(table, table.c.text_digest == texts.c.text_digest)
        )
        with database.read() as session:
            return int(session.scalar(cut.where(table.c.token_count == 0)))


def _select_texts(workload: Workload) -> sa.Select[Any]:
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


def _write(database: Database, table: sa.Table, batch: SentenceBatch[uuid.UUID]) -> None:
    dimensions = batch.vectors.shape[1]
    embedding = pa.FixedSizeListArray.from_arrays(pa.array(batch.vectors.ravel()), dimensions)
    rows = pa.table(
        {
            "text_digest": pa.array([str(key) for key in batch.keys]),
            "sentence_position": pa.array(batch.positions.astype(np.int32)),
            "token_count": pa.array(batch.token_counts.astype(np.int32)),
            "embedding": embedding,
        }
    )
    with database.begin() as session:
        session.insert(table, rows)
