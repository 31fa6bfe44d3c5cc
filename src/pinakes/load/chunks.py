"""The chunks of a file up to a limit, and which of them is its last."""

from collections.abc import Iterator

from pinakes.errors import LoadError
from pinakes.loaders.staging import Chunk, cut_chunk


def limit_chunks(chunks: Iterator[Chunk], limit: int | None) -> Iterator[Chunk | None]:
    """The chunks up to the limit; None at the end where the file goes on behind it."""
    for chunk in chunks:
        if limit is not None and chunk.last_row > limit:
            cut = cut_chunk(chunk, limit)
            if cut.rows_in:  # nothing is left of it where the limit is the last row of the chunk before
                yield cut
            yield None
            return
        yield chunk


def mark_last(chunks: Iterator[Chunk | None], first_row: int) -> Iterator[tuple[Chunk, bool]]:
    """Each chunk with whether the file ends with it; an empty one where there is none.

    Where the file breaks off, or goes on behind a limit, no chunk is the last.
    """
    waiting: Chunk | None = None
    try:
        for chunk in chunks:
            if waiting is not None:
                yield waiting, False
            if chunk is None:
                return
            waiting = chunk
    except LoadError:
        if waiting is not None:
            yield waiting, False
        raise
    yield waiting or Chunk(last_row=first_row - 1, rows_in=0), True
