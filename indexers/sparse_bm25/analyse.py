"""Texts as terms, block by block: what `build` inverts.

Texts repeat their words, so a block is cut into runs of characters by machine code, and each distinct run is
analysed once. Terms are numbered in the order in which they are met: neither the size of a block, the number
of threads nor what is remembered changes an id.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, compress, islice, repeat
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pinakes.indexers.analysis import Analysis, well_formed
from pinakes.indexers.lexical import PROGRESS_EVERY, Ids, Progress
from pinakes.indexers.sparse_bm25.ahead import map_ahead
from pinakes.indexers.sparse_bm25.files import find_ends
from pinakes.indexers.sparse_bm25.kernels import count_tokens, spread_runs
from pinakes.indexers.sparse_bm25.runs import Runs, find_runs

MOST_KNOWN_RUNS: Final = 2_000_000
RUNS_AT_ONCE: Final = 32  # few are analysed again where one of them is no term
DOCUMENTS_AT_ONCE: Final = 2_048
_UNKNOWN: Final = 1 << 62


class TextBlock(NamedTuple):
    """Some documents as texts.

    Attributes:
        paper_ids: of each document (n,).
        texts: strings of Arrow (n,) in any of its layouts; null is an empty text.
    """

    paper_ids: Ids
    texts: pa.Array | pa.ChunkedArray


class TermIds(NamedTuple):
    """Some documents as terms.

    Attributes:
        paper_ids: of each document (n,).
        lengths: its terms, each as often as it has it (n,).
        tokens: the terms of all, one document after the other, as their places in `term_ids` (t,).
        term_ids: the ids of terms, ascending and distinct (m,).
    """

    paper_ids: Ids
    lengths: NDArray[np.int64]
    tokens: NDArray[np.int32]
    term_ids: NDArray[np.int32]


class GrowingVocabulary(dict[str, int]):
    """term -> id; a term that is looked up for the first time gets the next id."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class _KnownRuns:
    """The term ids of runs of characters without a separator, each analysed once."""

    def __init__(self, analysis: Analysis, vocabulary: GrowingVocabulary) -> None:
        self._analyse, self._vocabulary = analysis.build().analyze, vocabulary
        # A run that is one term is kept as its id, any other as -1 minus the place of its ids in `_others`:
        # millions of tuples would keep the garbage collector busy.
        self._known: dict[str, int] = {}
        self._others: list[list[int]] = []

    def find(self, runs: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The term ids of all runs, one run after the other, and where each run's start (runs + 1,)."""
        found = np.fromiter(map(self._known.get, runs, repeat(_UNKNOWN)), np.int64, len(runs))
        new = np.flatnonzero(found == _UNKNOWN).tolist()
        if self._known and len(self._known) + len(new) > MOST_KNOWN_RUNS:
            self._known.clear()
            self._others.clear()
            return self.find(runs)
        found[new] = self._learn([runs[place] for place in new])
        others = np.flatnonzero(found < 0)
        ids_of_others = [self._others[-1 - place] for place in found[others].tolist()]
        counts = np.ones(len(runs), np.int64)
        counts[others] = np.fromiter(map(len, ids_of_others), np.int64, len(others))
        ids = np.repeat(found, counts)
        ids[ids < 0] = np.fromiter(chain.from_iterable(ids_of_others), np.int64)
        return ids.astype(np.int32), find_ends(counts)

    def _learn(self, runs: list[str]) -> list[int]:
        number = self._vocabulary.__getitem__
        found: list[int] = []
        for terms in analyse_runs(runs, self._analyse):
            if isinstance(terms, str):
                found.append(number(terms))
            else:
                self._others.append([number(term) for term in terms])
                found.append(-len(self._others))
        self._known.update(zip(runs, found, strict=True))
        return found


def list_blocks(documents: Iterable[tuple[int, str | None]]) -> Iterator[TextBlock]:
    """Blocks of documents that are Python's own strings; half a surrogate pair is replaced."""
    remaining = iter(documents)
    while block := list(islice(remaining, DOCUMENTS_AT_ONCE)):
        texts = [text for _, text in block]
        try:
            array = pa.array(texts, pa.large_string())
        except UnicodeEncodeError:
            array = pa.array([text and well_formed(text) for text in texts], pa.large_string())
        yield TextBlock(np.array([paper_id for paper_id, _ in block], dtype=np.int64), array)


def analyse_documents(
    documents: Iterable[TextBlock],
    analysis: Analysis,
    vocabulary: GrowingVocabulary,
    block_rows: int,
    progress: Progress | None,
    threads: int = 1,
) -> Iterator[TermIds]:
    """The documents in blocks of `block_rows`; terms that are new are added to the vocabulary."""
    known = _KnownRuns(analysis, vocabulary)
    total = 0
    for paper_ids, runs in map_ahead(_find_runs, cut_blocks(documents, block_rows), threads):
        yield TermIds(paper_ids, *_find_terms(runs, known))
        before, total = total, total + len(paper_ids)
        if progress and total // PROGRESS_EVERY > before // PROGRESS_EVERY:
            progress(total)
    if progress:
        progress(total)


def analyse_runs(runs: list[str], analyse: Callable[[str], list[str]]) -> Iterator[str | list[str]]:
    """The terms of each run; a term alone may come without a list.

    >>> from pinakes.indexers.analysis import named_analysis
    >>> list(analyse_runs(["graphs", "m_x", "genes"], named_analysis("english").build().analyze))
    ['graph', ['m', 'x'], 'gene']
    """
    # A run of letters and digits of ASCII is one term or none; such runs are analysed together.
    plain = [run.isascii() and run.isalnum() for run in runs]
    together = _analyse_plain(list(compress(runs, plain)), analyse)
    for run, is_plain in zip(runs, plain, strict=True):
        yield next(together) if is_plain else analyse(run)


def _analyse_plain(runs: list[str], analyse: Callable[[str], list[str]]) -> Iterator[str | list[str]]:
    for start in range(0, len(runs), RUNS_AT_ONCE):
        part = runs[start : start + RUNS_AT_ONCE]
        terms = analyse(" ".join(part))
        # As many terms as runs: each run is one, in their order. Else some are none, such as stop words.
        yield from terms if len(terms) == len(part) else map(analyse, part)


def cut_blocks(documents: Iterable[TextBlock], block_rows: int) -> Iterator[TextBlock]:
    """The documents in blocks of `block_rows`, the last of which may have fewer."""
    waiting: list[TextBlock] = []
    count = 0
    for block in documents:
        start = 0
        while (stop := start + block_rows - count) <= len(block.paper_ids):
            yield _join_blocks([*waiting, _slice(block, start, stop)])
            waiting, count, start = [], 0, stop
        if start < len(block.paper_ids):
            waiting.append(_slice(block, start, len(block.paper_ids)))
            count += len(block.paper_ids) - start
    if waiting:
        yield _join_blocks(waiting)


def _slice(block: TextBlock, start: int, stop: int) -> TextBlock:
    return TextBlock(block.paper_ids[start:stop], block.texts[start:stop])


def _join_blocks(blocks: list[TextBlock]) -> TextBlock:
    """One block whose texts are one array of large strings without nulls."""
    parts = [pc.fill_null(block.texts.cast(pa.large_string()), "") for block in blocks]
    chunks = [
        chunk for part in parts for chunk in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])
    ]
    texts = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    return TextBlock(np.concatenate([block.paper_ids for block in blocks]), texts)


def _find_runs(block: TextBlock) -> tuple[Ids, Runs]:
    return block.paper_ids, find_runs(block.texts)


def _find_terms(
    runs: Runs, known: _KnownRuns
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The length of each text in terms, the terms as places, and the ids that these are places of."""
    ids, ends = known.find(runs.spellings.to_pylist())
    term_ids, places = np.unique(ids, return_inverse=True)
    lengths = np.empty(len(runs.counts), np.int64)
    count_tokens(runs.counts, runs.runs, ends, lengths)
    tokens = np.empty(lengths.sum() + 1, np.int32)
    spread_runs(runs.runs, ends, np.append(places, 0), tokens)
    return lengths, tokens[:-1], term_ids
