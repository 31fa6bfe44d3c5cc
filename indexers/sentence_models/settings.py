"""What a sentence model learns from and what decides its weights; no torch, so that options can name it."""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pinakes.errors import IndexingError, InputError

Kind = Literal["mlp", "lstm", "transformer"]
Features = Literal["pair", "products", "sentence"]
Floats = NDArray[np.float32]
Labels = NDArray[np.bool_]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
FEATURES: Final[tuple[Features, ...]] = get_args(Features)
WINDOW: Final = 512
"""sentences that a Transformer attends to at once; and, as published, all of a document that is read"""
OVERLAP: Final = 128
"""sentences that two windows of a document share"""


@dataclass(frozen=True, slots=True, eq=False)
class SentenceExample:
    """A query and a document's sentences as vectors.

    Attributes:
        query: (d,).
        sentences: in the order of the document (n, d); n can be 0.
        labels: whether a sentence is relevant (n,).
    """

    query: Floats
    sentences: Floats
    labels: Labels

    def __post_init__(self) -> None:
        """Raise IndexingError unless the shapes agree and each number is finite."""
        if (*self.labels.shape, *self.query.shape) != self.sentences.shape:
            raise IndexingError(
                f"an example has a query {self.query.shape}, sentences {self.sentences.shape} and labels "
                f"{self.labels.shape}; expected (d,), (n, d) and (n,)"
            )
        if not (np.isfinite(self.query).all() and np.isfinite(self.sentences).all()):
            raise IndexingError("an example has a vector that is not finite; expected finite numbers")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The architecture, and what of the training belongs to it.

    Attributes:
        kind: mlp sees a sentence alone, lstm (bidirectional) and transformer see the document.
        hidden: units of a layer of the MLP, of one direction of the LSTM, of the Transformer's feed-forward
            network.
        layers: of any kind.
        heads: of the Transformer's attention; they divide its width.
        width: what the Transformer projects its input to; 0: not projected, as published.
        dropout: share of units, between layers.
        weight_decay: Adam's L2 term.
        positive_weight: how many times a relevant sentence counts in the loss.
        features: of a sentence: pair is [query; sentence], products [query; sentence; their product],
            sentence leaves the query out.
        as_published: the published networks and their padding (`published`).
    """

    kind: Kind
    hidden: int = 300
    layers: int = 2
    heads: int = 4
    width: int = 240
    dropout: float = 0.1
    weight_decay: float = 0.0
    positive_weight: float = 1.0
    features: Features = "pair"
    as_published: bool = False

    def __post_init__(self) -> None:
        """Raise InputError for what no network can be made of."""
        if self.kind not in KINDS or self.features not in FEATURES:
            raise InputError(
                f"a sentence model is a {self.kind} over {self.features}; expected {', '.join(KINDS)} over "
                f"{', '.join(FEATURES)}."
            )
        if min(self.hidden, self.layers, self.heads) < 1 or self.width < 0:
            raise InputError(f"{self} has a size that is not positive.")
        if not 0 <= self.dropout < 1 or self.weight_decay < 0 or self.positive_weight <= 0:
            raise InputError(
                f"{self}: expected dropout in [0, 1), weight_decay from 0, positive_weight above 0."
            )

    def count_inputs(self, dimensions: int) -> int:
        """How many numbers the network reads of a sentence, for vectors of `dimensions`.

        >>> ModelSettings("mlp").count_inputs(384), ModelSettings("mlp", features="products").count_inputs(2)
        (768, 6)
        """
        return dimensions * {"pair": 2, "products": 3, "sentence": 1}[self.features]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a model is trained.

    Attributes:
        epochs: at most.
        batch: examples a step of Adam.
        learning_rate: constant.
        patience: epochs without a better dev score after which training stops; None: never, and the last
            epoch's weights are kept, as published.
        seed: of the first weights, of the order of examples and of dropout.
        device: cpu, cuda or cuda:N.
        threads: of a CPU; sums are rounded by how they are shared out, so weights are equal for one number.
        checkpoint_every: epochs between two checkpoints; it decides no weight.
    """

    epochs: int = 30
    batch: int = 8
    learning_rate: float = 1e-3
    patience: int | None = 5
    seed: int = 1
    device: str = "cpu"
    threads: int = 2
    checkpoint_every: int = 1

    def __post_init__(self) -> None:
        """Raise InputError for what no training can be."""
        whole = (self.epochs, self.batch, self.threads, self.checkpoint_every, self.patience or 1)
        if min(whole) < 1 or self.learning_rate <= 0 or self.patience == 0:
            raise InputError(f"{self}: expected whole numbers from 1 and a learning rate above 0.")

    def describe(self) -> dict[str, Any]:
        """What decides the weights; fit for JSON."""
        names = ("epochs", "batch", "learning_rate", "patience", "seed", "threads")
        kind = self.device.partition(":")[0]
        return {**{name: getattr(self, name) for name in names}, "device": kind}
