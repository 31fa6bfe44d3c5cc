"""An MLP, a bidirectional LSTM and a Transformer encoder over [query; sentence]: one logit a sentence.

All are batch first and see no padding: the MLP computes the sentences alone, the LSTM is reversed within a
document, the Transformer masks keys. So a document's scores do not depend on what it is batched with, but for
rounding. `published` has the networks of the
paper, and says what is different.
"""

import math
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from pinakes.errors import InputError
from pinakes.indexers.sentence_models.batches import Batch
from pinakes.indexers.sentence_models.published import PUBLISHED
from pinakes.indexers.sentence_models.settings import Features, ModelSettings


def build_network(settings: ModelSettings, dimensions: int) -> nn.Module:
    """The network, with first weights from torch's generator, for vectors of `dimensions`.

    It is called with a `Batch` and gives logits (b, n); those of padding mean nothing.

    Raises:
        InputError: the heads do not divide the width.
    """
    width = settings.width or settings.count_inputs(dimensions)
    if settings.as_published:
        width = settings.count_inputs(dimensions)
    if settings.kind == "transformer" and width % settings.heads:
        raise InputError(f"{settings.heads} attention heads do not divide a width of {width}.")
    kinds: dict[str, type[nn.Module]] = {
        "mlp": Perceptron,
        "lstm": RecurrentNetwork,
        "transformer": TransformerNetwork,
    }
    return (PUBLISHED if settings.as_published else kinds)[settings.kind](settings, dimensions)


def make_features(batch: Batch, features: Features) -> Tensor:
    """What the network reads of each sentence (b, n, k): vectors at mean 0 and variance 1, and their product.

    Encoders differ in the length of their vectors; so normalised, one learning rate fits all.
    """
    width = batch.sentences.shape[-1:]
    sentences = layer_norm(batch.sentences, width)
    if features == "sentence":
        return sentences
    queries = layer_norm(batch.queries, width)[:, None, :].expand_as(sentences)
    parts = [queries, sentences, queries * sentences]
    return torch.cat(parts if features == "products" else parts[:2], dim=-1)


class Perceptron(nn.Module):
    """`layers` hidden layers with ReLU and dropout; every sentence by itself."""

    def __init__(self, settings: ModelSettings, dimensions: int) -> None:
        super().__init__()
        self.features = settings.features
        widths = [settings.count_inputs(dimensions), *[settings.hidden] * settings.layers]
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(settings.dropout)]
        self.layers = nn.Sequential(*layers, nn.Linear(settings.hidden, 1))

    def forward(self, batch: Batch) -> Tensor:
        """The logits (b, n)."""
        found: Tensor = self.layers(make_features(batch, self.features)[batch.mask]).squeeze(-1)
        logits = found.new_zeros(batch.mask.shape)
        logits[batch.mask] = found
        return logits


class RecurrentNetwork(nn.Module):
    """A bidirectional LSTM along the document, of any length; dropout between its layers.

    Padding stands behind a document, and each is reversed within its own length, so that no state ever saw a
    padded row. torch's packed sequences give the same, ten times slower on a CPU: their gradient is taken
    step by step over the whole input.
    """

    def __init__(self, settings: ModelSettings, dimensions: int) -> None:
        super().__init__()
        self.features, hidden = settings.features, settings.hidden
        inputs = [settings.count_inputs(dimensions), *[2 * hidden] * (settings.layers - 1)]
        self.onward = nn.ModuleList(nn.LSTM(width, hidden, batch_first=True) for width in inputs)
        self.behind = nn.ModuleList(nn.LSTM(width, hidden, batch_first=True) for width in inputs)
        self.dropout = nn.Dropout(settings.dropout)
        self.output = nn.Linear(2 * hidden, 1)

    def forward(self, batch: Batch) -> Tensor:
        """The logits (b, n)."""
        states, order = make_features(batch, self.features), order_reversed(batch)
        for number, (onward, backward) in enumerate(zip(self.onward, self.behind, strict=True)):
            states = self.dropout(states) if number else states
            back = reverse(backward(reverse(states, order))[0], order)
            states = torch.cat([onward(states)[0], back], dim=-1)
        logits: Tensor = self.output(states).squeeze(-1)
        return logits


def order_reversed(batch: Batch) -> Tensor:
    """Which row stands where when each document is reversed and its padding stays (b, n)."""
    places = torch.arange(batch.mask.shape[1], device=batch.mask.device).expand(batch.mask.shape)
    lengths = batch.lengths.to(places.device)[:, None]
    return torch.where(batch.mask, lengths - 1 - places, places)


class _Reversal(torch.autograd.Function):
    """Rows in another order, which is its own inverse: so the gradient is taken without adding up."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return _take_rows(rows, order)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (order,) = ctx.saved_tensors
        return _take_rows(gradients[0], order), None


def _take_rows(rows: Tensor, order: Tensor) -> Tensor:
    return rows[torch.arange(len(rows), device=rows.device)[:, None], order]


def reverse(rows: Tensor, order: Tensor) -> Tensor:
    """The rows (b, n, k) of each document in the order of `order_reversed`."""
    reversed_: Tensor = _Reversal.apply(rows, order)  # type: ignore[no-untyped-call]
    return reversed_


class TransformerNetwork(nn.Module):
    """A Transformer encoder over a window of sentences, projected to `width`, with sinusoidal positions.

    Positions are those in the document and have no limit. A sentence attends to its window alone (512
    sentences, `batches.cut_pieces`), so that memory grows with the length of a document, not its square.
    """

    def __init__(self, settings: ModelSettings, dimensions: int) -> None:
        super().__init__()
        self.features = settings.features
        inputs = settings.count_inputs(dimensions)
        self.width = settings.width or inputs
        self.projection = nn.Linear(inputs, self.width) if settings.width else nn.Identity()
        layer = nn.TransformerEncoderLayer(
            self.width, settings.heads, settings.hidden, settings.dropout, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, settings.layers, enable_nested_tensor=False)
        self.output = nn.Linear(self.width, 1)

    def forward(self, batch: Batch) -> Tensor:
        """The logits (b, n)."""
        read = self.projection(make_features(batch, self.features))
        read = read + encode_positions(batch.positions, self.width)
        padding = None if bool(batch.mask.all()) else ~batch.mask
        logits: Tensor = self.output(self.encoder(read, src_key_padding_mask=padding)).squeeze(-1)
        return logits


def encode_positions(positions: Tensor, width: int) -> Tensor:
    """Sines, then cosines, of positions (b, n) at wavelengths from 2 pi to 20,000 pi: (b, n, width).

    Source: Vaswani et al. 2017, section 3.5, with the sines and the cosines side by side.
    """
    pairs = (width + 1) // 2
    steps = torch.arange(pairs, dtype=torch.float32, device=positions.device)
    angles = positions[..., None].float() * torch.exp(steps * (-math.log(10_000.0) / pairs))
    return torch.cat([angles.sin(), angles.cos()], dim=-1)[..., :width]
