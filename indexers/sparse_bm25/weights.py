"""What a term weighs in BM25: idf by Lucene's formula or Okapi's, from an index's own counts or another's.

Lucene's is ln(1 + (N - df + 0.5) / (df + 0.5)), never below zero. Okapi's is ln(N - df + 0.5) - ln(df + 0.5),
below zero for a term of more than half of the documents; as rank_bm25 has it, such a term gets EPSILON times
the mean idf of the vocabulary, over all terms with those below zero among them, instead.
A term that the counted collection lacks weighs nothing by either formula.
The trap: where that mean is itself below zero (a handful of documents that share their words), rank_bm25 goes
on with scores below zero; here such a term weighs nothing.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.sparse_bm25.files import Postings, read_array
from pinakes.indexers.term_statistics import TermStatistics

EPSILON: Final = 0.25
STATISTICS_FILE: Final = "statistics.npy"

Frequencies = NDArray[np.int32]
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """The collection that terms are weighed by.

    Attributes:
        row_count: its documents, N.
        average_length: their mean length in terms; 1 where none has a term.
        frequencies: its documents that hold each term of the index, df (v,); 0 for one it lacks.
        mean_idf: the mean of Okapi's idf over all terms that it holds; None: these are the index's.
    """

    row_count: int
    average_length: float
    frequencies: Frequencies
    mean_idf: float | None = None


def lucene_idf(frequencies: Frequencies, collection: Collection) -> Weights:
    """Lucene's ln(1 + (N - df + 0.5) / (df + 0.5)), never below zero.

    >>> lucene_idf(np.array([1, 3], np.int32), Collection(3, 1.0, np.empty(0, np.int32))).round(4).tolist()
    [0.9808, 0.1335]
    """
    found = frequencies.astype(np.float64)
    idf: Weights = np.log1p((collection.row_count - found + 0.5) / (found + 0.5))
    return idf


def okapi_idf(frequencies: Frequencies, collection: Collection) -> Weights:
    """Okapi's ln(N - df + 0.5) - ln(df + 0.5), or EPSILON times the mean where that is below zero.

    >>> held = np.array([1, 1, 1, 1, 1, 3], np.int32)
    >>> okapi_idf(held, Collection(3, 1.0, held)).round(4).tolist()  # the mean is 0.1014
    [0.5108, 0.5108, 0.5108, 0.5108, 0.5108, 0.0253]
    """
    idf = _plain_okapi(frequencies, collection.row_count)
    mean = collection.mean_idf
    if mean is None:
        mean = mean_inverse_frequency(collection.frequencies, collection.row_count)
    return np.where(idf < 0, EPSILON * max(0.0, mean), idf)


FORMULAS: Final[Mapping[str, Callable[[Frequencies, Collection], Weights]]] = {
    "lucene": lucene_idf,
    "okapi": okapi_idf,
}


def describe_formula(formula: str) -> dict[str, Any]:
    """What a run records of the formula, fit for JSON."""
    if formula == "okapi":
        return {"formula": "Okapi BM25", "epsilon": EPSILON}
    return {"formula": "Lucene BM25"}


def weigh_terms(terms: NDArray[np.int32], collection: Collection, formula: str) -> Weights:
    """The idf of each term id (m,); 0 for one that the collection lacks."""
    found = collection.frequencies[terms]
    return np.where(found > 0, FORMULAS[formula](found, collection), 0.0)


def weigh_postings(
    idf: Weights,
    counts: NDArray[np.integer[Any]],
    lengths: NDArray[np.integer[Any]],
    average_length: float,
    k1: float,
    b: float,
) -> Weights:
    """What each posting adds to a score: idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl / avgdl)) (p,).

    Computed as a search does, which then rounds it to float32.

    >>> one = np.array([2])
    >>> weigh_postings(np.array([2.0]), one, one, 2.0, 1.0, 0.5).tolist()  # 2 * 2 * 2 / (2 + 1)
    [2.6666666666666665]
    """
    found = counts.astype(np.float64)
    return idf * (k1 + 1.0) * found / (found + normalise_lengths(lengths, average_length, k1, b))


def normalise_lengths(
    lengths: NDArray[np.integer[Any]], average_length: float, k1: float, b: float
) -> Weights:
    """The part of the formula that a document's length decides, k1 * (1 - b + b * dl / avgdl) (n,)."""
    return k1 * (1.0 - b + b * lengths.astype(np.float64) / average_length)


def collect_postings(postings: Postings) -> Collection:
    """The indexed documents themselves as the collection."""
    total_length = int(postings.lengths.sum(dtype=np.int64))
    return _collect(len(postings.lengths), total_length, postings.frequencies)


def write_collection(folder: Path, statistics: TermStatistics, terms: list[str]) -> dict[str, Any]:
    """Write another collection's counts of the index's terms; the rest of it, fit for JSON."""
    np.save(folder / STATISTICS_FILE, statistics.look_up(terms))
    mean = mean_inverse_frequency(statistics.frequencies, statistics.row_count)
    rest = {"row_count": statistics.row_count, "total_length": statistics.total_length}
    return {**rest, "mean_idf": mean}


def read_collection(folder: Path, saved: Mapping[str, Any]) -> Collection:
    """What `write_collection` wrote and gave."""
    frequencies = read_array(folder, STATISTICS_FILE.removesuffix(".npy"))
    return _collect(saved["row_count"], saved["total_length"], frequencies, saved["mean_idf"])


def mean_inverse_frequency(frequencies: Frequencies, total: int) -> float:
    """The mean of Okapi's idf over the terms that a document holds, those below zero as they are; 0 of none.

    Summed exactly, so that the order of the terms does not show.

    >>> round(mean_inverse_frequency(np.array([1, 1, 3, 0], np.int32), 3), 4)
    -0.3081
    """
    held, counts = np.unique(frequencies[frequencies > 0], return_counts=True)
    if not len(held):
        return 0.0
    return math.fsum((_plain_okapi(held, total) * counts).tolist()) / int(counts.sum())


def _collect(
    row_count: int, total_length: int, frequencies: Frequencies, mean_idf: float | None = None
) -> Collection:
    average = total_length / row_count if total_length else 1.0
    return Collection(row_count, average, frequencies, mean_idf)


def _plain_okapi(frequencies: Frequencies, total: int) -> Weights:
    found = frequencies.astype(np.float64)
    idf: Weights = np.log(total - found + 0.5) - np.log(found + 0.5)
    return idf
