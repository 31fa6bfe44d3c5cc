"""Texts in, vectors out: windows of texts, sorted by length and cut into batches by their tokens.

On an accelerator the next window is tokenised, and the next batch started, while one is computed. Batches
come out one by one, each fit for a transaction.
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
from pinakes.indexers.encoder.encoder import Encoder, PendingVectors
from pinakes.indexers.encoder.linear import ROWS_EXPECTED
from pinakes.indexers.encoder.token_budget import TokenBudget, is_out_of_memory

Key = TypeVar("Key")
Progress = Callable[[int, int], None]
"""called after each batch with the texts and the tokens that are done"""

CPU_TOKEN_BUDGET = ROWS_EXPECTED
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
    layers of no more, 65,536 elsewhere. `window` texts are held at a time. The order depends on the texts
    alone. Where memory runs out the budget is halved for good, `on_smaller_budget` is called with the new
    one, and the texts are taken again. Raises `IndexingError` for a vector that is not finite and for a
    text that does not fit into memory alone.
    """
    on_cpu = encoder.device == "cpu"
    budget = TokenBudget(
        token_budget or (CPU_TOKEN_BUDGET if on_cpu else ACCELERATOR_TOKEN_BUDGET), on_smaller_budget
    )
    windows = _tokenize_windows(encoder, iter(texts), window)
    texts_done = tokens_done = 0
    # On a CPU the tokeniser would take the cores that the model computes on.
    started = _start_batches(encoder, windows if on_cpu else _read_ahead(windows), budget)
    for batch in map(_finish(encoder), started if on_cpu else _delay(started)):
        texts_done += len(batch.keys)
        tokens_done += batch.tokens
        yield batch
        if progress is not None:
            progress(texts_done, tokens_done)


def gather_batches(batches: Iterable[EncodedBatch[Key]], texts: int = 64) -> Iterator[EncodedBatch[Key]]:
    """The batches, joined until they have at least `texts` texts, so that a transaction is worth its price.

    A CPU's batch has about ten abstracts; what is joined is lost together when a process is killed.
    """
    waiting: list[EncodedBatch[Key]] = []
    for batch in batches:
        waiting.append(batch)
        if sum(len(part.keys) for part in waiting) >= texts:
            yield _join_batches(waiting)
            waiting = []
    if waiting:
        yield _join_batches(waiting)


def plan_batches(lengths: Sequence[int], token_budget: int) -> list[list[int]]:
    """The rows of each batch: longest first, as many as `rows * longest <= token_budget` allows.

    >>> plan_batches([2, 9, 3, 3], token_budget=9)
    [[1], [2, 3, 0]]
    """
    waiting = sort_rows(lengths)
    batches: list[list[int]] = []
    while waiting:
        fitting = count_fitting(lengths[waiting[0]], token_budget)
        batches.append(waiting[:fitting])
        waiting = waiting[fitting:]
    return batches


def sort_rows(lengths: Sequence[int]) -> list[int]:
    """The rows, longest first, the earlier row first among rows of one length.

    >>> sort_rows([2, 9, 2])
    [1, 0, 2]
    """
    return sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))


def count_fitting(longest: int, token_budget: int) -> int:
    """How many texts of at most `longest` tokens a batch takes: at least one."""
    return max(1, token_budget // max(1, longest))


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


def _join_batches(batches: Sequence[EncodedBatch[Key]]) -> EncodedBatch[Key]:
    if len(batches) == 1:
        return batches[0]
    return EncodedBatch(
        keys=tuple(key for batch in batches for key in batch.keys),
        vectors=np.concatenate([batch.vectors for batch in batches]),
        tokens=sum(batch.tokens for batch in batches),
    )


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
