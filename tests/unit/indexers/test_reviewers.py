"""Reviewers scored for submissions: by hand, against scikit-learn, and what is refused."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from pinakes.errors import IndexingError
from pinakes.indexers.reviewers import score_reviewers


def _rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def test_a_score_is_the_mean_of_the_three_largest_cosines_or_of_fewer() -> None:
    papers = np.array([[1, 0], [0, 1], [-1, 0], [3, 4], [0, 0]], dtype=np.float32)
    found = score_reviewers(
        np.array([[2, 0], [0, 5]], dtype=np.float32),
        papers,
        [_rows(0, 1, 2, 3), _rows(3), _rows(0, 2), _rows(), _rows(4, 1), _rows(0, 0, 1)],
    )
    cosine = float(np.float32(0.6)), float(np.float32(0.8))
    expected = [
        [(1 + cosine[0] + 0) / 3, cosine[0], 0.0, np.nan, 0.0, 2 / 3],
        [(1 + cosine[1] + 0) / 3, cosine[1], 0.0, np.nan, 0.5, 1 / 3],
    ]
    np.testing.assert_array_equal(found, expected)


def test_scores_are_those_of_the_published_loop() -> None:
    random = np.random.default_rng(7)
    submissions = random.normal(size=(9, 33)).astype(np.float32)
    papers = random.normal(size=(200, 33)).astype(np.float32)
    authored = [random.choice(200, size=size, replace=False) for size in random.integers(1, 30, size=40)]
    expected = [
        [
            np.mean(sorted(cosine_similarity(papers[rows], query[None]).flatten(), reverse=True)[:3])
            for rows in authored
        ]
        for query in submissions
    ]
    np.testing.assert_allclose(score_reviewers(submissions, papers, authored), expected, rtol=0, atol=2e-7)


def test_scores_do_not_depend_on_who_else_is_scored() -> None:
    random = np.random.default_rng(8)
    submissions = random.normal(size=(3, 65)).astype(np.float32)
    papers = random.normal(size=(50, 65)).astype(np.float32)
    authored = [random.choice(50, size=5, replace=False) for _ in range(6)]
    whole = score_reviewers(submissions, papers, authored)
    for number, rows in enumerate(authored):
        alone = score_reviewers(submissions[1:2], papers[rows[::-1]], [np.arange(5)])
        assert alone.tolist() == [[whole[1, number]]]


def test_nobody_and_nothing_give_empty_scores() -> None:
    none = np.empty((0, 4), dtype=np.float32)
    one = np.ones((1, 4), dtype=np.float32)
    assert score_reviewers(none, one, [_rows(0)]).shape == (0, 1)
    assert score_reviewers(one, none, []).shape == (1, 0)
    assert np.isnan(score_reviewers(one, none, [_rows()])).all()


@pytest.mark.parametrize("where", ["submission", "paper"])
def test_vectors_that_are_no_numbers_are_refused(where: str) -> None:
    vectors = {"submission": np.ones((2, 3), np.float32), "paper": np.ones((2, 3), np.float32)}
    vectors[where][1, 2] = np.nan
    with pytest.raises(IndexingError, match=f"{where} vector 1 is not finite"):
        score_reviewers(vectors["submission"], vectors["paper"], [_rows(0)])


def test_what_cannot_be_scored_is_refused() -> None:
    one = np.ones((1, 3), np.float32)
    with pytest.raises(IndexingError, match="queries have 3 dimensions and documents 2"):
        score_reviewers(one, np.ones((1, 2), np.float32), [_rows(0)])
    with pytest.raises(IndexingError, match="a reviewer names a paper in row 1; there are 1 papers"):
        score_reviewers(one, one, [_rows(0, 1)])
    with pytest.raises(IndexingError, match="the 0 best papers of a reviewer are asked for"):
        score_reviewers(one, one, [_rows(0)], best=0)
