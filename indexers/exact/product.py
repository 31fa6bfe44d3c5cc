"""The pass of a matrix product, in any precision on any device of torch, with a bound on its error.

With rounded vectors q' and x' the product is off by |q.x - q'.x'| <= |q - q'| |x| + |q'| |x - x'|, lengths
that are computed for each row, by the rounding of sums in float32 (Higham, Accuracy and Stability of
Numerical Algorithms, section 3.1: d u / (1 - d u) |q| |x| in any order; four times that where a matrix unit
cuts instead of rounding) and by the rounding of the result to the type of the product.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import CheckedVectors, Rows
from pinakes.indexers.names import Distance

ProductType = Literal["fp32", "tf32", "bf16", "fp16"]
Doubles = NDArray[np.float64]

HALVES: Final = {"bf16": torch.bfloat16, "fp16": torch.float16}
RESULT_ROUNDOFF: Final = {"fp32": 0.0, "tf32": 0.0, "bf16": 2.0**-8, "fp16": 2.0**-10}
SMALLEST: Final = {"fp32": 2.0**-126, "fp16": 2.0**-14}
UNIT_ROUNDOFF: Final = 2.0**-24
SCORES_AT_ONCE = 1 << 24  # float32: 64 MiB of a product's result


def find_pairs(
    queries: CheckedVectors,
    block: CheckedVectors,
    k: int,
    distance: Distance,
    kind: ProductType,
    device: str,
    lowest: Callable[[slice], Doubles],
    take: Callable[[Rows, Rows], None],
) -> None:
    """Give `take` every pair of a query and a document that could be among the query's `k` best.

    `lowest` tells the k-th best exact scores so far, minus infinity for a query that has fewer.
    """
    right = Side(*_move(block, device), distance, kind)
    step = max(1, SCORES_AT_ONCE // len(block.values))
    for start in range(0, len(queries.values), step):
        part = slice(start, min(start + step, len(queries.values)))
        left = Side(
            *_move(CheckedVectors(queries.values[part], queries.lengths[part]), device), distance, kind
        )
        known = torch.from_numpy(lowest(part)).to(device)
        query, document = choose_pairs(left, right, k, known)
        take(query.cpu().numpy() + start, document.cpu().numpy())


class Side:
    """Vectors (n, d) as the product takes them, with the lengths of what is lost; all on one device.

    The product takes directions (or 0) for the cosine, and for fp16, else the vectors themselves.

    Attributes:
        true: the vectors' lengths (n,), float64.
        factor: what their products are to be multiplied with; None: nothing, or the cosine wants none.
    """

    def __init__(self, values: Tensor, lengths: Tensor, distance: Distance, kind: ProductType) -> None:
        self.distance, self.kind, self.true = distance, kind, lengths
        self.dimensions = values.shape[1]
        self.factor: Tensor | None = None
        self.length = lengths
        if distance == "cosine" or kind == "fp16":
            factor = lengths.where(lengths > 0, 1.0)
            values, self.length = (values / factor[:, None]).float(), (lengths > 0).double()
            self.factor = factor if distance != "cosine" else None
        self.rounded = _round(values, kind)
        # Float32 is enough for lengths that are rounded up.
        lost = (values - self.rounded.float()).norm(dim=1).double() if kind != "fp32" else 0 * self.length
        self.lost = lost * (1 + (self.dimensions + 8) * 2.0**-23)

    def take(self, part: slice) -> "Side":
        """Some of the vectors."""
        found = copy(self)
        for name in ("true", "length", "lost", "rounded", "factor"):
            value = getattr(self, name)
            setattr(found, name, None if value is None else value[part])
        return found


def _move(vectors: CheckedVectors, device: str) -> tuple[Tensor, Tensor]:
    # A block that Arrow owns cannot be written, and torch warns of such memory.
    values = torch.from_numpy(np.require(vectors.values, requirements="W"))
    return values.to(device), torch.from_numpy(vectors.lengths).to(device)


def _round(values: Tensor, kind: ProductType) -> Tensor:
    if kind in HALVES:
        return values.to(HALVES[kind])
    if kind == "fp32":
        return values
    # To the 11 bits of a number in tf32, ties to even, so that a matrix unit has nothing left to round.
    bits = values.view(torch.int32)
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF).view(torch.float32)


def choose_pairs(left: Side, right: Side, k: int, known: Tensor) -> tuple[Tensor, Tensor]:
    """The pairs of rows that could be among the `k` best of their left one, by left row.

    `known` (rows of the left,) has the k-th best exact scores so far, float64; minus infinity: it has fewer.
    """
    with _plain_products(left.kind):
        product = (left.rounded @ right.rounded.T).float()
    # Everything below is about the product of the scaled vectors: wanted >= threshold, by row or by pair.
    if left.factor is not None and right.factor is not None:
        product = product * left.factor[:, None].float() * right.factor[None].float()
        size_left, size_right = left.true, right.true
    else:
        size_left, size_right = left.length, right.length
    longest = size_right.max()
    bound = _bound(left, right, size_left, longest)
    if left.distance == "l2":  # minus the squared distance: the same order
        squares = (size_left**2)[:, None].float() + (size_right**2)[None].float()
        product = 2 * product - squares
    floor = _min_product(known, left.distance)
    unknown = ~torch.isfinite(known)
    if bool(unknown.any()):
        kth = torch.topk(product, min(k, product.shape[1]), dim=1, sorted=True).values[:, -1].double()
        enough = product.shape[1] >= k
        floor = torch.where(unknown, kth - bound if enough else -torch.inf, floor)
    # Rounded down, because the comparison is one of float32 numbers.
    threshold = (floor - bound).float()
    threshold = torch.nextafter(threshold, torch.full_like(threshold, -torch.inf))
    # What is no number (an overflow) is not less, and so is a candidate.
    query, document = torch.nonzero(~(product < threshold[:, None]), as_tuple=True)
    return query, document


def _bound(left: Side, right: Side, size: Tensor, longest: Tensor) -> Tensor:
    # 32 more roundings cover scaling, squared lengths and the float32 of the final score.
    roundings = 1.1 * (left.dimensions + 32) * UNIT_ROUNDOFF * (1 if left.kind == "fp32" else 4)
    if left.kind == "fp32" and left.rounded.device.type != "cpu":
        roundings *= 4
    result = RESULT_ROUNDOFF[left.kind]
    lost = (left.lost * right.length.max() + (left.length + left.lost) * right.lost.max()) * (1 + result)
    if left.factor is not None:
        lost = lost * size * longest
    spread = (size + longest) ** 2 if left.distance == "l2" else size * longest
    bound = roundings * spread + lost + result * size * longest
    bound = bound + left.dimensions * SMALLEST["fp32"] + _underflow(left, size * longest)
    return 2 * bound if left.distance == "l2" else bound


def _underflow(left: Side, scale: Tensor) -> Tensor:
    # A float16 result below its smallest normal number may have become 0.
    lost = SMALLEST[left.kind] if left.kind == "fp16" else 0.0
    return lost * (scale if left.distance != "cosine" else torch.ones_like(scale))


def _min_product(scores: Tensor, distance: Distance) -> Tensor:
    # The least product that may still round to a float32 score as good as the k-th.
    values = -(scores**2) if distance == "l2" else scores
    return values - 8 * UNIT_ROUNDOFF * values.abs()


@contextmanager
def _plain_products(kind: ProductType) -> Iterator[None]:
    # No tf32 but where it is meant, and no sums in fewer than 24 bits, whatever the process has set: the
    # bound assumes neither.
    chosen = torch.backends.cuda.matmul
    names = ("allow_tf32", "allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")
    before = [getattr(chosen, name) for name in names]
    cpu = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    for name in names:
        setattr(chosen, name, name == "allow_tf32" and kind == "tf32")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(cpu)
        for name, value in zip(names, before, strict=True):
            setattr(chosen, name, value)


def require_lengths(lengths: Doubles, distance: Distance, largest: float) -> None:
    """Raise `IndexingError` for vectors whose products would leave float32; the cosine has none."""
    if distance != "cosine" and lengths.max(initial=0.0) > largest:
        raise IndexingError(f"a vector is longer than {largest:g}; scale all of them down")
