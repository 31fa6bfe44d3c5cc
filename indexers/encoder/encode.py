"""Texts in, vectors out: windows of texts, sorted by length and cut into batches by their tokens.

On an accelerator the next window is tokenised, and the next batch started, while one is computed. Batches
come out one by one, each fit for a transaction.
"""

import hashlib
import heapq
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.batches import (
    EncodedBatch,
    TokenBudget,
    count_fitting,
    is_out_of_memory,
    sort_rows,
)
from pinakes.indexers.encoder.encoder import Encoder, PendingVectors
from pinakes.indexers.encoder.packed import ROWS_EXPECTED

Key = TypeVar("Key")
Progress = Callable[[int, int], None]
"""called after each batch with the texts and the tokens that are done"""

CPU_TOKEN_BUDGET = ROWS_EXPECTED
ACCELERATOR_TOKEN_BUDGET = 65536
WINDOW = 8192
FIRST_WINDOW: Final = 1024  # of an accelerator, which waits for it
MAX_COSINE_ERROR: Final = 1e-3
SAMPLE_TEXTS: Final = 64

Encode = Callable[[Iterable[tuple[int, str]]], Iterable[EncodedBatch[int]]]


@dataclass(frozen=True, slots=True, eq=False)
class _Window(Generic[Key]):
    keys: list[Key]
    texts: list[str]
    tokens: list[list[int]]


@dataclass(frozen=True, slots=True, eq=False)
class _Started(Generic[Key]):
    """A batch on its way: rows of a window whose vectors are being computed."""

    window: _Window[Key]
    rows: list[int]
    vectors: PendingVectors


def encode_texts(
    encoder: Encoder,
    texts: Iterable[tuple[Key, str]],
    token_budget: int | None = None,
    window: int = WINDOW,
    progress: Progress | None = None,
    on_smaller_budget: Callable[[int], None] | None = None,
) -> Iterator[EncodedBatch[Key]]:
    """Yield the vectors of every text, batch by batch, the longest texts of each window first.

    A batch holds at most `token_budget` tokens, or one text; None: 2,048 on a CPU, whose caches hold the
    layers of no more, 65,536 elsewhere. `window` texts are held at a time; an accelerator begins with the
    first 1,024, and each window after that has twice as many. The order depends on the texts alone. Where
    memory runs out the budget is halved for good, `on_smaller_budget` is called with the new one, and the
    texts are taken again. Raises `IndexingError` for a vector that is not finite and for a text that does
    not fit into memory alone.
    """
    on_cpu = encoder.device == "cpu"
    budget = TokenBudget(
        token_budget or (CPU_TOKEN_BUDGET if on_cpu else ACCELERATOR_TOKEN_BUDGET), on_smaller_budget
    )
    windows = _tokenize_windows(encoder, iter(texts), window, window if on_cpu else FIRST_WINDOW)
    texts_done = tokens_done = 0
    # On a CPU the tokeniser would take the cores that the model computes on.
    started = _start_batches(encoder, windows if on_cpu else _read_ahead(windows), budget)
    for batch in map(_finish(encoder), started if on_cpu else _delay(started)):
        texts_done += len(batch.keys)
        tokens_done += batch.tokens
        yield batch
        if progress is not None:
            progress(texts_done, tokens_done)


def text_digest(text: str) -> str:
    """The digest that stands for a text in the database: its md5 written as a UUID.

    >>> text_digest("")
    'd41d8cd9-8f00-b204-e980-0998ecf8427e'
    """
    return str(uuid.UUID(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()))


def check_precision(
    encode: Encode,
    exact: Encoder,
    texts: Iterable[str],
    limit: float = MAX_COSINE_ERROR,
    sample: int = SAMPLE_TEXTS,
) -> float:
    """The largest cosine error of a sample of the texts, against the same model in float32.

    The sample are the `sample` texts with the smallest digests, the same in every run. Raises IndexingError
    where the error is above `limit`.
    """
    chosen = choose_sample(texts, sample)
    if not chosen:
        return 0.0
    error = cosine_error(
        _stack_vectors(encode(enumerate(chosen))), _stack_vectors(encode_texts(exact, enumerate(chosen)))
    )
    # Written so that an error that is no number is refused too.
    if not error <= limit:
        raise IndexingError(
            f"the vectors of {exact.name} lie up to {error:.2e} from those of float32 (1 - cosine, "
            f"{len(chosen)} texts); expected at most {limit:.0e}. Give --precision fp32; `pinakes encode` "
            "allows more by --max-cosine-error too"
        )
    return error


def choose_sample(texts: Iterable[str], sample: int) -> list[str]:
    """The distinct texts with the smallest digests, in the order of these.

    >>> choose_sample(["a", "b", "c", "a"], 2)
    ['a', 'c']
    """
    return heapq.nsmallest(sample, set(texts), key=text_digest)


def cosine_error(vectors: NDArray[Any], expected: NDArray[Any]) -> float:
    """The largest difference of 1 and a vector's cosine with the one that was expected.

    >>> cosine_error(np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    1.0
    """
    left, right = vectors.astype(np.float64), expected.astype(np.float64)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return float(np.abs(1 - (left * right).sum(axis=1) / lengths).max())


def _tokenize_windows(
    encoder: Encoder, texts: Iterator[tuple[Key, str]], window: int, first: int
) -> Iterator[_Window[Key]]:
    size = min(first, window)
    while pairs := list(islice(texts, size)):
        keys, window_texts = [key for key, _ in pairs], [text for _, text in pairs]
        yield _Window(keys, window_texts, encoder.tokenize(window_texts))
        size = min(2 * size, window)


def _read_ahead(windows: Iterator[_Window[Key]]) -> Iterator[_Window[Key]]:
    with ThreadPoolExecutor(max_workers=1) as pool:
        following: Future[_Window[Key] | None] = pool.submit(next, windows, None)
        while (part := following.result()) is not None:
            following = pool.submit(next, windows, None)
            yield part


def _start_batches(
    encoder: Encoder, windows: Iterable[_Window[Key]], budget: TokenBudget
) -> Iterator[_Started[Key]]:
    for part in windows:
        lengths = [len(tokens) for tokens in part.tokens]
        waiting = sort_rows(lengths)
        while waiting:
            rows = waiting[: count_fitting(lengths[waiting[0]], budget.tokens)]
            vectors = _start(encoder, [part.tokens[row] for row in rows])
            if vectors is None:
                budget.halve(len(rows), lengths[rows[0]], text_digest(part.texts[rows[0]]))
                continue
            waiting = waiting[len(rows) :]
            yield _Started(part, rows, vectors)


def _start(encoder: Encoder, tokens: list[list[int]]) -> PendingVectors | None:
    # None instead of the error, so that the frames that hold the batch's memory are let go.
    try:
        return encoder.start(tokens)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        return None


def _delay(started: Iterator[_Started[Key]]) -> Iterator[_Started[Key]]:
    """Each batch once the next one is started, so that the device never waits for its orders."""
    earlier: _Started[Key] | None = None
    for later in started:
        if earlier is not None:
            yield earlier
        earlier = later
    if earlier is not None:
        yield earlier


def _finish(encoder: Encoder) -> Callable[[_Started[Key]], EncodedBatch[Key]]:
    def finish(started: _Started[Key]) -> EncodedBatch[Key]:
        part, rows, vectors = started.window, started.rows, started.vectors()
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

    return finish


def _stack_vectors(batches: Iterable[EncodedBatch[int]]) -> NDArray[np.float32]:
    """The vectors (n, dimensions) of the texts 0 to n - 1, in their order."""
    found = {row: vector for batch in batches for row, vector in zip(batch.keys, batch.vectors, strict=True)}
    return np.stack([found[row] for row in range(len(found))])
