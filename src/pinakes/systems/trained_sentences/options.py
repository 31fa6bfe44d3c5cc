"""The options of trained scorers of sentences, and the settings, schedule and search that they mean."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from pinakes.indexers.sentence_models.settings import FEATURES, Kind, ModelSettings, Schedule
from pinakes.indexers.sentence_models.space import SearchSpace, make_space
from pinakes.options import option

PUBLISHED_EPOCHS: Final = 2_000
PUBLISHED_RATE: Final = 1e-4
PUBLISHED_TFIDF_EPOCHS: Final = 16
PUBLISHED_TFIDF_DECAY: Final = 1e-4
PUBLISHED_TFIDF_HIDDEN: Final = (100, 200, 300, 400)
EPOCHS: Final = 10
RATE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class SentenceModelOptions:
    """The options of `sentence_mlp:SYSTEM` and `sentence_lstm:SYSTEM`."""

    trials: int = option(3, "Models that a random search trains; the best on dev answers.", minimum=1)
    seconds: float | None = option(
        None, "After which no further model is begun; the number then depends on the machine.", above=0
    )
    epochs: int | None = option(None, "Of a model, at most; default: 10, as published 2000.", minimum=1)
    patience: int = option(3, "Epochs without a better dev score that end a training.", minimum=1)
    batch: int = option(8, "Examples a step.", minimum=1)
    learning_rate: float | None = option(None, "Of Adam; default: 0.001, as published 0.0001.", above=0)
    hidden: int | None = option(None, "Units of a layer; default: drawn from 100, 150, … 500.", minimum=1)
    layers: int | None = option(None, "Default: drawn from 1 to 4, of a Transformer from 2.", minimum=1)
    weight_decay: float | None = option(
        None, "Adam's L2 term; default: drawn from 0, 0.1, … 0.00001.", minimum=0
    )
    dropout: float = option(0.1, "Share of units that are left out in training.", minimum=0, maximum=0.9)
    positive_weight: float = option(1.0, "How often a relevant sentence counts in the loss.", above=0)
    features: str = option(
        "pair",
        "What is read of a sentence: pair is [query; sentence], products has their product too.",
        choices=FEATURES,
    )
    dimensions: int = option(128, "Of the vectors of tfidf, by a singular value decomposition.", minimum=1)
    as_published: bool | None = option(
        None, "Networks, padding and schedule as published; default: as the mode of the question."
    )
    seed: int = option(1, "Of the search, the first weights, the order and dropout.", minimum=0)
    threads: int = option(2, "Of a CPU; the last digits depend on it.", minimum=1, maximum=256)


@dataclass(frozen=True, slots=True)
class SentenceTransformerOptions(SentenceModelOptions):
    """The options of `sentence_transformer:SYSTEM`."""

    heads: int | None = option(None, "Of attention; default: drawn from those of 2 to 4 that fit.", minimum=1)
    width: int = option(240, "What the input is projected to; 0, and as published: not at all.", minimum=0)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is trained: how a model is, what of it is drawn, and how long."""

    base: ModelSettings
    schedule: Schedule
    own: SentenceModelOptions
    hidden: Sequence[int] | None = None

    def make_space(self, dimensions: int) -> SearchSpace:
        """What the search draws from, for vectors of that length."""
        own = self.own
        space = make_space(
            self.base,
            dimensions,
            hidden=own.hidden,
            layers=own.layers,
            weight_decay=own.weight_decay,
            heads=getattr(own, "heads", None),
        )
        return space if self.hidden is None else replace(space, hidden=self.hidden)

    def describe(self) -> dict[str, Any]:
        """All that decides what is trained, apart from examples and vectors; fit for JSON."""
        drawn = {
            name: getattr(self.own, name, None) for name in ("hidden", "layers", "weight_decay", "heads")
        }
        base = {name: value for name, value in asdict(self.base).items() if name not in drawn}
        return {
            "model": base,
            **{name: "drawn" if value is None else value for name, value in drawn.items()},
            "schedule": self.schedule.describe(),
            **({"drawn_hidden": list(self.hidden)} if self.hidden is not None else {}),
            "trials": self.own.trials,
            **({"seconds": self.own.seconds} if self.own.seconds is not None else {}),
        }


def make_plan(
    kind: Kind, own: SentenceModelOptions, mode: str, device: str, *, over_tfidf: bool = False
) -> Plan:
    """What is trained for a question of that mode, `published` or not, on a device."""
    published = mode == "published" if own.as_published is None else own.as_published
    if published and over_tfidf and kind == "mlp":
        return _plan_published_tfidf(own, device)
    base = ModelSettings(
        kind,
        dropout=own.dropout,
        positive_weight=own.positive_weight,
        features=own.features,  # type: ignore[arg-type]
        width=getattr(own, "width", 0),
        as_published=published,
    )
    schedule = Schedule(
        epochs=own.epochs or (PUBLISHED_EPOCHS if published else EPOCHS),
        batch=own.batch,
        learning_rate=own.learning_rate or (PUBLISHED_RATE if published else RATE),
        patience=None if published else own.patience,
        seed=own.seed,
        device=device,
        threads=own.threads,
        checkpoint_every=10 if published else 1,
    )
    return Plan(base, schedule, own)


def _plan_published_tfidf(own: SentenceModelOptions, device: str) -> Plan:
    """As near as these networks come to the published scikit-learn `MLPClassifier` over TF-IDF.

    As there: the sentence alone is read, never the query; ReLU; Adam at 0.001 with an L2 term of 0.0001; 1 to
    4 layers of 100, 200, 300 or 400 units; 16 epochs, the last one's weights. Not as there: vectors are
    reduced and normalised, a batch is a document and not 200 sentences, and mean average precision chooses.
    """
    base = ModelSettings(
        "mlp", dropout=0.0, positive_weight=own.positive_weight, features="sentence", width=0
    )
    schedule = Schedule(
        epochs=own.epochs or PUBLISHED_TFIDF_EPOCHS,
        batch=1,
        learning_rate=own.learning_rate or RATE,
        patience=None,
        seed=own.seed,
        device=device,
        threads=own.threads,
    )
    decay = PUBLISHED_TFIDF_DECAY if own.weight_decay is None else own.weight_decay
    hidden = PUBLISHED_TFIDF_HIDDEN if own.hidden is None else None
    return Plan(base, schedule, replace(own, weight_decay=decay), hidden)
