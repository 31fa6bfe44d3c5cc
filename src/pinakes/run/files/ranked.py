"""Rows of ranking files put in order, as columns of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pinakes.errors import InputError, RunError
from pinakes.run.files.rows import FileRows, show


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Rankings in order: by query, then by rank.

    Attributes:
        query_ids: the distinct ids of queries, byte by byte ascending.
        source_ids: the distinct ids of documents, in no order.
        queries: positions in `query_ids` (n,).
        sources: positions in `source_ids` (n,).
        ranks: from 1 in each query (n,).
        scores: higher is better (n,).
    """

    query_ids: list[str]
    source_ids: pa.Array
    queries: NDArray[np.int32]
    sources: NDArray[np.int32]
    ranks: NDArray[np.int32]
    scores: NDArray[np.float64]


def rank_rows(files: Sequence[tuple[str, FileRows]]) -> Ranked:
    """The rows of the named files together, in trec_eval 9's order: score as float32 descending, then id.

    Where a file gives an order among equal scores, that comes before the id, which is byte-wise descending.

    Raises:
        InputError: a file ranks a document twice for one query.
        RunError: two files do.
    """
    query_codes, found = _encode([rows.query_ids for _, rows in files])
    by_id = pc.sort_indices(found).to_numpy()
    queries = np.argsort(by_id).astype(np.int32)[query_codes]
    query_ids = found.take(pa.array(by_id)).to_pylist()
    sources, source_ids = _encode([rows.source_ids for _, rows in files])
    _refuse_repeated(files, queries, sources, query_ids, source_ids)
    scores = np.concatenate([np.empty(0), *(rows.scores for _, rows in files)])
    places = np.concatenate([np.empty(0), *(rows.places for _, rows in files)])
    with np.errstate(over="ignore"):  # beyond float32 a score is infinite, as trec_eval reads it
        keys = (places, -scores.astype(np.float32), queries)
    order = _order(keys, sources, source_ids)
    queries = queries[order]
    starts = np.searchsorted(queries, np.arange(len(query_ids)))
    ranks = (np.arange(len(queries)) - starts[queries] + 1).astype(np.int32)
    return Ranked(query_ids, source_ids, queries, sources[order], ranks, scores[order])


def _order(
    keys: tuple[NDArray[Any], ...], sources: NDArray[np.int32], source_ids: pa.Array
) -> NDArray[np.int64]:
    """The rows by the keys, the last first, then by id descending: of ids those alone are sorted that tie."""
    order = _sort(keys)
    ties = np.ones(max(len(order) - 1, 0), dtype=bool)
    for key in keys:
        ties &= key[order][1:] == key[order][:-1]
    tied = np.append(False, ties) | np.append(ties, False)
    if not tied.any():
        return order
    rows = order[tied]
    owners = np.append(0, np.cumsum(~ties))[tied]
    order[tied] = rows[np.lexsort((_place_descending(sources[rows], source_ids), owners))]
    return order


def _place_descending(sources: NDArray[np.int32], source_ids: pa.Array) -> NDArray[np.int64]:
    """The place of each source's id among those of all that are given, byte by byte descending."""
    distinct, which = np.unique(sources, return_inverse=True)
    descending = pc.sort_indices(source_ids.take(pa.array(distinct)), sort_keys=[("", "descending")])
    places = np.empty(len(distinct), dtype=np.int64)
    places[descending.to_numpy()] = np.arange(len(distinct))
    return places[which]


def _sort(keys: tuple[NDArray[Any], ...]) -> NDArray[np.int64]:
    """As `np.lexsort`, in a fraction of its time where the rows of each query are in order already."""
    order = np.argsort(keys[-1], kind="stable")
    undecided = np.ones(max(len(order) - 1, 0), dtype=bool)
    for key in reversed(keys):
        values = key[order]
        if (undecided & (values[1:] < values[:-1])).any():
            return np.lexsort(keys)
        undecided &= values[1:] == values[:-1]
    return order


def keep_tag(files: Sequence[tuple[str, FileRows]], tag: str | None) -> list[tuple[str, FileRows]]:
    """The rows of the one system that the files are of, or of the one that is named.

    Raises:
        InputError: the files are of several systems and none is named, or of none of that name.
    """
    found = sorted({one for _, rows in files for one in rows.tags})
    if tag is None and len(found) > 1:
        raise InputError(
            f"the files are of {len(found)} systems by their tags: {show(', '.join(found))}; expected one. "
            "Name it with --tag."
        )
    if tag is None:
        return list(files)
    if tag not in found:
        listed = show(", ".join(found)) if found else "none"
        raise InputError(f"no row of the files has the tag {tag!r}; the tags are: {listed}.")
    return [(name, _take(rows, tag)) for name, rows in files]


def _take(rows: FileRows, tag: str) -> FileRows:
    if rows.tag_column is None:
        return rows
    chosen = pc.equal(rows.tag_column.cast(pa.string()), tag)
    mask = chosen.to_numpy()
    kept = (rows.query_ids.filter(chosen), rows.source_ids.filter(chosen))
    return FileRows(*kept, rows.scores[mask], rows.places[mask], rows.tag_column.filter(chosen))


def _encode(columns: Sequence[pa.ChunkedArray]) -> tuple[NDArray[np.int32], pa.Array]:
    """Each value's position among the distinct ones, and these."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    # One array of all: Arrow's dictionaries of many chunks take long to unify. Its offsets are of 64 bits.
    whole = pa.chunked_array(chunks, pa.string()).cast(pa.large_string()).combine_chunks()
    encoded = whole.dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary


def _refuse_repeated(
    files: Sequence[tuple[str, FileRows]],
    queries: NDArray[np.int32],
    sources: NDArray[np.int32],
    query_ids: list[str],
    source_ids: pa.Array,
) -> None:
    pairs = queries.astype(np.int64) * max(len(source_ids), 1) + sources
    inorder = np.sort(pairs)
    if not (inorder[1:] == inorder[:-1]).any():
        return
    order = np.argsort(pairs, kind="stable")
    repeated = np.flatnonzero(pairs[order][1:] == pairs[order][:-1])
    first = repeated[np.argmin(order[repeated + 1])]
    rows = order[first : first + 2]
    ends = np.cumsum([len(rows_of.scores) for _, rows_of in files])
    one, other = np.searchsorted(ends, rows, side="right")
    query, source = query_ids[queries[rows[0]]], source_ids[int(sources[rows[0]])].as_py()
    if one != other:
        raise RunError(
            "two of the files rank the same paper for the same query; expected each pair once: "
            f"{files[one][0]} and {files[other][0]} rank {source} for {query}."
        )
    places = [int(row) + 1 - int(ends[one] - len(files[one][1].scores)) for row in rows]
    raise InputError(
        f"{files[one][0]}: query {query} ranks {source} twice (records {places[0]} and {places[1]}); "
        "expected it once."
    )
