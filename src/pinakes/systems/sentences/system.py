"""Sentence encoders as systems, by a name such as `sentences:minilm` or `transport:minilm`.

Both kinds compare the same sentences by the same vectors: whichever is indexed, both can rank. A query asks
with the sentences of its facet, or as its benchmark says, against those of a candidate's abstract.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, get_args

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.indexers.encoder.precision import device_name
from pinakes.indexers.transport.plans import COSTS, Marginals, TransportSettings
from pinakes.options import option, read_options
from pinakes.progress import Progress
from pinakes.systems.base import Ability, IndexSummary, Ranking, System, SystemDescription, SystemOptions
from pinakes.systems.sentences.matching import Matching, match_best_pair, match_by_transport
from pinakes.systems.sentences.ranking import Comparison, rank_sentences
from pinakes.systems.sentences.requested import CANDIDATES, describe_candidates, digest_sentences
from pinakes.systems.sentences.stored import POOLINGS, SentencesAlone, SentencesInContext, SentenceVectors
from pinakes.vectors.encoding import EncoderSession, start_session
from pinakes.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class SentenceOptions:
    """The options of `sentences:SYSTEM`."""

    context: bool | None = option(
        None, "Whether a sentence is read within its paper; default: as the preset says, else no."
    )
    pooling: str = option("mean", "In context: of the last layer, or of all layers.", choices=POOLINGS)
    candidates: str = option(
        "all", "Sentences of a candidate: all, or those of the query's facet.", choices=CANDIDATES
    )


@dataclass(frozen=True, slots=True)
class TransportOptions(SentenceOptions):
    """The options of `transport:SYSTEM`.

    The exact plan is the default, where ASPIRE computes with epsilon 0.05: it is what the paper defines (an
    earth mover's distance), it means the same for vectors of any length, and it needs no rule for when to
    stop.
    """

    marginals: str = option(
        "aspire",
        "The weights of sentences: softmax of minus the distance to the nearest, or all alike.",
        choices=get_args(Marginals),
    )
    temperature: float = option(1.0, "What aspire divides these distances by.", above=0)
    regularisation: float = option(0.0, "0: the exact plan; above: the entropy's epsilon.", minimum=0)


class SentenceSystem(System):
    """A system that compares the sentences of papers; the best pair is the score."""

    can: ClassVar[frozenset[Ability]] = frozenset({"rank", "sentences"})
    own_options: ClassVar[type[SentenceOptions]] = SentenceOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        own = read_options(self.own_options, name, options.parameters)
        encoder = start_session(name.partition(":")[2], options)
        matching = self._match(own, encoder.device)
        self.name = f"{matching.kind}:{encoder.source.name}"
        self._encoder = encoder
        self._vectors = _choose_vectors(encoder, own)
        self._comparison = Comparison(self.name, matching, encoder.distance, own.candidates)

    def _match(self, own: SentenceOptions, device: str) -> Matching:
        return match_best_pair(device)

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Encode every sentence of the workload that has no vector yet; in context, every paper."""
        started = time.monotonic()
        added, existing = self._vectors.encode(database, workload, progress)
        return IndexSummary(self.name, added, existing, time.monotonic() - started)

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """The encoder, the match, and a digest of the sentences, which no template of the run names."""
        compared, vectors = self._comparison, self._vectors
        stored = vectors.require(database, workload, compared.matching.kind)
        in_context = " in context" if vectors.context == "yes" else ""
        return SystemDescription(
            {
                "encoder": stored.name,
                "distance": compared.distance,
                "search": "exact",
                "context": vectors.context,
                "score": f"{compared.matching.in_words}{in_context}",
                **compared.matching.parameters,
                **describe_candidates(database, workload, compared.candidates),
                "sentences_digest": digest_sentences(database, workload),
                **vectors.describe(database, workload, stored),
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
        stored = self._vectors.require(database, workload, self._comparison.matching.kind)
        selected = self._vectors.select(workload, stored)
        yield from rank_sentences(database, workload, selected, self._comparison, progress)


class TransportSystem(SentenceSystem):
    """A system whose papers score by optimal transport: ASPIRE's multiple matches, for any encoder.

    Raises:
        InputError: the distance is not one that a transport has.
    """

    own_options: ClassVar[type[SentenceOptions]] = TransportOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        super().__init__(name, options)
        distance = self._comparison.distance
        if distance not in COSTS:
            raise InputError(f"the distance of a transport is {distance}; expected {' or '.join(COSTS)}.")

    def _match(self, own: SentenceOptions, device: str) -> Matching:
        settings = {name: getattr(own, name) for name in ("marginals", "temperature", "regularisation")}
        return match_by_transport(TransportSettings(**settings))


def _choose_vectors(encoder: EncoderSession, own: SentenceOptions) -> SentenceVectors:
    preset = encoder.source.preset
    in_context = bool(preset and preset.contextual) if own.context is None else own.context
    return SentencesInContext(encoder, own.pooling) if in_context else SentencesAlone(encoder)
