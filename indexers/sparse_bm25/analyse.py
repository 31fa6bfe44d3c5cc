"""Texts as term ids, block by block: what `build` inverts.

Texts repeat their words, so a block is cut into runs of characters at machine speed, and each distinct run is
analysed once. Terms are numbered in the order in which they are met: neither the size of a block nor what is
remembered changes an id.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pinakes.indexers.analysis import WHOLE_RUNS, Analysis, well_formed
from pinakes.indexers.lexical import PROGRESS_EVERY, Ids, Progress
from pinakes.indexers.sparse_bm25.files import find_ends

MOST_KNOWN_RUNS: Final = 2_000_000

# A character that no term holds becomes a space; a byte of a character beyond ASCII stays as it is.
_SPACES: Final = bytes(byte if byte > 127 or WHOLE_RUNS.match(chr(byte)) else ord(" ") for byte in range(256))


class TermIds(NamedTuple):
    """Some documents as term ids: `paper_ids` (n,), `lengths` (n,) and `term_ids`, one after the other."""

    paper_ids: Ids
    lengths: NDArray[np.int64]
    term_ids: NDArray[np.int32]


class GrowingVocabulary(dict[str, int]):
    """term -> id; a term that is looked up for the first time gets the next id."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class _KnownRuns(dict[str, tuple[int, ...]]):
    """A run of characters without a separator -> its term ids."""

    def __init__(self, analysis: Analysis, vocabulary: GrowingVocabulary) -> None:
        self._analyse, self._find = analysis.build().analyze, vocabulary.__getitem__

    def __missing__(self, run: str) -> tuple[int, ...]:
        if len(self) >= MOST_KNOWN_RUNS:
            self.clear()
        found = self[run] = tuple(map(self._find, self._analyse(run)))
        return found


def analyse_documents(
    documents: Iterable[tuple[int, str | None]],
    analysis: Analysis,
    vocabulary: GrowingVocabulary,
    block_rows: int,
    progress: Progress | None,
) -> Iterator[TermIds]:
    """The documents in blocks of `block_rows`; terms that are new are added to the vocabulary."""
    known = _KnownRuns(analysis, vocabulary)
    remaining = iter(documents)
    total = 0
    while block := list(islice(remaining, block_rows)):
        paper_ids = np.array([paper_id for paper_id, _ in block], dtype=np.int64)
        yield TermIds(paper_ids, *_analyse_block([well_formed(text or "") for _, text in block], known))
        before, total = total, total + len(block)
        if progress and total // PROGRESS_EVERY > before // PROGRESS_EVERY:
            progress(total)
    if progress:
        progress(total)


def _analyse_block(texts: list[str], known: _KnownRuns) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The length of each text in terms, and the terms."""
    import pyarrow.compute as pc  # late: a tenth of a second that a search of another index need not wait

    runs = pc.ascii_split_whitespace(_separate(texts))
    ends = find_ends(runs.value_lengths().to_numpy(zero_copy_only=False))
    # The dictionary is in the order in which runs are met, and so are the ids of new terms.
    encoded = runs.flatten().dictionary_encode()
    found = list(map(known.__getitem__, encoded.dictionary.to_pylist()))
    counts = np.fromiter(map(len, found), np.int64, len(found))
    terms = np.fromiter(chain.from_iterable(found), np.int32, int(counts.sum()))
    places = encoded.indices.to_numpy()
    owned = counts[places]
    term_ends = find_ends(owned)
    firsts = np.cumsum(counts)[places] - owned - term_ends[:-1]
    return np.diff(term_ends[ends]), terms[np.repeat(firsts, owned) + np.arange(term_ends[-1])]


def _separate(texts: list[str]) -> pa.Array:
    """The texts with a space in place of each character that separates."""
    array = pa.array(texts, pa.large_string())
    _, offsets, values = array.buffers()
    replaced = (b"" if values is None else values.to_pybytes()).translate(_SPACES)
    return pa.Array.from_buffers(array.type, len(array), [None, offsets, pa.py_buffer(replaced)])
