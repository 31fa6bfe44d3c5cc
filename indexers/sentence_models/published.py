"""The networks as ROUGE-SciQFS trained them, with what is wrong in them; source: library/malnis/models.py.

What is different from `networks`:

- A document is its first 512 sentences, padded with zeros to 512 (query and sentence). Padding counts in the
  loss as 512 - n irrelevant sentences, is attended to, and is read by the LSTM.
- Vectors are read as the encoder gives them, not normalised.
- MLP: an input layer and `layers` further layers, none with a non-linearity: in all one affine map.
- LSTM: not batch first, so it recurs along the batch: sentence i of a document sees sentence i of the
  documents before and behind it in its batch, and no other sentence of its own. Its scores depend on its
  batch: 8 documents in training, 16 in prediction, in the order given.
- Transformer: a learnt position for each of 512; its width is that of the input; dropout is 0.1.
- The networks are never put into evaluation mode: the Transformer predicts with dropout. Ours does so from a
  seed, so that its scores can be had again.
- No early stopping: the last epoch's weights are kept, and a search chooses by global average precision.

What is not as published: the order of examples and the first weights, which no seed decided there; the
sigmoid is part of the loss here, which differs in rounding alone.
"""

from typing import Final

import torch
from torch import Tensor, nn

from pinakes.indexers.sentence_models.batches import Batch
from pinakes.indexers.sentence_models.settings import WINDOW, ModelSettings

PREDICTED_TOGETHER: Final = 16
"""documents a batch in prediction"""
DROPOUT: Final = 0.1


def join_vectors(batch: Batch, features: str) -> Tensor:
    """[query; sentence] (b, 512, k), zeros where there is no sentence."""
    if features == "sentence":
        return batch.sentences
    queries = batch.queries[:, None, :] * batch.mask[..., None]
    parts = [queries, batch.sentences, queries * batch.sentences]
    return torch.cat(parts if features == "products" else parts[:2], dim=-1)


class PublishedPerceptron(nn.Module):
    """An MLP without a non-linearity."""

    def __init__(self, settings: ModelSettings, dimensions: int) -> None:
        super().__init__()
        self.features, hidden = settings.features, settings.hidden
        inner = [nn.Linear(hidden, hidden) for _ in range(settings.layers)]
        self.layers = nn.Sequential(
            nn.Linear(settings.count_inputs(dimensions), hidden), *inner, nn.Linear(hidden, 1)
        )

    def forward(self, batch: Batch) -> Tensor:
        """The logits (b, 512)."""
        logits: Tensor = self.layers(join_vectors(batch, self.features)).squeeze(-1)
        return logits


class PublishedRecurrentNetwork(nn.Module):
    """A bidirectional LSTM that recurs along the batch."""

    def __init__(self, settings: ModelSettings, dimensions: int) -> None:
        super().__init__()
        self.features = settings.features
        inputs = settings.count_inputs(dimensions)
        self.lstm = nn.LSTM(inputs, settings.hidden, settings.layers, bidirectional=True)
        self.output = nn.Linear(2 * settings.hidden, 1)

    def forward(self, batch: Batch) -> Tensor:
        """The logits (b, 512)."""
        logits: Tensor = self.output(self.lstm(join_vectors(batch, self.features))[0]).squeeze(-1)
        return logits


class PublishedTransformer(nn.Module):
    """A Transformer encoder with learnt positions that attends to padding."""

    def __init__(self, settings: ModelSettings, dimensions: int) -> None:
        super().__init__()
        self.features, width = settings.features, settings.count_inputs(dimensions)
        self.positions = nn.Embedding(WINDOW, width)
        layer = nn.TransformerEncoderLayer(width, settings.heads, settings.hidden, DROPOUT, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, settings.layers, enable_nested_tensor=False)
        self.output = nn.Linear(width, 1)

    def forward(self, batch: Batch) -> Tensor:
        """The logits (b, 512)."""
        read = join_vectors(batch, self.features) + self.positions(batch.positions)
        logits: Tensor = self.output(self.encoder(read)).squeeze(-1)
        return logits


PUBLISHED: Final[dict[str, type[nn.Module]]] = {
    "mlp": PublishedPerceptron,
    "lstm": PublishedRecurrentNetwork,
    "transformer": PublishedTransformer,
}
