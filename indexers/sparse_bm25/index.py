"""BM25 with k1 and b as arguments, over a frozen collection: batches of long queries, scored exactly.

The score is the sum over the query's terms (a repeated term counts each time) of
idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl / avgdl)), with the exact dl; idf is Lucene's
ln(1 + (N - df + 0.5) / (df + 0.5)), or Okapi's (`weights`). N, df and avgdl are of the whole
index, whatever the pool, or of another collection that the index was built with; `restrict` gives an index
with the statistics of a pool.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.analysis import Analysis, well_formed
from pinakes.indexers.lexical import (
    Ids,
    Ranked,
    Scores,
    TieOrder,
    by_paper_id,
    check_k,
    positions_of,
)
from pinakes.indexers.self_retrieval.space import SparseRows
from pinakes.indexers.side_folder import read_parameters
from pinakes.indexers.sparse_bm25.build import KIND
from pinakes.indexers.sparse_bm25.files import Postings, Vocabulary, cut_postings
from pinakes.indexers.sparse_bm25.queries import QueryTerms, compile_queries
from pinakes.indexers.sparse_bm25.restrict import restrict_postings
from pinakes.indexers.sparse_bm25.search import Tuning, find_best, score_rows
from pinakes.indexers.sparse_bm25.weights import Collection, collect_postings, read_collection, weigh_terms
from pinakes.indexers.term_weights import count_terms, weigh_documents, weigh_query

TermIdArray = NDArray[np.int32]

LARGEST_K1 = 1_000_000  # beyond, nothing changes but the danger of an overflow
HOLDER = "the sparse BM25 index"


class SparseSearch(NamedTuple):
    """What a search needs beside its queries.

    Attributes:
        k: how many papers are found at most.
        tuning: k1 and b.
        paper_ids: of the documents of the index (n,).
        by_rank: the documents (of the pool), in the order of their ranks among equal scores.
        ranks: of each document of the index (n,).
        chosen: whether it is in the pool (n,); None: there is none.
    """

    k: int
    tuning: Tuning
    paper_ids: Ids
    by_rank: Ids
    ranks: NDArray[np.uint32]
    chosen: NDArray[np.bool_] | None

    def name(self, ranks: NDArray[np.integer[Any]], scores: Scores) -> Ranked:
        """The papers of these ranks, with their scores."""
        return Ranked(self.paper_ids[self.by_rank[ranks]], scores)


class SparseBm25Index:
    """A sparse BM25 index that was built; its files are memory-mapped.

    The work of a search is a pass over all postings, shared by all its queries: ask many at once.
    """

    def __init__(
        self,
        postings: Postings,
        vocabulary: Vocabulary,
        analysis: Analysis,
        another: Collection | None = None,
        formula: str = "lucene",
    ) -> None:
        self._postings = postings
        self._another = another
        self._collection = another or collect_postings(postings)
        self._formula = formula
        self._vocabulary = vocabulary
        self._analysis = analysis
        self._analyser = analysis.build()
        ids = np.asarray(postings.paper_ids)
        self._spelling: Ids | None = None
        self._ranked: tuple[TieOrder, Ids, NDArray[np.uint32]] | None = None
        self._row_order = None if (np.diff(ids) > 0).all() else np.argsort(ids)

    @classmethod
    def open(cls, folder: Path, formula: str = "lucene") -> "SparseBm25Index":
        """The index in `folder`; IndexingError if there is none that is whole and as it was built.

        `formula` says what a term weighs: `lucene` or `okapi`, as `weights` has them.
        """
        saved = read_parameters(folder, KIND)
        postings = Postings.open(folder, saved["block_rows"])
        another = read_collection(folder, saved["statistics"]) if "statistics" in saved else None
        analysis = Analysis.from_json(saved["analysis"])
        return cls(postings, Vocabulary.open(folder), analysis, another, formula)

    @property
    def row_count(self) -> int:
        """How many documents the index holds, those without a term included."""
        return len(self._postings.lengths)

    @property
    def paper_ids(self) -> Ids:
        """The id of each document, in the order in which they were indexed."""
        return self._postings.paper_ids

    @property
    def postings(self) -> Postings:
        """What the index holds."""
        return self._postings

    @property
    def vocabulary(self) -> Vocabulary:
        """Its terms."""
        return self._vocabulary

    @property
    def collection(self) -> Collection:
        """The documents that its terms are weighed by."""
        return self._collection

    @property
    def analysis(self) -> Analysis:
        """How a text becomes its terms."""
        return self._analysis

    @property
    def formula(self) -> str:
        """Whose idf a term has."""
        return self._formula

    def find_row(self, paper_id: int) -> int:
        """The place of a document; IndexingError for one that the index lacks."""
        return int(self._find_rows(np.array([paper_id], dtype=np.int64))[0])

    def weigh_terms(self, term_ids: TermIdArray) -> NDArray[np.float64]:
        """The idf of each term id."""
        return weigh_terms(term_ids, self._collection, self._formula)

    def restrict(self, paper_ids: Ids, *, threads: int = 1) -> "SparseBm25Index":
        """The index of these papers alone, with their own N, df and avgdl, in memory.

        Every score is, to the bit, that of an index built over their texts; where the index was built with
        another collection's statistics, they stay. Costs a pass over all postings,
        and about 5 bytes for each posting of theirs. A paper that is given twice counts once. Raises
        IndexingError for a paper that is not in the index.
        """
        restricted = restrict_postings(self._postings, np.flatnonzero(self._mark(paper_ids)), threads)
        return SparseBm25Index(restricted, self._vocabulary, self._analysis, self._another, self._formula)

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
        """The best `k` papers for each free text, score descending, ties by `tie_order`.

        Without a pool only papers that share a term are found. With a pool (paper ids) exactly
        min(k, papers of the pool) are: those that share no term have score 0 and come last. The same bits
        at any number of threads. Raises IndexingError for a pool that names a paper the index lacks.
        """
        terms = self.read_queries(query_texts)
        return self.search_terms(terms, k, k1, b, pool=pool, tie_order=tie_order, threads=threads)

    def search_terms(
        self,
        queries: Sequence[TermIdArray],
        k: int,
        k1: float = 1.2,
        b: float = 0.75,
        *,
        pool: Ids | None = None,
        tie_order: TieOrder = by_paper_id,
        threads: int = 1,
    ) -> list[Ranked]:
        """`search_many` for queries that are term ids already (`read_queries`)."""
        search = self.open_search(k, k1, b, pool, tie_order)
        terms = self.compile(queries)
        best = find_best(self._postings, terms, search.k, search.tuning, search.ranks, search.chosen, threads)
        return [search.name(found, scores) for found, scores in best]

    def open_search(self, k: int, k1: float, b: float, pool: Ids | None, tie_order: TieOrder) -> SparseSearch:
        """What a search needs beside its queries; raises as `search_many` does."""
        check_k(k)
        tuning = check_tuning(k1, b)
        chosen = None if pool is None else self._mark(pool)
        by_rank, ranks = self._rank_ties(tie_order, chosen)
        ids = np.asarray(self._postings.paper_ids)
        return SparseSearch(min(k, max(1, self.row_count)), tuning, ids, by_rank, ranks, chosen)

    def search_blocks(
        self,
        blocks: tuple[int, int],
        terms: QueryTerms,
        k: int,
        k1: float,
        b: float,
        ranks: NDArray[np.uint32],
        chosen: NDArray[np.bool_] | None,
    ) -> list[tuple[NDArray[np.uint32], Scores]]:
        """The best `k` of the documents in a range of blocks, as ranks among equals and scores, best first.

        `ranks` and `chosen` are those of `open_search`, of the range's documents alone (`rows_of`).
        """
        cut = cut_postings(self._postings, blocks)
        return find_best(cut, terms, k, check_tuning(k1, b), ranks, chosen, 1)

    @property
    def block_count(self) -> int:
        """How many blocks the index has."""
        return len(self._postings.block_runs) - 1

    def rows_of(self, blocks: tuple[int, int]) -> slice:
        """The documents of the blocks from the first to before the second."""
        first, stop = (number * self._postings.block_rows for number in blocks)
        return slice(first, min(stop, self.row_count))

    def score_pool(self, query_text: str, paper_ids: Ids, k1: float = 1.2, b: float = 0.75) -> Scores:
        """The score of each given paper, float32, in their order; 0 for a paper that shares no term.

        The same bits as a search gives. Raises IndexingError for a paper that is not in the index.
        """
        return self.score_pools([query_text], [paper_ids], k1, b)[0]

    def score_pools(
        self,
        query_texts: Sequence[str],
        pools: Sequence[Ids],
        k1: float = 1.2,
        b: float = 0.75,
        *,
        threads: int = 1,
    ) -> list[Scores]:
        """`score_pool` for each text and its own pool, in one pass, by so many threads."""
        tuning = check_tuning(k1, b)
        if len(pools) != len(query_texts):
            raise IndexingError(
                f"there are {len(pools)} pools for {len(query_texts)} queries; expected one for each"
            )
        if not pools:
            return []
        sizes = [len(pool) for pool in pools]
        documents = self._find_rows(np.concatenate(pools).astype(np.int64, copy=False))
        terms = self.compile(self.read_queries(query_texts))
        return score_rows(self._postings, terms, documents, sizes, tuning, threads)

    def read_queries(self, query_texts: Sequence[str]) -> list[TermIdArray]:
        """The term ids of each text, in its order; -1 for a term that no document has."""
        analysed = [self._analyser.analyze(well_formed(text)) for text in query_texts]
        known = self._vocabulary.find({term for terms in analysed for term in terms})
        return [np.array([known[term] for term in terms], dtype=np.int32) for terms in analysed]

    def weigh(self, texts: Sequence[str], k1: float, b: float) -> tuple[SparseRows, SparseRows]:
        """The weighted terms of texts, as queries and as documents; their product is a score.

        Terms are numbered by their spelling.
        """
        tuning = check_tuning(k1, b)
        if self._spelling is None:
            self._spelling = self._vocabulary.rank(np.arange(len(self._vocabulary), dtype=np.int32))
        terms = np.arange(len(self._spelling), dtype=np.int32)
        idf = np.zeros(len(terms))
        idf[self._spelling] = weigh_terms(terms, self._collection, self._formula)
        counted = count_terms([np.append(self._spelling, -1)[ids] for ids in self.read_queries(texts)])
        documents = weigh_documents(counted, idf, self._collection.average_length, tuning.k1, tuning.b)
        return weigh_query(counted), documents

    def compile(self, queries: Sequence[TermIdArray]) -> QueryTerms:
        """Queries as a search takes them."""
        return compile_queries(self._postings, self._vocabulary, queries, self._collection, self._formula)

    def _rank_ties(
        self, tie_order: TieOrder, chosen: NDArray[np.bool_] | None
    ) -> tuple[Ids, NDArray[np.uint32]]:
        """The documents (of the pool) in tie order, and each document's place in it.

        That of all documents is kept for the next search with the same order.
        """
        if chosen is None and self._ranked is not None and self._ranked[0] is tie_order:
            return self._ranked[1:]
        rows = np.arange(self.row_count) if chosen is None else np.flatnonzero(chosen)
        by_rank = rows[np.argsort(tie_order(np.asarray(self._postings.paper_ids)[rows]), kind="stable")]
        ranks = np.zeros(self.row_count, np.uint32)
        ranks[by_rank] = np.arange(len(by_rank), dtype=np.uint32)
        if chosen is None:
            self._ranked = (tie_order, by_rank, ranks)
        return by_rank, ranks

    def _mark(self, pool: Ids) -> NDArray[np.bool_]:
        chosen = np.zeros(self.row_count, dtype=bool)
        chosen[self._find_rows(np.asarray(pool, dtype=np.int64))] = True
        return chosen

    def _find_rows(self, paper_ids: Ids) -> Ids:
        ids = np.asarray(self._postings.paper_ids)
        if self._row_order is None:
            return positions_of(paper_ids, ids, HOLDER)
        return self._row_order[positions_of(paper_ids, ids[self._row_order], HOLDER)]


def check_tuning(k1: float, b: float) -> Tuning:
    """The two numbers; IndexingError where they can be none of BM25."""
    if not (0 <= k1 <= LARGEST_K1 and 0 <= b <= 1):
        raise IndexingError(f"k1 {k1} and b {b}; expected k1 from 0 to {LARGEST_K1:,}, and b from 0 to 1")
    return Tuning(float(k1), float(b))
