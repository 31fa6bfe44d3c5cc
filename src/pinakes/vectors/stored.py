"""The rows of `encoders` and the tables of vectors: which texts still need a vector, and writing them."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import sqlalchemy as sa

from pinakes.database import Database, Session
from pinakes.errors import IndexingError
from pinakes.schema import encoders, next_id, vectors_table
from pinakes.writing.table_file import TableFile, open_table_file

if TYPE_CHECKING:  # who removes vectors, or counts them, needs no torch
    from pinakes.indexers.encoder.encoder import Encoder

SAMPLE_TEXTS: Final = 64

# What a model was found by, and the revision that names the same weights, may differ: a package, a hub.
_DECIDING: Final = ("weights_digest", "dimensions", "pooling", "max_tokens", "normalized", "precision")


@dataclass(frozen=True, slots=True)
class StoredEncoder:
    """A row of `encoders`; its vectors are in the table `vectors_<name>`."""

    encoder_id: int
    name: str
    dimensions: int
    revision: str


def find_encoder(session: Session, name: str) -> StoredEncoder | None:
    """The encoder of that name; None where it has encoded nothing yet."""
    row = session.first(sa.select(encoders).where(encoders.c.name == name))
    return None if row is None else StoredEncoder(row["encoder_id"], name, row["dimensions"], row["revision"])


def register_encoder(database: Database, name: str, encoder: "Encoder") -> StoredEncoder:
    """The encoder's row and table of vectors; both are made where they are missing.

    Raises:
        IndexingError: another model has that name in this database.
    """
    with database.begin() as session:
        row = session.first(sa.select(encoders).where(encoders.c.name == name))
        described = {"model": encoder.origin, **encoder.describe(), "precision": encoder.precision}
        if row is None:
            encoder_id = next_id(session, encoders.c.encoder_id)
            session.execute(sa.insert(encoders).values(encoder_id=encoder_id, name=name, **described))
            vectors_table(name, encoder.dimensions).create(session.connection)
            return StoredEncoder(encoder_id, name, encoder.dimensions, encoder.revision)
        different = sorted(key for key, value in described.items() if key in _DECIDING and row[key] != value)
        if different:
            raise IndexingError(
                f"this database has vectors of another model under the name {name}: {', '.join(different)} "
                "differ. Rename the model's folder, or use another database."
            )
        return StoredEncoder(row["encoder_id"], name, row["dimensions"], row["revision"])


@dataclass(frozen=True, slots=True, eq=False)
class PrefixedVectors:
    """A table of vectors, and what stood before every text when its vector was made."""

    table: sa.Table
    prefix: str


def select_distinct_texts(*selects: sa.Select[Any], prefix: str = "") -> sa.Select[Any]:
    """text_digest and text of every distinct, non-empty `text` that the selects give, behind the prefix."""
    sides = [select.order_by(None).subquery() for select in selects]
    texts = sa.union_all(*(sa.select(side.c.text).where(side.c.text != "") for side in sides))
    distinct = sa.select(texts.subquery("all_texts").c.text).distinct().subquery("texts")
    text = add_prefix(distinct.c.text, prefix)
    return sa.select(digest_of(text), text.label("text"))


def add_prefix(text: sa.ColumnElement[Any], prefix: str) -> sa.ColumnElement[Any]:
    """A text that is not empty behind a prefix, which is a bound parameter."""
    return sa.literal(prefix, sa.Text) + text if prefix else text


def digest_of(text: sa.ColumnElement[Any]) -> sa.Label[Any]:
    """The digest that a text is known by in the tables of vectors, as `text_digest`."""
    return sa.cast(sa.func.md5(text), sa.Uuid).label("text_digest")


def select_missing(texts: sa.Select[Any], vectors: sa.Table) -> sa.Select[Any]:
    """text_digest and text of those that have no vector in the table: an anti-join."""
    wanted = texts.subquery("wanted")
    known = sa.select(vectors.c.text_digest).where(vectors.c.text_digest == wanted.c.text_digest)
    return sa.select(wanted.c.text_digest, wanted.c.text).where(~known.exists())


def count_texts(session: Session, texts: sa.Select[Any]) -> int:
    """How many texts a select gives."""
    return int(session.scalar(sa.select(sa.func.count()).select_from(texts.subquery())))


@contextmanager
def set_texts_aside(database: Database, missing: sa.Select[Any]) -> Iterator[Iterator[tuple[uuid.UUID, str]]]:
    """The texts with their digests, in the order of these, in a temporary file: the database is released."""
    with open_table_file() as file:
        kept = TableFile(file)
        with database.read() as session:
            for part in session.stream(missing.order_by("text_digest"), rows=8_192):
                kept.write(part)
        database.release()
        yield _read_pairs(kept)


def _read_pairs(kept: TableFile) -> Iterator[tuple[uuid.UUID, str]]:
    for part in kept.read():
        for digest, text in zip(part["text_digest"].to_pylist(), part["text"].to_pylist(), strict=True):
            yield uuid.UUID(str(digest)), text


def read_sample(session: Session, missing: sa.Select[Any]) -> list[str]:
    """A few of the texts, those with the smallest digests: the same whatever was encoded before."""
    ordered = missing.order_by("text_digest").limit(SAMPLE_TEXTS)
    return [str(row["text"]) for row in session.rows(ordered)]


def store_precision(database: Database, name: str, error: float) -> None:
    """Keep how far an encoder's vectors lie from float32's, the largest that was seen."""
    chosen = encoders.c.name == name
    larger = sa.func.greatest(sa.func.coalesce(encoders.c.max_cosine_error, 0.0), error)
    with database.begin() as session:
        session.execute(sa.update(encoders).where(chosen).values(max_cosine_error=larger))


def write_vectors(database: Database, encoder: StoredEncoder, vectors: sa.Table, rows: pa.Table) -> None:
    """Store rows of a table of vectors, but those of texts that have some by now: one transaction.

    The database is released.

    Raises:
        IndexingError: the encoder's vectors were removed meanwhile.
    """
    digests = rows.select(["text_digest"])
    with database.begin() as session:
        if find_encoder(session, encoder.name) != encoder:
            raise IndexingError(
                f"the vectors of {encoder.name} were removed while it encoded; start the same command again."
            )
        with session.staged({"encoded_texts": digests}):
            known = set(session.fetch_arrow(_select_known(vectors))["text_digest"].to_pylist())
        if known:
            unknown = [digest not in known for digest in digests["text_digest"].to_pylist()]
            rows = rows.filter(pa.array(unknown, pa.bool_()))
        session.insert(vectors, rows)
    database.release()


def _select_known(vectors: sa.Table) -> sa.Select[Any]:
    """The staged texts that have vectors."""
    encoded = sa.table("encoded_texts", sa.column("text_digest"))
    same = vectors.c.text_digest == sa.cast(encoded.c.text_digest, sa.Uuid)
    return sa.select(vectors.c.text_digest).join_from(encoded, vectors, same).distinct()
