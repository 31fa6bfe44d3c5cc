"""Digests and the order of ties from rows, whatever our ids of the papers are."""

from typing import Any

import numpy as np
import pyarrow as pa

from pinakes.workload.digest import digest_workload, order_ties, renumber_ranks


def digest(
    query: str = "q",
    text: str = "text",
    source_ids: tuple[str, ...] = ("p5", "p7"),
    digests: tuple[str, ...] = ("d5", "d7"),
    pools: dict[str, list[int]] | None = None,
    groups: dict[str, list[int]] | None = None,
    own: int = -1,
) -> str:
    queries = {"query_id": [query], "text": [text]} | ({"pool": ["one"]} if groups else {})
    papers = pa.table({"source_id": source_ids, "text_digest": digests})

    def rows(named: dict[str, list[int]] | None) -> Any:
        return named and {name: np.array(members, dtype=np.int64) for name, members in named.items()}

    own_rows = np.array([own], dtype=np.int64) if groups else None
    ties = order_ties(papers["source_id"])
    return digest_workload(pa.table(queries), papers, ties, rows(pools), rows(groups), own_rows)


def test_the_digest_is_of_ids_texts_and_pools() -> None:
    others = {
        digest(query="r"),
        digest(text="other"),
        digest(source_ids=("p5", "p8")),
        digest(digests=("d7", "d5")),
        digest(pools={"q": [0]}),
        digest(pools={"q": [0, 1]}),
        digest(groups={"one": [0]}),
        digest(groups={"one": [0, 1]}),
        digest(groups={"one": [0, 1]}, own=1),
    }
    assert len(others | {digest()}) == 10


def test_the_digest_does_not_depend_on_the_order_of_our_ids() -> None:
    turned: Any = {"source_ids": ("p7", "p5"), "digests": ("d7", "d5")}
    assert digest() == digest(**turned)
    assert digest(pools={"q": [0]}) == digest(**turned, pools={"q": [1]})
    assert digest(groups={"one": [1]}, own=1) == digest(**turned, groups={"one": [0]}, own=0)


def test_ties_are_ordered_byte_by_byte() -> None:
    assert order_ties(pa.array(["9", "10", "B", "a", "é", "z"])).tolist() == [4, 5, 3, 2, 0, 1]


def test_the_ranks_of_some_papers_are_counted_among_themselves() -> None:
    assert renumber_ranks(np.array([7, 2, 4]), 9).tolist() == [2, 0, 1]
