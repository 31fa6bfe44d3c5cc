"""Texts of Parquet files or of a query into Parquet files of vectors, without a table in between.

Killed and started again it goes on behind the last whole shard and ends with the same bytes.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from pinakes.errors import InputError
from pinakes.index.shared_shards import share_shards
from pinakes.index.text_sources import QuerySource, Source, read_texts
from pinakes.indexers.encoder.batches import EncodedBatch
from pinakes.indexers.encoder.encode import MAX_COSINE_ERROR, check_precision, encode_texts, text_digest
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.model_settings import Pooling
from pinakes.indexers.encoder.precision import choose_device, choose_precision
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.indexers.encoder.processes import EncoderProcesses
from pinakes.indexers.encoder.vector_shards import VectorShards, hold_shards
from pinakes.indexers.names import Precision, PrecisionChoice
from pinakes.progress import Progress, Silent, say_nothing

if TYPE_CHECKING:  # imported late: Ray
    from pinakes.cluster.encoding import ClusterEncoder

__all__ = ["EncodeOptions", "EncodeSummary", "QuerySource", "encode_source"]

SHARD_ROWS: Final = 32_768

_Encode = Callable[[Iterable[tuple[str, str]]], Iterable[EncodedBatch[str]]]
_Row = tuple[Any, str]


@dataclass(frozen=True, slots=True)
class EncodeOptions:
    """How texts are read and encoded.

    Attributes:
        id_column: the source's column with the rows' ids, integers or texts.
        text_columns: its columns with the texts, such as title and abstract.
        separator: what stands between the text columns; `[SEP]` is the model's own separator.
        precision: `auto`, `fp32`, `bf16` or `fp16`; what is below fp32 is compared with it on a sample.
        max_cosine_error: the most that the sample's vectors may differ, as 1 - cosine.
        devices: such as `cuda:0`; several are one process each. Empty: a CUDA device if there is one.
        pooling, max_tokens: as the model says, if None.
        token_budget: tokens a batch; None: by the device. Halved when memory runs out.
        compile: whether `torch.compile` fuses what lies between the matrix products (needs a compiler).
        shard_rows: the rows of each file; a killed encoding loses at most one file's work.
        on: the address of a Ray cluster whose workers encode, each a file; None: this machine.
        tell: takes a line for the user, as that a cluster has no room yet.
    """

    id_column: str = "id"
    text_columns: tuple[str, ...] = ("text",)
    separator: str = " "
    precision: PrecisionChoice = "auto"
    max_cosine_error: float = MAX_COSINE_ERROR
    devices: tuple[str, ...] = ()
    pooling: Pooling | None = None
    max_tokens: int | None = None
    token_budget: int | None = None
    compile: bool = False
    shard_rows: int = SHARD_ROWS
    on: str | None = None
    tell: Callable[[str], None] = say_nothing


@dataclass(frozen=True, slots=True)
class EncodeSummary:
    """What an encoding did.

    Attributes:
        rows: rows in the folder; `empty` were left out, since their text is empty.
        encoded: texts that were encoded now; the others' vectors were there, or their text was.
        max_cosine_error: against float32 on a sample; 0 where float32 is what was asked for.
    """

    folder: str
    rows: int
    empty: int
    shards: int
    encoded: int
    max_cosine_error: float
    elapsed_s: float


def encode_source(
    source: Source,
    model: str,
    out: str | Path,
    options: EncodeOptions | None = None,
    progress: Progress | None = None,
) -> EncodeSummary:
    """Write id, text_digest and embedding (float32) of every row of the source into Parquet files in `out`.

    `out` is a path, or an address on an object store.
    A text that is in the folder already is not encoded again, whatever its row. `manifest.json` is written
    at the end and says what made the vectors. Raises `InputError` for a source that cannot be read, and
    `IndexingError` for a model that cannot be used, for a folder that holds vectors of another model or
    damaged ones, and for a precision that is too coarse.
    """
    started = time.monotonic()
    requested = options or EncodeOptions()
    if requested.shard_rows < 1:
        raise InputError(f"shard_rows is {requested.shard_rows}; expected at least 1. Give a larger number")
    report = progress or Silent()
    rows = read_texts(source, requested.id_column, requested.text_columns, requested.separator)
    start = _start_encoder if requested.on is None else _start_cluster
    with start(model, requested) as work, hold_shards(out, work.settings, work.dimensions) as shards:
        report.start(f"encode by {work.settings['encoder']}", None)
        try:
            found = _write_shards(rows, work, shards, requested, report)
        finally:
            report.finish()
    return EncodeSummary(folder=str(out), **found, elapsed_s=time.monotonic() - started)


@dataclass(frozen=True, slots=True)
class _Work:
    """An encoder, wherever it runs: what made its vectors, and the calls that make them."""

    settings: dict[str, Any]
    dimensions: int
    encode: Callable[..., Iterable[EncodedBatch[Any]]]
    load_exact: Callable[[], Encoder]
    cluster: "ClusterEncoder | None" = None


@contextmanager
def _start_encoder(model: str, options: EncodeOptions) -> Iterator[_Work]:
    source = resolve_model(model)
    devices = options.devices or (choose_device(),)
    precision: Precision = choose_precision(devices[0]) if options.precision == "auto" else options.precision
    loading: dict[str, Any] = {"max_tokens": options.max_tokens, "pooling": options.pooling}
    several = len(devices) > 1
    # With several devices this process encodes nothing but the sample.
    device = "cpu" if several else devices[0]

    def load_exact() -> Encoder:
        return load_encoder(source, "fp32", device, **loading)

    encoder = load_exact() if several else load_encoder(source, precision, device, **loading)
    settings = {"encoder": encoder.name, **encoder.describe(), "precision": precision}
    if not several:
        if options.compile:
            encoder.compile()
        yield _Work(
            settings,
            encoder.dimensions,
            lambda texts: encode_texts(encoder, texts, options.token_budget),
            load_exact,
        )
        return
    with EncoderProcesses[Any](
        source, devices, loading | {"precision": precision}, options.token_budget, compile=options.compile
    ) as processes:
        yield _Work(settings, encoder.dimensions, processes.encode, load_exact)


@contextmanager
def _start_cluster(model: str, options: EncodeOptions) -> Iterator[_Work]:
    from pinakes.cluster.encoding import open_encoders  # late: Ray

    if len(options.devices) > 1:
        raise InputError("the workers of a cluster have one device each; name cpu or cuda, once")
    source = resolve_model(model)
    loading: dict[str, Any] = {"max_tokens": options.max_tokens, "pooling": options.pooling}
    with open_encoders(
        options.on or "",
        source,
        precision=options.precision,
        device=options.devices[0] if options.devices else None,
        loading=loading,
        token_budget=options.token_budget,
        compile=options.compile,
        tell=options.tell,
        texts=options.shard_rows,
    ) as encoders:
        facts = encoders.facts
        yield _Work(
            dict(facts.settings),
            facts.dimensions,
            encoders.encode,
            lambda: load_encoder(source, "fp32", "cpu", **loading),
            encoders,
        )


def _write_shards(
    rows: Iterator[_Row], work: _Work, shards: VectorShards, options: EncodeOptions, progress: Progress
) -> dict[str, Any]:
    finished = shards.read_finished()
    error: float | None = finished["max_cosine_error"] if finished else None
    counts = _Counts()
    parts = _cut(rows, options.shard_rows, counts)
    if error is None and (first := next(parts, None)) is not None:
        error = _check(work, [text for _, text in first], options)
        parts = chain([first], parts)
    if work.cluster is None:
        for number, part in enumerate(parts):
            _write_shard(number, part, work, shards, counts, progress)
    else:
        counts.encoded = share_shards(enumerate(parts), work.cluster, shards, progress)
    facts = {
        "rows": counts.rows,
        "empty": counts.empty,
        "shards": counts.shards,
        "max_cosine_error": error or 0.0,
    }
    shards.finish(counts.shards, facts)
    return {**asdict(counts), "max_cosine_error": error or 0.0}


@dataclass(slots=True)
class _Counts:
    rows: int = 0
    empty: int = 0
    shards: int = 0
    encoded: int = 0


def _cut(rows: Iterator[_Row], shard_rows: int, counts: _Counts) -> Iterator[list[_Row]]:
    def count_empty() -> Iterator[_Row]:
        for row in rows:
            if row[1]:
                yield row
            else:
                counts.empty += 1

    texts = count_empty()
    while part := list(islice(texts, shard_rows)):
        counts.rows += len(part)
        counts.shards += 1
        yield part


def _check(work: _Work, texts: Sequence[str], options: EncodeOptions) -> float:
    if work.settings["precision"] == "fp32":
        return 0.0
    return check_precision(work.encode, work.load_exact(), texts, options.max_cosine_error)


def _write_shard(
    number: int, part: list[_Row], work: _Work, shards: VectorShards, counts: _Counts, progress: Progress
) -> None:
    ids = [key for key, _ in part]
    digests = [text_digest(text) for _, text in part]
    if shards.holds(number, ids, digests):
        progress.advance(len(part))
        return
    vectors = shards.find(digests)
    missing = {digest: text for digest, (_, text) in zip(digests, part, strict=True) if digest not in vectors}
    for batch in work.encode(missing.items()):
        vectors.update(zip(batch.keys, batch.vectors, strict=True))
        progress.advance(len(batch.keys))
    progress.advance(len(part) - len(missing))
    counts.encoded += len(missing)
    shards.write(number, pa.array(ids), digests, np.stack([vectors[digest] for digest in digests]))
