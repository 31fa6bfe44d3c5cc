"""One encoder in a database: its texts encoded where they lack a vector, its table, its staleness.

An encoder at another precision is another encoder, with a table of its own, so that no ranking mixes them.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import RunError
from pinakes.indexers.encoder.batches import EncodedBatch
from pinakes.indexers.encoder.encode import MAX_COSINE_ERROR, check_precision, encode_texts
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.precision import choose_device, choose_precision
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.indexers.encoder.processes import EncoderProcesses
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.names import DISTANCES, PRECISION_CHOICES, Distance, Precision, require_name
from pinakes.matrices import to_lists
from pinakes.progress import Progress, say_nothing
from pinakes.schema import vectors_table
from pinakes.vectors.precisions import choose_stored, list_encoders, list_precisions
from pinakes.vectors.remembered import remember
from pinakes.vectors.stored import (
    StoredEncoder,
    count_texts,
    find_encoder,
    read_sample,
    register_encoder,
    select_missing,
    set_texts_aside,
    store_precision,
)
from pinakes.vectors.writing import encode_until_none, write_paced

Encode = Callable[[Iterable[tuple[uuid.UUID, str]]], Iterable[EncodedBatch[uuid.UUID]]]


class EncoderSession:
    """An encoder by preset, folder or hub id, on one device or several (`cuda:0,cuda:1`), at a precision.

    `auto` is the precision that the encoder is stored at, where `stored`, the names of a database's encoders,
    has it; else the fastest, or fp32 on a cluster, whose machines may differ. `tell` takes a line where it is
    not the fastest, or not the only one. `on` is the address of a cluster that encodes.

    Attributes:
        distance: as requested, else as the encoder's makers compare vectors, else the cosine.
        device: of this process; on a cluster it encodes nothing but what a sample is compared with.
    """

    def __init__(
        self,
        requested_as: str,
        *,
        precision: str = "auto",
        device: str | None = None,
        distance: str | None = None,
        stored: frozenset[str] = frozenset(),
        tell: Callable[[str], None] = say_nothing,
        on: str | None = None,
    ) -> None:
        chosen = require_name("precision", precision, PRECISION_CHOICES)
        self.source = resolve_model(requested_as)
        self.requested_as = requested_as
        self.on, self._worker_device, self._tell = on, device, tell
        self.devices = (device or choose_device()).split(",") if on is None else ["cpu"]
        self.device = self.devices[0]
        fastest: Precision = choose_precision(self.device) if on is None else "fp32"
        self.precision: Precision = (
            choose_stored(self.source.name, fastest, stored, tell) if chosen == "auto" else chosen
        )
        preset = self.source.preset
        requested = distance or (preset and preset.distance) or "cosine"
        self._encoder: Encoder | None = None
        self.distance: Distance = require_name("distance", requested, DISTANCES)

    @property
    def table_name(self) -> str:
        """The name that the encoder has in the database; its vectors are in `vectors_<name>`."""
        return f"{self.source.name}_{self.precision}"

    def encode(
        self, database: Database, texts: sa.Select[Any], label: str, progress: Progress
    ) -> tuple[int, int]:
        """Encode every text that has no vector yet, one transaction a batch: how many now, how many before.

        `texts` gives text_digest and text, as `select_distinct_texts` does. A DuckDB file is held while texts
        are read and while vectors are written, not while they are computed. Texts that others bring in
        meanwhile are encoded too, once; those that others encode meanwhile are left to them.
        """
        database.release()
        encoder = self.load()
        stored = register_encoder(database, self.table_name, encoder)
        vectors = vectors_table(stored.name, stored.dimensions)
        missing = select_missing(texts, vectors)
        with database.read() as reader:
            expected, total = count_texts(reader, texts), count_texts(reader, missing)
            sample = read_sample(reader, missing)
        if not total:  # kept: whoever opens it again would read its log again
            return 0, expected
        database.release()
        with self._start(encoder) as encode:
            if self.precision != "fp32":
                self._check_precision(database, encoder, encode, sample)

            def encode_missing() -> int:
                with set_texts_aside(database, missing) as pairs:
                    return write_paced(database, stored, vectors, map(_tabulate, encode(pairs)), progress)

            task = f"encode {label} by {stored.name}"
            added = encode_until_none(database, missing, total, encode_missing, task, progress)
        return added, expected - total

    @contextmanager
    def _start(self, encoder: Encoder) -> Iterator[Encode]:
        """What encodes texts: this process, one process a device where there are several, or a cluster."""
        if self.on is not None:
            from pinakes.cluster.encoding import open_encoders  # late: Ray

            with open_encoders(
                self.on, self.source, precision=self.precision, device=self._worker_device, tell=self._tell
            ) as encoders:
                yield encoders.encode
            return
        if len(self.devices) == 1:
            yield lambda pairs: encode_texts(encoder, pairs)
            return
        options = {"precision": self.precision}
        with EncoderProcesses[uuid.UUID](self.source, self.devices, options) as processes:
            yield processes.encode

    def _check_precision(self, database: Database, encoder: Encoder, encode: Any, sample: list[str]) -> None:
        local: Any = lambda pairs: encode_texts(encoder, pairs)  # noqa: E731
        tried = local if self.on is None else encode
        exact = load_encoder(self.source, "fp32", self.device, for_texts=True)
        error = check_precision(tried, exact, sample, MAX_COSINE_ERROR)
        store_precision(database, self.table_name, error)

    def load(self) -> Encoder:
        """The model for whole texts, which is held from then on."""
        if self._encoder is None:
            self._encoder = load_encoder(self.source, self.precision, self.device, for_texts=True)
        return self._encoder

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """The vectors (n, d) of texts that need not be in the database, in their order."""
        encoder = self.load()
        if len(texts) == 1:
            return encoder.embed(encoder.tokenize(texts))
        batches = list(encode_texts(encoder, enumerate(texts)))
        keys = np.concatenate([np.asarray(batch.keys, dtype=np.intp) for batch in batches])
        vectors: Vectors = np.concatenate([batch.vectors for batch in batches])[np.argsort(keys)]
        return vectors

    def find(self, database: Database, command: str) -> StoredEncoder:
        """The stored encoder; a RunError with the command, completed by its name, where it has no vector."""
        requested = f"`{command} --system {self.requested_as} --precision {self.precision}`"
        with database.read() as session:
            return self._find(session, requested)

    def _find(self, session: Session, command: str) -> StoredEncoder:
        stored = find_encoder(session, self.table_name)
        if stored is None:
            others = self.name_others(session)
            raise RunError(f"no text was encoded by {self.table_name} yet; do it with {command}.{others}")
        return stored

    def name_others(self, session: Session, texts: sa.Select[Any] | None = None) -> str:
        """` What is stored …`: the other precisions that have vectors; of all the texts, if any are given."""
        names = list_encoders(session)
        found = [one for one in list_precisions(self.source.name, names) if one != self.precision]
        if texts is not None:
            found = [one for one in found if self._covers(session, one, texts)]
        asked = " or ".join(f"--precision {one}" for one in found)
        return f" What is stored is of {' and '.join(found)}: ask for it with {asked}." if found else ""

    def _covers(self, session: Session, precision: Precision, texts: sa.Select[Any]) -> bool:
        stored = find_encoder(session, f"{self.source.name}_{precision}")
        return stored is not None and not count_texts(
            session, select_missing(texts, vectors_table(stored.name, stored.dimensions))
        )

    def require(
        self, database: Database, texts: sa.Select[Any], command: str, folder: Path | None = None
    ) -> StoredEncoder:
        """The stored encoder, which has a vector for every text; what is counted is kept in a folder, if any.

        Raises:
            RunError: it has not; the message names `command`, which makes them.
        """
        with database.read() as session:
            stored = self._find(session, command)
        missing = select_missing(texts, vectors_table(stored.name, stored.dimensions))
        question = {"texts": str(missing.compile(compile_kwargs={"literal_binds": True}))}

        def count() -> int:
            with database.read() as session:
                return count_texts(session, missing)

        lacking = count() if folder is None else remember(database, folder, question, count)
        if lacking:
            with database.read() as session:
                others = self.name_others(session, texts)
            raise RunError(
                f"{lacking} texts have no vector of {self.table_name}; encode them with {command}.{others}"
            )
        return stored


class EncoderOptions(Protocol):
    """What is said of an encoder, as `EncoderSession` takes it."""

    @property
    def precision(self) -> str:
        """`auto`, or one of `PRECISIONS`."""

    @property
    def device(self) -> str | None:
        """As `cuda:0`; None: CUDA where there is a device."""

    @property
    def distance(self) -> str | None:
        """How vectors are compared; None: as the encoder's makers do."""

    @property
    def stored(self) -> frozenset[str]:
        """The encoders that the database has vectors of."""

    @property
    def tell(self) -> Callable[[str], None]:
        """What takes a line for the user."""

    @property
    def on(self) -> str | None:
        """The address of a cluster that encodes; None: this machine does."""


def start_session(name: str, options: EncoderOptions) -> EncoderSession:
    """The encoder of that name as the options have it."""
    return EncoderSession(
        name,
        precision=options.precision,
        device=options.device,
        distance=options.distance,
        stored=options.stored,
        tell=options.tell,
        on=options.on,
    )


def _tabulate(batch: EncodedBatch[uuid.UUID]) -> tuple[pa.Table, int]:
    digests = pa.array([str(key) for key in batch.keys])
    return pa.table({"text_digest": digests, "embedding": to_lists(batch.vectors)}), len(batch.keys)
