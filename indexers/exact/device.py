"""A search on an accelerator of torch: candidates, exact scores and the best of each query, all kept there.

Scores are those of `scores.py` to the bit: the same products in float64, added up in the same tree, an
operation a kernel, so that no compiler joins two. A block travels once, through memory that the device reads
by itself; back come the best.
"""

from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pinakes.indexers.exact.product import ProductType, Side, choose_pairs
from pinakes.indexers.exact.scores import CheckedVectors, Vectors
from pinakes.indexers.names import Distance

SCORES_AT_ONCE = 1 << 28  # float32: 1 GiB of a product's result
NUMBERS_AT_ONCE = 1 << 27  # float64: 1 GiB of products that are added up
NUMBERS_STAGED: Final = 1 << 23  # float32: 32 MiB on their way
_NOTHING: Final = torch.iinfo(torch.int64).min
"""in place of a key where there is none yet"""
_LOW: Final = 0xFFFFFFFF


class DeviceBlock(NamedTuple):
    """Documents on the device: vectors (n, d) float32, lengths (n,) float64, ranks among equals (n,)."""

    values: Tensor
    lengths: Tensor
    ranks: Tensor


def move_block(vectors: Vectors, ranks: NDArray[np.uint32], device: str) -> DeviceBlock:
    """The documents (n, d) there; whether they are finite is not looked at."""
    # What Arrow or a file owns cannot be written, and torch warns of such memory.
    given = torch.from_numpy(np.require(vectors, requirements="W"))
    values = torch.empty(given.shape, device=device)
    step = max(1, NUMBERS_STAGED // max(1, given.shape[1]))
    for start in range(0, len(given), step):
        part = slice(start, start + step)
        # The device reads such memory by itself, while the next part is copied by all threads.
        staged = torch.empty(given[part].shape, pin_memory=values.is_cuda).copy_(given[part])
        values[part].copy_(staged, non_blocking=True)
    there = torch.from_numpy(ranks.astype(np.int64)).to(device)
    return DeviceBlock(values, measure_lengths(values), there)


class DeviceBest:
    """The `k` best documents of each query of the blocks that were added; a document is one 64-bit number.

    As `best.Best` has it, but signed: its score above the rank that says who comes first among equals.
    """

    def __init__(
        self, queries: CheckedVectors, k: int, distance: Distance, kind: ProductType, device: str
    ) -> None:
        self._k, self._distance = k, distance
        self._values = torch.from_numpy(queries.values).to(device)
        self._lengths = torch.from_numpy(queries.lengths).to(device)
        self._side = Side(self._values, self._lengths, distance, kind)
        self._keys = torch.full((len(self._values), k), _NOTHING, dtype=torch.int64, device=device)

    def add(self, block: DeviceBlock) -> None:
        """Take in documents."""
        right = Side(block.values, block.lengths, self._distance, self._side.kind)
        step = max(1, SCORES_AT_ONCE // len(block.values))
        for start in range(0, len(self._values), step):
            part = slice(start, start + step)
            known = _key_scores(self._keys[part, -1])
            query, document = choose_pairs(self._side.take(part), right, self._k, known)
            scores = self._score(block, query + start, document)
            self._keys[part] = _keep_best(self._keys[part], query, _make_keys(scores, block.ranks[document]))

    def take(self, held: int) -> tuple[NDArray[np.int64], Vectors]:
        """Ranks and scores (queries, held), best first."""
        keys = self._keys[:, :held]
        return (_LOW - (keys & _LOW)).cpu().numpy(), _key_scores(keys).float().cpu().numpy()

    def _score(self, block: DeviceBlock, query: Tensor, document: Tensor) -> Tensor:
        """The exact scores of pairs, float32."""
        step = max(1, NUMBERS_AT_ONCE // max(1, self._values.shape[1]))
        parts = [
            score_pairs(
                self._values[left],
                block.values[right],
                self._lengths[left],
                block.lengths[right],
                self._distance,
            )
            for left, right in zip(torch.split(query, step), torch.split(document, step), strict=True)
        ]
        return torch.cat(parts)


def measure_lengths(values: Tensor) -> Tensor:
    """The lengths (n,) float64 of vectors (n, d), with the bits of `scores.check_vectors`."""
    parts = []
    for part in torch.split(values, max(1, NUMBERS_AT_ONCE // max(1, values.shape[1]))):
        wide = part.double()
        parts.append(_take_root(fold(wide * wide)))
    return torch.cat(parts)


def score_pairs(
    left: Tensor, right: Tensor, left_lengths: Tensor, right_lengths: Tensor, distance: Distance
) -> Tensor:
    """The scores (n,) float32 of row by row (n, d), with the bits of `scores.score_pairs`."""
    if distance == "l2":
        difference = left.double() - right.double()
        # Adding zero turns -0.0 into 0.0.
        return (-_take_root(fold(difference * difference))).float() + 0.0
    product = fold(left.double() * right)
    if distance == "cosine":
        lengths = left_lengths * right_lengths
        product = torch.where(lengths > 0, product / lengths, product)
    return product.float() + 0.0


def fold(products: Tensor) -> Tensor:
    """The sums (n,) of the rows (n, d), halved again and again; see `scores.fold`.

    >>> fold(torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64)).tolist()
    [6.0]
    """
    width = products.shape[1]
    if width == 0:
        return products.new_zeros(len(products))
    while width > 1:
        half = width // 2
        sums = products[:, :half] + products[:, half : 2 * half]
        if width % 2:
            sums[:, 0] += products[:, width - 1]
        products, width = sums, half
    return products[:, 0]


def _take_root(values: Tensor) -> Tensor:
    """The square roots, rounded rightly: CUDA does so, torch on a CPU now and then is off by a bit."""
    return (
        values.sqrt() if values.is_cuda else torch.from_numpy(np.sqrt(values.cpu().numpy())).to(values.device)
    )


def _make_keys(scores: Tensor, ranks: Tensor) -> Tensor:
    bits = scores.view(torch.int32)
    ordered = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits).long()
    return (ordered << 32) | (_LOW - ranks)


def _key_scores(keys: Tensor) -> Tensor:
    """The scores of keys, float64; minus infinity where there is none."""
    ordered = (keys >> 32).int()
    bits = torch.where(ordered < 0, ordered ^ 0x7FFFFFFF, ordered)
    return torch.where(keys == _NOTHING, -torch.inf, bits.view(torch.float32).double())


def _keep_best(keys: Tensor, query: Tensor, found: Tensor) -> Tensor:
    """The largest keys of each row (q, k), largest first, of those it has and those found for it."""
    rows, k = keys.shape
    everyone = torch.arange(rows, device=keys.device).repeat_interleave(k)
    of, all_keys = torch.cat([everyone, query]), torch.cat([keys.flatten(), found])
    order = all_keys.argsort(descending=True)
    order = order[of[order].argsort(stable=True)]
    counts = torch.bincount(of, minlength=rows)
    firsts = counts.cumsum(0) - counts
    return all_keys[order[firsts[:, None] + torch.arange(k, device=keys.device)]]
