"""Averages of word2vec vectors as systems, plain or weighted by TF-IDF.

All of the same dimensions share one side index, the word vectors trained on a loaded corpus: the benchmark's
own, or, by the option `trained_on`, a larger one. Texts are averaged again for each run.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import orjson
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.indexers.exact.search import search_exact
from pinakes.indexers.lexical import BuiltIndex, positions_of
from pinakes.indexers.names import DISTANCES, Distance, require_name
from pinakes.indexers.word2vec import DIMENSIONS, KIND, Vectors, Word2Vec, build_word2vec, describe_training
from pinakes.options import option, read_options
from pinakes.progress import Progress
from pinakes.queries.relations import select_candidate_texts, select_corpus_texts
from pinakes.systems.base import (
    Ability,
    Asked,
    Embedded,
    Ranking,
    SystemDescription,
    SystemOptions,
    report_rankings,
)
from pinakes.systems.dense_pools import HeldVectors, rank_own_pools
from pinakes.systems.indexed import IndexedSystem, require_loaded
from pinakes.vectors.side_index import SideIndex
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.scope import CorpusScope
from pinakes.workload.workload import Ids, Workload

PUBLISHED_DISTANCE: Final[Distance] = "l2"  # CSFCube, section 5 and appendix C
TEXTS_AT_ONCE: Final = 8_192


@dataclass(frozen=True, slots=True)
class Word2VecOptions:
    """The options of `word2vec`."""

    dimensions: int = option(DIMENSIONS, "Numbers of a vector.", minimum=1, maximum=4_096)
    weights: str = option("none", "What a word weighs in a text's mean.", choices=("none", "tfidf"))
    trained_on: str = option("", "Another loaded corpus to train on; default: the benchmark's own.")


class Word2VecSystem(IndexedSystem):
    """A system that compares averages of word vectors."""

    can: ClassVar[frozenset[Ability]] = frozenset({"rank", "embed"})
    own_options: ClassVar[type[Word2VecOptions]] = Word2VecOptions

    def __init__(self, name: str, options: SystemOptions) -> None:
        super().__init__(name, options)
        own = read_options(Word2VecOptions, name, options.parameters, options.fixed)
        self._weights, self._trained_on, self._dimensions = own.weights, own.trained_on, own.dimensions
        self._distance = require_name("distance", options.distance or PUBLISHED_DISTANCE, DISTANCES)

    def describe(self, database: Database, workload: Asked) -> SystemDescription:
        """How the vectors were trained, the digest of the texts, the weights and the distance."""
        row = self._require_once(database, workload)
        return SystemDescription(
            {
                **orjson.loads(row["parameters"]),
                "trained_on": self._corpus(workload.scope),
                "content_digest": row["content_digest"],
                "weights": self._weights,
                "distance": self._distance,
            },
            device="cpu",
        )

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By exact comparison; a text without a word that has a vector is in no ranking."""
        model = Word2Vec.open(self._folder / self._require_once(database, workload)["path"])
        queries, known = self._average(model, workload.query_texts)
        answerable = np.flatnonzero(known).tolist()
        rank = self._rank_shared if workload.pools is None else self._rank_pools
        with database.read() as session:
            rankings = rank(session, workload, model, queries, answerable)
            yield from report_rankings(rankings, workload, self.name, len(answerable), progress)

    def _rank_shared(
        self, session: Session, workload: Workload, model: Word2Vec, queries: Vectors, answerable: list[int]
    ) -> Iterator[Ranking]:
        # Averaged twice, so that the candidates' vectors are never all in memory.
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
        """The average of each paper; a text without a word that has a vector has none."""
        model = Word2Vec.open(self._folder / self._require_once(database, texts)["path"])
        found = np.zeros((len(texts.paper_ids), model.dimensions), dtype=np.float32)
        has_vector = np.zeros(len(texts.paper_ids), dtype=bool)
        with database.read() as session:
            for rows, vectors in self._read(session, texts.select_paper_texts(), texts.paper_ids, model):
                found[rows], has_vector[rows] = vectors, True
        return Embedded(np.flatnonzero(has_vector), found[has_vector])

    def _rank_pools(
        self, session: Session, workload: Workload, model: Word2Vec, queries: Vectors, answerable: list[int]
    ) -> Iterator[Ranking]:
        documents = np.zeros((len(workload.paper_ids), model.dimensions), dtype=np.float32)
        has_vector = np.zeros(len(workload.paper_ids), dtype=bool)
        for rows, vectors in self._candidates(session, workload, model):
            documents[rows], has_vector[rows] = vectors, True
        held = HeldVectors(documents[has_vector], np.flatnonzero(has_vector))
        yield from rank_own_pools(workload, answerable, queries[answerable], held, self._distance)

    def _candidates(
        self, session: Session, workload: Workload, model: Word2Vec
    ) -> Iterator[tuple[Ids, Vectors]]:
        texts = select_candidate_texts(workload.benchmark, workload.paper_template)
        return self._read(session, texts, workload.paper_ids, model)

    def _read(
        self, session: Session, texts: sa.Select[Any], expected: Ids, model: Word2Vec
    ) -> Iterator[tuple[Ids, Vectors]]:
        """Blocks of rows of the papers expected, ascending, and the vectors of those that have one."""
        for part in session.stream(texts, rows=TEXTS_AT_ONCE):
            vectors, known = self._average(model, part["text"].to_pylist())
            paper_ids = part["paper_id"].to_numpy().astype(np.int64)[known]
            yield positions_of(paper_ids, expected, "the papers as they were read before"), vectors[known]

    def _average(self, model: Word2Vec, texts: list[str]) -> tuple[Vectors, Any]:
        return model.average(texts, tfidf=self._weights == "tfidf")

    def _corpus(self, scope: CorpusScope) -> str:
        return self._trained_on or scope.corpus

    def _digest(self, database: Database, scope: CorpusScope) -> tuple[str, int]:
        corpus_texts = select_corpus_texts(self._corpus(scope), scope.paper_template)
        texts = corpus_texts.order_by(None).subquery("texts")  # its own order would sort the texts themselves
        query = sa.select(texts.c.paper_id, sa.func.md5(texts.c.text).label("text_digest"))
        settings = describe_training(self._dimensions)
        digest = hashlib.sha256(orjson.dumps(settings, option=orjson.OPT_SORT_KEYS))
        rows = 0
        require_loaded(database, self._corpus(scope), "train word vectors on")
        with database.read() as session:
            for part in session.stream(query.order_by(texts.c.paper_id)):
                rows += part.num_rows
                digest.update("\n".join(part["text_digest"].to_pylist()).encode() + b"\n")
        return digest.hexdigest(), rows

    def _side_index(self, scope: CorpusScope) -> SideIndex:
        corpus, template = self._corpus(scope), scope.paper_template
        return SideIndex(self._folder, KIND, f"corpus:{corpus}", template, KIND, (corpus, template))

    def _build(self, database: Database, scope: CorpusScope, folder: Path, progress: Progress) -> BuiltIndex:
        texts = select_corpus_texts(self._corpus(scope), scope.paper_template)
        with database.read() as session:
            read = _read_texts(session, texts, progress)
            return build_word2vec(folder, read, dimensions=self._dimensions)


def _read_texts(session: Session, texts: sa.Select[Any], progress: Progress) -> Iterator[str]:
    for part in session.stream(texts):
        yield from part["text"].to_pylist()
        progress.advance(part.num_rows)
