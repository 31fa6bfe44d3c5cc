"""The rank of each query's own candidate among all, by the cosine."""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.exact.scores import (
    CheckedVectors,
    Rows,
    Vectors,
    check_vectors,
    require_width,
    score_rows,
)
from pinakes.indexers.self_retrieval import tiles
from pinakes.indexers.self_retrieval.places import find_places
from pinakes.indexers.self_retrieval.space import DenseTexts, Ranked
from pinakes.jit import jit


class Asked(NamedTuple):
    """Queries that have a candidate of their own, and what the two score together.

    Attributes:
        rows: their papers (q,).
        vectors: checked (q, d).
        own: the score with their own (q,).
    """

    rows: NDArray[np.intp]
    vectors: CheckedVectors
    own: Vectors


def rank_own(queries: DenseTexts, candidates: Sequence[DenseTexts], ties: Rows) -> Ranked:
    """As `space.rank_own`; the first of `candidates` holds the queries' own; `ties` are distinct."""
    chosen = np.isin(queries.rows, candidates[0].rows)
    rows = queries.rows[chosen]
    vectors = check_vectors(queries.vectors[chosen], "query")
    rank, equal = np.ones(len(rows), dtype=np.int32), np.zeros(len(rows), dtype=np.int32)
    asked = None
    for texts in candidates:
        found = check_vectors(texts.vectors, "candidate")
        require_width(vectors, found)
        if asked is None:
            places = np.searchsorted(texts.rows, rows)
            asked = Asked(rows, vectors, score_rows(vectors, found, np.arange(len(rows)), places, "cosine"))
        _Count(asked, texts.rows, found, ties, rank, equal).run()
    return Ranked(rows, rank, equal)


class _Count:
    """Adds the candidates of one matrix that come before each query's own, and those that equal it."""

    def __init__(
        self,
        asked: Asked,
        papers: NDArray[np.intp],
        candidates: CheckedVectors,
        ties: Rows,
        rank: NDArray[np.int32],
        equal: NDArray[np.int32],
    ) -> None:
        self._asked, self._papers, self._candidates, self._ties = asked, papers, candidates, ties
        self._rank, self._equal = rank, equal
        self._left = tiles.make_directions(asked.vectors)
        self._right = tiles.make_directions(candidates)
        self._lows, self._highs = tiles.widen(asked.own, self._left.shape[1])
        self._own = find_places(asked.rows, papers)
        self._rooms = threading.local()

    def run(self) -> None:
        """All queries; those of a tile belong to one thread, so that none waits for another."""
        for _ in tiles.work_in_threads(self._look, tiles.cut(len(self._asked.rows), tiles.TILE)):
            pass

    def _look(self, part: slice) -> None:
        if not hasattr(self._rooms, "room"):
            self._rooms.room = tiles.Room.make()
        room: tiles.Room = self._rooms.room
        counts = np.zeros(part.stop - part.start, dtype=np.int64)
        for columns in tiles.cut(len(self._right), tiles.TILE):
            product = room.multiply(self._left[part], self._right[columns])
            inside = np.flatnonzero((self._own[part] >= columns.start) & (self._own[part] < columns.stop))
            product[inside, self._own[part][inside] - columns.start] = np.nan
            found = tiles.decide(
                product,
                self._lows[part],
                self._highs[part],
                -np.inf,
                np.inf,
                False,
                counts,
                room.left,
                room.right,
            )
            self._settle(room.left[:found] + part.start, room.right[:found] + columns.start)
        self._rank[part] += counts.astype(np.int32)

    def _settle(self, query: Rows, candidate: Rows) -> None:
        scores = score_rows(self._asked.vectors, self._candidates, query, candidate, "cosine")
        settle(
            query,
            candidate,
            scores,
            self._asked.own,
            self._ties[self._asked.rows],
            self._ties[self._papers],
            self._rank,
            self._equal,
        )


@jit
def settle(
    query: Rows,
    candidate: Rows,
    scores: Vectors,
    own: Vectors,
    query_ties: Rows,
    candidate_ties: Rows,
    rank: NDArray[np.int32],
    equal: NDArray[np.int32],
) -> None:
    """Add scored pairs to `rank` and `equal`."""
    for number in range(len(query)):
        row = query[number]
        if scores[number] > own[row]:
            rank[row] += 1
        elif scores[number] == own[row]:
            equal[row] += 1
            if candidate_ties[candidate[number]] < query_ties[row]:
                rank[row] += 1
