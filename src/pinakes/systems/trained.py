"""What systems share whose vectors are trained on a corpus: a side index; texts are encoded at each run.

The corpus is the benchmark's own, or, by the option `trained_on`, a larger one.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Protocol

import numpy as np
import orjson
import sqlalchemy as sa
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.indexers.lexical import positions_of
from pinakes.indexers.names import DISTANCES, Distance, require_name
from pinakes.progress import Progress
from pinakes.queries.relations import select_candidate_texts, select_corpus_texts
from pinakes.systems.base import Ability, Asked, Embedded, Ranking, SystemDescription, SystemOptions
from pinakes.systems.dense_pools import HeldVectors, rank_own_pools
from pinakes.systems.indexed import IndexedSystem, require_loaded
from pinakes.systems.rankings import report_rankings
from pinakes.vectors.side_index import SideIndex
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.scope import CorpusScope
from pinakes.workload.workload import Ids, Workload

TEXTS_AT_ONCE: Final = 8_192

Vectors = NDArray[np.float32]


class TrainedModel(Protocol):
    """A model that makes vectors of texts."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...


class TrainedSystem(IndexedSystem):
    """A system that compares vectors of texts, made by a model that was trained on a corpus.

    `trained_on` is the corpus, "" the benchmark's own.
    """

    can: ClassVar[frozenset[Ability]] = frozenset({"rank", "embed"})
    kind: ClassVar[str]

    def __init__(self, name: str, options: SystemOptions, trained_on: str, distance: Distance) -> None:
        super().__init__(name, options)
        self._trained_on = trained_on
        self._distance = require_name("distance", options.distance or distance, DISTANCES)

    @abstractmethod
    def _open(self, database: Database, asked: Asked) -> Any:
        """The trained model, a `TrainedModel`."""

    @abstractmethod
    def _make_vectors(self, model: Any, texts: list[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        """The vectors (n, d) of texts, and for each whether it has one (n,)."""

    @abstractmethod
    def _list_settings(self) -> Mapping[str, Any]:
        """What decides the model, apart from the texts; fit for JSON."""

    def _describe_use(self) -> Mapping[str, Any]:
        """What decides a text's vector, apart from the model."""
        return {}

    def describe(self, database: Database, workload: Asked) -> SystemDescription:
        """How the model was trained, the digest of the texts, how it is used, and the distance."""
        row = self._require_once(database, workload)
        return SystemDescription(
            {
                **orjson.loads(row["parameters"]),
                "trained_on": self._corpus(workload.scope),
                "content_digest": row["content_digest"],
                **self._describe_use(),
                "distance": self._distance,
            },
            device="cpu",
        )

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By exact comparison; a text without a vector is in no ranking."""
        model = self._open(database, workload)
        queries, known = self._make_vectors(model, workload.query_texts)
        answerable = np.flatnonzero(known).tolist()
        rank = self._rank_shared if workload.pools is None else self._rank_pools
        with database.read() as session:
            rankings = rank(session, workload, model, queries, answerable)
            yield from report_rankings(rankings, workload, self.name, len(answerable), progress)

    def _rank_shared(
        self,
        session: Session,
        workload: Workload,
        model: TrainedModel,
        queries: Vectors,
        answerable: list[int],
    ) -> Iterator[Ranking]:
        from pinakes.indexers.exact.search import (
            search_exact,
        )  # late: it loads torch, and only ranking needs it

        # Made twice, so that the candidates' vectors are never all in memory.
        parts = [rows for rows, _ in self._candidates(session, workload, model)]
        rows = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        if not len(rows) or not answerable:
            return
        depth = min(workload.benchmark.depth or len(rows), len(rows))
        blocks = (vectors for _, vectors in self._candidates(session, workload, model))
        found, scores = search_exact(
            queries[answerable], blocks, depth, self._distance, workload.tie_order[rows]
        )
        for number, position in enumerate(answerable):
            yield Ranking(workload.query_ids[position], rows[found[number]], scores[number])

    def embed(self, database: Database, texts: PaperTexts, progress: Progress) -> Embedded:
        """The vector of each paper whose text has one."""
        model = self._open(database, texts)
        found = np.zeros((len(texts.paper_ids), model.dimensions), dtype=np.float32)
        has_vector = np.zeros(len(texts.paper_ids), dtype=bool)
        with database.read() as session:
            for rows, vectors in self._read(session, texts.select_paper_texts(), texts.paper_ids, model):
                found[rows], has_vector[rows] = vectors, True
        return Embedded(np.flatnonzero(has_vector), found[has_vector])

    def _rank_pools(
        self,
        session: Session,
        workload: Workload,
        model: TrainedModel,
        queries: Vectors,
        answerable: list[int],
    ) -> Iterator[Ranking]:
        documents = np.zeros((len(workload.paper_ids), model.dimensions), dtype=np.float32)
        has_vector = np.zeros(len(workload.paper_ids), dtype=bool)
        for rows, vectors in self._candidates(session, workload, model):
            documents[rows], has_vector[rows] = vectors, True
        held = HeldVectors(documents[has_vector], np.flatnonzero(has_vector))
        yield from rank_own_pools(workload, answerable, queries[answerable], held, self._distance)

    def _candidates(
        self, session: Session, workload: Workload, model: TrainedModel
    ) -> Iterator[tuple[Ids, Vectors]]:
        texts = select_candidate_texts(workload.benchmark, workload.paper_template)
        return self._read(session, texts, workload.paper_ids, model)

    def _read(
        self, session: Session, texts: sa.Select[Any], expected: Ids, model: TrainedModel
    ) -> Iterator[tuple[Ids, Vectors]]:
        """Blocks of rows of the papers expected, ascending, and the vectors of those that have one."""
        for part in session.stream(texts, rows=TEXTS_AT_ONCE):
            vectors, known = self._make_vectors(model, part["text"].to_pylist())
            paper_ids = part["paper_id"].to_numpy().astype(np.int64)[known]
            yield positions_of(paper_ids, expected, "the papers as they were read before"), vectors[known]

    def _corpus(self, scope: CorpusScope) -> str:
        return self._trained_on or scope.corpus

    def _digest(self, database: Database, scope: CorpusScope) -> tuple[str, int]:
        corpus_texts = select_corpus_texts(self._corpus(scope), scope.paper_template)
        texts = corpus_texts.order_by(None).subquery("texts")  # its own order would sort the texts themselves
        query = sa.select(texts.c.paper_id, sa.func.md5(texts.c.text).label("text_digest"))
        digest = hashlib.sha256(orjson.dumps(self._list_settings(), option=orjson.OPT_SORT_KEYS))
        rows = 0
        require_loaded(database, self._corpus(scope), "train vectors on")
        with database.read() as session:
            for part in session.stream(query.order_by(texts.c.paper_id)):
                rows += part.num_rows
                digest.update("\n".join(part["text_digest"].to_pylist()).encode() + b"\n")
        return digest.hexdigest(), rows

    def _side_index(self, scope: CorpusScope) -> SideIndex:
        corpus, template = self._corpus(scope), scope.paper_template
        return SideIndex(self._folder, self.kind, f"corpus:{corpus}", template, self.kind, (corpus, template))

    def _select_training(self, scope: CorpusScope) -> sa.Select[Any]:
        return select_corpus_texts(self._corpus(scope), scope.paper_template)


def read_training_texts(session: Session, texts: sa.Select[Any], progress: Progress) -> Iterator[str]:
    """The texts, in the order of the select."""
    for part in session.stream(texts):
        yield from part["text"].to_pylist()
        progress.advance(part.num_rows)
