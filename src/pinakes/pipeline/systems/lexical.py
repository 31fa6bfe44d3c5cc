"""BM25 and TF-IDF over side indexes of a whole corpus: its statistics, whatever the pool.

A benchmark's paper template says what a document is; where that is title and abstract, BM25 reads the
title once more with a small weight. Leaves out: the indexes themselves (`pinakes.indexers`).
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import orjson
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.indexers.analysis import Analysis, english_analysis
from pinakes.indexers.bm25 import Bm25Index, build_bm25
from pinakes.indexers.lexical import BuiltIndex, Ids, Ranked, Scores, TieOrder, select_top
from pinakes.indexers.side_folder import folder_name, is_whole
from pinakes.indexers.tfidf import TfidfIndex, build_tfidf
from pinakes.pipeline.progress import Progress
from pinakes.pipeline.scope import CorpusScope
from pinakes.pipeline.side_rows import find_row, identify, remove_replaced, store_row
from pinakes.pipeline.systems.base import (
    IndexSummary,
    Ranking,
    SystemDescription,
    SystemOptions,
    take_options,
)
from pinakes.pipeline.workload import Workload
from pinakes.queries.relations import select_corpus_texts

TITLE_WEIGHT: Final = 0.25


class LexicalIndex(Protocol):
    """What both kinds of index can do."""

    @property
    def row_count(self) -> int:
        """How many papers the index holds."""
        ...

    def search(self, query_text: str, k: int, *, tie_order: TieOrder) -> Ranked:
        """The best `k` papers that share a term with the text."""
        ...

    def score_pool(self, query_text: str, paper_ids: Ids) -> Scores:
        """The score of each given paper, 0 for one that shares no term."""
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of index is built and opened, and the weights of its fields for a template."""

    build: Callable[..., BuiltIndex]
    open: Callable[[Path], LexicalIndex]
    weights: Mapping[str, Mapping[str, float]]


BM25: Final = Kind(build_bm25, Bm25Index.open, {"title_abstract": {"text": 1.0, "title": TITLE_WEIGHT}})
TFIDF: Final = Kind(build_tfidf, TfidfIndex.open, {})


def make_bm25(name: str, options: SystemOptions) -> "LexicalSystem":
    """BM25 over tantivy."""
    take_options(name, options, {})
    return LexicalSystem(name, BM25, options.index_folder)


def make_tfidf(name: str, options: SystemOptions) -> "LexicalSystem":
    """TF-IDF cosine."""
    take_options(name, options, {})
    return LexicalSystem(name, TFIDF, options.index_folder)


class LexicalSystem:
    """A system that compares terms."""

    def __init__(self, name: str, kind: Kind, index_folder: Path) -> None:
        self.name = name
        self._kind = kind
        self._folder = index_folder
        self._checked: tuple[str, dict[str, Any]] | None = None

    def index(self, database: Database, workload: Workload, progress: Progress) -> IndexSummary:
        """Build the index of the workload's corpus, unless one of the same texts is there."""
        return self.index_corpus(database, workload.scope, progress)

    def index_corpus(self, database: Database, scope: CorpusScope, progress: Progress) -> IndexSummary:
        """Build the corpus's index, unless one of the same texts is there."""
        started = time.monotonic()
        digest, rows = self._digest_corpus(database, scope)
        known = self._find(database, scope)
        if known and known["content_digest"] == digest and is_whole(self._folder / known["path"]):
            return IndexSummary(self.name, 0, rows, time.monotonic() - started)
        progress.start(f"index {scope.corpus} for {self.name}", rows)
        try:
            self._build(database, scope, digest, progress, known)
        finally:
            progress.finish()
        return IndexSummary(self.name, rows, 0, time.monotonic() - started)

    def search(
        self,
        database: Database,
        scope: CorpusScope,
        text: str,
        k: int,
        pool: Ids | None,
        tie_order: TieOrder,
    ) -> Ranked:
        """The best papers that share a term with the text; of a pool also the others, scoring 0."""
        index = self._kind.open(self._folder / self._require(database, scope)["path"])
        if pool is None:
            return index.search(text, k, tie_order=tie_order)
        return select_top(pool, index.score_pool(text, pool), k, tie_order)

    def describe(self, database: Database, workload: Workload) -> SystemDescription:
        """The index's parameters and the digest of what it was built from."""
        known = self._require_once(database, workload)
        parameters = {**orjson.loads(known["parameters"]), "content_digest": known["content_digest"]}
        return SystemDescription(parameters, device="cpu")

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By score; in a pool of its own, a candidate that shares no term scores 0 and is last."""
        index = self._kind.open(self._folder / self._require_once(database, workload)["path"])
        tie_order = _tie_order(workload)
        progress.start(f"rank {workload.benchmark.name} by {self.name}", len(workload.query_ids))
        try:
            for query_id, text in zip(workload.query_ids, workload.query_texts, strict=True):
                if text:
                    ranked = _rank_query(index, workload, query_id, text, tie_order)
                    rows = np.searchsorted(workload.paper_ids, ranked.paper_ids)
                    yield Ranking(query_id, rows, ranked.scores)
                progress.advance(1)
        finally:
            progress.finish()

    def _weights(self, template: str) -> Mapping[str, float]:
        return self._kind.weights.get(template, {"text": 1.0})

    def _analysis(self) -> Analysis:
        return english_analysis()

    def _digest_corpus(self, database: Database, scope: CorpusScope) -> tuple[str, int]:
        # Its own order would sort the texts themselves.
        texts = select_corpus_texts(scope.corpus, scope.paper_template).order_by(None).subquery("texts")
        query = sa.select(
            texts.c.paper_id, sa.func.md5(texts.c.text + "\n" + texts.c.title).label("text_digest")
        )
        settings = {
            "weights": self._weights(scope.paper_template),
            "analysis": self._analysis().to_json(),
        }
        digest = hashlib.sha256(orjson.dumps(settings, option=orjson.OPT_SORT_KEYS))
        rows = 0
        with database.read() as session:
            for part in session.stream(query.order_by(texts.c.paper_id)):
                rows += part.num_rows
                told = zip(*(column.to_pylist() for column in part.columns), strict=True)
                digest.update("".join([f"{paper_id} {text}\n" for paper_id, text in told]).encode())
        return digest.hexdigest(), rows

    def _identity(self, scope: CorpusScope) -> dict[str, str]:
        return identify(self.name, f"corpus:{scope.corpus}", scope.paper_template)

    def _find(self, database: Database, scope: CorpusScope) -> dict[str, Any] | None:
        with database.read() as session:
            return find_row(session, self._identity(scope))

    def _require(self, database: Database, scope: CorpusScope) -> dict[str, Any]:
        """The row of an index that is there and of the corpus as it is."""
        command = f"`pinakes index {scope.asked_as} --system {self.name}`"
        known = self._find(database, scope)
        if known is None or not (self._folder / known["path"]).is_dir():
            raise RunError(
                f"there is no {self.name} index of the corpus {scope.corpus} under "
                f"{self._folder}; build it with {command}."
            )
        digest, _ = self._digest_corpus(database, scope)
        if known["content_digest"] != digest:
            raise RunError(
                f"the {self.name} index of the corpus {scope.corpus} was built from other texts "
                f"or settings than those of today; build it again with {command}."
            )
        return known

    def _require_once(self, database: Database, workload: Workload) -> dict[str, Any]:
        """As `_require`, looked at once a workload."""
        if self._checked is None or self._checked[0] != workload.digest:
            self._checked = (workload.digest, self._require(database, workload.scope))
        return self._checked[1]

    def _build(
        self,
        database: Database,
        scope: CorpusScope,
        digest: str,
        progress: Progress,
        known: Mapping[str, Any] | None,
    ) -> None:
        path = Path(self.name) / folder_name(scope.corpus, scope.paper_template, digest[:16])
        (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
        weights = self._weights(scope.paper_template)
        texts = select_corpus_texts(scope.corpus, scope.paper_template)
        with database.read() as session:
            documents = _documents(session.stream(texts), weights, progress)
            extra = {"weights": weights} if self._kind is BM25 else {}
            built = self._kind.build(self._folder / path, documents, list(weights), **extra)
        values = {
            "parameters": built.parameters,
            "row_count": built.row_count,
            "content_digest": digest,
            "path": str(path),
        }
        with database.begin() as session:
            store_row(session, self._identity(scope), values)
        remove_replaced(self._folder, known, path)


def _documents(
    parts: Iterator[Any], weights: Mapping[str, float], progress: Progress
) -> Iterator[tuple[int, dict[str, str | None]]]:
    for part in parts:
        columns = {name: part[name].to_pylist() for name in weights}
        for row, paper_id in enumerate(part["paper_id"].to_pylist()):
            yield paper_id, {name: values[row] for name, values in columns.items()}
        progress.advance(part.num_rows)


def _rank_query(
    index: LexicalIndex, workload: Workload, query_id: str, text: str, tie_order: TieOrder
) -> Ranked:
    depth = workload.benchmark.depth or len(workload.paper_ids)
    if workload.pools is not None:
        pool = workload.paper_ids[workload.pools[query_id]]
        return select_top(pool, index.score_pool(text, pool), depth, tie_order)
    if len(workload.paper_ids) == index.row_count:
        return index.search(text, depth, tie_order=tie_order)
    scores = index.score_pool(text, workload.paper_ids)
    matched = scores > 0
    return select_top(workload.paper_ids[matched], scores[matched], depth, tie_order)


def _tie_order(workload: Workload) -> TieOrder:
    def order(paper_ids: Ids) -> Ids:
        ranks: Ids = workload.tie_order[np.searchsorted(workload.paper_ids, paper_ids)]
        return ranks

    return order
