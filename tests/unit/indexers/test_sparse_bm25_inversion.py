"""Documents as terms inverted: the postings that counting each document alone gives."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pinakes.indexers.sparse_bm25.analyse import TermIds
from pinakes.indexers.sparse_bm25.inversion import Frequencies, invert_block

Documents = list[list[int]]


def make_block(documents: Documents, term_ids: list[int]) -> TermIds:
    """The documents, whose tokens are places in `term_ids`."""
    lengths = np.array([len(document) for document in documents], np.int64)
    tokens = np.array([token for document in documents for token in document], np.int32)
    return TermIds(np.arange(len(documents)) * 2, lengths, tokens, np.array(term_ids, np.int32))


def read_postings(block: TermIds) -> list[tuple[int, int, int]]:
    """(term, document, count) of an inverted block, in its order."""
    arrays = invert_block(block).arrays
    ends = [*arrays["run_starts"].tolist()[1:], len(arrays["documents"])]
    owners = np.repeat(arrays["run_terms"], np.array(ends, np.int64) - arrays["run_starts"])
    return list(zip(owners.tolist(), arrays["documents"].tolist(), arrays["counts"].tolist(), strict=True))


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=9),
    st.lists(st.integers(0, 10**9), min_size=10, max_size=10, unique=True).map(sorted),
)
def test_postings_are_the_counts_of_each_document(documents: Documents, term_ids: list[int]) -> None:
    expected = sorted(
        (term_ids[token], number, count)
        for number, document in enumerate(documents)
        for token, count in Counter(document).items()
    )
    assert read_postings(make_block(documents, term_ids)) == expected


@given(st.lists(st.lists(st.lists(st.integers(0, 99), max_size=5), max_size=4), max_size=5))
def test_frequencies_add_up_over_blocks(blocks: list[Documents]) -> None:
    frequencies = Frequencies()
    for documents in blocks:
        frequencies.add(invert_block(make_block(documents, list(range(100)))))
    held = Counter(token for documents in blocks for document in documents for token in set(document))
    assert frequencies.of_terms(120).tolist() == [held[term] for term in range(120)]
    assert frequencies.of_terms(3).tolist() == [held[term] for term in range(3)]
    assert frequencies.of_terms(0).tolist() == []
