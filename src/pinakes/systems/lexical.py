"""BM25 and TF-IDF over side indexes of a whole corpus: its statistics, or another's, whatever the pool.

A benchmark's paper template says what a document is; where that is title and abstract, BM25 reads the
title once more with a small weight. The option `trained_on` (of all but `bm25`) names another loaded corpus
that N, df and the mean length are counted in.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import orjson

from pinakes.database import Database
from pinakes.errors import InputError, RunError
from pinakes.indexers.analysis import Analysis, english_analysis, named_analysis
from pinakes.indexers.bm25 import Bm25Index, build_bm25
from pinakes.indexers.lexical import BuiltIndex, Ids, Ranked, Scores, TieOrder, select_top
from pinakes.indexers.side_folder import folder_name, is_whole
from pinakes.indexers.tfidf import TfidfIndex, build_tfidf
from pinakes.progress import Progress
from pinakes.queries.relations import select_corpus_texts
from pinakes.systems.base import (
    IndexSummary,
    Ranking,
    SystemDescription,
    SystemOptions,
    list_requested,
    take_options,
)
from pinakes.systems.corpus_texts import (
    count_corpus,
    digest_texts,
    read_documents,
    require_loaded,
)
from pinakes.vectors.side_rows import find_row, identify, remove_replaced, store_row
from pinakes.workload.scope import CorpusScope
from pinakes.workload.workload import Workload

TITLE_WEIGHT: Final = 0.25
TFIDF_DEFAULTS: Final = {"analysis": "english", "sublinear_tf": "yes", "trained_on": ""}


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
    """How one kind of index is built and opened.

    Attributes:
        weights: of its fields, for a template; the text alone, with 1, for one that is not there.
        analysis: how it makes terms of texts.
        settings: what else decides what is built, where it is not as usual.
    """

    build: Callable[..., BuiltIndex]
    open: Callable[[Path], LexicalIndex]
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    analysis: Analysis = field(default_factory=english_analysis)
    settings: Mapping[str, Any] = field(default_factory=dict)


BM25: Final = Kind(build_bm25, Bm25Index.open, {"title_abstract": {"text": 1.0, "title": TITLE_WEIGHT}})


def make_bm25(name: str, options: SystemOptions) -> "LexicalSystem":
    """BM25 over tantivy."""
    take_options(name, options, {})
    return LexicalSystem(name, BM25, options)


def make_tfidf(name: str, options: SystemOptions) -> "LexicalSystem":
    """TF-IDF cosine; its options are analysis, sublinear_tf (`yes` or `no`) and trained_on."""
    chosen = take_options(name, options, TFIDF_DEFAULTS)
    if chosen["sublinear_tf"] not in ("yes", "no"):
        raise InputError(f"sublinear_tf is {chosen['sublinear_tf']!r}; expected yes or no.")
    sublinear_tf = chosen["sublinear_tf"] == "yes"
    analysis = named_analysis(chosen["analysis"])
    build = partial(build_tfidf, sublinear_tf=sublinear_tf, analysis=analysis)
    settings = {} if sublinear_tf else {"sublinear_tf": False}
    kind = Kind(build, TfidfIndex.open, analysis=analysis, settings=settings)
    return LexicalSystem(name, kind, options, chosen["trained_on"])


class LexicalSystem:
    """A system that compares terms; `trained_on` is another corpus to count them in, "" none."""

    def __init__(self, name: str, kind: Kind, options: SystemOptions, trained_on: str = "") -> None:
        self.name = name
        self._kind = kind
        self._folder = options.index_folder
        self._requested = list_requested(options)
        self._trained_on = trained_on
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
        """The index's parameters, the digest of what it was built from, and the other corpus, if any."""
        known = self._require_once(database, workload)
        parameters = {**orjson.loads(known["parameters"]), "content_digest": known["content_digest"]}
        other = self._other_corpus(workload.scope)
        if other:
            parameters["trained_on"] = other
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

    def _other_corpus(self, scope: CorpusScope) -> str:
        """The corpus that terms are counted in, where it is not the scope's own."""
        return "" if self._trained_on == scope.corpus else self._trained_on

    def _digest_corpus(self, database: Database, scope: CorpusScope) -> tuple[str, int]:
        settings = {
            "weights": self._weights(scope.paper_template),
            "analysis": self._kind.analysis.to_json(),
            **self._kind.settings,
        }
        other = self._other_corpus(scope)
        if other:
            require_loaded(database, other, "count terms in")
            empty = hashlib.sha256()
            settings["counted"], _ = digest_texts(database, other, scope.paper_template, empty)
        digest = hashlib.sha256(orjson.dumps(settings, option=orjson.OPT_SORT_KEYS))
        return digest_texts(database, scope.corpus, scope.paper_template, digest)

    def _identity(self, scope: CorpusScope) -> dict[str, str]:
        other = self._other_corpus(scope)
        counted = f" counted in {other}" if other else ""
        return identify(self.name, f"corpus:{scope.corpus}{counted}", scope.paper_template)

    def _find(self, database: Database, scope: CorpusScope) -> dict[str, Any] | None:
        with database.read() as session:
            return find_row(session, self._identity(scope))

    def _require(self, database: Database, scope: CorpusScope) -> dict[str, Any]:
        """The row of an index that is there and of the corpus as it is."""
        command = f"`pinakes index {scope.requested_as} --system {self.name}{self._requested}`"
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
        extra: dict[str, Any] = {"weights": weights} if self._kind is BM25 else {}
        other = self._other_corpus(scope)
        if other:
            extra["statistics"] = count_corpus(database, other, scope.paper_template, self._kind.analysis)
        texts = select_corpus_texts(scope.corpus, scope.paper_template)
        with database.read() as session:
            documents = read_documents(session.stream(texts), weights, progress)
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
