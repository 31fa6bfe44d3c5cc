"""Columns of parsed JSON into columns of staged rows, by Arrow's kernels: the values that parsing each gives.

What a kernel cannot decide exactly raises `NotPlainError`, and the records are parsed one by one instead.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pinakes.loaders.reading.rows import normalise_identifier
from pinakes.loaders.staging import STAGED

Numbers = np.ndarray[Any, np.dtype[np.int64]]

LIST_OF_TEXTS: Final = pa.list_(pa.string())


class NotPlainError(Exception):
    """The records hold something that is for the exact parser to decide."""


def clean_texts(column: pa.Array) -> pa.Array:
    """Texts without surrounding white space, null where nothing is left: `reading.clean_text` of each.

    >>> clean_texts(pa.array([" a ", "\\u2003", None])).to_pylist()
    ['a', None, None]
    """
    is_odd = _find_odd_ends(column)
    if not is_odd.any():
        return column
    mask = pa.array(is_odd)
    stripped = pc.utf8_trim_whitespace(column.filter(mask))
    cleaned = pc.if_else(pc.equal(pc.binary_length(stripped), 0), None, stripped)
    return column if cleaned.equals(column.filter(mask)) else pc.replace_with_mask(column, mask, cleaned)


def _find_odd_ends(column: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which texts are empty, or begin or end with a byte that may be part of white space.

    Looks at two bytes of each text: trimming all of them copies them.
    """
    _, offsets, data = column.buffers()
    if data is None or data.size == 0:
        return np.asarray(pc.is_valid(column))
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    characters = np.frombuffer(data, np.uint8)
    firsts, lasts = characters[np.minimum(ends[:-1], data.size - 1)], characters[ends[1:] - 1]
    is_odd = (firsts - 0x21 > 0x5D) | (lasts - 0x21 > 0x5D) | (ends[1:] == ends[:-1])
    return np.asarray(is_odd & np.asarray(pc.is_valid(column)))


def clean_ids(column: pa.Array) -> pa.Array:
    """Ids as texts."""
    ids = clean_texts(column) if pa.types.is_string(column.type) else pc.cast(column, pa.string())
    if ids.null_count:
        raise NotPlainError("an id is missing")
    return ids


def clean_years(column: pa.Array) -> pa.Array:
    """Years, null where they are 0: `scalars.take_year` of each."""
    _check_range(column, 0, 9999)
    return pc.cast(pc.if_else(pc.equal(column, 0), None, column), pa.int32())


def compare_venues(venue: pa.Array, other: pa.Array) -> Numbers:
    """What tells apart for which records `rows.leave_other_venues` notes something: 0 where it notes nothing.

    >>> compare_venues(pa.array(["a", "a", "a", None]), pa.array(["b", " a", "", "b"])).tolist()
    [1, 2, 0, 0]
    """
    is_same = pc.equal(clean_texts(venue), clean_texts(other))  # null where one of them is
    codes: Numbers = pc.fill_null(pc.add(pc.cast(is_same, pa.int64()), 1), 0).to_numpy(zero_copy_only=False)
    return codes


def clean_counts(column: pa.Array) -> pa.Array:
    """Whole numbers in 32 bits."""
    _check_range(column, -(1 << 31), (1 << 31) - 1)
    return pc.cast(column, pa.int32())


def _check_range(column: pa.Array, low: int, high: int) -> None:
    bounds = pc.min_max(column).as_py()
    if bounds["min"] is not None and not low <= bounds["min"] <= bounds["max"] <= high:
        raise NotPlainError("a number is out of range")


_PLAIN: Final = {
    "doi": r"^10\.[!-~]+$",
    "arxiv": r"^(?:[0-9]{4}\.[0-9]{4,5}|[a-z-]+/[0-9]{7})$",
    "acl": r"^(?:[A-Z][0-9]{2}-[0-9]{4}|[0-9]{4}\.[a-z0-9-]+\.[0-9]+)$",
    "dblp": r"^[a-z]+/[!-~]*[A-Za-z0-9]$",
    "s2": r"^[0-9a-f]{40}$",
}
"""Scheme -> ids that are normal already, but for the case of a DOI's letters; else those of digits are."""


def normalise_identifiers(scheme: str, column: pa.Array) -> pa.Array:
    """Ids in one spelling, null where nothing is left: `normalise_identifier` of each.

    >>> normalise_identifiers("doi", pa.array(["10.1/A", "doi: 10.1/B", None])).to_pylist()
    ['10.1/a', '10.1/b', None]
    """
    is_plain = pc.match_substring_regex(column, _PLAIN.get(scheme, r"^[0-9]+$"))
    is_odd = pc.invert(pc.fill_null(is_plain, True))
    if scheme == "doi":
        column = pc.if_else(is_plain, pc.ascii_lower(column), column)
    if not pc.any(is_odd).as_py():
        return column
    odd = [normalise_identifier(scheme, value) for value in column.filter(is_odd).to_pylist()]
    return pc.replace_with_mask(column, is_odd, pa.array(odd, pa.string()))


def extract_texts(pattern: str, column: pa.Array) -> pa.Array:
    """What the pattern's one group `found` matches in each text; null where it does not match.

    The pattern must mean the same to RE2 and to Python, which is asked where the text is not ASCII.
    """
    if pc.all(pc.string_is_ascii(column)).as_py() is not False:
        return pc.struct_field(pc.extract_regex(column, pattern), "found")
    compiled = re.compile(pattern)
    matches = [None if text is None else compiled.search(text) for text in column.to_pylist()]
    return pa.array([None if match is None else match["found"] for match in matches], pa.string())


@dataclass(frozen=True, slots=True)
class Members:
    """The members of a column of lists, one after the other.

    Attributes:
        values: the members of all lists.
        parents: for each member the row that its list stands in.
        positions: for each member its place in its list, from 1.
    """

    values: pa.Array
    parents: Numbers
    positions: Numbers

    def filter(self, mask: pa.Array) -> "Members":
        """The members for which the mask is true."""
        if pc.all(mask).as_py() is not False and not mask.null_count:
            return self
        kept = pc.fill_null(mask, False).to_numpy(zero_copy_only=False)
        return Members(self.values.filter(pa.array(kept)), self.parents[kept], self.positions[kept])


def explode(column: pa.Array) -> Members:
    """The members of each list; none of a list that is null.

    >>> members = explode(pa.array([["a"], None, ["b", None]]))
    >>> members.values.to_pylist(), members.parents.tolist(), members.positions.tolist()
    (['a', 'b', None], [0, 2, 2], [1, 1, 2])
    """
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    ends = np.cumsum(lengths)
    parents = np.repeat(np.arange(len(lengths)), lengths)
    positions = np.arange(len(parents)) - np.repeat(ends - lengths, lengths) + 1
    return Members(pc.list_flatten(column), parents, positions)


def join_texts(column: pa.Array) -> pa.Array:
    """Each list's texts, cleaned, without those that are empty, joined by a space; empty where none is left.

    >>> join_texts(pa.array([["A.", " ", "B."], [], None])).to_pylist()
    ['A. B.', '', '']
    """
    members = explode(column)
    cleaned = clean_texts(members.values)
    kept = Members(cleaned, members.parents, members.positions).filter(cleaned.is_valid())
    lengths = np.bincount(kept.parents, minlength=len(column))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), kept.values), " ")


def build_table(name: str, columns: dict[str, pa.Array | pa.Scalar]) -> pa.Table:
    """The staged table of that name from its columns; a column that is not given is null throughout.

    A scalar fills its column.
    """
    schema = STAGED[name]
    rows = len(columns["row_number"])
    arrays = []
    for field in schema:
        column = columns.get(field.name)
        if column is None:
            column = pa.nulls(rows, field.type)
        elif isinstance(column, pa.Scalar):
            column = pa.repeat(column, rows)
        if pa.types.is_string(field.type) and holds_nul(column):
            raise NotPlainError(f"{field.name} holds a NUL character")
        arrays.append(column)
    return pa.Table.from_arrays(arrays, schema=schema)


def build_left_out_table(
    numbers: pa.Array, kind: str, reason: str, items: pa.Array | pa.Scalar | None = None
) -> pa.Table:
    """The staged table of what records leave out of one kind; one item each, unless `items` says how many."""
    columns = {"row_number": numbers, "kind": pa.scalar(kind), "reason": pa.scalar(reason)}
    counted = pa.scalar(1, pa.int32()) if items is None else pc.cast(items, pa.int32())
    return build_table("left_out", {**columns, "items": counted})


def count_members(parents: Numbers, is_left: pa.Array, numbers: pa.Array, kind: str, reason: str) -> pa.Table:
    """The staged table of the members of lists (`Members.parents`) that are left out, by their records."""
    if not is_left.true_count:
        return STAGED["left_out"].empty_table()
    mask = pc.fill_null(is_left, False).to_numpy(zero_copy_only=False)
    rows, items = np.unique(parents[mask], return_counts=True)
    return build_left_out_table(numbers.take(pa.array(rows)), kind, reason, pa.array(items))


def gather_left_out(tables: Sequence[pa.Table]) -> dict[str, pa.Table]:
    """The staged tables `left_out` as one, by its name; nothing where all are empty."""
    filled = [table for table in tables if table.num_rows]
    return {"left_out": sort_records(filled)} if filled else {}


def build_children(
    name: str, parents: Numbers, ids: pa.Array, numbers: pa.Array, **columns: pa.Array | pa.Scalar
) -> pa.Table:
    """The staged table of child rows: of each, the row of its paper, whose ids and numbers are given."""
    owners = pa.array(parents)
    return build_table(name, {"row_number": numbers.take(owners), "source_id": ids.take(owners), **columns})


def build_identifiers(identifiers: Mapping[str, pa.Array], ids: pa.Array, numbers: pa.Array) -> pa.Table:
    """`rows.list_identifiers` of each paper: scheme -> a column of cleaned identifiers, or nulls."""
    tables = []
    for scheme, column in identifiers.items():
        values = normalise_identifiers(scheme, column)
        if values.null_count > column.null_count:
            raise NotPlainError("an identifier is none")
        parents = np.flatnonzero(values.is_valid())
        named = {"scheme": pa.scalar(scheme), "identifier": values.drop_null()}
        tables.append(build_children("identifiers", parents, ids, numbers, **named))
    return sort_records(tables)


def build_authorships(
    names: Members, ids: pa.Array, numbers: pa.Array, author_ids: pa.Array | None = None
) -> pa.Table:
    """`rows.list_authorships` of each paper's cleaned names; `author_ids` stand beside all names."""
    is_named = names.values.is_valid()
    kept = names.filter(is_named)
    sources = None if author_ids is None else author_ids.filter(is_named)
    if sources is None or sources.null_count:
        by_name = pc.binary_join_element_wise("name", kept.values, ":")
        sources = by_name if sources is None else pc.coalesce(sources, by_name)
    positions = pc.cast(pa.array(kept.positions), pa.int32())
    columns = {"position": positions, "author_source_id": sources, "author_name": kept.values}
    return build_children("authorships", kept.parents, ids, numbers, **columns)


def sort_records(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of one or more tables of a kind, in the order of their records."""
    table = pa.concat_tables(tables).combine_chunks()
    numbers = table["row_number"].to_numpy()
    if (numbers[1:] >= numbers[:-1]).all():  # as the rows of one table mostly are
        return table
    return table.take(pa.array(np.argsort(numbers, kind="stable")))


def holds_nul(column: pa.Array) -> bool:
    """Whether a text holds a NUL character."""
    _, offsets, data = column.buffers()
    if not len(column) or data is None or not data.size:
        return False
    bounds = np.frombuffer(offsets, np.int32)[[column.offset, column.offset + len(column)]]
    held = np.frombuffer(data, np.uint8)[bounds[0] : bounds[1]]
    return bool(held.size and held.min() == 0)
