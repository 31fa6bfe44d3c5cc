"""Encoders, their vectors, and the indexes that lie beside the database.

One table of vectors for each encoder, made when the encoder is first used: `vector(d)` on Postgres,
`FLOAT[d]` on DuckDB. Vectors are keyed by the digest of the text, so the same text is never encoded twice.
"""

import re
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import UserDefinedType

from pinakes.errors import IndexingError
from pinakes.schema.base import key_column, metadata, one_of, optional, required

ENCODER_NAME = re.compile(r"[a-z][a-z0-9_]{0,48}")

encoders = sa.Table(
    "encoders",
    metadata,
    key_column("encoder_id", "ours", sa.Integer),
    required("name", sa.Text, "its vectors lie in the table vectors_<name>"),
    required("model", sa.Text, "hub id, or name of the model's folder"),
    required("revision", sa.Text, "hub revision; the weights' digest where the model is a folder"),
    required("weights_digest", sa.Text, "sha256 over the safetensors files"),
    required("dimensions", sa.Integer, "length of a vector"),
    required("pooling", sa.Text, "how tokens become a vector: mean, cls, max, control_code, …"),
    required("max_tokens", sa.Integer, "longer texts are cut"),
    required("normalized", sa.Boolean, "whether vectors have unit length"),
    required("precision", sa.Text, "what the model computed in: fp32, bf16 or fp16"),
    optional("max_cosine_error", sa.Double, "1 - cosine with fp32 over a sample, the largest; null: fp32"),
    sa.UniqueConstraint("name", name="encoders_name_key"),
    one_of("precision", ("fp32", "bf16", "fp16"), "encoders_precision_check"),
    comment="What made the vectors.",
)

side_indexes = sa.Table(
    "side_indexes",
    metadata,
    key_column("side_index_id", "ours", sa.Integer),
    required("kind", sa.Text, "bm25, tfidf, faiss_hnsw, pgvector_hnsw, …"),
    required("scope", sa.Text, "what was indexed: corpus:<name>, or vectors:<encoder>"),
    required("paper_template", sa.Text, "text template that papers were read with; empty: of any template"),
    required("encoder", sa.Text, "encoders.name whose vectors were indexed; empty where none is needed"),
    required("parameters", sa.Text, "JSON object: fields, analyser and the rest of what built it"),
    required("row_count", sa.BigInteger, "papers in the index"),
    required("content_digest", sa.Text, "digest over the ids and texts that it was built from"),
    required(
        "path", sa.Text, "folder of its files, relative to the index folder; name of a database's index"
    ),
    required("built_at", sa.DateTime(timezone=True), "when the build was finished"),
    optional(
        "recall_10",
        sa.Double,
        "share of the exact best 10 that a search for 10 with default options finds; null: not measured",
    ),
    optional("recall_100", sa.Double, "of the best 100 by a search for 100, likewise"),
    sa.UniqueConstraint("kind", "scope", "paper_template", "encoder", name="side_indexes_key"),
    comment="Index files beside the database, with what they were built from.",
)

fragment_sets = sa.Table(
    "fragment_sets",
    metadata,
    key_column("fragment_set_id", "ours; of two sets of one kind the greater is the newer", sa.Integer),
    required(
        "place", sa.Text, "path relative to the index folder, or absolute, or address of an object store"
    ),
    required("benchmark", sa.Text, "the benchmark whose candidates it has"),
    required("mode", sa.Text, "corrected or published: how the benchmark was read"),
    required("corpus", sa.Text, "the corpus that was read"),
    required("paper_template", sa.Text, "text template that papers were read with"),
    required("encoders", sa.Text, "names of the encoders whose vectors it has, with spaces between"),
    required("content_digest", sa.Text, "sha256 over what it is made of: candidates, texts, encoders"),
    required("fragment_count", sa.Integer, "files"),
    required("row_count", sa.BigInteger, "vectors in all files"),
    required("byte_count", sa.BigInteger, "bytes of all files"),
    required("list_sha256", sa.Text, "sha256 of fragments.json, which names each file with its own sha256"),
    required("entered_at", sa.DateTime(timezone=True), "when the set was found whole, and this row written"),
    sa.UniqueConstraint("place", name="fragment_sets_key"),
    comment="Vectors in Parquet files that the machines of a cluster search, a row for each whole set.",
)


class Vector(UserDefinedType[Any]):
    """A vector of `dimensions` 32-bit floats."""

    cache_ok = True

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def get_col_spec(self, **_options: Any) -> str:
        """The type's name on Postgres with pgvector."""
        return f"VECTOR({int(self.dimensions)})"


@compiles(Vector, "duckdb")
def _compile_vector_for_duckdb(type_: Vector, _compiler: Any, **_options: Any) -> str:
    return f"FLOAT[{int(type_.dimensions)}]"


def vectors_table(encoder: str, dimensions: int) -> sa.Table:
    """The table of an encoder's vectors, in a metadata of its own: it exists once the encoder was used.

    Raises `IndexingError` where the name could not be part of a table's name.
    """
    comment = f"Vectors of the encoder {encoder}, one for each text that it has read."
    return _make_table("vectors", encoder, dimensions, "the vector, 32-bit floats", comment)


def sentence_vectors_table(encoder: str, dimensions: int) -> sa.Table:
    """The table of an encoder's contextual sentence vectors, as `vectors_table`."""
    return _make_table(
        "sentence_vectors",
        encoder,
        dimensions,
        "zeros where no token was read",
        f"Sentence vectors of {encoder}: texts are title, ' [SEP] ', sentences with U+001F between.",
        key_column("sentence_position", "1 is the first sentence of the text", sa.Integer),
        required(
            "token_count",
            sa.Integer,
            "tokens of the sentence that were read; 0: it lies behind the length limit",
        ),
    )


def _make_table(
    kind: str, encoder: str, dimensions: int, embedding: str, comment: str, *columns: sa.Column[Any]
) -> sa.Table:
    if not ENCODER_NAME.fullmatch(encoder):
        raise IndexingError(
            f"{encoder!r} cannot name an encoder: expected a lower-case letter, then letters, digits or "
            "underscores, 49 characters at most. Rename the model's folder."
        )
    return sa.Table(
        f"{kind}_{encoder}",
        sa.MetaData(),
        sa.Column("text_digest", sa.Uuid, primary_key=True, comment="CAST(md5(text) AS UUID) of the text"),
        *columns,
        required("embedding", Vector(dimensions), embedding),
        info={"dimensions": dimensions},
        comment=comment,
    )
