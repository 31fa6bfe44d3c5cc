"""Vectors written while the next are computed, so that others can use the database most of the time."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database
from pinakes.indexers.encoder.batches import write_behind
from pinakes.progress import Progress
from pinakes.vectors.stored import StoredEncoder, count_texts, write_vectors

PAUSE: Final = 10.0
"""how many times as long as the writing before it the pause until the next one is, at least"""
FEWEST_TEXTS: Final = 64
"""texts whose vectors are worth a transaction; a CPU's batch has about ten abstracts"""
MOST_TEXTS: Final = 16_384
"""texts whose vectors wait for the next writing at most"""


def encode_until_none(
    database: Database,
    missing: sa.Select[Any],
    total: int,
    encode_missing: Callable[[], int],
    task: str,
    progress: Progress,
) -> int:
    """Call `encode_missing` until no text is missing, or it gets no further; how many were encoded in all.

    `total` is how many are missing now. Others may bring in texts meanwhile.
    """
    added, before = 0, total + 1
    while 0 < total < before:
        progress.start(task, total)
        try:
            added += encode_missing()
        finally:
            progress.finish()
        before = total
        with database.read() as session:
            total = count_texts(session, missing)
        database.release()
    return added


def write_paced(
    database: Database,
    encoder: StoredEncoder,
    vectors: sa.Table,
    parts: Iterable[tuple[pa.Table, int]],
    progress: Progress,
) -> int:
    """Write rows of vectors while the next are computed; how many texts they are of.

    Each part is rows, and how many texts these are of. What waits is lost when the process is killed.
    """
    pace = WritingPace()
    written = 0

    def write(joined: tuple[pa.Table, int]) -> None:
        nonlocal written
        rows, texts = joined
        with pace.measured():
            write_vectors(database, encoder, vectors, rows)
        written += texts
        progress.advance(texts)

    write_behind(join_parts(parts, pace.is_due), write)
    return written


def join_parts(
    parts: Iterable[tuple[pa.Table, int]], is_due: Callable[[int], bool]
) -> Iterator[tuple[pa.Table, int]]:
    """The parts, joined until they are due; `is_due` takes the number of their texts.

    Where `parts` ends with an error, what waits comes before it.
    """
    waiting: list[pa.Table] = []
    texts = 0
    try:
        for rows, count in parts:
            waiting.append(rows)
            texts += count
            if is_due(texts):
                yield pa.concat_tables(waiting), texts
                waiting, texts = [], 0
    except GeneratorExit:
        raise
    except BaseException:
        if waiting:
            yield pa.concat_tables(waiting), texts
        raise
    if waiting:
        yield pa.concat_tables(waiting), texts


class WritingPace:
    """When vectors are written: so seldom that the database is held for little of the time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ended_s, self._took_s = clock(), 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """A writing, whose duration counts, with what it waits for."""
        started_s = self._clock()
        yield
        self._ended_s = self._clock()
        self._took_s = self._ended_s - started_s

    def is_due(self, texts: int) -> bool:
        """Whether so many texts are to be written now."""
        pause_s = self._clock() - self._ended_s
        return texts >= MOST_TEXTS or (texts >= FEWEST_TEXTS and pause_s >= PAUSE * self._took_s)
