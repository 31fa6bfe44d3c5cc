"""The rows of ranking files as columns, and what the readers of all formats share."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pinakes.errors import InputError, LoadError
from pinakes.loaders.base import InputFile
from pinakes.loaders.reading.streams import open_stream

SHOWN_CHARACTERS: Final = 80
"""how much of a file's content a message shows"""


@dataclass(frozen=True, slots=True, eq=False)
class FileRows:
    """The rows of one ranking file, in the file's order.

    Attributes:
        query_ids, source_ids: the ids as the file writes them (n,), texts.
        scores: higher is better (n,), finite.
        places: the order among equal scores where the file gives one, lowest first (n,); 0 where it does not.
        tags: the names of the systems that the file says it is of; none where it does not say.
        tag_column: the name of each row, dictionary-encoded (n,); None where the file has none.
    """

    query_ids: pa.ChunkedArray
    source_ids: pa.ChunkedArray
    scores: NDArray[np.float64]
    places: NDArray[np.float64]
    tag_column: pa.ChunkedArray | None = None

    @property
    def tags(self) -> list[str]:
        """The names of the systems that the file says it is of, sorted; none where it does not say."""
        return [] if self.tag_column is None else sorted(self.tag_column.unique().to_pylist())


def make_rows(
    query_ids: Sequence[str],
    source_ids: Sequence[str],
    scores: Sequence[float],
    places: NDArray[np.float64] | None = None,
) -> FileRows:
    """The rows of lists of Python's own values."""
    return FileRows(
        pa.chunked_array([pa.array(query_ids, pa.string())]),
        pa.chunked_array([pa.array(source_ids, pa.string())]),
        np.array(scores, dtype=np.float64),
        np.zeros(len(scores)) if places is None else places,
    )


@contextmanager
def open_ranking(file: InputFile) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed; `InputError` where it cannot be read, also while it is read."""
    try:
        with open_stream(file) as stream:
            yield stream
    except LoadError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"{file.name} cannot be read: {error.strerror or error}.") from error


def show(found: object) -> str:
    r"""What was found in a file, in quotes and cut, for a message.

    >>> show(b"a\tb"), show("x" * 100_000)[-8:]
    ("'a\\tb'", "xxxxx' …")
    """
    text = found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
    if len(text) <= SHOWN_CHARACTERS:
        return repr(text)
    return f"{text[:SHOWN_CHARACTERS]!r} …"


def take_score(value: object) -> float:
    """A finite number of a JSON document; `ValueError` says what it is instead."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{show(value)} is no number")  # noqa: TRY004 (of the user's file)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a finite number")
    return number
