"""Averages of word2vec vectors as systems, plain or weighted by TF-IDF.

All of the same dimensions share one side index, the word vectors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pinakes.database import Database
from pinakes.indexers.lexical import BuiltIndex
from pinakes.indexers.word2vec import DIMENSIONS, KIND, Word2Vec, build_word2vec, describe_training
from pinakes.options import option, read_options
from pinakes.progress import Progress
from pinakes.systems.base import Asked, SystemOptions
from pinakes.systems.trained import TrainedSystem, Vectors, read_training_texts
from pinakes.workload.scope import CorpusScope


@dataclass(frozen=True, slots=True)
class Word2VecOptions:
    """The options of `word2vec`."""

    dimensions: int = option(DIMENSIONS, "Numbers of a vector.", minimum=1, maximum=4_096)
    weights: str = option("none", "What a word weighs in a text's mean.", choices=("none", "tfidf"))
    trained_on: str = option("", "Another loaded corpus to train on; default: the benchmark's own.")


class Word2VecSystem(TrainedSystem):
    """A system that compares averages of word vectors, by L2 as published (CSFCube, appendix C)."""

    own_options: ClassVar[type[Word2VecOptions]] = Word2VecOptions
    kind: ClassVar[str] = KIND

    def __init__(self, name: str, options: SystemOptions) -> None:
        own = read_options(Word2VecOptions, name, options.parameters, options.fixed)
        super().__init__(name, options, own.trained_on, "l2")
        self._weights, self._dimensions = own.weights, own.dimensions

    def _open(self, database: Database, asked: Asked) -> Word2Vec:
        return Word2Vec.open(self._folder / self._require_once(database, asked)["path"])

    def _make_vectors(self, model: Word2Vec, texts: list[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        return model.average(texts, tfidf=self._weights == "tfidf")

    def _list_settings(self) -> Mapping[str, Any]:
        return describe_training(self._dimensions)

    def _describe_use(self) -> Mapping[str, Any]:
        return {"weights": self._weights}

    def _build(self, database: Database, scope: CorpusScope, folder: Path, progress: Progress) -> BuiltIndex:
        with database.read() as session:
            read = read_training_texts(session, self._select_training(scope), progress)
            return build_word2vec(folder, read, dimensions=self._dimensions)
