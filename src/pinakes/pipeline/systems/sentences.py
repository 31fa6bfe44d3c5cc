"""Sentence encoders as systems: a paper's score is that of the best pair of sentences.

`sentences:minilm` encodes each sentence as a text of its own, as CSFCube does with SentBERT and SimCSE: the
sentences of the query's facet against all of a candidate's abstract. Its vectors lie in the table of the
encoder, beside those of whole texts. Leaves out: making vectors (`encoding`), and the sentences of a paper
whose abstract was not split when it was loaded.
"""

import time
from collections.abc import Iterator
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.indexers.model import device_name
from pinakes.pipeline.progress import Progress
from pinakes.pipeline.systems.base import (
    IndexSummary,
    Ranking,
    SystemDescription,
    SystemOptions,
    take_options,
)
from pinakes.pipeline.systems.contextual import ContextualSystem
from pinakes.pipeline.systems.encoding import EncoderAtWork
from pinakes.pipeline.systems.sentence_ranking import (
    digest_sentences,
    fetch_candidate_groups,
    fetch_query_groups,
    rank_groups,
    require_sentences,
)
from pinakes.pipeline.systems.vectors import StoredEncoder, select_distinct_texts
from pinakes.pipeline.workload import Workload
from pinakes.queries.sentence_relations import select_candidate_sentences, select_query_sentences
from pinakes.schema import vectors_table

SENTENCES: Final = "sentences:"


def make_sentences(name: str, options: SystemOptions) -> "SentenceSystem | ContextualSystem":
    """A sentence encoder, by a name such as `sentences:minilm`.

    Its options: `context`, `yes` to read each sentence within its paper, by default as the preset says; and
    then `pooling`, `mean` or `layers_mean`.
    """
    encoder = EncoderAtWork(name.removeprefix(SENTENCES), options)
    preset = encoder.source.preset
    contextual = "yes" if preset and preset.contextual else "no"
    settings = take_options(name, options, {"context": contextual, "pooling": "mean"})
    if settings["context"] not in ("yes", "no"):
        raise InputError(f"context is {settings['context']!r}; expected yes or no.")
    if settings["context"] == "yes":
        full_name = f"{SENTENCES}{encoder.source.name}"
        return ContextualSystem(full_name, encoder, settings["pooling"], options)
    return SentenceSystem(encoder, options)


class SentenceSystem:
    """A system that compares the sentences of papers, each encoded alone."""

    def __init__(self, encoder: EncoderAtWork, options: SystemOptions) -> None:
        self.name = f"{SENTENCES}{encoder.source.name}"
        self._encoder = encoder
        self._distance = encoder.choose_distance(options)

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Encode every sentence of the workload that has no vector yet."""
        started = time.monotonic()
        require_sentences(database, workload)
        label = f"the sentences of {workload.benchmark.name}"
        added, already = self._encoder.encode(database, _select_texts(workload), label, progress)
        return IndexSummary(self.name, added, already, time.monotonic() - started)

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """The encoder, the distance, and a digest of the sentences, which no template of the run names."""
        stored = self._require(database, workload)
        return SystemDescription(
            {
                "encoder": stored.name,
                "distance": self._distance,
                "search": "exact",
                "score": "best pair of sentences",
                "sentences_digest": digest_sentences(database, workload),
            },
            device=device_name(self._encoder.device),
            encoder_id=stored.encoder_id,
            encoder_revision=stored.revision,
            precision=self._encoder.precision,
        )

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By exact comparison; a query or candidate without a sentence is in no ranking.

        The vectors of all the candidates' sentences are held in memory.
        """
        stored = self._require(database, workload)
        vectors = vectors_table(stored.name, stored.dimensions)
        with database.read() as session:
            queries = fetch_query_groups(
                session, workload, _with_vectors(select_query_sentences(workload.benchmark), vectors)
            )
            candidates = fetch_candidate_groups(
                session, workload, _with_vectors(select_candidate_sentences(workload.benchmark), vectors)
            )
        yield from rank_groups(
            self.name, workload, queries, candidates, self._distance, self._encoder.device, progress
        )

    def _require(self, database: Database, workload: Workload) -> StoredEncoder:
        require_sentences(database, workload)
        asked = f"--system {SENTENCES}{self._encoder.asked_as} --precision {self._encoder.precision}"
        if self._encoder.source.preset and self._encoder.source.preset.contextual:
            asked += " --option context=no"
        command = f"`pinakes index {workload.benchmark.name} {asked}`"
        return self._encoder.require(database, _select_texts(workload), command)


def _select_texts(workload: Workload) -> sa.Select[Any]:
    return select_distinct_texts(
        select_query_sentences(workload.benchmark), select_candidate_sentences(workload.benchmark)
    )


def _with_vectors(sentences: sa.Select[Any], vectors: sa.Table) -> sa.Select[Any]:
    of = sentences.subquery("sentences_of")
    digest = sa.cast(sa.func.md5(of.c.text), sa.Uuid)
    keys = [column for column in of.c if column.name != "text"]
    return sa.select(*keys, vectors.c.embedding).join_from(of, vectors, vectors.c.text_digest == digest)
