"""Texts as rows of weighted terms: what a query counts, and what the terms of a document weigh by BM25.

The product of a query's row and a document's is the score that a search gives, but for its last bits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.self_retrieval.space import SparseRows

Ids = NDArray[np.int64]
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CountedTerms:
    """The terms of texts, each with how often its text has it.

    Attributes:
        starts: where each text begins, and the end of the last (m + 1,).
        terms, counts: by text and then by term; terms that are not counted (-1) are left out.
        lengths: terms of each text, those left out too (m,).
    """

    starts: Ids
    terms: Ids
    counts: Ids
    lengths: Ids

    def spread(self, values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """A value of each text for each of its terms."""
        return np.repeat(values, np.diff(self.starts))


def count_terms(texts: Iterable[Sequence[int] | NDArray[np.integer]]) -> CountedTerms:
    """Count the term ids of each text; -1 is a term that is not known.

    >>> found = count_terms([[4, 2, 4, -1], []])
    >>> found.starts.tolist(), found.terms.tolist(), found.counts.tolist(), found.lengths.tolist()
    ([0, 2, 2], [2, 4], [1, 2], [4, 0])
    """
    given = [np.asarray(terms, dtype=np.int64) for terms in texts]
    lengths = np.array([len(terms) for terms in given], dtype=np.int64)
    ids = np.concatenate([np.empty(0, np.int64), *given])
    owners = np.repeat(np.arange(len(given), dtype=np.int64), lengths)
    width = int(ids.max(initial=0)) + 1
    known = ids >= 0
    keys, counts = np.unique(owners[known] * width + ids[known], return_counts=True)
    held = np.bincount(keys // width, minlength=len(given))
    return CountedTerms(np.append(0, np.cumsum(held)), keys % width, counts.astype(np.int64), lengths)


def weigh_query(counted: CountedTerms, weight: float = 1.0) -> SparseRows:
    """A term as often as it occurs, times a weight."""
    return _make_rows(counted, counted.counts * weight)


def weigh_documents(
    counted: CountedTerms,
    idf: Weights,
    average_length: float,
    k1: float,
    b: float,
    lengths: Ids | None = None,
) -> SparseRows:
    """BM25's weight of each term, idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl / avgdl)).

    `idf` is of every term id; `lengths` are dl where it is not the number of terms.

    >>> weigh_documents(count_terms([[0, 0]]), np.array([2.0]), 2.0, 1.0, 0.5).weights.tolist()  # 2 * 4 / 3
    [2.6666666666666665]
    """
    own = counted.lengths if lengths is None else lengths
    norms = counted.spread(k1 * (1 - b + b * own / average_length))
    return _make_rows(counted, idf[counted.terms] * counted.counts * (k1 + 1) / (counted.counts + norms))


def join_fields(fields: Sequence[SparseRows], widths: Sequence[int]) -> SparseRows:
    """Rows over the terms of several fields, of which each has `widths` many."""
    firsts = np.cumsum([0, *widths[:-1]])
    owners = np.concatenate([np.repeat(np.arange(len(one)), np.diff(one.starts)) for one in fields])
    terms = np.concatenate([one.terms + first for one, first in zip(fields, firsts, strict=True)])
    weights = np.concatenate([one.weights for one in fields])
    order = np.lexsort((terms, owners))
    starts = np.sum([one.starts for one in fields], axis=0)
    return SparseRows(starts.astype(np.int64), terms[order].astype(np.int32), weights[order])


def stack_rows(parts: Sequence[SparseRows]) -> SparseRows:
    """The rows of all parts, one below the other."""
    sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.starts) for part in parts)])
    terms = [np.empty(0, np.int32), *(part.terms for part in parts)]
    weights = [np.empty(0, np.float64), *(part.weights for part in parts)]
    return SparseRows(
        np.append(0, np.cumsum(sizes)).astype(np.int64), np.concatenate(terms), np.concatenate(weights)
    )


def take_rows(rows: SparseRows, chosen: NDArray[np.intp]) -> SparseRows:
    """Some of the rows, in the order given."""
    sizes = np.diff(rows.starts)[chosen]
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    places = (
        np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(rows.starts[:-1][chosen], sizes)
    )
    return SparseRows(starts, rows.terms[places], rows.weights[places])


def _make_rows(counted: CountedTerms, weights: NDArray[np.generic]) -> SparseRows:
    return SparseRows(counted.starts, counted.terms.astype(np.int32), weights.astype(np.float64))
