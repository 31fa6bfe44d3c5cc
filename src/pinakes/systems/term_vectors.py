"""TF-IDF of frequent terms as a system of vectors: what a probe makes of words, beside encoders."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.indexers.lexical import BuiltIndex
from pinakes.indexers.term_vectors import (
    DIMENSIONS,
    KIND,
    TermVectors,
    build_term_vectors,
    describe_counting,
)
from pinakes.options import option, read_options
from pinakes.progress import Progress
from pinakes.systems.base import Asked, SystemOptions
from pinakes.systems.trained import TrainedSystem, Vectors, read_training_texts
from pinakes.workload.scope import CorpusScope


@dataclass(frozen=True, slots=True)
class TermVectorOptions:
    """The options of `term_vectors`."""

    dimensions: int = option(DIMENSIONS, "Terms of a vector: the most frequent.", minimum=1, maximum=16_384)
    trained_on: str = option("", "Another loaded corpus to count terms in; default: the benchmark's own.")


class TermVectorSystem(TrainedSystem):
    """A system that compares TF-IDF vectors of the most frequent terms, by cosine."""

    own_options: ClassVar[type[TermVectorOptions]] = TermVectorOptions
    kind: ClassVar[str] = KIND

    def __init__(self, name: str, options: SystemOptions) -> None:
        own = read_options(TermVectorOptions, name, options.parameters, options.fixed)
        super().__init__(name, options, own.trained_on, "cosine")
        self._dimensions = own.dimensions

    def _open(self, database: Database, asked: Asked) -> TermVectors:
        return TermVectors.open(self._folder / self._require_once(database, asked)["path"])

    def _make_vectors(self, model: TermVectors, texts: list[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        return model.weigh(texts)

    def _list_settings(self) -> Mapping[str, Any]:
        return describe_counting(self._dimensions)

    def _build(self, database: Database, scope: CorpusScope, folder: Path, progress: Progress) -> BuiltIndex:
        with database.read() as session:
            texts = list(read_training_texts(session, self._select_training(scope), progress))
        return build_term_vectors(folder, texts, dimensions=self._dimensions)
