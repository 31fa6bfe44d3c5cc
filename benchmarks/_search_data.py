"""A synthetic corpus of any size with its indexes, and vectors of an encoder that are planted, not computed.

Encoding 200,000 texts takes hours on two cores. So the encoder reads a few thousand of them; a paper's vector
is one of these with noise and of length 1, which costs a search as much as any other.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from pinakes.database import Database, connect
from pinakes.index.index import index_corpus
from pinakes.load.load import LoadRequest, load
from pinakes.matrices import to_lists
from pinakes.queries.install import initialise
from pinakes.queries.relations import select_corpus_texts
from pinakes.schema import vectors_table
from pinakes.systems.base import SystemOptions
from pinakes.vectors.encoding import EncoderSession
from pinakes.vectors.stored import register_encoder, select_distinct_texts, write_vectors
from pinakes.workload.benchmark import find_index_folder

CORPUS: Final = "synthetic"
ENCODER: Final = "minilm"
_ENCODED: Final = 2_048
_NOISE: Final = 0.05
_ROWS: Final = 16_384


def make_database(url: str | Path, papers: int, systems: list[str]) -> None:
    """A database with the corpus, an index for each lexical system, and vectors where minilm is one."""
    with connect(url) as database:
        initialise(database)
        load(database, LoadRequest("synthetic", options={"papers": str(papers), "seed": "1"}))
        for system in systems:
            if system == ENCODER:
                plant_vectors(database)
            else:
                index_corpus(database, CORPUS, system, options=SystemOptions(find_index_folder(database)))


def plant_vectors(database: Database) -> None:
    """A vector for each text of the corpus."""
    session = EncoderSession(ENCODER)
    texts = select_distinct_texts(select_corpus_texts(CORPUS, "title_abstract"))
    with database.read() as reader:
        encoded = [row["text"] for row in reader.rows(texts.limit(_ENCODED))]
        digests = reader.fetch_arrow(texts.with_only_columns(texts.selected_columns.text_digest))
    vectors = session.embed_texts(encoded)
    stored = register_encoder(database, session.table_name, session.load())
    table = vectors_table(stored.name, stored.dimensions)
    for part, made in _vary(vectors, digests):
        write_vectors(database, stored, table, part.append_column("embedding", to_lists(made)))


def _vary(vectors: np.ndarray, digests: pa.Table) -> Iterator[tuple[pa.Table, np.ndarray]]:
    generator = np.random.default_rng(1)
    for start in range(0, digests.num_rows, _ROWS):
        part = digests.slice(start, _ROWS)
        made = vectors[generator.integers(0, len(vectors), part.num_rows)]
        made = made + generator.normal(0, _NOISE, made.shape).astype(np.float32)
        yield part, made / np.linalg.norm(made, axis=1, keepdims=True)


def read_queries(file: Path, count: int) -> list[str]:
    """Texts of the corpus's own queries, as many as asked for; they repeat where there are fewer."""
    with connect(file) as database, database.read() as session:
        rows = session.rows("SELECT text FROM benchmark_queries WHERE text IS NOT NULL ORDER BY query_id")
    texts = [str(row["text"]) for row in rows]
    return (texts * (1 + count // len(texts)))[:count]
