"""What a merge needs to know besides the rows, and what it says afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pinakes.database import Session
from pinakes.database.sql_blocks import read_blocks
from pinakes.loaders.staging import Rejected

Tables = Mapping[str, pa.Table]
"""staged table -> its rows, none of them empty"""

Ids = npt.NDArray[np.int64]
"""ids of ours, one for each row; `UNKNOWN` where there is none"""

UNKNOWN: Final = -1


@dataclass(frozen=True, slots=True)
class MergeContext:
    """What a merge needs to know besides the rows.

    Attributes:
        file: identifies the file among `load_batches`: column -> value.
        creates_unknown: whether papers and queries that are only named become rows without a text.
        describes: which columns and children of its papers the file says in full (`Loader.describes`).
        gaps_say_nothing: whether what the file does not say of a paper stays as it is.
    """

    corpus_id: int
    batch_id: int
    file: Mapping[str, Any]
    creates_unknown: bool
    describes: frozenset[str]
    gaps_say_nothing: bool = False


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """What became of the records of a chunk; `loaded` = new + `updated` + `unchanged`.

    `citations` counts the mentions that are new.
    """

    loaded: int
    updated: int
    unchanged: int
    rejected: list[Rejected]
    citations: int = 0


@dataclass(slots=True)
class Fates:
    """Which records were there already, at least in part, and which of all brought something new."""

    known: list[Ids] = field(default_factory=list)
    changed: list[Ids] = field(default_factory=list)

    def count(self) -> tuple[int, int]:
        """How many records were known, and how many of those changed."""
        known = _unite(self.known)
        if not len(known):
            return 0, 0
        return len(known), len(np.intersect1d(known, _unite(self.changed), assume_unique=True))


def _unite(parts: list[Ids]) -> Ids:
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


def read_statement(file: str, block: str) -> str:
    """One statement of the package's SQL."""
    return read_blocks("pinakes.loaders.merge", "sql", file)[block]


def fetch_ids(session: Session, file: str, block: str, parameters: Mapping[str, Any]) -> Ids:
    """The one column of whole numbers that a statement gives."""
    column = session.fetch_arrow(read_statement(file, block), parameters).column(0)
    return np.asarray(column.to_numpy(), dtype=np.int64)


def number_rows(rows: pa.Table) -> Ids:
    """The record numbers of staged rows."""
    return np.asarray(rows["row_number"].to_numpy(), dtype=np.int64)


def make_file_parameters(context: MergeContext) -> dict[str, Any]:
    """The parameters of statements that ask which rows a file, or files of its role, have brought."""
    return {"corpus_id": context.corpus_id, **context.file}
