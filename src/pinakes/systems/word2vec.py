"""Averages of word2vec vectors as systems, plain or weighted by TF-IDF.

All of the same dimensions share one side index, the word vectors trained on a loaded corpus: the benchmark's
own, or, by the option `trained_on`, a larger one. Texts are averaged anew for each run.
"""

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import InputError, RunError
from pinakes.indexers.exact.scores import Distance
from pinakes.indexers.exact.search import score_pool, search_exact
from pinakes.indexers.lexical import positions_of
from pinakes.indexers.side_folder import folder_name, is_whole
from pinakes.indexers.word2vec import (
    DIMENSIONS,
    KIND,
    Vectors,
    Word2Vec,
    build_word2vec,
    describe_training,
)
from pinakes.progress import Progress
from pinakes.queries.relations import select_candidate_texts, select_corpus_texts
from pinakes.systems.base import (
    IndexSummary,
    Ranking,
    SystemDescription,
    SystemOptions,
    list_requested,
    take_options,
)
from pinakes.systems.corpus_texts import require_loaded
from pinakes.vectors.side_rows import find_row, identify, remove_replaced, store_row
from pinakes.workload.workload import Ids, Workload

WEIGHTS: Final = ("none", "tfidf")
DEFAULTS: Final = {"trained_on": "", "dimensions": str(DIMENSIONS), "weights": "none"}
PUBLISHED_DISTANCE: Final[Distance] = "l2"  # CSFCube, section 5 and appendix C
TEXTS_AT_ONCE: Final = 8_192
MOST_DIMENSIONS: Final = 4_096


def make_word2vec(name: str, options: SystemOptions) -> "Word2VecSystem":
    """Averages of word vectors; its options are trained_on, dimensions and weights (`none` or `tfidf`)."""
    settings = take_options(name, options, DEFAULTS)
    dimensions, weights = settings["dimensions"], settings["weights"]
    if weights not in WEIGHTS:
        raise InputError(f"weights is {weights!r}; expected one of {', '.join(WEIGHTS)}.")
    if not dimensions.isdecimal() or not 1 <= int(dimensions) <= MOST_DIMENSIONS:
        raise InputError(f"dimensions is {dimensions!r}; expected a number from 1 to {MOST_DIMENSIONS}.")
    return Word2VecSystem(name, settings["trained_on"], int(dimensions), weights, options)


class Word2VecSystem:
    """A system that compares averages of word vectors."""

    def __init__(
        self, name: str, trained_on: str, dimensions: int, weights: str, options: SystemOptions
    ) -> None:
        self.name = name
        self._requested = list_requested(options)
        self._weights = weights
        self._trained_on = trained_on
        self._dimensions = dimensions
        self._folder = options.index_folder
        self._distance: Distance = options.distance or PUBLISHED_DISTANCE  # type: ignore[assignment]
        self._checked: tuple[str, dict[str, Any]] | None = None

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Train the word vectors on the corpus's texts, unless some of the same texts are there."""
        started = time.monotonic()
        digest, rows = self._digest_corpus(database, workload)
        known = self._find(database, workload)
        if known and known["content_digest"] == digest and is_whole(self._folder / known["path"]):
            return IndexSummary(self.name, 0, rows, time.monotonic() - started)
        progress.start(f"train word2vec on {self._corpus(workload)}", rows)
        try:
            self._build(database, workload, digest, progress, known)
        finally:
            progress.finish()
        return IndexSummary(self.name, rows, 0, time.monotonic() - started)

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """How the vectors were trained, the digest of the texts, the weights and the distance."""
        known = self._require(database, workload)
        return SystemDescription(
            {
                **orjson.loads(known["parameters"]),
                "trained_on": self._corpus(workload),
                "content_digest": known["content_digest"],
                "weights": self._weights,
                "distance": self._distance,
            },
            device="cpu",
        )

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By exact comparison; a text without a word that has a vector is in no ranking."""
        model = Word2Vec.open(self._folder / self._require(database, workload)["path"])
        queries, known = self._average(model, workload.query_texts)
        answerable = np.flatnonzero(known).tolist()
        progress.start(f"rank {workload.benchmark.name} by {self.name}", len(answerable))
        rank = self._rank_shared if workload.pools is None else self._rank_pools
        try:
            with database.read() as session:
                for ranking in rank(session, workload, model, queries, answerable):
                    yield ranking
                    progress.advance(1)
        finally:
            progress.finish()

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

    def _rank_pools(
        self, session: Session, workload: Workload, model: Word2Vec, queries: Vectors, answerable: list[int]
    ) -> Iterator[Ranking]:
        documents = np.zeros((len(workload.paper_ids), model.dimensions), dtype=np.float32)
        has_vector = np.zeros(len(workload.paper_ids), dtype=bool)
        for rows, vectors in self._candidates(session, workload, model):
            documents[rows], has_vector[rows] = vectors, True
        for position in answerable:
            query_id = workload.query_ids[position]
            pool = (workload.pools or {})[query_id]
            pool = pool[has_vector[pool]]
            found, scores = score_pool(queries[position], documents, pool, self._distance, workload.tie_order)
            depth = workload.benchmark.depth or len(found)
            yield Ranking(query_id, found[:depth], scores[:depth])

    def _candidates(
        self, session: Session, workload: Workload, model: Word2Vec
    ) -> Iterator[tuple[Ids, Vectors]]:
        """Blocks of rows of `workload.paper_ids`, ascending, and the vectors of those that have one."""
        texts = select_candidate_texts(workload.benchmark, workload.paper_template)
        for part in session.stream(texts, rows=TEXTS_AT_ONCE):
            vectors, known = self._average(model, part["text"].to_pylist())
            paper_ids = part["paper_id"].to_numpy().astype(np.int64)[known]
            yield (
                positions_of(paper_ids, workload.paper_ids, "the candidates as they were read before"),
                vectors[known],
            )

    def _average(self, model: Word2Vec, texts: list[str]) -> tuple[Vectors, Any]:
        return model.average(texts, tfidf=self._weights == "tfidf")

    def _corpus(self, workload: Workload) -> str:
        return self._trained_on or workload.benchmark.corpus

    def _digest_corpus(self, database: Database, workload: Workload) -> tuple[str, int]:
        corpus_texts = select_corpus_texts(self._corpus(workload), workload.paper_template)
        texts = corpus_texts.order_by(None).subquery("texts")  # its own order would sort the texts themselves
        query = sa.select(texts.c.paper_id, sa.func.md5(texts.c.text).label("text_digest"))
        settings = describe_training(self._dimensions)
        digest = hashlib.sha256(orjson.dumps(settings, option=orjson.OPT_SORT_KEYS))
        rows = 0
        require_loaded(database, self._corpus(workload), "train word vectors on")
        with database.read() as session:
            for part in session.stream(query.order_by(texts.c.paper_id)):
                rows += part.num_rows
                digest.update("\n".join(part["text_digest"].to_pylist()).encode() + b"\n")
        return digest.hexdigest(), rows

    def _identity(self, workload: Workload) -> dict[str, str]:
        return identify(KIND, f"corpus:{self._corpus(workload)}", workload.paper_template)

    def _find(self, database: Database, workload: Workload) -> dict[str, Any] | None:
        with database.read() as session:
            return find_row(session, self._identity(workload))

    def _require(self, database: Database, workload: Workload) -> dict[str, Any]:
        """The row of an index that is there and of the corpus as it is, looked at once a workload."""
        if self._checked and self._checked[0] == workload.digest:
            return self._checked[1]
        command = f"`pinakes index {workload.benchmark.name} --system {self.name}{self._requested}`"
        corpus = self._corpus(workload)
        known = self._find(database, workload)
        if known is None or not (self._folder / known["path"]).is_dir():
            raise RunError(
                f"there are no word2vec vectors trained on the corpus {corpus} under {self._folder}; train "
                f"them with {command}."
            )
        digest, _ = self._digest_corpus(database, workload)
        if known["content_digest"] != digest:
            raise RunError(
                f"the word2vec vectors of the corpus {corpus} were trained on other texts or with other "
                f"settings than those of today; train them again with {command}."
            )
        self._checked = (workload.digest, known)
        return known

    def _build(
        self,
        database: Database,
        workload: Workload,
        digest: str,
        progress: Progress,
        known: dict[str, Any] | None,
    ) -> None:
        path = Path(KIND) / folder_name(self._corpus(workload), workload.paper_template, digest[:16])
        (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
        texts = select_corpus_texts(self._corpus(workload), workload.paper_template)
        with database.read() as session:
            read = _read_texts(session, texts, progress)
            built = build_word2vec(self._folder / path, read, dimensions=self._dimensions)
        values = {
            "parameters": built.parameters,
            "row_count": built.row_count,
            "content_digest": digest,
            "path": str(path),
        }
        with database.begin() as session:
            store_row(session, self._identity(workload), values)
        remove_replaced(self._folder, known, path)


def _read_texts(session: Session, texts: sa.Select[Any], progress: Progress) -> Iterator[str]:
    for part in session.stream(texts):
        yield from part["text"].to_pylist()
        progress.advance(part.num_rows)
