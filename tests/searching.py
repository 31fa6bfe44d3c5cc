"""Many texts searched in one lexical index, by several threads."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pinakes.indexers.bm25 import Bm25Index
from pinakes.indexers.lexical import Ranked, TieOrder, by_paper_id
from pinakes.indexers.tfidf import TfidfIndex


def search_many(
    index: Bm25Index | TfidfIndex,
    texts: Sequence[str],
    k: int,
    *,
    tie_order: TieOrder = by_paper_id,
    threads: int = 1,
) -> list[Ranked]:
    """The ranking of each text, in their order."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(partial(index.search, k=k, tie_order=tie_order), texts))
