"""Sentence encoders as systems: a paper's score is that of the best pair of sentences.

`sentences:minilm` encodes each sentence as a text of its own, as CSFCube does with SentBERT and SimCSE: the
sentences of the query's facet against all of a candidate's abstract. Its vectors lie in the table of the
encoder, beside those of whole texts.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.indexers.encoder.precision import device_name
from pinakes.indexers.exact.scores import Distance
from pinakes.progress import Progress
from pinakes.queries.sentence_relations import select_candidate_sentences, select_query_sentences
from pinakes.schema import vectors_table
from pinakes.systems.base import (
    IndexSummary,
    Ranking,
    SystemDescription,
    SystemOptions,
    take_options,
)
from pinakes.systems.matching import BestPair, Matching
from pinakes.systems.sentence_facets import CANDIDATES, describe_candidates
from pinakes.systems.sentence_ranking import (
    Comparison,
    SentenceVectors,
    digest_sentences,
    rank_sentences,
    require_sentences,
)
from pinakes.vectors.contextual import ContextualSystem
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.stored import StoredEncoder, select_distinct_texts
from pinakes.workload.workload import Workload

SENTENCE_OPTIONS: Final = {"context": "", "pooling": "mean", "candidates": "all"}


def make_sentences(name: str, options: SystemOptions) -> "SentenceSystem | ContextualSystem":
    """A sentence encoder, by a name such as `sentences:minilm`.

    Its options: `context`, `yes` to read each sentence within its paper, by default as the preset says; and
    then `pooling`, `mean` or `layers_mean`; `candidates`, `all` sentences of a candidate's abstract, or only
    those of the query's `facet`.
    """
    return build_sentence_system(name, options, take_options(name, options, SENTENCE_OPTIONS), BestPair())


def build_sentence_system(
    name: str, options: SystemOptions, given: Mapping[str, str], matching: Matching
) -> "SentenceSystem | ContextualSystem":
    """The system of a name such as `sentences:minilm`, whose sentences are matched so.

    Raises:
        InputError: an option is not one that sentences have.
    """
    encoder = EncoderSession(name.partition(":")[2], options)
    preset = encoder.source.preset
    context = given["context"] or ("yes" if preset and preset.contextual else "no")
    if context not in ("yes", "no"):
        raise InputError(f"context is {context!r}; expected yes or no.")
    if given["candidates"] not in CANDIDATES:
        raise InputError(f"candidates is {given['candidates']!r}; expected {' or '.join(CANDIDATES)}.")
    comparison = Comparison(
        f"{matching.kind}:{encoder.source.name}",
        matching,
        encoder.choose_distance(options),
        encoder.device,
        given["candidates"],
    )
    if context == "yes":
        return ContextualSystem(encoder, given["pooling"], comparison)
    return SentenceSystem(encoder, comparison)


class SentenceSystem:
    """A system that compares the sentences of papers, each encoded alone."""

    def __init__(self, encoder: EncoderSession, comparison: Comparison) -> None:
        self.name = comparison.name
        self._encoder = encoder
        self._comparison = comparison

    @property
    def distance(self) -> Distance:
        """How two sentences are compared."""
        return self._comparison.distance

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Encode every sentence of the workload that has no vector yet."""
        started = time.monotonic()
        require_sentences(database, workload)
        label = f"the sentences of {workload.benchmark.name}"
        added, already = self._encoder.encode(database, _select_texts(workload), label, progress)
        return IndexSummary(self.name, added, already, time.monotonic() - started)

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """The encoder, the match, and a digest of the sentences, which no template of the run names."""
        stored = self._require(database, workload)
        compared = self._comparison
        return SystemDescription(
            {
                "encoder": stored.name,
                "distance": compared.distance,
                "search": "exact",
                "context": "no",
                "score": compared.matching.in_words,
                **compared.matching.describe(),
                **describe_candidates(database, workload, compared.candidates),
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
        held = SentenceVectors(
            _with_vectors(select_query_sentences(workload.benchmark), vectors),
            _with_vectors(select_candidate_sentences(workload.benchmark), vectors),
        )
        yield from rank_sentences(database, workload, held, self._comparison, progress)

    def _require(self, database: Database, workload: Workload) -> StoredEncoder:
        require_sentences(database, workload)
        kind = self._comparison.matching.kind
        requested = f"--system {kind}:{self._encoder.requested_as} --precision {self._encoder.precision}"
        if self._encoder.source.preset and self._encoder.source.preset.contextual:
            requested += " --option context=no"
        command = f"`pinakes index {workload.benchmark.name} {requested}`"
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
