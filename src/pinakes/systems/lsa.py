"""Latent semantic analysis as a system: TF-IDF vectors reduced by a singular value decomposition."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.indexers.lexical import BuiltIndex
from pinakes.indexers.lsa import DIMENSIONS, KIND, LatentSemantics, build_lsa, describe_training
from pinakes.options import option, read_options
from pinakes.progress import Progress
from pinakes.systems.base import Asked, SystemOptions
from pinakes.systems.trained import TrainedSystem, Vectors, read_training_texts
from pinakes.workload.scope import CorpusScope


@dataclass(frozen=True, slots=True)
class LsaOptions:
    """The options of `lsa`."""

    dimensions: int = option(DIMENSIONS, "Numbers of a vector.", minimum=1, maximum=4_096)
    trained_on: str = option("", "Another loaded corpus to train on; default: the benchmark's own.")


class LsaSystem(TrainedSystem):
    """A system that compares reduced TF-IDF vectors, by cosine."""

    own_options: ClassVar[type[LsaOptions]] = LsaOptions
    kind: ClassVar[str] = KIND

    def __init__(self, name: str, options: SystemOptions) -> None:
        own = read_options(LsaOptions, name, options.parameters, options.fixed)
        super().__init__(name, options, own.trained_on, "cosine")
        self._dimensions = own.dimensions

    def _open(self, database: Database, asked: Asked) -> LatentSemantics:
        return LatentSemantics.open(self._folder / self._require_once(database, asked)["path"])

    def _make_vectors(self, model: LatentSemantics, texts: list[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        return model.reduce(texts)

    def _list_settings(self) -> Mapping[str, Any]:
        return describe_training(self._dimensions)

    def _build(self, database: Database, scope: CorpusScope, folder: Path, progress: Progress) -> BuiltIndex:
        with database.read() as session:
            texts = list(read_training_texts(session, self._select_training(scope), progress))
        return build_lsa(folder, texts, dimensions=self._dimensions)
