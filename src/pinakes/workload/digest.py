"""The order among equal scores, and the digest of a workload: both the same on both databases."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ids = NDArray[np.int64]

ROWS_AT_ONCE: Final = 500_000


def order_ties(source_ids: pa.Array | pa.ChunkedArray) -> Ids:
    """The rank of each id when they are sorted byte-wise descending: trec_eval's order among equal scores.

    >>> order_ties(pa.array(["a", "c", "b"])).tolist()
    [2, 0, 1]
    """
    whole = source_ids.combine_chunks() if isinstance(source_ids, pa.ChunkedArray) else source_ids
    descending = _compute().array_sort_indices(whole, order="descending").to_numpy()
    ranks = np.empty(len(source_ids), dtype=np.int64)
    ranks[descending] = np.arange(len(source_ids))
    return ranks


def renumber_ranks(ranks: Ids, of: int) -> Ids:
    """Ranks out of `of` as ranks among themselves.

    >>> renumber_ranks(np.array([7, 2, 4]), 9).tolist()
    [2, 0, 1]
    """
    taken = np.zeros(of, dtype=bool)
    taken[ranks] = True
    new_ranks: Ids = (np.cumsum(taken) - 1)[ranks]
    return new_ranks


def digest_workload(
    queries: pa.Table,
    papers: pa.Table,
    tie_order: Ids,
    pools: Mapping[str, Ids] | None,
    groups: Mapping[str, Ids] | None,
    query_rows: Ids | None,
) -> str:
    """sha256 over the queries (by query_id), the candidates, and who has which, as `Workload` has them."""
    digest = hashlib.sha256()
    _add_rows(digest, _join([queries["query_id"], queries["text"]]))
    digest_papers(digest, papers, tie_order)
    if pools is not None:
        digest.update("\n".join(_list_pairs(papers, tie_order, pools)).encode())
    if groups is not None and query_rows is not None:
        _add_rows(digest, _join([queries["pool"]]))
        _add_numbers(digest, np.where(query_rows < 0, -1, tie_order[query_rows]))
        for pool, rows in sorted(groups.items()):
            digest.update(f"{pool}\0{len(rows)}\n".encode())
            _add_numbers(digest, np.sort(tie_order[rows]))
    return digest.hexdigest()


def digest_papers(digest: Any, papers: pa.Table, tie_order: Ids) -> None:
    """Add source_id and text_digest of each paper, by source id."""
    _add_rows(digest, _sort_papers(papers, np.argsort(-tie_order)))


def _compute() -> Any:
    import pyarrow.compute as pc  # late: a search loads this module and digests nothing

    return pc


def _list_pairs(papers: pa.Table, tie_order: Ids, pools: Mapping[str, Ids]) -> Iterator[str]:
    source_ids = papers["source_id"].to_pylist()
    for query_id, rows in sorted(pools.items()):
        for row in rows[np.argsort(-tie_order[rows])].tolist():
            yield f"{query_id}\0{source_ids[row]}"


def _sort_papers(papers: pa.Table, ascending: Ids) -> pa.Array:
    """source_id and text_digest of each candidate as one text, in their order."""
    joined = _join([papers["source_id"], papers["text_digest"]]).take(pa.array(ascending))
    # Papers of two corpora may have the same source_id; then the texts decide.
    return joined if _ascends(joined) else joined.take(_compute().array_sort_indices(joined))


def _ascends(values: pa.Array) -> bool:
    pc = _compute()
    return len(values) < 2 or bool(pc.all(pc.less_equal(values[:-1], values[1:])).as_py())


def _join(columns: list[pa.ChunkedArray]) -> pa.Array:
    texts = [column.combine_chunks().cast(pa.large_string()) for column in columns]
    return _compute().binary_join_element_wise(*texts, pa.scalar("\0", pa.large_string()))


def _add_rows(digest: Any, texts: pa.Array) -> None:
    for first in range(0, len(texts), ROWS_AT_ONCE):
        part = texts[first : first + ROWS_AT_ONCE].to_pylist()
        digest.update(("\n".join(part) + "\n").encode())


def _add_numbers(digest: Any, numbers: Ids) -> None:
    digest.update(np.ascontiguousarray(numbers, dtype="<i8").tobytes())
