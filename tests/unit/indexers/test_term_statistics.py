"""The counts of a collection: documents, lengths and document frequencies, in any order and any blocks."""

import pytest

from pinakes.indexers import term_statistics
from pinakes.indexers.analysis import named_analysis
from pinakes.indexers.term_statistics import count_terms

WORDS = named_analysis("words")
TEXTS = ["the graph, the paper", "a graph", None, "", "paper paper paper"]


def test_a_term_counts_once_in_a_document_and_a_text_without_terms_is_a_document() -> None:
    found = count_terms(TEXTS, WORDS)
    assert (found.row_count, found.total_length) == (5, 9)
    assert found.look_up(["graph", "paper", "the", "a"]).tolist() == [2, 2, 1, 1]


def test_a_term_that_the_collection_lacks_is_in_no_document() -> None:
    assert count_terms(TEXTS, WORDS).look_up(["absent", "graph"]).tolist() == [0, 2]
    nothing = count_terms([], WORDS)
    assert (nothing.row_count, nothing.total_length) == (0, 0)
    assert nothing.look_up(["graph"]).tolist() == [0]


def test_neither_the_order_of_the_texts_nor_the_blocks_change_a_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terms = ["graph", "paper", "the", "a"]
    monkeypatch.setattr(term_statistics, "TEXTS_AT_ONCE", 2)
    found = count_terms(reversed(TEXTS), WORDS)
    assert (found.row_count, found.total_length) == (5, 9)
    assert found.look_up(terms).tolist() == [2, 2, 1, 1]
