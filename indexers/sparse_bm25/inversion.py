"""Documents as terms turned into terms with their documents, a block at a time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.sparse_bm25.analyse import TermIds
from pinakes.indexers.sparse_bm25.kernels import write_postings


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A block's postings, as they go into the files."""

    arrays: dict[str, NDArray[Any]]
    frequencies: NDArray[np.int64]  # documents of the block that hold each of its terms


class Frequencies:
    """How many documents hold each term, block after block."""

    def __init__(self) -> None:
        self._counts = np.zeros(0, np.int32)

    def add(self, block: Block) -> None:
        """Count the documents of a further block."""
        terms = block.arrays["run_terms"]
        if len(terms) and terms[-1] >= len(self._counts):
            self._counts = self.of_terms(2 * (int(terms[-1]) + 1))
        self._counts[terms] += block.frequencies.astype(np.int32)

    def of_terms(self, count: int) -> NDArray[np.int32]:
        """The frequencies of the terms with an id below `count` (count,)."""
        return np.pad(self._counts, (0, max(0, count - len(self._counts))))[:count]


def invert_block(block: TermIds) -> Block:
    """A block's postings, by term and then by document."""
    documents = np.empty(len(block.tokens), np.uint16)
    counts = np.zeros(len(block.tokens), np.int32)
    ends = np.zeros(len(block.term_ids), np.int64)
    latest = np.full(len(block.term_ids), -1, np.int32)
    postings = write_postings(block.lengths, block.tokens, latest, ends, documents, counts)
    frequencies = np.diff(ends, prepend=0)
    held = frequencies > 0
    arrays: dict[str, NDArray[Any]] = {
        "run_terms": block.term_ids[held],
        "run_starts": (ends - frequencies)[held],
        "documents": documents[:postings],
        "counts": counts[:postings],
        "lengths": block.lengths,
        "paper_ids": block.paper_ids,
    }
    return Block(arrays, frequencies[held])
