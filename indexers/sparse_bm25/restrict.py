"""A sparse BM25 index cut to a pool: the same postings, new blocks, and the pool's own statistics.

One pass over the postings, in memory: about 4 bytes for each posting that is kept. A posting is one number of
64 bits while it moves (term, document, frequency), so that a block is put together by one sort, from however
many blocks its documents come.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.sparse_bm25.files import Postings, find_ends
from pinakes.jit import jit

Rows = NDArray[np.int64]
Array = NDArray[Any]


def restrict_postings(postings: Postings, rows: Rows, threads: int = 1) -> Postings:
    """The postings of the documents `rows` (m,), ascending, each once, in blocks of the same size.

    Frequencies, lengths and the number of documents are of `rows` alone; terms keep their ids.
    """
    starts = range(0, len(rows), postings.block_rows)
    cut = partial(_cut_block, postings)
    frequencies = np.zeros(len(postings.frequencies), np.int32)
    with ThreadPoolExecutor(threads) as workers:
        blocks = list(workers.map(cut, [rows[start : start + postings.block_rows] for start in starts]))
    for block in blocks:
        # A block has each term once, so that no addition is lost.
        if not len(block.documents):
            continue
        ends = np.append(block.run_starts[1:], np.uint32(len(block.documents)))
        frequencies[block.run_terms] += (ends - block.run_starts).astype(np.int32)
    columns: dict[str, list[Array]] = {
        name: [getattr(block, name) for block in blocks] for name in _Block._fields
    }
    blocks.clear()
    return Postings(
        block_rows=postings.block_rows,
        block_runs=find_ends([len(part) for part in columns["run_terms"]]),
        block_postings=find_ends([len(part) for part in columns["documents"]]),
        run_terms=_join(columns["run_terms"], np.int32),
        run_starts=_join(columns["run_starts"], np.uint32),
        documents=_join(columns["documents"], np.uint16),
        counts=_join(columns["counts"], np.uint16),
        lengths=np.asarray(postings.lengths)[rows],
        frequencies=frequencies,
        paper_ids=np.asarray(postings.paper_ids)[rows],
    )


class _Block(NamedTuple):
    run_terms: NDArray[np.int32]
    run_starts: NDArray[np.uint32]
    documents: NDArray[np.uint16]
    counts: NDArray[np.uint16]


def _cut_block(postings: Postings, rows: Rows) -> _Block:
    """One new block, of the documents `rows`."""
    sources, first = np.unique(rows // postings.block_rows, return_index=True)
    bounds = [*first.tolist(), len(rows)]
    parts = []
    for number, source in enumerate(sources.tolist()):
        places = np.full(postings.block_rows, -1, np.int64)
        chosen = slice(bounds[number], bounds[number + 1])
        places[rows[chosen] - source * postings.block_rows] = np.arange(chosen.start, chosen.stop)
        runs = slice(*postings.block_runs[source : source + 2].tolist())
        held = slice(*postings.block_postings[source : source + 2].tolist())
        keys = np.empty(held.stop - held.start + 1, np.int64)
        ends = np.append(postings.run_starts[runs][1:], np.uint32(held.stop - held.start))
        arrays = (postings.run_terms[runs], ends, postings.documents[held], postings.counts[held])
        count = pack_postings(*arrays, places, keys)
        parts.append(keys[:count].copy())
    keys = np.sort(np.concatenate(parts))
    terms, starts = np.empty(len(keys), np.int32), np.empty(len(keys), np.uint32)
    documents, counts = np.empty(len(keys), np.uint16), np.empty(len(keys), np.uint16)
    kept = unpack_postings(keys, terms, starts, documents, counts)
    return _Block(terms[:kept].copy(), starts[:kept].copy(), documents, counts)


@jit
def pack_postings(
    terms: Array, ends: Array, documents: Array, counts: Array, places: Array, keys: Array
) -> int:
    """Write (term << 32 | document << 16 | count) of each posting that is kept; how many they are.

    `ends` is the end of each run, `places` (block,) the new number of each document of the block, or -1.
    `keys` has room for one more than there are postings.
    """
    size, run = 0, -1
    following = np.int64(0)
    for posting in range(documents.shape[0]):
        # One loop without a branch: runs are short, and where each ends would be guessed wrongly.
        run += posting == following
        following = np.int64(ends[run])
        place = places[documents[posting]]
        keys[size] = (np.int64(terms[run]) << 32) | (place << 16) | np.int64(counts[posting])
        size += place >= 0
    return size


@jit
def unpack_postings(keys: Array, terms: Array, starts: Array, documents: Array, counts: Array) -> int:
    """Write the runs and the postings of ascending keys; how many runs they are."""
    runs = 0
    before = -1
    for position in range(keys.shape[0]):
        key = keys[position]
        if key >> 32 != before:
            before = key >> 32
            terms[runs] = before
            starts[runs] = position
            runs += 1
        documents[position] = (key >> 16) & 0xFFFF
        counts[position] = key & 0xFFFF
    return runs


def _join(parts: list[Array], dtype: type[np.generic]) -> Array:
    """The parts as one array; they are let go, so that memory holds one array twice, not all of them."""
    whole = np.concatenate([np.empty(0, dtype), *parts])
    parts.clear()
    return whole
