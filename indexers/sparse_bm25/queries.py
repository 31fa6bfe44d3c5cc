"""A batch of queries as numbers: which terms have a row of every document, which a list of postings.

Terms are summed in the order of their spelling, so that a score has the same bits in an index of a pool.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.lexical import Ids, Scores
from pinakes.indexers.sparse_bm25.files import Postings, Vocabulary, find_ends
from pinakes.indexers.sparse_bm25.kernels import ROWS_AT_ONCE
from pinakes.indexers.sparse_bm25.weights import Collection, weigh_terms

DENSE_SHARE: Final = 16  # a term of more than a sixteenth of the documents has a dense row


@dataclass(frozen=True, slots=True, eq=False)
class QueryTerms:
    """A batch of queries: which rows and spans each one adds up, and how often it has the term.

    Attributes:
        terms: the term ids of all queries, ascending.
        slots: for each term of the vocabulary 1 + its span, minus (1 + its row), or 0: not asked for.
        weights: the idf of each span, then of each row.
        average_length: the mean length of the collection that they are from.
        row_count, span_count: how many of each.
        dense_ends, dense, dense_factors: each query's rows, in multiples of four.
        sparse_ends, sparse, sparse_factors: each query's spans.
    """

    terms: NDArray[np.int32]
    slots: NDArray[np.int32]
    weights: NDArray[np.float64]
    average_length: float
    row_count: int
    span_count: int
    dense_ends: Ids
    dense: NDArray[np.uint32]
    dense_factors: Scores
    sparse_ends: Ids
    sparse: NDArray[np.uint32]
    sparse_factors: Scores


def compile_queries(
    postings: Postings,
    vocabulary: Vocabulary,
    queries: Sequence[NDArray[np.int32]],
    collection: Collection,
    formula: str,
) -> QueryTerms:
    """The batch of the queries, each an array of term ids; a repeated term counts each time, -1 never."""
    owners, terms, factors = _count_terms(postings, vocabulary, queries)
    is_dense = postings.frequencies[terms] > len(postings.lengths) // DENSE_SHARE
    rows, dense = np.unique(terms[is_dense], return_inverse=True)
    spans, sparse = np.unique(terms[~is_dense], return_inverse=True)
    slots = np.zeros(len(postings.frequencies), np.int32)
    slots[rows] = -1 - np.arange(len(rows))
    slots[spans] = 1 + np.arange(len(spans))
    dense_counts = np.bincount(owners[is_dense], minlength=len(queries))
    padded = -(-dense_counts // ROWS_AT_ONCE) * ROWS_AT_ONCE
    dense_ends = find_ends(padded)
    places = np.arange(len(dense)) + np.repeat(dense_ends[:-1] - find_ends(dense_counts)[:-1], dense_counts)
    padded_rows = np.zeros(dense_ends[-1], np.uint32)
    padded_factors = np.zeros(dense_ends[-1], np.float32)
    padded_rows[places], padded_factors[places] = dense, factors[is_dense]
    return QueryTerms(
        np.union1d(rows, spans).astype(np.int32),
        slots,
        weigh_terms(np.concatenate((spans, rows)), collection, formula),
        collection.average_length,
        len(rows),
        len(spans),
        dense_ends,
        padded_rows,
        padded_factors,
        find_ends(np.bincount(owners[~is_dense], minlength=len(queries))),
        sparse.astype(np.uint32),
        factors[~is_dense],
    )


def _count_terms(
    postings: Postings, vocabulary: Vocabulary, queries: Sequence[NDArray[np.int32]]
) -> tuple[Ids, NDArray[np.int32], Scores]:
    """(query, term, how often) of all queries, by query and then by the term as it is spelt.

    An id depends on what was indexed before; the spelling gives a sum the same order in an index of a pool.
    """
    owners = np.repeat(np.arange(len(queries)), [len(query) for query in queries])
    terms = np.concatenate([np.empty(0, np.int32), *queries])
    known = terms >= 0
    known[known] = postings.frequencies[terms[known]] > 0
    distinct, places = np.unique(terms[known], return_inverse=True)
    ranks = vocabulary.rank(distinct)
    by_rank = np.empty_like(distinct)
    by_rank[ranks] = distinct
    pairs, counts = np.unique(owners[known] * len(distinct) + ranks[places], return_counts=True)
    found, rank = np.divmod(pairs, max(1, len(distinct)))
    return found, by_rank[rank], counts.astype(np.float32)
