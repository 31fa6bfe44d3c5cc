"""What the lexical indexes (BM25, TF-IDF) share: documents in, results out, and the total order.

A ranking is ordered by score descending, compared as float32, then by an explicit rule on ids; no order of
insertion, thread or segment shows through.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.analysis import well_formed
from pinakes.indexers.order import order_best

Ids = NDArray[np.int64]
Scores = NDArray[np.float32]

Documents = Iterable[tuple[int, Mapping[str, str | None]]]
"""(paper_id, field -> text); a field that is absent or None is an empty text"""

TieOrder = Callable[[Ids], Ids]
"""paper ids -> a number for each, the lower first among equal scores; distinct ids have distinct numbers"""

Progress = Callable[[int], None]
"""called with the number of documents read so far, now and then and once at the end"""

PROGRESS_EVERY: Final = 10_000


class Ranked(NamedTuple):
    """One ranking, best first: `paper_ids` int64 and `scores` float32 of the same length."""

    paper_ids: Ids
    scores: Scores


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """What a build gives: how many documents went in, and all settings, fit for JSON."""

    row_count: int
    parameters: dict[str, Any]


def read_documents(
    documents: Documents, fields: Sequence[str], paper_ids: "array[int]", progress: Progress | None
) -> Iterator[tuple[int, list[str]]]:
    """Each document as its paper id and the texts of `fields`, in their order, fit for UTF-8.

    Appends every id to `paper_ids`; raises IndexingError for a field that is not among `fields`.
    """
    for paper_id, texts in documents:
        if not texts.keys() <= set(fields):
            raise IndexingError(
                f"paper {paper_id} has the fields {sorted(texts)}, the index is of {sorted(fields)};"
                " name every field that a document has"
            )
        paper_ids.append(paper_id)
        yield paper_id, [well_formed(texts.get(field) or "") for field in fields]
        if progress and len(paper_ids) % PROGRESS_EVERY == 0:
            progress(len(paper_ids))
    if progress:
        progress(len(paper_ids))


def by_paper_id(paper_ids: Ids) -> Ids:
    """The tie order for callers without source ids: the lower paper id first."""
    return paper_ids


def trec_tie_order(source_ids: Mapping[int, str]) -> TieOrder:
    """trec_eval's rule: among equal scores the source's id that is greater byte by byte comes first.

    `source_ids` is paper id -> source id. The order raises IndexingError for a paper id it does not know.

    >>> trec_tie_order({1: "a", 2: "b", 3: "B"})(np.array([1, 2, 3]))
    array([1, 0, 2])
    """
    descending = sorted(source_ids, key=lambda paper_id: source_ids[paper_id].encode(), reverse=True)
    ordered = np.asarray(descending, dtype=np.int64)
    rank_of_id = np.argsort(ordered)
    sorted_ids = ordered[rank_of_id]

    def order(paper_ids: Ids) -> Ids:
        return rank_of_id[positions_of(paper_ids, sorted_ids, "the tie order")]

    return order


def positions_of(paper_ids: Ids, sorted_ids: Ids, holder: str) -> Ids:
    """Where each paper id stands in `sorted_ids`, ascending and distinct; IndexingError names the others.

    >>> positions_of(np.array([7, 3]), np.array([3, 5, 7]), "the index")
    array([2, 0])
    """
    if len(sorted_ids) and sorted_ids[-1] - sorted_ids[0] == len(sorted_ids) - 1:  # no id is left out
        places: Ids = paper_ids - sorted_ids[0]
        known = (places >= 0) & (places < len(sorted_ids))
    else:
        places = np.searchsorted(sorted_ids, paper_ids)
        known = np.zeros(len(paper_ids), dtype=bool)
        inside = places < len(sorted_ids)
        known[inside] = sorted_ids[places[inside]] == paper_ids[inside]
    if not known.all():
        raise unknown_papers(paper_ids[~known], holder)
    return places.astype(np.int64)


def unknown_papers(paper_ids: Ids, holder: str) -> IndexingError:
    """The error for papers that a pool names and an index does not hold."""
    listed = ", ".join(str(paper_id) for paper_id in paper_ids[:5])
    return IndexingError(
        f"{len(paper_ids)} paper ids are not in {holder} (the first: {listed}); every candidate must be"
        " indexed, or it could only be dropped. Build the index again over all papers of the pool"
    )


def select_top(paper_ids: Ids, scores: Scores, k: int, tie_order: TieOrder) -> Ranked:
    """The best `k` of what was given, score descending, ties by `tie_order`.

    >>> select_top(np.array([1, 2, 3]), np.array([0.5, 2, 2], np.float32), 2, by_paper_id).paper_ids
    array([2, 3])
    """
    if len(scores) > k:
        kth = np.partition(scores, len(scores) - k)[len(scores) - k]
        paper_ids, scores = paper_ids[scores >= kth], scores[scores >= kth]
    order = order_best(scores, tie_order(paper_ids))[:k]
    return Ranked(paper_ids[order], scores[order])


def check_k(k: int) -> None:
    """Raise IndexingError unless `k` can be the length of a ranking."""
    if k < 1:
        raise IndexingError(f"a ranking of {k} papers was asked for; expected k of at least 1")


def distinct_ids(paper_ids: "array[int]") -> Ids:
    """The ids as int64; IndexingError if one occurs twice: its score would depend on which copy is read."""
    ids = np.array(paper_ids, dtype=np.int64)
    values, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        raise IndexingError(
            f"paper id {values[counts > 1][0]} was given {counts.max()} times; expected one document a"
            " paper. Join the texts of a paper before building"
        )
    return ids
