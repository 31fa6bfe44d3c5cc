"""Texts as weighted terms: their products are the scores that a search of each lexical index gives."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pinakes.indexers.analysis import english_analysis, named_analysis
from pinakes.indexers.bm25 import Bm25Index, build_bm25
from pinakes.indexers.bm25_weights import open_weighing
from pinakes.indexers.self_retrieval.space import SparseRows
from pinakes.indexers.sparse_bm25.analyse import list_blocks
from pinakes.indexers.sparse_bm25.build import build_sparse_bm25
from pinakes.indexers.sparse_bm25.index import SparseBm25Index
from pinakes.indexers.term_statistics import count_terms as count_collection
from pinakes.indexers.term_weights import (
    count_terms,
    join_fields,
    stack_rows,
    take_rows,
    weigh_documents,
    weigh_query,
)
from pinakes.indexers.tfidf import TfidfIndex, build_tfidf

TITLES = ["Graph search", "Protein folding", "Graph graph", "Weather"]
TEXTS = [
    "Graph search of a citation graph",
    "Protein folding by search " + "long " * 60,
    "Graph graph and protein",
    "Weather",
]
ALTERED = ["GRAPH of graphs unheard", "folding", "", "nothing known"]


def spread(rows: SparseRows, width: int) -> NDArray[np.float64]:
    """The rows as a matrix."""
    matrix = np.zeros((len(rows), width))
    for number, (start, stop) in enumerate(zip(rows.starts[:-1], rows.starts[1:], strict=True)):
        matrix[number, rows.terms[start:stop]] = rows.weights[start:stop]
    return matrix


def multiply(queries: SparseRows, documents: SparseRows) -> NDArray[np.float64]:
    """Every query's product with every document."""
    width = int(max(queries.terms.max(initial=0), documents.terms.max(initial=0))) + 1
    return spread(queries, width) @ spread(documents, width).T


def list_values(rows: SparseRows) -> tuple[list[int], list[int], list[float]]:
    return rows.starts.tolist(), rows.terms.tolist(), rows.weights.tolist()


def test_an_unknown_term_weighs_nothing_and_lengthens_the_text() -> None:
    counted = count_terms([[0, 0, -1, 1], [1]])
    assert list_values(weigh_query(counted, 0.5)) == ([0, 2, 3], [0, 1, 1], [1.0, 0.5, 0.5])
    # k1 1, b 1, mean length 2: tf * 2 / (tf + length / 2)
    documents = weigh_documents(counted, np.array([1.0, 3.0]), 2.0, 1.0, 1.0)
    assert list_values(documents) == ([0, 2, 3], [0, 1, 1], [2 * 2 / (2 + 2), 3 * 2 / (1 + 2), 3 * 2 / 1.5])


def test_rows_are_stacked_taken_and_joined_by_field() -> None:
    one = weigh_query(count_terms([[1], [0, 1]]))
    both = stack_rows([one, weigh_query(count_terms([[2]]))])
    assert list_values(both) == ([0, 1, 3, 4], [1, 0, 1, 2], [1.0] * 4)
    assert list_values(take_rows(both, np.array([2, 0]))) == ([0, 1, 2], [2, 1], [1.0, 1.0])
    assert list_values(take_rows(both, np.array([], dtype=np.intp))) == ([0], [], [])
    assert list_values(stack_rows([])) == ([0], [], [])
    joined = join_fields([one, weigh_query(count_terms([[0], []]), 0.25)], [3, 2])
    assert list_values(joined) == ([0, 2, 4], [1, 3, 0, 1], [1.0, 0.25, 1.0, 1.0])


def test_bm25_weights_multiply_to_the_scores_of_its_index(tmp_path: Path) -> None:
    weights = {"text": 1.0, "title": 0.25}
    documents = [(n, {"text": text, "title": TITLES[n]}) for n, text in enumerate(TEXTS)]
    build_bm25(tmp_path / "index", documents, list(weights), weights=weights)
    index, analysis = Bm25Index.open(tmp_path / "index"), english_analysis()
    columns = {"text": TEXTS, "title": TITLES}
    fields = {name: (weights[name], count_collection(columns[name], analysis)) for name in weights}
    weigh = open_weighing(analysis, fields)
    _check(weigh(ALTERED, [""] * 4)[0], weigh(TEXTS, TITLES)[1], index)


def test_sparse_bm25_weights_multiply_to_the_scores_of_its_index(tmp_path: Path) -> None:
    build_sparse_bm25(tmp_path / "index", list_blocks(enumerate(TEXTS)), analysis=named_analysis("english"))
    index = SparseBm25Index.open(tmp_path / "index")
    _check(index.weigh(ALTERED, 1.2, 0.75)[0], index.weigh(TEXTS, 1.2, 0.75)[1], index)


def test_tfidf_weights_multiply_to_the_scores_of_its_index(tmp_path: Path) -> None:
    build_tfidf(tmp_path / "index", ((n, {"text": text}) for n, text in enumerate(TEXTS)))
    index = TfidfIndex.open(tmp_path / "index")
    _check(index.weigh(ALTERED), index.weigh(TEXTS), index)


def _check(
    queries: SparseRows, documents: SparseRows, index: Bm25Index | SparseBm25Index | TfidfIndex
) -> None:
    expected = [index.score_pool(text, np.arange(len(TEXTS))).tolist() for text in ALTERED]
    assert multiply(queries, documents).tolist() == [pytest.approx(row, rel=1e-6) for row in expected]
    assert _count_found(expected) == [2, 1, 0, 0]
    assert np.diff(queries.starts).astype(bool).tolist() == [True, True, False, False]


def _count_found(scores: Sequence[Sequence[float]]) -> list[int]:
    return [sum(score > 0 for score in row) for row in scores]
