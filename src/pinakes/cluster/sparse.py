"""BM25 on a cluster: workers turn texts into terms, and search ranges of an index's blocks.

The index is one, on storage that all machines share, in the files that one machine makes; so every worker has
the statistics of the whole, and the scores are, to the bit, those of `indexers.sparse_bm25`.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pinakes.cluster import needs
from pinakes.cluster.connect import connect_cluster
from pinakes.cluster.copies import copy_folder, send_folder
from pinakes.cluster.workers import Call, Workers
from pinakes.indexers.analysis import Analysis
from pinakes.indexers.exact.merge import MergedBest
from pinakes.indexers.lexical import BuiltIndex, Ids, Ranked, Scores, TieOrder, by_paper_id
from pinakes.indexers.sparse_bm25.analyse import (
    GrowingVocabulary,
    TermIds,
    TextBlock,
    analyse_documents,
    cut_blocks,
)
from pinakes.indexers.sparse_bm25.build import BLOCK_ROWS, write_sparse_bm25
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.indexers.sparse_bm25.queries import QueryTerms
from pinakes.indexers.term_statistics import TermStatistics
from pinakes.progress import say_nothing
from pinakes.writing.folders import is_address

BLOCKS_ANALYSED: Final = 8
"""blocks of documents whose texts a call has"""
MOST_BLOCKS: Final = 512
"""blocks of an index that a call searches, at most"""
CALLS_EACH: Final = 4
"""calls that a search has for each worker, at least, where there are blocks enough"""
QUERIES_AT_ONCE: Final = 64
"""queries with pools of their own that a call has"""

Terms = NDArray[np.int32]


class AnalysedPart(NamedTuple):
    """Some blocks as terms numbered from 0; `terms` are their spellings, in the order of first use."""

    terms: pa.Array
    blocks: list[TermIds]


class FoundBest(NamedTuple):
    """The best of some blocks, one query after the other: `counts` (q,), ranks among equals, scores."""

    counts: Ids
    ranks: NDArray[np.uint32]
    scores: Scores


class PoolQuestion(NamedTuple):
    """The queries of one pool, by their term ids; `ranks` are those of its papers among equal scores."""

    paper_ids: Ids
    ranks: Ids
    queries: Sequence[Terms]
    k: int


class AnalyseWorker:
    """A process of the cluster that turns texts into terms."""

    def __init__(self, analysis: Mapping[str, Any]) -> None:
        self._analysis = Analysis.from_json(analysis)

    def ready(self) -> None:
        """There is nothing to load."""

    def analyse(self, paper_ids: Ids, texts: pa.Array, block_rows: int) -> AnalysedPart:
        """The documents' terms, in blocks of `block_rows`."""
        vocabulary = GrowingVocabulary()
        read = [TextBlock(paper_ids, texts)]
        blocks = list(analyse_documents(read, self._analysis, vocabulary, block_rows, None))
        return AnalysedPart(pa.array(list(vocabulary), pa.large_string()), blocks)


class SparseWorker:
    """A process of the cluster that has an index open, as mapped files.

    `place` is its folder, or the address that `copies.send_folder` gave: then a copy is opened.
    """

    def __init__(self, place: str, formula: str) -> None:
        folder = copy_folder(place) if is_address(place) else Path(place)
        self._index = SparseBm25Index.open(folder, formula)
        self._compiled: tuple[str, QueryTerms] | None = None

    def ready(self) -> None:
        """It is open."""

    def search(
        self,
        blocks: tuple[int, int],
        asked: str,
        queries: Sequence[Terms],
        k: int,
        tuning: tuple[float, float],
        ranks: NDArray[np.uint32],
        chosen: NDArray[np.bool_] | None,
    ) -> FoundBest:
        """The best of a range of blocks for each query; `asked` names these, `ranks` are the range's."""
        if self._compiled is None or self._compiled[0] != asked:
            self._compiled = asked, self._index.compile(queries)
        found = self._index.search_blocks(blocks, self._compiled[1], k, *tuning, ranks, chosen)
        counts = np.array([len(scores) for _, scores in found], np.int64)
        return FoundBest(counts, *(np.concatenate(column) for column in zip(*found, strict=True)))

    def score(self, texts: Sequence[str], pools: Sequence[Ids], tuning: tuple[float, float]) -> list[Scores]:
        """The scores of each text's own pool."""
        return self._index.score_pools(texts, pools, *tuning)

    def rank(self, question: PoolQuestion, tuning: tuple[float, float]) -> list[Ranked]:
        """The queries of one pool, by its own statistics."""
        order = np.argsort(question.paper_ids)
        sorted_ids, ranks = question.paper_ids[order], question.ranks[order]

        def tie_order(paper_ids: Ids) -> Ids:
            found: Ids = ranks[np.searchsorted(sorted_ids, paper_ids)]
            return found

        restricted = self._index.restrict(question.paper_ids)
        return restricted.search_terms(question.queries, question.k, *tuning, tie_order=tie_order)


class SharedSparseIndex:
    """An index that the workers of a cluster search; made by `share_index`."""

    def __init__(self, workers: Workers, index: SparseBm25Index, places: int, size: int) -> None:
        self._workers, self._index, self._places, self._size = workers, index, places, size

    def search_many(
        self,
        query_texts: Sequence[str],
        k: int,
        k1: float = 1.2,
        b: float = 0.75,
        *,
        pool: Ids | None = None,
        tie_order: TieOrder = by_paper_id,
        threads: int = 1,
    ) -> list[Ranked]:
        """What `SparseBm25Index.search_many` gives; `threads` are of no matter."""
        search = self._index.open_search(k, k1, b, pool, tie_order)
        if not query_texts:
            return []
        self._workers.reserve(needs.rank_terms(len(query_texts) * search.k))
        queries, asked = self._index.read_queries(query_texts), uuid.uuid4().hex
        shared, best = self._workers.share(queries), MergedBest(len(queries), search.k)

        def cut() -> Iterator[Call]:
            total = self._index.block_count
            step = max(1, min(MOST_BLOCKS, total // (CALLS_EACH * self._places)))
            for first in range(0, total, step):
                blocks = first, min(first + step, total)
                rows = self._index.rows_of(blocks)
                chosen = None if search.chosen is None else search.chosen[rows]
                if chosen is None or chosen.any():
                    given = (blocks, asked, shared, search.k, (k1, b), search.ranks[rows], chosen)
                    yield Call(None, "search", given)

        for _, found in self._workers.map(cut()):
            best.add_ragged(*found)
        return [search.name(ranks, scores) for ranks, scores in best.take_each()]

    def score_pools(
        self,
        query_texts: Sequence[str],
        pools: Sequence[Ids],
        k1: float = 1.2,
        b: float = 0.75,
        *,
        threads: int = 1,
    ) -> list[Scores]:
        """What `SparseBm25Index.score_pools` gives; `threads` are of no matter."""
        starts = range(0, len(query_texts), QUERIES_AT_ONCE)
        self._workers.reserve(needs.rank_terms(QUERIES_AT_ONCE * max(map(len, pools), default=0)))
        parts = [slice(start, start + QUERIES_AT_ONCE) for start in starts]
        calls = (Call(None, "score", (query_texts[part], pools[part], (k1, b))) for part in parts)
        return [scores for found in self._workers.map_in_order(calls) for scores in found]

    def rank_pools(self, questions: Iterable[PoolQuestion], k1: float, b: float) -> Iterator[list[Ranked]]:
        """What an index of each pool alone gives for its queries, in the order of the pools.

        The memory of a worker is that of the first pool.
        """
        asked = iter(questions)
        first = next(asked, None)
        if first is None:
            return
        hits = len(first.queries) * min(first.k, len(first.paper_ids))
        share = len(first.paper_ids) / max(1, len(self._index.paper_ids))
        self._workers.reserve(needs.rank_terms(hits, 2 * share * self._size))
        calls = (Call(None, "rank", (question, (k1, b))) for question in chain([first], asked))
        yield from self._workers.map_in_order(calls)


@contextmanager
def share_index(
    on: str,
    folder: Path,
    index: SparseBm25Index,
    tell: Callable[[str], None] = say_nothing,
    *,
    through: str | None = None,
) -> Iterator[SharedSparseIndex]:
    """The index of `folder`, which is open here as `index`, on a cluster.

    `through` is a place that the machines share, where they do not share the folder: it is sent there.
    """
    place = str(folder.resolve()) if through is None else send_folder(folder, through)
    with (
        connect_cluster(on, "cpu", tell) as cluster,
        Workers(cluster, SparseWorker, place, index.formula) as workers,
    ):
        size = sum(path.stat().st_size for path in folder.iterdir())
        yield SharedSparseIndex(workers, index, max(1, cluster.count_places()), size)


def build_shared(
    on: str,
    folder: Path,
    documents: Iterable[TextBlock],
    *,
    analysis: Analysis,
    statistics: TermStatistics | None = None,
    block_rows: int = BLOCK_ROWS,
    threads: int = 1,
    tell: Callable[[str], None] = say_nothing,
) -> BuiltIndex:
    """What `build_sparse_bm25` makes, in the same files to the byte; workers turn the texts into terms."""
    vocabulary = GrowingVocabulary()
    parts = cut_blocks(documents, BLOCKS_ANALYSED * block_rows)
    with (
        connect_cluster(on, "cpu", tell) as cluster,
        Workers(cluster, AnalyseWorker, analysis.to_json()) as workers,
    ):
        first = list(islice(parts, 1))
        workers.reserve(needs.analyse(sum(part.texts.nbytes for part in first)))
        given = chain(first, parts)
        calls = (Call(None, "analyse", (part.paper_ids, part.texts, block_rows)) for part in given)
        analysed = workers.map_in_order(calls)
        blocks = (block for part in analysed for block in renumber_terms(part, vocabulary))
        return write_sparse_bm25(
            folder,
            blocks,
            vocabulary,
            analysis=analysis,
            statistics=statistics,
            block_rows=block_rows,
            threads=threads,
        )


def renumber_terms(part: AnalysedPart, vocabulary: GrowingVocabulary) -> Iterator[TermIds]:
    """The blocks with the ids of the whole vocabulary, to which new terms are added in their order."""
    number = vocabulary.__getitem__
    ids = np.fromiter(map(number, part.terms.to_pylist()), np.int32, len(part.terms))
    for block in part.blocks:
        whole = ids[block.term_ids]
        order = np.argsort(whole)
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        yield TermIds(block.paper_ids, block.lengths, places[block.tokens], whole[order])
