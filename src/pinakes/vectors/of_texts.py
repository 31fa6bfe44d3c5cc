"""Stored vectors of texts by the texts themselves: what a question holds in memory is looked up at once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.errors import RunError
from pinakes.indexers.exact.scores import Vectors
from pinakes.matrices import to_matrix
from pinakes.schema import vectors_table
from pinakes.vectors.stored import StoredEncoder

BLOCK_ROWS = 16_384


class TextVectors:
    """The vectors of distinct texts, each once.

    Attributes:
        dimensions: of a vector.
    """

    def __init__(self, rows: Mapping[str, int], vectors: Vectors) -> None:
        self._rows, self._vectors = rows, vectors
        self.dimensions = int(vectors.shape[1])

    def find(self, texts: Sequence[str]) -> Vectors:
        """The vector of each text (n, d); zeros for an empty one.

        Raises:
            RunError: a text has no vector, so that the database changed since the texts were read.
        """
        found = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        said = [place for place, text in enumerate(texts) if text]
        try:
            found[said] = self._vectors[[self._rows[texts[place]] for place in said]]
        except KeyError as problem:
            raise RunError("the database changed while its vectors were read; start again.") from problem
        return found


def read_text_vectors(session: Session, texts: sa.Select[Any], stored: StoredEncoder) -> TextVectors:
    """The stored vectors of the texts that a select of text_digest and text gives, each text once."""
    vectors, wanted = vectors_table(stored.name, stored.dimensions), texts.subquery("wanted")
    query = sa.select(wanted.c.text, vectors.c.embedding).join_from(
        wanted, vectors, vectors.c.text_digest == wanted.c.text_digest
    )
    said: list[str] = []
    blocks: list[Vectors] = [np.zeros((0, stored.dimensions), dtype=np.float32)]
    for part in session.stream(query, rows=BLOCK_ROWS):
        said.extend(part["text"].to_pylist())
        blocks.append(to_matrix(part["embedding"]))
    return TextVectors({text: row for row, text in enumerate(said)}, np.concatenate(blocks))
