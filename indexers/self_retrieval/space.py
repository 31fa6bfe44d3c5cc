"""The two kinds of texts that a system compares, and the three questions that are asked of them.

`rows` index the papers of a question, 0 to n - 1, everywhere: a paper that a system has no representation of,
or that lacks the altered text, is left out of them. Every score is a float32 that is made in one fixed order
of operations, so that ranks, ties and overlaps are the same at any number of threads and any block size, and
equal texts have equal scores. The order of candidates is total: the score descending, then the papers'
`tie_order` ascending, then the original before the neighbour.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.order import TieRanks
from pinakes.indexers.self_retrieval.maps import map_plane as map_plane
from pinakes.indexers.self_retrieval.places import order_ties

READINGS: Final = ("all", "without_own", "without_pair")
"""which candidates count: every one; without the query itself; without the query and the other of its pair"""

DEPTHS: Final = (10, 20)
"""how many of the nearest are compared"""


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Weighted terms of texts, one row a text.

    Attributes:
        starts: where each row begins in the other two, and the end of the last (m + 1,) int64.
        terms: numbers of terms, each once a row and ascending in it, int32.
        weights: float64, finite.
    """

    starts: NDArray[np.int64]
    terms: NDArray[np.int32]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True, eq=False)
class DenseTexts:
    """Texts as vectors, compared by the cosine, which is 0 with a vector of zeros.

    Attributes:
        rows: papers, ascending (m,).
        vectors: finite (m, d), C-contiguous.
    """

    rows: NDArray[np.intp]
    vectors: Vectors


@dataclass(frozen=True, slots=True, eq=False)
class SparseTexts:
    """Texts as weighted terms: a score is the sum of the products of a query's and a document's weights.

    The sum is made in float64 over terms ascending, then rounded to float32.

    Attributes:
        rows: papers, ascending (m,).
        queries, documents: each text as what is asked and as what is found (m,). They may be one object.
    """

    rows: NDArray[np.intp]
    queries: SparseRows
    documents: SparseRows


Texts = DenseTexts | SparseTexts


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Where each query finds its own paper's original.

    Attributes:
        rows: papers that have both, ascending (q,).
        rank: from 1 (q,) int32.
        ties: other candidates with the same score (q,) int32.
    """

    rows: NDArray[np.intp]
    rank: NDArray[np.int32]
    ties: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """How many nearest candidates a neighbour and its original share.

    Attributes:
        rows: papers of the sample that have both, ascending (s,).
        shared: by `READINGS` and `DEPTHS` (s, 3, 2) int32. Where fewer candidates remain than the depth, all
            that remain are compared.
        same: whether neighbour and original are equal to the bit (s,).
    """

    rows: NDArray[np.intp]
    shared: NDArray[np.int32]
    same: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PairStatistics:
    """The cosines of all unordered pairs of different papers.

    Attributes:
        papers, pairs: how many there are.
        lowest, highest: float32 cosines, as every score is.
        mean, deviation: of the cosines in float64, over all pairs (population).
        above_mean: pairs whose float32 cosine is greater than the mean rounded to float32.
    """

    papers: int
    pairs: int
    lowest: float
    highest: float
    mean: float
    deviation: float
    above_mean: int


def rank_own(queries: Texts, originals: Texts, tie_order: TieRanks, others: Texts | None = None) -> Ranked:
    """The rank of each query's own original among the originals, and the `others` of all other papers.

    `tie_order` (papers,) ranks papers among equal scores, the lower first. A query whose paper has no
    original is not ranked. Raises `IndexingError` for texts of different kinds or widths, and for
    numbers that are not finite.
    """
    from pinakes.indexers.self_retrieval import ranks, sparse

    if isinstance(queries, DenseTexts):
        dense = [require_dense(texts) for texts in (originals, others) if texts is not None]
        return ranks.rank_own(queries, dense, order_ties(tie_order))
    found = [require_sparse(texts) for texts in (originals, others) if texts is not None]
    return sparse.rank_own(queries, found, order_ties(tie_order))


def find_overlaps(
    neighbours: Texts, originals: Texts, sample: NDArray[np.intp], tie_order: TieRanks
) -> Overlaps:
    """What the nearest candidates of a neighbour and of its original have in common, for papers of `sample`.

    Candidates are all neighbours and all originals. A paper that lacks one of the two is left out.
    """
    from pinakes.indexers.self_retrieval import overlaps, sparse

    if isinstance(neighbours, DenseTexts):
        return overlaps.find_overlaps(neighbours, require_dense(originals), sample, order_ties(tie_order))
    return sparse.find_overlaps(neighbours, require_sparse(originals), sample, order_ties(tie_order))


def measure_pairs(texts: Texts) -> PairStatistics | None:
    """How alike the texts are; None for fewer than two.

    Sparse texts are compared as documents, by the cosine of their weights.
    """
    from pinakes.indexers.self_retrieval import pairs, sparse

    if len(texts.rows) < 2:
        return None
    return (
        pairs.measure_pairs(texts.vectors) if isinstance(texts, DenseTexts) else sparse.measure_pairs(texts)
    )


def require_dense(texts: Texts) -> DenseTexts:
    """The texts, if they are vectors."""
    if not isinstance(texts, DenseTexts):
        raise IndexingError("vectors are compared with weighted terms; expected texts of one system")
    return texts


def require_sparse(texts: Texts) -> SparseTexts:
    """The texts, if they are weighted terms."""
    if not isinstance(texts, SparseTexts):
        raise IndexingError("weighted terms are compared with vectors; expected texts of one system")
    return texts
