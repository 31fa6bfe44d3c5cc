"""Products of a training matrix with many columns at once: what squared-hinge classifiers descend by.

One pass over the vectors serves every problem: block by block F = X_B W and G += X_B^T R, where R is what
the loss makes of F. The rows of a fold stand together, so that a problem skips the fold that it leaves out.
Blocks and the order of sums are fixed and BLAS runs on one thread in each of our threads
(`one_blas_thread`): the same bits at any number of threads.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pinakes.indexers.probes.base import Vectors

Doubles = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
States = NDArray[np.uint8]
T = TypeVar("T")

ROWS: Final = 512  # of a block: it stays in a core's cache between its two products
LANES: Final = 8  # sums of blocks that threads share, in each fold
NEAR, ACTIVE, MARGIN = 1, 2, 0.5
STRIP: Final = 128  # columns of X^T X that a thread makes
NO_FOLD: Final = -1


class Problems(NamedTuple):
    """Binary problems, one a column: one class against the rest, without one fold.

    Attributes:
        positive: the class whose examples are +1 (c,); those of all others are -1.
        held_out: the fold that is left out (c,), `NO_FOLD` for none.
    """

    positive: Codes
    held_out: Codes

    def take(self, columns: Codes) -> "Problems":
        """The problems of these columns."""
        return Problems(self.positive[columns], self.held_out[columns])


class Loss(NamedTuple):
    """The sum of squared hinges (c,) and its gradient (D, c): of the data alone, for C = 1."""

    value: Doubles
    gradient: Doubles

    def take(self, columns: Any) -> "Loss":
        """That of these columns."""
        return Loss(self.value[columns], self.gradient[:, columns])


@dataclass(frozen=True, slots=True)
class _Lane:
    # Some blocks of one fold: positions (first, stop) in the order of the rows.
    fold: int
    blocks: Sequence[tuple[int, int]]


class Examples:
    """Training vectors (n, d) with their classes (n,) and folds (n,), in blocks.

    `width` is D, the number of weights: d, and one more for the intercept, the weight of a feature that is 1.
    Vectors are copied block by block only. Use it as a context: it owns threads.
    """

    def __init__(
        self, vectors: NDArray[Any], classes: Codes, folds: Codes | None = None, intercept: bool = True
    ) -> None:
        self._vectors, self.intercept = vectors, intercept
        folds = np.zeros(len(vectors), np.int64) if folds is None else folds
        self._order = np.argsort(folds, kind="stable")
        self.classes, self.folds = classes[self._order], folds[self._order]
        self.width = vectors.shape[1] + intercept
        self._lanes = _share_out(self.folds)
        threads = min(os.cpu_count() or 1, len(self._lanes))
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __len__(self) -> int:
        return len(self._vectors)

    def __enter__(self) -> "Examples":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def count(self, problems: Problems) -> tuple[Codes, Codes]:
        """The numbers of positive and of all training examples of each problem (c,)."""
        width = int(max(self.classes.max(), problems.positive.max())) + 1
        of_fold = {
            fold: np.bincount(self.classes[self.folds == fold], minlength=width) for fold in self._folds()
        }
        everything = np.bincount(self.classes, minlength=width)
        nothing = np.zeros_like(everything)
        kept = np.array([everything - of_fold.get(fold, nothing) for fold in problems.held_out.tolist()])
        return kept[np.arange(len(kept)), problems.positive], kept.sum(axis=1)

    def evaluate(self, weights: Doubles, problems: Problems, state: States, columns: Codes) -> Loss:
        """The loss at `weights` (D, c), in float64; sets `state[:, columns]`.

        `state` is (n, all columns), in the order of the rows here: `ACTIVE` for an example with a loss,
        `NEAR` for one that is less than `MARGIN` from having one, else 0.
        """

        def work(lane: _Lane, kept: Codes, part: Doubles) -> Doubles:
            total = np.zeros((self.width + 1, len(kept)))
            for first, stop in lane.blocks:
                rows = self._rows(first, stop).astype(np.float64, copy=False)
                margins = self._decide(rows, part)
                signs = np.where(self.classes[first:stop, None] == problems.positive[kept], 1.0, -1.0)
                state[first:stop, columns[kept]], losses = take_residuals(margins, signs)
                total[-1] += losses
                self._add_transposed(rows, margins, total)
            return total

        total = self._sum(weights, problems, self.width + 1, work)
        return Loss(total[-1], total[:-1])

    def curve(self, directions: Doubles, problems: Problems, state: States, columns: Codes) -> Doubles:
        """2 X_A^T X_A P of `directions` P (D, c), A each problem's active examples; products in float32."""

        def work(lane: _Lane, kept: Codes, part: Vectors) -> Doubles:
            total = np.zeros((self.width, len(kept)))
            for first, stop in lane.blocks:
                rows = self._rows(first, stop)
                changes = self._decide(rows, part)
                changes *= state[first:stop].take(columns[kept], axis=1) == ACTIVE
                self._add_transposed(rows, changes, total)
            return total

        return 2 * self._sum(directions.astype(self._vectors.dtype), problems, self.width, work)

    def gram(self) -> Doubles:
        """X^T X (D, D), products in float32."""
        inner = self._vectors.shape[1]
        total = np.zeros((self.width, self.width))

        def work(first_column: int) -> None:
            strip = slice(first_column, min(first_column + STRIP, inner))
            for lane in self._lanes:
                for first, stop in lane.blocks:
                    rows = self._rows(first, stop)
                    total[:inner, strip] += rows.T @ rows[:, strip]
                    if self.intercept:
                        total[inner, strip] += rows[:, strip].sum(axis=0, dtype=np.float64)

        self.each([(first,) for first in range(0, inner, STRIP)], work)
        if self.intercept:
            total[-1, -1] = len(self)
            total[:, -1] = total[-1]
        return total

    def follow(
        self, weights: Doubles, steps: Doubles, problems: Problems
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """What each example is short of a margin of 1 (n, c), and by how much a step makes it more so.

        An example that a problem leaves out is short of nothing, whatever the step. Products in float32.
        """
        both = np.hstack([weights, steps]).astype(self._vectors.dtype)
        count = weights.shape[1]
        short = np.empty((len(self), count), both.dtype)
        rate = np.empty_like(short)

        def work(first: int, stop: int) -> None:
            values = self._decide(self._rows(first, stop), both)
            signs = np.where(self.classes[first:stop, None] == problems.positive, 1, -1)
            kept = self.folds[first:stop, None] != problems.held_out
            short[first:stop] = np.where(kept, 1 - signs * values[:, :count], -1)
            rate[first:stop] = np.where(kept, -signs * values[:, count:], 0)

        self.each([block for lane in self._lanes for block in lane.blocks], work)
        return short, rate

    def decide(self, weights: Doubles, fold: int) -> tuple[slice, Doubles]:
        """Where a fold's examples stand in the order here, and their decision values (rows, c) in float64."""
        blocks = [block for lane in self._lanes if lane.fold == fold for block in lane.blocks]
        start, end = min(blocks)[0], max(blocks)[1]
        values = np.empty((end - start, weights.shape[1]))

        def work(first: int, stop: int) -> None:
            rows = self._rows(first, stop).astype(np.float64, copy=False)
            values[first - start : stop - start] = self._decide(rows, weights)

        self.each(blocks, work)
        return slice(start, end), values

    def gather(self, positions: Codes) -> Doubles:
        """The examples at these positions of the order here (rows, D), the intercept's feature last."""
        rows = np.ones((len(positions), self.width))
        rows[:, : self._vectors.shape[1]] = self._vectors[self._order[positions]]
        return rows

    def each(self, jobs: Sequence[tuple[Any, ...]], work: Callable[..., T]) -> list[T]:
        """What `work` gives for each of the jobs, in their order; jobs run on the threads of this context."""
        if self._pool is None:
            return [work(*job) for job in jobs]
        return [done.result() for done in [self._pool.submit(work, *job) for job in jobs]]

    def _folds(self) -> list[int]:
        return sorted({lane.fold for lane in self._lanes})

    def _rows(self, first: int, stop: int) -> NDArray[Any]:
        chosen = self._order[first:stop]
        if chosen[-1] - chosen[0] == len(chosen) - 1:  # sorted within a fold: they stand together
            return self._vectors[chosen[0] : chosen[-1] + 1]
        return self._vectors[chosen]

    def _decide(self, rows: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
        values: NDArray[Any] = rows @ weights[: rows.shape[1]]
        if self.intercept:
            values += weights[-1]
        return values

    def _add_transposed(self, rows: NDArray[Any], values: NDArray[Any], total: Doubles) -> None:
        inner = rows.shape[1]
        total[:inner] += rows.T @ values
        if self.intercept:
            total[inner] += values.sum(axis=0, dtype=np.float64)

    def _sum(
        self,
        weights: NDArray[Any],
        problems: Problems,
        height: int,
        work: Callable[[_Lane, Codes, Any], Doubles],
    ) -> Doubles:
        # Columns that leave a fold out are left out of its products.
        kept = {fold: np.flatnonzero(problems.held_out != fold) for fold in self._folds()}
        parts = {fold: np.ascontiguousarray(weights[:, columns]) for fold, columns in kept.items()}
        jobs = [(lane, kept[lane.fold], parts[lane.fold]) for lane in self._lanes if len(kept[lane.fold])]
        total = np.zeros((height, weights.shape[1]))
        for (_, columns, _), result in zip(jobs, self.each(jobs, work), strict=True):
            total[:, columns] += result
        return total


def _share_out(folds: Codes) -> list[_Lane]:
    lanes = []
    for fold in np.unique(folds).tolist():
        first, stop = np.searchsorted(folds, (fold, fold + 1)).tolist()
        blocks = [(start, min(start + ROWS, stop)) for start in range(first, stop, ROWS)]
        lanes += [_Lane(fold, blocks[number::LANES]) for number in range(min(LANES, len(blocks)))]
    return lanes


def take_residuals(margins: Doubles, signs: Doubles) -> tuple[States, Doubles]:
    """States (b, c), see `Examples.evaluate`, and sums of squared hinges (c,); `margins` become derivatives.

    `margins` are decision values (b, c), `signs` the 1 or -1 of each example in each problem.

    >>> margins, signs = np.array([[0.5], [2.0]]), np.array([[-1.0], [1.0]])
    >>> [part.tolist() for part in take_residuals(margins, signs)], margins.tolist()
    ([[[2], [0]], [2.25]], [[3.0], [-0.0]])
    """
    margins *= -signs
    margins += 1.0
    state = (margins > -MARGIN).view(np.uint8) + (margins > 0.0)
    np.maximum(margins, 0.0, out=margins)
    losses = np.einsum("bc,bc->c", margins, margins)
    margins *= signs
    margins *= -2.0
    return state, losses
