"""A trained sentence model: a query's and a document's vectors in, the scores of the sentences out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pinakes.errors import IndexingError
from pinakes.indexers.repeatable import compute_repeatably, derive_seed, seed_generators
from pinakes.indexers.sentence_models.batches import (
    Batch,
    choose_window,
    cut_pieces,
    group_pieces,
    make_batch,
)
from pinakes.indexers.sentence_models.networks import build_network
from pinakes.indexers.sentence_models.published import PREDICTED_TOGETHER
from pinakes.indexers.sentence_models.settings import WINDOW, Floats, ModelSettings
from pinakes.indexers.tensor_files import read_tensors, write_tensors

MODEL_FILE: Final = "model.safetensors"

Document = tuple[Floats, Floats]
"""a query (d,), and the vectors of a document's sentences (n, d)"""


class SentenceModel:
    """A network with its settings, for vectors of `dimensions` numbers.

    Attributes:
        trained: what its training says of it; fit for JSON.
    """

    def __init__(
        self,
        network: nn.Module,
        settings: ModelSettings,
        dimensions: int,
        *,
        device: str = "cpu",
        threads: int = 2,
        seed: int = 1,
        trained: dict[str, Any] | None = None,
    ) -> None:
        self.network = network.to(device)
        self.settings, self.dimensions, self.trained = settings, dimensions, trained or {}
        self._device, self._threads, self._seed = device, threads, seed

    @classmethod
    def open(cls, folder: Path, device: str = "cpu") -> "SentenceModel":
        """The model that was trained in `folder`; IndexingError where there is none that is whole."""
        tensors, state = read_tensors(folder / MODEL_FILE)
        settings = ModelSettings(**state["settings"])
        network = build_network(settings, state["dimensions"])
        try:
            network.load_state_dict(tensors)
        except RuntimeError as problem:
            raise IndexingError(
                f"{folder / MODEL_FILE} has no weights of {settings} ({problem}); train again"
            ) from problem
        schedule = state["schedule"]
        return cls(
            network,
            settings,
            state["dimensions"],
            device=device,
            threads=schedule["threads"],
            seed=schedule["seed"],
            trained=state,
        )

    def save(self, folder: Path) -> None:
        """Write weights, settings and what is said of the training."""
        state = {**self.trained, "settings": asdict(self.settings), "dimensions": self.dimensions}
        write_tensors(folder / MODEL_FILE, self.network.state_dict(), state)

    def predict(self, query: Floats, sentences: Floats) -> Floats:
        """The scores of one document's sentences (n,), as `predict_documents` gives them."""
        return next(self.predict_documents([(query, sentences)]))

    def predict_documents(self, documents: Iterable[Document]) -> Iterator[Floats]:
        """The scores of each document's sentences (n,): probabilities, higher is more relevant.

        A document is computed by itself, whatever is before or behind it; the same call gives the same
        scores. As published, 16 are computed together and the LSTM's scores depend on all of them; sentences
        from the 513th are not read and score 0.

        Raises:
            IndexingError: a vector has another length than those that the model was trained on.
        """
        published = self.settings.as_published
        self.network.train(published)
        for number, group in enumerate(_group(documents, PREDICTED_TOGETHER if published else 1)):
            self._check(group)
            with torch.inference_mode(), compute_repeatably(self._device, self._threads):
                seed_generators(self._device, derive_seed(self._seed, "prediction", number))
                scores = self._predict_published(group) if published else [self._predict(*group[0])]
            yield from scores

    def _check(self, documents: Sequence[Document]) -> None:
        for query, sentences in documents:
            if query.shape != (self.dimensions,) or sentences.shape[1:] != query.shape:
                raise IndexingError(
                    f"a query {query.shape} and sentences {sentences.shape}; expected vectors of "
                    f"{self.dimensions} numbers, which the model was trained on"
                )

    def _predict(self, query: Floats, sentences: Floats) -> Floats:
        scores = np.zeros(len(sentences), dtype=np.float32)
        for group in group_pieces(cut_pieces([len(sentences)], choose_window(self.settings))):
            found = self._compute(make_batch([query], [sentences], group, self._device))
            for piece, row in zip(group, found, strict=True):
                scores[piece.first : piece.last] = row[piece.first - piece.start : piece.last - piece.start]
        return scores

    def _predict_published(self, documents: Sequence[Document]) -> list[Floats]:
        queries, sentences = zip(*((query, rows[:WINDOW]) for query, rows in documents), strict=True)
        pieces = cut_pieces([max(1, len(rows)) for rows in sentences], None)
        whole = [rows if len(rows) else np.zeros((1, self.dimensions), np.float32) for rows in sentences]
        found = self._compute(make_batch(queries, whole, pieces, self._device, WINDOW))
        scores = [np.zeros(len(rows), dtype=np.float32) for _, rows in documents]
        for own, row in zip(scores, found, strict=True):
            own[:WINDOW] = row[: len(own)]
        return scores

    def _compute(self, batch: Batch) -> NDArray[np.float32]:
        """The probabilities of a batch (b, n), from logits in double precision, so that few are alike."""
        logits = self.network(batch).double()
        probabilities: NDArray[np.float32] = logits.sigmoid().float().cpu().numpy()
        return probabilities


def _group(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    remaining = iter(documents)
    while group := list(islice(remaining, size)):
        yield group


def predict(model: SentenceModel, query: Floats, sentences: Floats) -> Floats:
    """The scores of one document's sentences (n,), float32, higher is more relevant."""
    return model.predict(query, sentences)
