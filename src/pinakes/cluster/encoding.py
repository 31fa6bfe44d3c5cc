"""Texts encoded by the workers of a cluster: an encoder on each core or GPU, a window of texts a call.

A window has the texts that one machine's would have, in their order: its batches are the same.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from pinakes.cluster import needs
from pinakes.cluster.connect import connect_cluster
from pinakes.cluster.workers import Call, Workers
from pinakes.errors import IndexingError
from pinakes.indexers.encoder.batches import EncodedBatch
from pinakes.indexers.encoder.encode import WINDOW, encode_texts
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import ModelSource
from pinakes.indexers.encoder.vector_shards import ShardRows, WrittenShard, write_shard
from pinakes.indexers.names import Precision, PrecisionChoice
from pinakes.progress import say_nothing
from pinakes.writing.folders import is_address

_WEIGHT_BYTES: Final = 4
"""a parameter in its file; one of two bytes counts as half a parameter, and is read as a whole one at fp32"""
_USUAL_WIDTH: Final = 768
Key = TypeVar("Key")
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncoderFacts:
    """What a worker says of its encoder: `settings` are what a folder of vectors says made them."""

    settings: Mapping[str, Any]
    dimensions: int


@dataclass(frozen=True, slots=True, eq=False)
class UnwrittenShard:
    """The rows of a file to be written, of which some texts are still to be encoded.

    Attributes:
        ids, digests: of each row; an Arrow array, and as `text_digest` gives them.
        missing: the texts without a vector, by their digests.
        known: the vectors of the other rows' texts, as far as they are known.
        alone: whether only what is encoded is written, for other files to take.
    """

    folder: str
    number: int
    settings: str
    ids: Any
    digests: Sequence[str]
    missing: Mapping[str, str]
    known: Mapping[str, Vectors]
    alone: bool


class EncodeWorker:
    """An encoder in a process of the cluster."""

    def __init__(
        self,
        source: ModelSource,
        precision: Precision,
        device: str,
        loading: Mapping[str, Any],
        token_budget: int | None,
        compile: bool,
    ) -> None:
        self._encoder: Encoder = load_encoder(source, precision, device, **loading)
        self._precision, self._token_budget = precision, token_budget
        if compile:
            self._encoder.compile()

    def ready(self) -> EncoderFacts:
        """What the encoder is."""
        encoder = self._encoder
        return EncoderFacts(
            {"encoder": encoder.name, **encoder.describe(), "precision": self._precision}, encoder.dimensions
        )

    def encode(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """The vectors (n, d) of the texts in their order, and how many tokens these have."""
        vectors = np.empty((len(texts), self._encoder.dimensions), dtype=np.float32)
        tokens = 0
        for batch in encode_texts(self._encoder, enumerate(texts), self._token_budget):
            vectors[list(batch.keys)] = batch.vectors
            tokens += batch.tokens
        return vectors, tokens

    def write(self, shard: UnwrittenShard) -> WrittenShard:
        """Encode what is missing and write the file, under a name that nobody else has."""
        folder = shard.folder
        if not is_address(folder) and not Path(folder).is_dir():
            raise IndexingError(f"{folder} is not there; expected a folder that all machines share")
        encoded, _ = self.encode(list(shard.missing.values()))
        made = dict(zip(shard.missing, encoded, strict=True))
        if shard.alone:
            digests = list(made)
            rows = ShardRows(digests, digests, encoded)
        else:
            found = {**shard.known, **made}
            rows = ShardRows(shard.ids, shard.digests, np.stack([found[digest] for digest in shard.digests]))
        return write_shard(folder, shard.number, rows, shard.settings, aside=shard.alone)


class ClusterEncoder:
    """The encoders of a cluster, by one of which each window of texts is encoded."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.facts: EncoderFacts = workers.describe()

    def encode(self, texts: Iterable[tuple[Key, str]]) -> Iterator[EncodedBatch[Key]]:
        """Yield the vectors of every text, as `encode_texts` does; windows come as workers finish them."""
        pairs = iter(texts)

        def cut() -> Iterator[Call]:
            while window := list(islice(pairs, WINDOW)):
                yield Call(tuple(key for key, _ in window), "encode", ([text for _, text in window],))

        for call, (vectors, tokens) in self._workers.map(cut()):
            yield EncodedBatch(call.key, vectors, tokens)

    def write(self, shards: Iterable[UnwrittenShard]) -> Iterator[tuple[UnwrittenShard, WrittenShard]]:
        """Have each file encoded and written; they come as they are done, and have no shard's name yet."""
        calls = (Call(shard, "write", (shard,)) for shard in shards)
        for call, written in self._workers.map(calls):
            yield call.key, written


@contextmanager
def open_encoders(
    on: str,
    source: ModelSource,
    *,
    precision: PrecisionChoice,
    device: str | None = None,
    loading: Mapping[str, Any] | None = None,
    token_budget: int | None = None,
    compile: bool = False,
    tell: Any = say_nothing,
    texts: int = WINDOW,
) -> Iterator[ClusterEncoder]:
    """The encoders of one model on a cluster; raises as `connect_cluster` and `Workers` do.

    A worker has at most so many `texts` at once. `auto` is fp32: machines may differ in what is fast, and the
    vectors of one encoder must not.
    """
    chosen: Precision = "fp32" if precision == "auto" else precision
    with connect_cluster(on, device, tell) as cluster:
        settings = (source, chosen, cluster.device, dict(loading or {}), token_budget, compile)
        with Workers(cluster, EncodeWorker, *settings, memory=measure_need(source, texts)) as workers:
            yield ClusterEncoder(workers)


def measure_need(source: ModelSource, texts: int) -> float:
    """The bytes that a worker takes with a model and so many texts."""
    weights = sum(path.stat().st_size for path in source.folder.rglob("*.safetensors"))
    return needs.encode(weights / _WEIGHT_BYTES, texts, needs.TEXT_BYTES, _read_width(source.folder))


def _read_width(folder: Path) -> int:
    """The numbers of a vector, as the model's folder says; the usual ones where it does not."""
    try:
        width = json.loads((folder / "config.json").read_text(encoding="utf-8"))["hidden_size"]
        return int(width)
    except (OSError, ValueError, TypeError, KeyError):
        return _USUAL_WIDTH
