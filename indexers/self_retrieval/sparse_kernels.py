"""The loops over weighted terms as machine code: scores of all documents for one query after another.

A score is summed in float64 over terms ascending, whatever else is computed, then rounded to float32.
"""

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.best import push
from pinakes.jit import jit

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
Doubles2 = NDArray[np.float64]


@jit
def add_scores(
    terms: Ints,
    weights: Doubles,
    starts: Longs,
    documents: Ints,
    impacts: Doubles,
    lines_of: Ints,
    lines: Doubles2,
    after: int,
    scores: Doubles,
) -> None:
    """Write the scores of one query with the documents behind `after`.

    `starts` say where the postings of each term begin in `documents` (ascending) and `impacts`. A common
    term has a line, `lines[lines_of[term]]`, of its weight in every document: adding zeros changes no sum.
    """
    scores[after + 1 :] = 0.0
    for number in range(len(terms)):
        term, weight = terms[number], weights[number]
        if term + 1 >= len(starts):
            continue
        if lines_of[term] >= 0:
            line = lines[lines_of[term]]
            for document in range(after + 1, len(scores)):
                scores[document] += weight * line[document]
            continue
        first, stop = starts[term], starts[term + 1]
        if after >= 0:
            first += np.searchsorted(documents[first:stop], after, side="right")
        for posting in range(first, stop):
            scores[documents[posting]] += weight * impacts[posting]


@jit
def rank_part(
    first: int,
    stop: int,
    query_starts: Longs,
    terms: Ints,
    weights: Doubles,
    starts: Longs,
    documents: Ints,
    impacts: Doubles,
    lines_of: Ints,
    lines: Doubles2,
    chosen: Longs,
    places: Longs,
    known: bool,
    own: Singles,
    query_ties: Longs,
    document_ties: Longs,
    rank: Ints,
    equal: Ints,
) -> None:
    """Add to `rank` and `equal` the documents before, and equal to, the own of queries `first` to `stop`.

    `chosen` are the queries' rows, `places` their own documents (-1 for none), which count for nothing. Their
    scores are written to `own` unless they are `known`.
    """
    scores = np.empty(len(document_ties))
    for query in range(first, stop):
        part = slice(query_starts[chosen[query]], query_starts[chosen[query] + 1])
        add_scores(terms[part], weights[part], starts, documents, impacts, lines_of, lines, -1, scores)
        place = places[query]
        if not known:
            own[query] = scores[place]
        if place >= 0:
            scores[place] = -np.inf
        wanted = own[query]
        above, same = np.uint32(0), np.uint32(0)
        for score in scores:
            single = np.float32(score)
            above = np.uint32(above + np.uint32(single > wanted))
            same = np.uint32(same + np.uint32(single == wanted))
        rank[query] += above
        equal[query] += same
        if same:
            for document in range(len(scores)):
                before = document_ties[document] < query_ties[query]
                rank[query] += before and np.float32(scores[document]) == wanted


@jit
def search_part(
    first: int,
    stop: int,
    query_starts: Longs,
    terms: Ints,
    weights: Doubles,
    starts: Longs,
    documents: Ints,
    impacts: Doubles,
    lines_of: Ints,
    lines: Doubles2,
    chosen: Longs,
    ranks: NDArray[np.uint32],
    singles: Singles,
    bits: NDArray[np.uint32],
    keys: NDArray[np.uint64],
    held: Longs,
) -> None:
    """Offer all documents to the heaps of queries `first` to `stop`.

    `keys` are the heaps, `held` how many each has; `bits` is a view of `singles`.
    """
    scores = np.empty(len(ranks))
    everyone = np.arange(len(ranks))
    heap = np.zeros(len(ranks), dtype=np.int64)
    for query in range(first, stop):
        part = slice(query_starts[chosen[query]], query_starts[chosen[query] + 1])
        add_scores(terms[part], weights[part], starts, documents, impacts, lines_of, lines, -1, scores)
        for document in range(len(scores)):
            singles[document] = np.float32(scores[document]) + np.float32(0.0)
        push(keys[query : query + 1], held[query : query + 1], heap, everyone, ranks, bits)


@jit
def measure_part(
    first: int,
    stop: int,
    row_starts: Longs,
    terms: Ints,
    weights: Doubles,
    starts: Longs,
    documents: Ints,
    impacts: Doubles,
    lines_of: Ints,
    lines: Doubles2,
    mean: float,
    lowest: Singles,
    highest: Singles,
    squares: Doubles,
    above: Longs,
) -> None:
    """What the pairs of rows `first` to `stop` with all rows behind them are, written for each row."""
    scores = np.empty(len(lowest))
    least = np.float32(mean)
    for row in range(first, stop):
        part = slice(row_starts[row], row_starts[row + 1])
        add_scores(terms[part], weights[part], starts, documents, impacts, lines_of, lines, row, scores)
        low, high, square, count = np.float32(np.inf), np.float32(-np.inf), 0.0, 0
        for score in scores[row + 1 :]:
            single = np.float32(score)
            low, high = min(low, single), max(high, single)
            square += (score - mean) * (score - mean)
            count += int(single > least)
        lowest[row], highest[row], squares[row], above[row] = low, high, square, count
