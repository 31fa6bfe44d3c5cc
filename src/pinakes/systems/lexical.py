"""What systems that compare terms share: a side index of a whole corpus, whatever the pool.

A benchmark's paper template says what a document is. The option `trained_on` names another loaded corpus
that N, df and the mean length are counted in.
"""

import hashlib
import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import numpy as np
import orjson
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.indexers.analysis import Analysis
from pinakes.indexers.lexical import (
    BuiltIndex,
    Documents,
    Ids,
    Ranked,
    Scores,
    TieOrder,
    positions_of,
    select_top,
)
from pinakes.options import option
from pinakes.progress import Progress
from pinakes.queries.relations import read_template, select_corpus_texts
from pinakes.systems.base import (
    Ability,
    Asked,
    CorpusQuery,
    OpenSearch,
    Ranking,
    SearchedPapers,
    SystemDescription,
    SystemOptions,
)
from pinakes.systems.indexed import IndexedSystem, require_loaded
from pinakes.systems.rankings import make_ranking, make_tie_order, report_rankings
from pinakes.vectors.remembered import remember
from pinakes.vectors.side_index import SideIndex
from pinakes.workload.paper_texts import PaperTexts
from pinakes.workload.scope import CorpusScope
from pinakes.workload.workload import Workload

if TYPE_CHECKING:  # a search weighs no text
    from pinakes.indexers.self_retrieval.space import SparseRows, SparseTexts
    from pinakes.indexers.term_statistics import TermStatistics

WeighTexts = Callable[[list[str], list[str]], "tuple[SparseRows, SparseRows]"]
"""texts and their titles -> each as a query and as a document"""
TEXTS_AT_ONCE: Final = 8_192
TEXT_ALONE: Final[Mapping[str, float]] = {"text": 1.0}


def trained_on_option() -> Any:
    """The option of every system that counts terms in a corpus."""
    return option("", "Another loaded corpus to count terms in; default: the benchmark's own.")


@dataclass(frozen=True, slots=True, eq=False)
class IndexSource:
    """What an index is built from; `statistics` are those of another corpus that terms are counted in.

    Attributes:
        parts: Arrow tables of papers, each with `paper_id` and a column of texts for each field; read once.
        weights: of the fields.
    """

    parts: Iterator[Any]
    weights: Mapping[str, float]
    statistics: "TermStatistics | None"

    @property
    def documents(self) -> Documents:
        """The papers one by one, each with the texts of its fields."""
        for part in self.parts:
            columns = {name: part[name].to_pylist() for name in self.weights}
            for row, paper_id in enumerate(part["paper_id"].to_pylist()):
                yield paper_id, {name: values[row] for name, values in columns.items()}


class LexicalIndex(Protocol):
    """What every kind of index can do."""

    @property
    def row_count(self) -> int:
        """How many papers the index holds."""
        ...

    def search(self, query_text: str, k: int, *, tie_order: TieOrder) -> Ranked:
        """The best `k` papers that share a term with the text."""
        ...

    def search_many(self, query_texts: Sequence[str], k: int, *, tie_order: TieOrder) -> list[Ranked]:
        """What `search` gives for each text."""
        ...

    def score_pool(self, query_text: str, paper_ids: Ids) -> Scores:
        """The score of each given paper, 0 for one that shares no term."""
        ...


class _OpenIndex:
    """An index and the papers of it that are searched."""

    def __init__(self, index: LexicalIndex, searched: SearchedPapers) -> None:
        self._index, self._pool, self._tie_order = index, searched.pool, searched.tie_order

    def search(self, texts: Sequence[str], k: int) -> list[Ranked]:
        if self._pool is None:
            return self._index.search_many(texts, k, tie_order=self._tie_order)
        scores = (self._index.score_pool(text, self._pool) for text in texts)
        return [select_top(self._pool, one, k, self._tie_order) for one in scores]


class LexicalSystem(IndexedSystem):
    """A system that compares terms.

    `trained_on` is another corpus to count them in, "" none; `settings` is what else decides what is built,
    where it is not as usual.
    """

    can: ClassVar[frozenset[Ability]] = frozenset({"rank", "weigh", "index_corpus", "search"})

    def __init__(
        self,
        name: str,
        options: SystemOptions,
        analysis: Analysis,
        trained_on: str = "",
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, options)
        self._analysis = analysis
        self._trained_on = trained_on
        self._settings = settings or {}
        self._weighing: tuple[str, WeighTexts] | None = None

    @abstractmethod
    def _build_files(self, folder: Path, source: IndexSource) -> BuiltIndex:
        """The index of the documents in a folder."""

    @abstractmethod
    def _open(self, folder: Path) -> LexicalIndex:
        """The index in a folder."""

    @abstractmethod
    def _open_weighing(self, database: Database, texts: PaperTexts) -> "WeighTexts":
        """What weighs the terms of texts, by the statistics that a search has."""

    def _weights(self, template: str) -> Mapping[str, float]:
        """The weights of the fields of a document that a template makes."""
        return TEXT_ALONE

    def search(self, database: Database, query: CorpusQuery) -> Ranked:
        """The best papers that share a term with the text; of a pool also the others, scoring 0."""
        searched = SearchedPapers(query.scope, query.pool, query.tie_order)
        return self.open_search(database, searched).search([query.text], query.k)[0]

    def open_search(self, database: Database, searched: SearchedPapers) -> OpenSearch:
        """The index, open: tantivy's and the sparse one are mapped files, the others are in memory."""
        return _OpenIndex(
            self._open(self._folder / self._require(database, searched.scope)["path"]), searched
        )

    def describe(self, database: Database, workload: Asked) -> SystemDescription:
        """The index's parameters, the digest of what it was built from, and the other corpus, if any."""
        row = self._require_once(database, workload)
        parameters = {**orjson.loads(row["parameters"]), "content_digest": row["content_digest"]}
        other = self._other_corpus(workload.scope)
        if other:
            parameters["trained_on"] = other
        return SystemDescription(parameters, device="cpu")

    def rank(self, database: Database, workload: Workload, progress: Progress) -> Iterator[Ranking]:
        """By score; in a pool of its own, a candidate that shares no term scores 0 and is last."""
        index = self._open(self._folder / self._require_once(database, workload)["path"])
        tie_order = make_tie_order(workload)
        pairs = zip(workload.query_ids, workload.query_texts, strict=True)
        requested = [pair for pair in pairs if pair[1]]
        rankings = (_rank_query(index, workload, *pair, tie_order) for pair in requested)
        return report_rankings(rankings, workload, self.name, len(requested), progress)

    def weigh(self, database: Database, texts: PaperTexts, progress: Progress) -> "SparseTexts":
        """As a search weighs queries and documents; a text without a term that the corpus has is left out."""
        from pinakes.indexers.self_retrieval.space import SparseTexts
        from pinakes.indexers.term_weights import stack_rows, take_rows

        if self._weighing is None or self._weighing[0] != texts.digest:
            self._weighing = (texts.digest, self._open_weighing(database, texts))
        weigh = self._weighing[1]
        parts: list[tuple[SparseRows, SparseRows]] = []
        ids = [np.empty(0, dtype=np.int64)]
        with database.read() as session:
            for part in session.stream(texts.select_paper_texts(), rows=TEXTS_AT_ONCE):
                ids.append(part["paper_id"].to_numpy().astype(np.int64))
                parts.append(weigh(part["text"].to_pylist(), part["title"].to_pylist()))
        queries, documents = (stack_rows([part[side] for part in parts]) for side in (0, 1))
        rows = positions_of(np.concatenate(ids), texts.paper_ids, "the papers as they were read before")
        kept = np.flatnonzero(np.diff(queries.starts))
        kept = kept[np.argsort(rows[kept])]
        return SparseTexts(rows[kept], take_rows(queries, kept), take_rows(documents, kept))

    def _other_corpus(self, scope: CorpusScope) -> str:
        """The corpus that terms are counted in, where it is not the scope's own."""
        return "" if self._trained_on == scope.corpus else self._trained_on

    def _digest(self, database: Database, scope: CorpusScope) -> tuple[str, int]:
        settings: dict[str, Any] = {
            "weights": self._weights(scope.paper_template),
            "analysis": self._analysis.to_json(),
            **self._settings,
        }
        other = self._other_corpus(scope)
        if other:
            require_loaded(database, other, "count terms in")
            settings["counted"], _ = self._digest_texts(database, other, scope.paper_template, b"")
        seed = orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)
        return self._digest_texts(database, scope.corpus, scope.paper_template, seed)

    def _digest_texts(self, database: Database, corpus: str, template: str, seed: bytes) -> tuple[str, int]:
        """The digest of the seed and of every paper's id and text, and how many papers they are."""
        question = {
            "digest of": hashlib.sha256(seed).hexdigest(),
            "corpus": corpus,
            "template": template,
            "text": str(read_template("papers", template)),
        }
        digest, rows = remember(
            database, self._folder, question, lambda: _digest_texts(database, corpus, template, seed)
        )
        return digest, rows

    def _side_index(self, scope: CorpusScope) -> SideIndex:
        other = self._other_corpus(scope)
        counted = f" counted in {other}" if other else ""
        named = (scope.corpus, scope.paper_template)
        return SideIndex(
            self._folder, self.name, f"corpus:{scope.corpus}{counted}", scope.paper_template, self.name, named
        )

    def _build(self, database: Database, scope: CorpusScope, folder: Path, progress: Progress) -> BuiltIndex:
        weights = self._weights(scope.paper_template)
        other = self._other_corpus(scope)
        statistics = _count_corpus(database, other, scope.paper_template, self._analysis) if other else None
        with database.read() as session:
            parts = session.stream(select_corpus_texts(scope.corpus, scope.paper_template))
            return self._build_files(folder, IndexSource(_tell(parts, progress), weights, statistics))


def _rank_query(
    index: LexicalIndex, workload: Workload, query_id: str, text: str, tie_order: TieOrder
) -> Ranking:
    depth = workload.benchmark.depth or len(workload.paper_ids)
    if workload.pools is not None:
        pool = workload.paper_ids[workload.pools[query_id]]
        ranked = select_top(pool, index.score_pool(text, pool), depth, tie_order)
    elif len(workload.paper_ids) == index.row_count:
        ranked = index.search(text, depth, tie_order=tie_order)
    else:
        scores = index.score_pool(text, workload.paper_ids)
        matched = scores > 0
        ranked = select_top(workload.paper_ids[matched], scores[matched], depth, tie_order)
    return make_ranking(workload, query_id, ranked)


def _digest_texts(database: Database, corpus: str, template: str, seed: bytes) -> tuple[str, int]:
    digest = hashlib.sha256(seed)
    # The select's own order would sort the texts themselves.
    texts = select_corpus_texts(corpus, template).order_by(None).subquery("texts")
    text_digest = sa.func.md5(texts.c.text + "\n" + texts.c.title).label("text_digest")
    query = sa.select(texts.c.paper_id, text_digest).order_by(texts.c.paper_id)
    rows = 0
    with database.read() as session:
        for part in session.stream(query):
            rows += part.num_rows
            pairs = zip(*(column.to_pylist() for column in part.columns), strict=True)
            digest.update("".join([f"{paper_id} {text}\n" for paper_id, text in pairs]).encode())
    return digest.hexdigest(), rows


def _count_corpus(database: Database, corpus: str, template: str, analysis: Analysis) -> "TermStatistics":
    """The corpus's N, mean length and df of every term."""
    from pinakes.indexers.term_statistics import count_terms

    with database.read() as session:
        parts = session.stream(select_corpus_texts(corpus, template).order_by(None))
        texts = (text for part in parts for text in part["text"].to_pylist())
        return count_terms(texts, analysis, threads=os.cpu_count() or 1)


def _tell(parts: Iterator[Any], progress: Progress) -> Iterator[Any]:
    """The Arrow tables; the progress moves on when the next one is asked for."""
    for part in parts:
        yield part
        progress.advance(part.num_rows)
