"""An MLP, a bidirectional LSTM and a Transformer encoder over [query; sentence]: one logit a sentence.

All are batch first and see no padding: the MLP computes the sentences alone, the LSTM is packed, the
Transformer masks keys. So a document's scores do not depend on what it is batched with, but for rounding.
`published` has the networks of the paper, and says what is different.
"""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

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
    """A bidirectional LSTM along the document, of any length; dropout between its layers."""

    def __init__(self, settings: ModelSettings, dimensions: int) -> None:
        super().__init__()
        self.features = settings.features
        self.lstm = nn.LSTM(
            settings.count_inputs(dimensions),
            settings.hidden,
            settings.layers,
            batch_first=True,
            bidirectional=True,
            dropout=settings.dropout if settings.layers > 1 else 0.0,
        )
        self.output = nn.Linear(2 * settings.hidden, 1)

    def forward(self, batch: Batch) -> Tensor:
        """The logits (b, n)."""
        read = make_features(batch, self.features)
        packed = pack_padded_sequence(read, batch.lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=read.shape[1])
        logits: Tensor = self.output(states).squeeze(-1)
        return logits


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
