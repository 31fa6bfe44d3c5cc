"""Texts in, vectors out: windows of texts, sorted by length and cut into batches by their tokens.

Rows of about one length go together, so that next to nothing is computed for padding. Leaves out: the
database, and which texts need a vector at all. Batches come out one by one, each fit for a transaction.
"""

import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.encoder import Encoder

Key = TypeVar("Key")
Progress = Callable[[int, int], None]
"""called after each batch with the texts and the tokens that are done"""

CPU_TOKEN_BUDGET = 4096
ACCELERATOR_TOKEN_BUDGET = 65536
WINDOW = 8192


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBatch(Generic[Key]):
    """The vectors of some texts: `vectors` is (n, dimensions) float32, row i is that of `keys[i]`.

    `tokens` counts the texts' tokens after truncation, special tokens included, padding not.
    """

    keys: tuple[Key, ...]
    vectors: NDArray[np.float32]
    tokens: int


@dataclass(frozen=True, slots=True, eq=False)
class _Window(Generic[Key]):
    keys: list[Key]
    texts: list[str]
    tokens: list[list[int]]


def encode_texts(
    encoder: Encoder,
    texts: Iterable[tuple[Key, str]],
    token_budget: int | None = None,
    window: int = WINDOW,
    progress: Progress | None = None,
) -> Iterator[EncodedBatch[Key]]:
    """Yield the vectors of every text, batch by batch, the longest texts of each window first.

    A batch holds at most `token_budget` tokens, padding included, or one text; None: 4,096 on a CPU, 65,536
    elsewhere. `window` texts are held at a time. The order depends on the texts alone. Raises
    `IndexingError` for a vector that is not finite.
    """
    on_cpu = encoder.device == "cpu"
    budget = token_budget or (CPU_TOKEN_BUDGET if on_cpu else ACCELERATOR_TOKEN_BUDGET)
    windows = _tokenize_windows(encoder, iter(texts), window)
    texts_done = tokens_done = 0
    # On a CPU the tokeniser would take the cores that the model computes on.
    for part in windows if on_cpu else _read_ahead(windows):
        for rows in plan_batches([len(tokens) for tokens in part.tokens], budget):
            batch = _encode_rows(encoder, part, rows)
            texts_done += len(rows)
            tokens_done += batch.tokens
            yield batch
            if progress is not None:
                progress(texts_done, tokens_done)


def plan_batches(lengths: Sequence[int], token_budget: int) -> list[list[int]]:
    """The rows of each batch: longest first, as many as `rows * longest <= token_budget` allows.

    >>> plan_batches([2, 9, 3, 3], token_budget=9)
    [[1], [2, 3, 0]]
    """
    batches: list[list[int]] = []
    room = 0
    for row in sorted(range(len(lengths)), key=lambda row: (-lengths[row], row)):
        if room == 0:
            batches.append([])
            room = max(1, token_budget // max(1, lengths[row]))
        batches[-1].append(row)
        room -= 1
    return batches


def text_digest(text: str) -> str:
    """The digest that stands for a text in the database: its md5 written as a UUID.

    >>> text_digest("")
    'd41d8cd9-8f00-b204-e980-0998ecf8427e'
    """
    return str(uuid.UUID(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()))


def _tokenize_windows(
    encoder: Encoder, texts: Iterator[tuple[Key, str]], window: int
) -> Iterator[_Window[Key]]:
    while pairs := list(islice(texts, window)):
        keys, window_texts = [key for key, _ in pairs], [text for _, text in pairs]
        yield _Window(keys, window_texts, encoder.tokenize(window_texts))


def _read_ahead(windows: Iterator[_Window[Key]]) -> Iterator[_Window[Key]]:
    with ThreadPoolExecutor(max_workers=1) as pool:
        following: Future[_Window[Key] | None] = pool.submit(next, windows, None)
        while (part := following.result()) is not None:
            following = pool.submit(next, windows, None)
            yield part


def _encode_rows(encoder: Encoder, part: _Window[Key], rows: list[int]) -> EncodedBatch[Key]:
    vectors = encoder.embed([part.tokens[row] for row in rows])
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        broken = rows[int(np.argmin(finite))]
        raise IndexingError(
            f"{encoder.name} made a vector that is not finite for the text with digest "
            f"{text_digest(part.texts[broken])}; expected finite numbers. Encode with precision fp32; "
            "if it stays, the model's weights are broken"
        )
    return EncodedBatch(
        keys=tuple(part.keys[row] for row in rows),
        vectors=vectors,
        tokens=sum(len(part.tokens[row]) for row in rows),
    )
