"""What a sparse BM25 index holds, term by term and paper by paper: for tables, and to explain a score."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.lexical import Ids
from pinakes.indexers.sparse_bm25.files import Postings

POSTINGS_AT_ONCE: Final = 1 << 20

Array = NDArray[Any]


class TermPostings(NamedTuple):
    """Some postings: `term_ids` (p,) int32, `rows` of the documents (p,) int64, `counts` (p,) uint16."""

    term_ids: NDArray[np.int32]
    rows: Ids
    counts: NDArray[np.uint16]


def read_by_term(postings: Postings, at_once: int = POSTINGS_AT_ONCE) -> Iterator[TermPostings]:
    """All postings, by term and then by document, in parts of about `at_once`; one pass, in constant memory.

    A term is in one part, so that one of more than `at_once` documents is a part of its own.
    """
    ends = np.cumsum(postings.frequencies, dtype=np.int64)
    term_count, first, done = len(ends), 0, 0
    blocks = range(len(postings.block_runs) - 1)
    while blocks and first < term_count:
        stop = max(first + 1, int(np.searchsorted(ends, done + at_once, side="right")))
        part = [_cut_block(postings, block, first, stop) for block in blocks]
        terms, rows, counts = (np.concatenate(column) for column in zip(*part, strict=True))
        order = np.argsort(terms, kind="stable")  # blocks are in the order of documents
        yield TermPostings(terms[order], rows[order], counts[order])
        first, done = stop, int(ends[stop - 1])


def read_document(postings: Postings, row: int) -> TermPostings:
    """The postings of one document, by term id."""
    block, place = divmod(row, postings.block_rows)
    held = slice(*postings.block_postings[block : block + 2].tolist())
    positions = np.flatnonzero(np.asarray(postings.documents[held]) == place)
    runs = slice(*postings.block_runs[block : block + 2].tolist())
    run = np.searchsorted(np.asarray(postings.run_starts[runs]), positions, side="right") - 1
    counts = np.asarray(postings.counts[held])[positions]
    terms = np.asarray(postings.run_terms[runs])[run]
    return TermPostings(terms, np.full(len(terms), row, np.int64), counts)


def _cut_block(postings: Postings, block: int, first: int, stop: int) -> tuple[Array, Array, Array]:
    """The postings of a block whose terms are `first` to below `stop`: runs beside each other."""
    run_first, run_end = postings.block_runs[block : block + 2].tolist()
    start, end = postings.block_postings[block : block + 2].tolist()
    terms = postings.run_terms[run_first:run_end]
    low, high = np.searchsorted(terms, [first, stop]).tolist()
    starts = np.append(postings.run_starts[run_first + low : run_first + high].astype(np.int64), end - start)
    if run_first + high < run_end:
        starts[-1] = int(postings.run_starts[run_first + high])
    held = slice(start + int(starts[0]), start + int(starts[-1]))
    rows = block * postings.block_rows + postings.documents[held].astype(np.int64)
    return np.repeat(terms[low:high], np.diff(starts)), rows, np.asarray(postings.counts[held])
