"""What a merge needs to know besides the rows, the ids of what they name, and what it says afterwards."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from pinakes.database import Session
from pinakes.distinct import find_distinct
from pinakes.loaders.staging import Rejected
from pinakes.schema import authors, benchmark_queries, cited_references, next_id, papers

Tables = Mapping[str, pa.Table]
"""staged table -> its rows, none of them empty"""

Ids = npt.NDArray[np.int64]
"""our ids, one for each row; `UNKNOWN` where there is none"""

UNKNOWN: Final = -1

_NAMED: Final[dict[str, tuple[sa.Table, sa.ColumnElement[int], sa.Column[str]]]] = {
    "papers": (papers, papers.c.paper_id, papers.c.source_id),
    "authors": (authors, authors.c.author_id, authors.c.source_id),
    "cited_references": (cited_references, cited_references.c.reference_id, cited_references.c.reference_key),
    # A query has no number of its own: every existing one counts as 0.
    "queries": (benchmark_queries, sa.literal_column("CAST(0 AS BIGINT)"), benchmark_queries.c.query_id),
}
"""kind of key -> its table, our id, and the source's key"""
_ROWS_A_KEY: Final = {"papers": 4, "authors": 8, "cited_references": 8}
"""kind of key -> where a key has more rows, Postgres finds those of all keys sooner by an index than it reads
all rows; a paper's are long"""


@dataclass(slots=True)
class Outcomes:
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
    return find_distinct(*parts) if parts else np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class MergeContext:
    """What a merge needs to know besides the rows.

    Attributes:
        file: identifies the file among `load_batches`: column -> value.
        creates_unknown: whether papers and queries that are only named become rows without a text.
        describes: which columns and child rows of its papers the file says in full (`Loader.describes`).
        gaps_say_nothing: whether what the file does not say of a paper stays as it is.
        may_lack_text: whether a paper without title, abstract and text is none to refuse.
        file_name: what `load_batches` calls the file, whatever its content is.
        older: the batches of the file's older versions.
        span: the least and the greatest id of the papers that are compared and replaced, where that is known:
            the rows of others need not be read.
        outcomes: what becomes of the records, while the chunk is merged.
    """

    corpus_id: int
    batch_id: int
    file: Mapping[str, Any]
    creates_unknown: bool
    describes: frozenset[str]
    gaps_say_nothing: bool = False
    may_lack_text: bool = False
    file_name: str = ""
    older: frozenset[int] = frozenset()
    span: tuple[int, int] | None = None
    outcomes: Outcomes = field(default_factory=Outcomes)

    @property
    def says_papers(self) -> bool:
        """Whether the file's papers are its own to say, not only more of what others say."""
        return "title" in self.describes

    @property
    def producer(self) -> str:
        """Whose the rows of the file are: its loader's."""
        return str(self.file["loader"])


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """What became of the records of a chunk; `loaded` = new + `updated` + `unchanged`.

    `citations` counts the mentions that are new, `left_out` the items of which the accepted records make no
    row: (kind, reason) -> how many.
    """

    loaded: int
    updated: int
    unchanged: int
    rejected: list[Rejected]
    citations: int = 0
    left_out: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(slots=True)
class Keys:
    """Distinct keys in the order in which they are first named, and the id of each."""

    keys: pa.Array
    ids: Ids

    def find(self, column: pa.ChunkedArray) -> Ids:
        """The ids of a column of keys; `UNKNOWN` for a null and for a key that has none.

        Of a column that is encoded (`encode_keys`, `encode_owners`), its distinct keys alone are looked up.
        """
        return self._find(column.combine_chunks())

    def _find(self, values: pa.Array) -> Ids:
        if pa.types.is_dictionary(values.type):
            held = values.dictionary
            positions, ids = values.indices, self.ids if held.equals(self.keys) else self._find(held)
        elif self.keys.slice(0, len(values)).equals(values):  # as a chunk's own papers, which are named first
            return self.ids[: len(values)].copy()
        else:
            positions, ids = pc.index_in(values, value_set=self.keys), self.ids
        found: Ids = np.append(ids, UNKNOWN)[positions.fill_null(len(ids)).to_numpy()]
        return found

    def number_new(self, first_id: int) -> "Keys":
        """Give every key without an id the next one, in order; the keys that were without, with their ids."""
        is_new = np.array(self.ids == UNKNOWN)
        self.ids[is_new] = first_id + np.arange(np.count_nonzero(is_new))
        return Keys(self.keys.filter(pa.array(is_new)), self.ids[is_new])


def find_keys(session: Session, kind: str, corpus_id: int, columns: Iterable[pa.ChunkedArray]) -> Keys:
    """The distinct keys of columns that name papers, authors, cited references or queries, with their ids."""
    keys = list_distinct(columns)
    ids = np.full(len(keys), UNKNOWN, dtype=np.int64)
    if len(keys):
        table, id_, key = _NAMED[kind]
        staged = sa.table("staged_keys", sa.column("place", sa.BigInteger), sa.column("key", sa.Text))
        same = sa.and_(table.c.corpus_id == corpus_id, staged.c.key == key)
        query = sa.select(staged.c.place, id_.label("id")).join_from(staged, table, same)
        rows = pa.table({"place": pa.array(np.arange(len(keys))), "key": keys})
        by_index = kind in _ROWS_A_KEY and are_few(session, table, len(keys), _ROWS_A_KEY[kind])
        if by_index:  # in its order one key finds what the one before has read
            rows = rows.sort_by("key")
        with session.staged({staged.name: rows}), session.joined_by_index() if by_index else nullcontext():
            places, found = session.fetch_numbers(query)
        ids[places] = found
    return Keys(keys, ids)


def are_few(session: Session, table: sa.Table, keys: int, rows_a_key: int) -> bool:
    """Whether the table has more rows than so many for each of the keys, so that an index finds them sooner.

    Never on DuckDB, which reads few bytes of each row, and always all rows.
    """
    if session.backend.stages_in_place:
        return False
    (id_,) = table.primary_key.columns
    return keys * rows_a_key < next_id(session, id_)


def find_known(session: Session, corpus_id: int, kind: str, ids: Collection[str]) -> set[str]:
    """Those of the ids of papers or queries that the corpus holds."""
    found = find_keys(session, kind, corpus_id, [pa.chunked_array([list(ids)], pa.string())])
    return set(found.keys.filter(pa.array(found.ids != UNKNOWN)).to_pylist())


def list_distinct(columns: Iterable[pa.ChunkedArray]) -> pa.Array:
    """The distinct texts of the columns, in the order in which they first stand there, without nulls."""
    distinct = [_list_distinct(column) for column in columns]
    return distinct[0] if len(distinct) == 1 else pc.unique(pa.chunked_array(distinct, pa.string()))


def _list_distinct(column: pa.ChunkedArray) -> pa.Array:
    if not pa.types.is_dictionary(column.type):
        return pc.unique(column).drop_null()
    encoded = column.combine_chunks()
    return (
        encoded.dictionary if _is_in_order(encoded) else pc.cast(pc.unique(encoded), pa.string()).drop_null()
    )


def encode_keys(rows: pa.Table, names: Iterable[str]) -> pa.Table:
    """The rows with these columns of keys encoded by Arrow: a key that stands often is looked up once.

    What is encoded so already, with all keys in the order in which they first stand, stays as it is. Nobody
    else encodes, so a dictionary has each key once.
    """
    for name in names:
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, name, _encode(rows.column(place)))
    return rows


def encode_owners(rows: pa.Table, papers: pa.Table) -> pa.Table:
    """Child rows with `source_id` encoded by the column of `papers`: found by their records, not by hashing.

    They stay as they are where not each is of the paper of its record.

    >>> papers = pa.table({"row_number": [4, 6], "source_id": ["x", "y"]})
    >>> rows = pa.table({"row_number": [4, 4, 6], "source_id": ["x", "x", "y"]})
    >>> encode_owners(rows, papers)["source_id"].combine_chunks().indices.to_pylist()
    [0, 0, 1]
    """
    numbers, owners = number_rows(rows), number_rows(papers)
    places = np.searchsorted(owners, numbers)
    if not len(owners) or places.max(initial=0) == len(owners) or not (owners[places] == numbers).all():
        return rows
    ids, named = papers["source_id"].combine_chunks(), rows["source_id"].combine_chunks()
    if not ids.take(pa.array(places)).equals(named):
        return rows
    encoded = pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), ids)
    return rows.set_column(rows.schema.get_field_index("source_id"), "source_id", encoded)


def _encode(column: pa.ChunkedArray) -> pa.Array:
    if not pa.types.is_dictionary(column.type):
        return column.combine_chunks().dictionary_encode()
    encoded = column.combine_chunks()
    return encoded if _is_in_order(encoded) else pc.cast(encoded, pa.string()).dictionary_encode()


def _is_in_order(encoded: pa.DictionaryArray) -> bool:
    """Whether every key of the dictionary stands in the column, and they first stand in its order."""
    if encoded.null_count or not len(encoded):
        return False
    highest = np.maximum.accumulate(encoded.indices.to_numpy())
    is_next = highest[1:] - highest[:-1] <= 1
    return bool(highest[0] == 0 and highest[-1] == len(encoded.dictionary) - 1 and is_next.all())


def find_first(column: pa.ChunkedArray) -> pa.Array:
    """Where each key of a column that `encode_keys` has encoded first stands, in their order.

    >>> find_first(encode_keys(pa.table({"a": ["x", "y", "x", "z"]}), ["a"])["a"]).to_pylist()
    [0, 1, 3]
    """
    encoded = column.combine_chunks()
    codes = encoded.indices.to_numpy()
    first = np.empty(len(encoded.dictionary), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # what is set last stays
    return pa.array(first)


def fetch_ids(session: Session, query: sa.Select[Any]) -> Ids:
    """The one column of whole numbers that a query gives."""
    return session.fetch_numbers(query)[0]


def number_rows(rows: pa.Table) -> Ids:
    """The record numbers of staged rows."""
    return np.asarray(rows["row_number"].to_numpy(), dtype=np.int64)


def number_places(rows: pa.Table) -> pa.Table:
    """The rows with the column `place`, from 0."""
    return rows.append_column("place", pa.array(np.arange(rows.num_rows)))
