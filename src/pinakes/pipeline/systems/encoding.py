"""One encoder at work in a database: its texts encoded where they lack a vector, its table, its staleness.

An encoder at another precision is another encoder, with a table of its own, so that no ranking mixes them.
Leaves out: the model (`pinakes.indexers`) and what is done with the vectors (`dense`).
"""

from typing import Any

import sqlalchemy as sa

from pinakes.database import Database
from pinakes.errors import RunError
from pinakes.indexers.encode import encode_texts
from pinakes.indexers.model import choose_device, choose_precision, load_encoder
from pinakes.indexers.presets import resolve_model
from pinakes.pipeline.progress import Progress
from pinakes.pipeline.systems.base import SystemOptions
from pinakes.pipeline.systems.vectors import (
    StoredEncoder,
    Vectors,
    count_texts,
    find_encoder,
    read_texts,
    register_encoder,
    select_missing,
    write_vectors,
)
from pinakes.schema import vectors_table


class EncoderAtWork:
    """An encoder by preset, folder or hub id, on a device, at a precision."""

    def __init__(self, asked_as: str, options: SystemOptions) -> None:
        self.source = resolve_model(asked_as)
        self.asked_as = asked_as
        self.device = options.device or choose_device()
        wanted = options.precision
        self.precision = choose_precision(self.device) if wanted == "auto" else wanted

    @property
    def table_name(self) -> str:
        """The name that the encoder has in the database; its vectors are in `vectors_<name>`."""
        return f"{self.source.name}_{self.precision}"

    def encode(
        self, database: Database, texts: sa.Select[Any], label: str, progress: Progress
    ) -> tuple[int, int]:
        """Encode every text that has no vector yet, one transaction a batch: how many now, how many before.

        `texts` gives text_digest and text, as `select_distinct_texts` does.
        """
        encoder = load_encoder(self.source, precision=self.precision, device=self.device)  # type: ignore[arg-type]
        stored = register_encoder(database, self.table_name, encoder)
        vectors = vectors_table(stored.name, stored.dimensions)
        missing = select_missing(texts, vectors)
        added = 0
        with database.read() as reader:
            owed, total = count_texts(reader, texts), count_texts(reader, missing)
            progress.start(f"encode {label} by {stored.name}", total)
            try:
                for batch in encode_texts(encoder, read_texts(reader, missing)):
                    write_vectors(database, vectors, batch)
                    added += len(batch.keys)
                    progress.advance(len(batch.keys))
            finally:
                progress.finish()
        return added, owed - total

    def embed(self, text: str) -> Vectors:
        """The vector (1, d) of a text that need not be in the database."""
        encoder = load_encoder(self.source, precision=self.precision, device=self.device)  # type: ignore[arg-type]
        return encoder.embed(encoder.tokenize([text]))

    def require(self, database: Database, texts: sa.Select[Any], command: str) -> StoredEncoder:
        """The stored encoder, which has a vector for every text.

        Raises:
            RunError: it has not; the message names `command`, which makes them.
        """
        with database.read() as session:
            stored = find_encoder(session, self.table_name)
            if stored is None:
                raise RunError(f"no text was encoded by {self.table_name} yet; do it with {command}.")
            missing = count_texts(
                session, select_missing(texts, vectors_table(stored.name, stored.dimensions))
            )
        if missing:
            raise RunError(
                f"{missing} texts have no vector of {self.table_name}; encode them with {command}."
            )
        return stored
