"""Ranks, overlaps and similarities of vectors against all scores in float64, with ties and missing papers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.exact.scores import check_vectors
from pinakes.indexers.self_retrieval import pairs, tiles
from pinakes.indexers.self_retrieval.overlaps import share_nearest
from pinakes.indexers.self_retrieval.places import find_places
from pinakes.indexers.self_retrieval.space import (
    DenseTexts,
    Overlaps,
    PairStatistics,
    SparseRows,
    SparseTexts,
    find_overlaps,
    measure_pairs,
    rank_own,
)
from pinakes.indexers.self_retrieval.standardise import measure_standard, normalise

Vectors = NDArray[np.float32]


def singles(values: list[Any]) -> Vectors:
    return np.array(values, dtype=np.float32)


def naive_cosines(left: Vectors, right: Vectors) -> NDArray[np.float64]:
    wide, tall = left.astype(np.float64), right.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)[:, None] * np.linalg.norm(tall, axis=1)[None]
    cosines: NDArray[np.float64] = (wide @ tall.T) / np.where(lengths > 0, lengths, 1.0)
    return cosines


def naive_ranks(
    queries: DenseTexts, matrices: list[DenseTexts], ties: NDArray[np.int64]
) -> list[tuple[int, int, int]]:
    """(paper, rank, ties), by sorting all candidates of each query."""
    ranked = []
    for paper, vector in zip(queries.rows.tolist(), queries.vectors, strict=True):
        if paper not in matrices[0].rows:
            continue
        candidates = []
        for number, texts in enumerate(matrices):
            scores = naive_cosines(vector[None], texts.vectors)[0].astype(np.float32)
            candidates += [
                (-float(score), int(ties[row]), number, int(row))
                for score, row in zip(scores, texts.rows, strict=True)
                if number == 0 or row != paper
            ]
        candidates.sort()
        place = next(i for i, one in enumerate(candidates) if one[2:] == (0, paper))
        same = sum(one[0] == candidates[place][0] for one in candidates) - 1
        ranked.append((paper, place + 1, same))
    return ranked


def make_texts(seed: int, papers: int, missing: int, levels: int) -> DenseTexts:
    """Vectors of few whole numbers, so that many scores are equal, some rows equal and some zero."""
    random = np.random.default_rng(seed)
    rows = np.sort(random.choice(papers, papers - missing, replace=False))
    vectors = random.integers(-levels, levels + 1, (len(rows), 5)).astype(np.float32)
    vectors[:: max(1, len(rows) // 7)] = vectors[0]
    vectors[len(rows) // 2] = 0
    return DenseTexts(rows, vectors)


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("papers", "missing"), [(1, 0), (2, 0), (9, 3), (150, 20)])
@pytest.mark.parametrize("levels", [1, 50])
def test_ranks_are_those_of_sorting_all_candidates(seed: int, papers: int, missing: int, levels: int) -> None:
    ties = np.random.default_rng(seed).permutation(papers)
    queries, originals, others = (make_texts(10 * seed + i, papers, missing, levels) for i in range(3))
    one = rank_own(queries, originals, ties)
    assert list(zip(one.rows, one.rank, one.ties, strict=True)) == naive_ranks(queries, [originals], ties)
    both = rank_own(queries, originals, ties, others)
    expected = naive_ranks(queries, [originals, others], ties)
    assert list(zip(both.rows, both.rank, both.ties, strict=True)) == expected


def test_a_query_that_equals_its_own_title_does_not_find_it() -> None:
    texts = DenseTexts(np.arange(3), np.eye(3, dtype=np.float32))
    far = DenseTexts(np.arange(3), singles([[1, 1, 0], [0, 1, 1], [1, 0, 1]]))
    ranked = rank_own(texts, far, np.arange(3), texts)
    assert ranked.rank.tolist() == [1, 2, 2]  # each ties with one other original, ordered by paper
    assert ranked.ties.tolist() == [1, 1, 1]


def test_equal_candidates_are_ranked_by_the_tie_order() -> None:
    same = DenseTexts(np.arange(4), np.ones((4, 2), dtype=np.float32))
    ranked = rank_own(same, same, np.array([7, 3, 5, 3]))
    assert ranked.rank.tolist() == [4, 1, 3, 2]
    assert ranked.ties.tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("tile", [3, 64, 1024])
def test_results_are_the_same_for_every_tile_and_thread_count(
    threads: int, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(5)
    vectors = random.standard_normal((300, 16), dtype=np.float32)
    vectors[::9] = vectors[1]
    near = vectors + random.standard_normal((300, 16), dtype=np.float32)
    originals, queries = (DenseTexts(np.arange(300), one) for one in (vectors, near))

    def compute() -> tuple[list[int], list[int], list[int], PairStatistics | None]:
        ranked = rank_own(queries, originals, np.arange(300), queries)
        shared = find_overlaps(queries, originals, np.arange(0, 300, 2), np.arange(300)).shared
        return ranked.rank.tolist(), ranked.ties.tolist(), shared.tolist(), measure_pairs(originals)

    torch.set_num_threads(2)
    whole = compute()
    torch.set_num_threads(threads)
    monkeypatch.setattr(tiles, "TILE", tile)
    assert compute() == whole


def test_moments_are_the_same_bits_on_one_and_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "CHUNK_ROWS", 70)
    checked = check_vectors(np.random.default_rng(2).standard_normal((500, 33), dtype=np.float32), "text")
    torch.set_num_threads(1)
    alone = pairs.measure_moments(checked)
    torch.set_num_threads(2)
    assert pairs.measure_moments(checked) == alone


@pytest.mark.parametrize(("count", "width"), [(2, 3), (3, 1), (40, 8), (700, 20)])
@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_pairs_are_measured_as_all_cosines_in_float64_are(count: int, width: int, shift: float) -> None:
    vectors = np.random.default_rng(count).standard_normal((count, width), dtype=np.float32) + np.float32(
        shift
    )
    if count > 10:
        vectors[::10] = vectors[3]
        vectors[1::10] = 0
    cosines = naive_cosines(vectors, vectors)[np.triu_indices(count, 1)]
    found = measure_pairs(DenseTexts(np.arange(count), vectors))
    assert found is not None
    assert (found.papers, found.pairs) == (count, len(cosines))
    rounded = cosines.astype(np.float32)
    assert (found.lowest, found.highest) == (rounded.min(), rounded.max())
    assert found.mean == pytest.approx(cosines.mean(), rel=1e-12, abs=1e-15)
    assert found.deviation == pytest.approx(cosines.std(), rel=1e-9, abs=2e-8)
    assert found.above_mean == int((rounded > np.float32(cosines.mean())).sum())


def test_pairs_of_equal_texts_are_none_above_the_mean() -> None:
    found = measure_pairs(DenseTexts(np.arange(50), np.full((50, 7), 0.1, dtype=np.float32)))
    assert found is not None
    assert (found.lowest, found.highest, found.above_mean) == (1.0, 1.0, 0)
    assert found.mean == pytest.approx(1.0, abs=1e-14)
    assert found.deviation == pytest.approx(0.0, abs=1e-14)


def test_three_papers_by_hand() -> None:
    found = measure_pairs(DenseTexts(np.arange(3), singles([[1, 0], [0, 2], [3, 0]])))
    assert found is not None
    assert (found.papers, found.pairs, found.lowest, found.highest, found.above_mean) == (3, 3, 0.0, 1.0, 1)
    assert found.mean == pytest.approx(1 / 3)
    assert found.deviation == pytest.approx(2**0.5 / 3)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_texts_have_no_pairs(count: int) -> None:
    assert measure_pairs(DenseTexts(np.arange(count), np.ones((count, 3), dtype=np.float32))) is None


def naive_overlaps(
    neighbours: DenseTexts, originals: DenseTexts, sample: NDArray[np.int64], ties: NDArray[np.int64]
) -> list[list[list[int]]]:
    """The shared counts by their definition: a sorted list for each query, reading and depth."""
    vectors = np.concatenate([originals.vectors, neighbours.vectors])
    names = [(int(row), 0) for row in originals.rows] + [(int(row), 1) for row in neighbours.rows]
    shared = []
    for paper in sorted(set(sample.tolist()) & set(originals.rows.tolist()) & set(neighbours.rows.tolist())):
        lists = []
        for name in ((paper, 1), (paper, 0)):
            vector = vectors[names.index(name)][None]
            scores = naive_cosines(vector, vectors)[0].astype(np.float32)
            order = sorted(range(len(names)), key=lambda i: (-scores[i], ties[names[i][0]], names[i][1]))
            lists.append([names[i] for i in order])
        pair = {(paper, 0), (paper, 1)}
        left_out: list[list[set[tuple[int, int]]]] = [
            [set(), set()],
            [{(paper, 1)}, {(paper, 0)}],
            [pair, pair],
        ]
        shared.append(
            [
                [
                    len(
                        set([one for one in lists[0] if one not in out[0]][:depth])
                        & set([one for one in lists[1] if one not in out[1]][:depth])
                    )
                    for depth in (10, 20)
                ]
                for out in left_out
            ]
        )
    return shared


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("papers", "missing"), [(1, 0), (4, 1), (11, 2), (120, 30)])
@pytest.mark.parametrize("levels", [1, 50])
def test_overlaps_are_those_of_sorted_lists(seed: int, papers: int, missing: int, levels: int) -> None:
    random = np.random.default_rng(seed)
    ties, sample = random.permutation(papers), random.permutation(papers)[: papers // 2 + 1]
    neighbours, originals = (make_texts(10 * seed + i, papers, missing, levels) for i in range(2))
    found = find_overlaps(neighbours, originals, sample, ties)
    assert found.shared.tolist() == naive_overlaps(neighbours, originals, sample, ties)


def on_a_line(angles: list[float]) -> DenseTexts:
    turned = np.radians(np.array(angles))
    return DenseTexts(np.arange(len(angles)), np.column_stack([np.cos(turned), np.sin(turned)]).astype("f4"))


def test_the_three_readings_by_hand() -> None:
    # Originals at 0, 10, 20, ... degrees, 14 papers; the neighbour of paper 0 lies at 34, all others are
    # with their originals but half a degree on. Twelve candidates lie between 0 and 60.5 degrees in all.
    originals = on_a_line([10.0 * i for i in range(14)])
    neighbours = on_a_line([34.0] + [10.0 * i + 0.5 for i in range(1, 14)])
    found = find_overlaps(neighbours, originals, np.array([0]), np.arange(14))
    # o0 has 0, 10, 10.5, 20, 20.5, 30, 30.5, [34], 40, 40.5; n0 has [34], 30.5, 30, 40, 40.5, 20.5, 20, 50,
    # 50.5, 10.5: shared are 10.5, 20, 20.5, 30, 30.5, 34, 40, 40.5 of ten.
    # Without its own, o0 goes on to 50, and n0 to 10: 10, 10.5, 20, 20.5, 30, 30.5, 40, 40.5, 50 are shared.
    # Without the pair, o0 has 10 to 50.5, which are the ten that n0 has: all ten are shared.
    assert found.shared[0, :, 0].tolist() == [8, 9, 10]
    assert found.same.tolist() == [False]


def test_readings_of_lists_by_hand() -> None:
    # Candidates 0 to 31; the query is the candidate 20, its original the candidate 0.
    left = [20, *range(1, 10), 0, *range(10, 20), 29]
    right = [0, *range(1, 10), 20, *range(21, 32)]
    shared = share_nearest(np.array([left, right]), np.array([20]), np.array([0]))
    # Of the first ten 1 to 9 are shared, of twenty 0 and 20 as well. Without its own, left goes on to 19 and
    # right to 30, and 0 and 20 are in one list each. Without the pair, 29 is the last of left's twenty.
    assert shared.tolist() == [[[9, 11], [9, 9], [9, 10]]]


def test_fewer_candidates_than_the_depth_are_all_compared() -> None:
    texts = DenseTexts(np.arange(2), np.eye(2, dtype=np.float32))
    found = find_overlaps(texts, texts, np.arange(2), np.arange(2))
    # Four candidates: all are shared; without its own each lacks another; without the pair two remain.
    assert found.shared.tolist() == [[[4, 4], [2, 2], [2, 2]]] * 2
    assert found.same.tolist() == [True, True]


def test_a_single_paper_shares_its_pair_and_then_nothing() -> None:
    one = DenseTexts(np.array([0]), singles([[1, 2]]))
    found = find_overlaps(one, one, np.array([0]), np.array([0]))
    assert found.shared.tolist() == [[[2, 2], [0, 0], [0, 0]]]


def test_a_sample_without_pairs_has_no_overlaps() -> None:
    left, right = (DenseTexts(np.array([row]), singles([[1, 2]])) for row in (0, 1))
    found: Overlaps = find_overlaps(left, right, np.arange(2), np.arange(2))
    assert (found.rows.tolist(), found.shared.shape, found.same.tolist()) == ([], (0, 3, 2), [])


def test_vectors_are_not_compared_with_terms_nor_with_other_widths() -> None:
    terms = SparseRows(np.array([0, 1]), np.array([0], dtype=np.int32), np.array([1.0]))
    sparse = SparseTexts(np.array([0]), terms, terms)
    dense = DenseTexts(np.array([0]), np.ones((1, 3), dtype=np.float32))
    with pytest.raises(IndexingError, match="texts of one system"):
        rank_own(dense, sparse, np.array([0]))
    with pytest.raises(IndexingError, match="texts of one system"):
        find_overlaps(sparse, dense, np.array([0]), np.array([0]))
    with pytest.raises(IndexingError, match="3 dimensions and documents 2"):
        rank_own(dense, DenseTexts(np.array([0]), np.ones((1, 2), dtype=np.float32)), np.array([0]))


def test_numbers_that_are_not_finite_are_refused_by_all_three() -> None:
    texts = DenseTexts(np.arange(3), singles([[1, 2], [3, np.nan], [5, 6]]))
    for ask in (
        lambda: rank_own(texts, texts, np.arange(3)),
        lambda: find_overlaps(texts, texts, np.arange(3), np.arange(3)),
        lambda: measure_pairs(texts),
    ):
        with pytest.raises(IndexingError, match="vector 1 is not finite"):
            ask()


def test_undecided_products_are_listed_and_not_counted() -> None:
    product = singles([[0.1, 0.5, 0.9], [0.5, -0.9, 0.6]])
    counts, left, right = np.zeros(2, dtype=np.int64), *(np.empty(6, dtype=np.int64) for _ in range(2))
    lows, highs = singles([0.45, 0.45]), singles([0.55, 0.55])
    found = tiles.decide(product, lows, highs, -0.9, np.inf, False, counts, left, right)
    assert list(zip(left[:found], right[:found], strict=True)) == [(0, 1), (1, 0), (1, 1)]
    assert counts.tolist() == [1, 1]


def test_own_candidates_of_the_same_paper_are_found_by_paper() -> None:
    assert find_places(np.array([4, 5, 9]), np.array([5, 9])).tolist() == [-1, 0, 1]


def test_standardised_dimensions_have_no_mean_and_a_deviation_of_one() -> None:
    vectors = np.random.default_rng(1).standard_normal((200, 4)).astype(np.float32) * 3 + 5
    vectors[:, 2] = 0.1
    made = measure_standard(vectors).standardise(vectors)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made.mean(axis=0, dtype=np.float64), 0, atol=1e-6)
    np.testing.assert_allclose(made.std(axis=0, dtype=np.float64), [1, 1, 0, 1], atol=1e-6)


def test_normalised_vectors_have_the_length_one_or_zero() -> None:
    assert normalise(singles([[3, 4], [0, 0]])).tolist() == [[np.float32(0.6), np.float32(0.8)], [0, 0]]
