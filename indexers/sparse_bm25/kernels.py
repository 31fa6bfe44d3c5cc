"""The loops of sparse BM25 as machine code: postings of a block, scores of a block, the best so far.

The order in which a document's score is summed is fixed: terms of the dense rows in fours, then the other
terms one by one, each in float32. It depends on the query and the index alone, so that no block size, pool
or number of threads changes a bit.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pinakes.jit import jit

Array = NDArray[Any]

RUNS_A_LOOKUP = 32  # that are passed over in the time that a term is looked up in a block
FEW_DOCUMENTS = 5  # of a block, which are scored one by one sooner than with all of it
ROWS_AT_ONCE = 4  # rows of one pass over the accumulator; `score_block` spells them out


@jit
def count_tokens(run_counts: Array, runs: Array, ends: Array, lengths: Array) -> None:
    """How many terms each text has, into `lengths` (n,), from how many `runs` it has.

    A run has as many terms as there are from its of `ends` to the next.
    """
    first = 0
    for text in range(run_counts.shape[0]):
        count = 0
        for position in range(first, first + run_counts[text]):
            count += ends[runs[position] + 1] - ends[runs[position]]
        lengths[text] = count
        first += run_counts[text]


@jit
def spread_runs(runs: Array, ends: Array, terms: Array, tokens: Array) -> None:
    """The terms of each run, into `tokens`: those from its of `ends` to the next.

    Both have room for one more.
    """
    token = 0
    for run in runs:
        first, last = ends[run], ends[run + 1]
        # Written even where there is none: most runs are one term, the others would be guessed wrongly.
        tokens[token] = terms[first]
        for place in range(first + 1, last):
            tokens[token + place - first] = terms[place]
        token += last - first


@jit
def write_postings(
    lengths: Array, tokens: Array, latest: Array, ends: Array, documents: Array, counts: Array
) -> int:
    """The postings of a block, by term and then by document; how many they are.

    `lengths` (n,) are how many `tokens` each document has; `latest` (terms,) is -1, `ends` (terms,) and
    `counts` are 0. Writes where the postings of each term end.
    """
    # Nothing here branches on a token: whether a term is repeated would be guessed wrongly.
    first = 0
    for document in range(lengths.shape[0]):
        for position in range(first, first + lengths[document]):
            token = tokens[position]
            ends[token] += latest[token] != document
            latest[token] = document
        first += lengths[document]
    total = 0
    for term in range(ends.shape[0]):
        start = total
        total += ends[term]
        ends[term] = start
    first = 0
    for document in range(lengths.shape[0]):
        again = lengths.shape[0] + document
        for position in range(first, first + lengths[document]):
            token = tokens[position]
            ends[token] += latest[token] != again
            latest[token] = again
            posting = ends[token] - 1
            documents[posting] = document
            counts[posting] += 1
        first += lengths[document]
    return total


@jit
def prepare_block(
    terms: Array,
    starts: Array,
    documents: Array,
    counts: Array,
    lengths: Array,
    requested: Array,
    slots: Array,
    weights: Array,
    k1: float,
    b: float,
    average: float,
    rows: Array,
    spans: Array,
    impacts: Array,
    places: Array,
    norms: Array,
) -> None:
    """What the terms of the queries add to the score of the block's documents, before a term's repetition.

    `requested` are the terms of the queries, ascending as `terms` are. `slots` (vocabulary,) is 1 + the span
    of a term, minus (1 + the row) of one with a dense row, or 0; `weights` are idf * (k1 + 1), spans first
    and then rows. Writes `rows` (rows, block), `spans` (spans, 2) and `impacts`.
    """
    for document in range(lengths.shape[0]):
        norms[document] = k1 * (1.0 - b + b * lengths[document] / average)
    rows[:] = 0
    spans[:] = 0
    run_count = terms.shape[0]
    # Few terms are looked up in the block's; of many, the block's are looked up in them.
    few = requested.shape[0] * RUNS_A_LOOKUP < run_count
    for number in range(requested.shape[0] if few else run_count):
        run = np.searchsorted(terms, requested[number]) if few else number
        if run == run_count or (few and terms[run] != requested[number]):
            continue
        slot = slots[terms[run]]
        if slot == 0:
            continue
        first = starts[run]
        last = starts[run + 1] if run + 1 < run_count else documents.shape[0]
        if slot > 0:
            weight = weights[slot - 1]
            spans[slot - 1, 0] = first
            spans[slot - 1, 1] = last
            for posting in range(first, last):
                count = np.float64(counts[posting])
                document = documents[posting]
                impacts[posting, 0] = weight * count / (count + norms[document])
                places[posting, 1] = document
        else:
            row = -slot - 1
            weight = weights[spans.shape[0] + row]
            for posting in range(first, last):
                count = np.float64(counts[posting])
                document = documents[posting]
                rows[row, document] = weight * count / (count + norms[document])


@jit
def score_block(
    dense: Array,
    dense_factors: Array,
    sparse: Array,
    sparse_factors: Array,
    rows: Array,
    spans: Array,
    impacts: Array,
    places: Array,
    visits: Array,
    scores: Array,
) -> None:
    """The score of every document of a prepared block, for one query.

    `dense` are rows in multiples of four, `sparse` are spans; the factors say how often the query has the
    term (0 fills up the last four).
    """
    size = scores.shape[0]
    if dense.shape[0] == 0:
        scores[:] = 0
    for group in range(0, dense.shape[0], 4):
        row0, row1 = rows[dense[group]], rows[dense[group + 1]]
        row2, row3 = rows[dense[group + 2]], rows[dense[group + 3]]
        factor0, factor1 = dense_factors[group], dense_factors[group + 1]
        factor2, factor3 = dense_factors[group + 2], dense_factors[group + 3]
        if group == 0:
            for document in range(size):
                scores[document] = (factor0 * row0[document] + factor1 * row1[document]) + (
                    factor2 * row2[document] + factor3 * row3[document]
                )
        else:
            for document in range(size):
                scores[document] += (factor0 * row0[document] + factor1 * row1[document]) + (
                    factor2 * row2[document] + factor3 * row3[document]
                )
    # First all lookups, which wait for memory side by side; then the sums, over spans that are there.
    found = 0
    for position in range(sparse.shape[0]):
        span = sparse[position]
        first, last = spans[span, 0], spans[span, 1]
        visits[found, 0], visits[found, 1], visits[found, 2] = first, last, position
        found += last > first
    for visit in range(found):
        factor = sparse_factors[visits[visit, 2]]
        for posting in range(visits[visit, 0], visits[visit, 1]):
            scores[places[posting, 1]] += factor * impacts[posting, 0]


@jit
def score_document(
    dense: Array,
    dense_factors: Array,
    sparse: Array,
    sparse_factors: Array,
    rows: Array,
    spans: Array,
    impacts: Array,
    places: Array,
    document: int,
) -> Any:
    """The score of one document of a prepared block, as `score_block` adds it up."""
    score = np.float32(0)
    for group in range(0, dense.shape[0], 4):
        score += (
            dense_factors[group] * rows[dense[group], document]
            + dense_factors[group + 1] * rows[dense[group + 1], document]
        ) + (
            dense_factors[group + 2] * rows[dense[group + 2], document]
            + dense_factors[group + 3] * rows[dense[group + 3], document]
        )
    for position in range(sparse.shape[0]):
        low, high = spans[sparse[position], 0], spans[sparse[position], 1]
        last = high
        while low < high:
            middle = (low + high) // 2
            if places[middle, 1] < document:
                low = middle + 1
            else:
                high = middle
        if low < last and places[low, 1] == document:
            score += sparse_factors[position] * impacts[low, 0]
    return score


@jit
def sort_by_block(documents: Array, block_rows: int, starts: Array, order: Array) -> None:
    """The places of documents (rows) by their block, those of one as they stand, into `order`.

    `starts` (blocks + 1,) is 0, and becomes where each block's begin.
    """
    for document in documents:
        starts[document // block_rows + 1] += 1
    for block in range(1, starts.shape[0]):
        starts[block] += starts[block - 1]
    ends = starts.copy()
    for place in range(documents.shape[0]):
        block = documents[place] // block_rows
        order[ends[block]] = place
        ends[block] += 1


@jit
def score_pairs(
    order: Array,
    queries: Array,
    documents: Array,
    first_document: int,
    dense_ends: Array,
    dense: Array,
    dense_factors: Array,
    sparse_ends: Array,
    sparse: Array,
    sparse_factors: Array,
    rows: Array,
    spans: Array,
    impacts: Array,
    places: Array,
    visits: Array,
    scores: Array,
    found: Array,
) -> None:
    """The scores of pairs of a query and a document of one prepared block, into `found`.

    `order` are the places of the block's pairs, query by query.
    """
    start = 0
    while start < order.shape[0]:
        query, stop = queries[order[start]], start + 1
        while stop < order.shape[0] and queries[order[stop]] == query:
            stop += 1
        dense_part = slice(dense_ends[query], dense_ends[query + 1])
        sparse_part = slice(sparse_ends[query], sparse_ends[query + 1])
        its_dense, its_sparse = dense[dense_part], sparse[sparse_part]
        factors, others = dense_factors[dense_part], sparse_factors[sparse_part]
        if stop - start > FEW_DOCUMENTS:
            score_block(its_dense, factors, its_sparse, others, rows, spans, impacts, places, visits, scores)
            for place in order[start:stop]:
                found[place] = scores[documents[place] - first_document]
        else:
            for place in order[start:stop]:
                document = documents[place] - first_document
                found[place] = score_document(
                    its_dense, factors, its_sparse, others, rows, spans, impacts, places, document
                )
        start = stop


@jit
def keep_best(keys: Array, size: int, k: int) -> int:
    """Move the `k` largest of the first `size` keys (all distinct) to the front; the least of those.

    Hoare's selection, with the median of three as the pivot.
    """
    low, high, last = 0, size - 1, k - 1
    while low < high:
        first, middle, end = keys[low], keys[(low + high) // 2], keys[high]
        pivot = max(min(first, middle), min(max(first, middle), end))
        left, right = low, high
        while left <= right:
            while keys[left] > pivot:
                left += 1
            while keys[right] < pivot:
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                left += 1
                right -= 1
        if last <= right:
            high = right
        elif last >= left:
            low = left
        else:
            break
    return int(keys[last])


@jit
def collect_block(
    scores: Array, bits: Array, ranks: Array, keys: Array, size: int, floor: int, k: int
) -> tuple[int, int]:
    """Add the block's documents that may be among the best `k`: the number of keys held, and the new floor.

    `bits` is `scores` seen as int32: the order of numbers that are not negative. A key is score and tie rank
    in one number; those at most `floor` are out.
    """
    count = scores.shape[0]
    for start in range(0, count, 256):
        stop = min(start + 256, count)
        least = np.int32((floor + 1) >> 32)
        any_above = np.uint32(0)
        for document in range(start, stop):
            any_above = np.uint32(any_above | np.uint32(bits[document] >= least))
        if not any_above:
            continue
        for document in range(start, stop):
            if bits[document] < np.int32((floor + 1) >> 32):
                continue
            key = (np.int64(bits[document]) << 32) | (np.int64(0xFFFFFFFF) - np.int64(ranks[document]))
            if key <= floor:
                continue
            keys[size] = key
            size += 1
            if size == keys.shape[0]:
                floor = keep_best(keys, size, k)
                size = k
    return size, floor


@jit
def search_block(
    dense_ends: Array,
    dense: Array,
    dense_factors: Array,
    sparse_ends: Array,
    sparse: Array,
    sparse_factors: Array,
    rows: Array,
    spans: Array,
    impacts: Array,
    places: Array,
    visits: Array,
    excluded: Array,
    ranks: Array,
    scores: Array,
    bits: Array,
    keys: Array,
    sizes: Array,
    floors: Array,
    k: int,
) -> None:
    """Every query against one prepared block; `keys` (queries, room), `sizes` and `floors` are carried on.

    `excluded` are documents that are not to be found.
    """
    for query in range(sizes.shape[0]):
        dense_part = slice(dense_ends[query], dense_ends[query + 1])
        sparse_part = slice(sparse_ends[query], sparse_ends[query + 1])
        score_block(
            dense[dense_part],
            dense_factors[dense_part],
            sparse[sparse_part],
            sparse_factors[sparse_part],
            rows,
            spans,
            impacts,
            places,
            visits,
            scores,
        )
        for position in range(excluded.shape[0]):
            scores[excluded[position]] = -1
        size, floor = collect_block(scores, bits, ranks, keys[query], sizes[query], floors[query], k)
        sizes[query] = size
        floors[query] = floor
