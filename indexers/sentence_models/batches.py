"""Documents of many lengths as padded tensors with a mask, and long ones cut into windows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pinakes.indexers.sentence_models.settings import OVERLAP, WINDOW, Floats, Labels, ModelSettings

MOST_ROWS: Final = 16_384
"""padded sentences that a network computes at once; a batch with more is computed in parts"""


class Piece(NamedTuple):
    """A window of a document: rows [start, stop) are read, of which [first, last) get their score here."""

    document: int
    start: int
    stop: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pieces of documents, padded with zeros to the longest.

    Attributes:
        queries: (b, d).
        sentences: (b, n, d).
        mask: which rows are sentences (b, n); they come first.
        positions: of the rows in their documents, from 0 (b, n).
        lengths: sentences of each piece (b,), on the CPU.
    """

    queries: Tensor
    sentences: Tensor
    mask: Tensor
    positions: Tensor
    lengths: Tensor


def cut_pieces(lengths: Sequence[int], window: int | None, overlap: int = OVERLAP) -> list[Piece]:
    """The windows of each document of so many sentences; None: one each.

    A sentence that two windows hold gets its score in the one whose edge is farther. The last window ends
    with the document and is as long as the others. A document without sentences has no piece.

    >>> cut_pieces([3, 0, 9], 6, 2)[1:]
    [Piece(document=2, start=0, stop=6, first=0, last=4), Piece(document=2, start=3, stop=9, first=4, last=9)]
    """
    pieces = []
    for document, length in enumerate(lengths):
        size = length if window is None else min(window, length)
        starts = [0, *range(size - overlap, length - size, size - overlap)] if length > size else [0]
        if length > size:
            starts.append(length - size)
        edges = [0, *((before + size + start) // 2 for before, start in pairwise(starts)), length]
        for start, (first, last) in zip(starts, pairwise(edges), strict=True):
            if length:
                pieces.append(Piece(document, start, start + size, first, last))
    return pieces


def choose_window(settings: ModelSettings) -> int | None:
    """The sentences that a network reads at once; None: the whole document."""
    return WINDOW if settings.kind == "transformer" else None


def group_pieces(pieces: Sequence[Piece]) -> Iterator[Sequence[Piece]]:
    """The pieces in their order, in groups of at most MOST_ROWS padded sentences, one piece at least."""
    group: list[Piece] = []
    longest = 0
    for piece in pieces:
        size = piece.stop - piece.start
        if group and max(longest, size) * (len(group) + 1) > MOST_ROWS:
            yield group
            group, longest = [], 0
        group.append(piece)
        longest = max(longest, size)
    if group:
        yield group


def make_batch(
    queries: Sequence[Floats],
    sentences: Sequence[Floats],
    pieces: Sequence[Piece],
    device: str,
    length: int | None = None,
) -> Batch:
    """The pieces of documents as one batch on the device, padded to `length`, None: to the longest."""
    sizes = np.array([piece.stop - piece.start for piece in pieces])
    longest = length or int(sizes.max())
    padded = np.zeros((len(pieces), longest, len(queries[0])), dtype=np.float32)
    for row, piece in enumerate(pieces):
        padded[row, : sizes[row]] = sentences[piece.document][piece.start : piece.stop]
    starts = np.array([piece.start for piece in pieces])
    places = np.arange(longest)
    asked = np.stack([queries[piece.document] for piece in pieces]).astype(np.float32)
    return Batch(
        torch.from_numpy(asked).to(device),
        torch.from_numpy(padded).to(device),
        torch.from_numpy(places < sizes[:, None]).to(device),
        torch.from_numpy(starts[:, None] + places).to(device),
        torch.from_numpy(sizes),
    )


def make_targets(
    labels: Sequence[Labels], pieces: Sequence[Piece], length: int, device: str
) -> tuple[Tensor, Tensor]:
    """The labels as numbers (b, length), and which rows count in the loss: each sentence once (b, length)."""
    targets = np.zeros((len(pieces), length), dtype=np.float32)
    counted = np.zeros((len(pieces), length), dtype=np.float32)
    for row, piece in enumerate(pieces):
        targets[row, : piece.stop - piece.start] = labels[piece.document][piece.start : piece.stop]
        counted[row, piece.first - piece.start : piece.last - piece.start] = 1.0
    return torch.from_numpy(targets).to(device), torch.from_numpy(counted).to(device)
