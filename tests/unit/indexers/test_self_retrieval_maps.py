"""Plane maps: the same again, alike near alike, and whatever vectors there are."""

import numpy as np
import pytest

from pinakes.indexers.self_retrieval.maps import map_plane


def test_a_map_is_the_same_again_and_keeps_groups_apart() -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((60, 8), dtype=np.float32)
    vectors[:30, 0] += 40
    vectors[30:, 1] += 40
    places = map_plane(vectors, 1)
    assert places.tobytes() == map_plane(vectors, 1).tobytes()
    distances = np.linalg.norm(places[:, None] - places[None], axis=2) + np.diag(np.full(60, np.inf))
    assert (distances.argmin(axis=1) // 30 == np.arange(60) // 30).all()


def test_directions_are_mapped_and_not_lengths() -> None:
    vectors = np.random.default_rng(3).standard_normal((20, 4)).astype(np.float32)
    assert map_plane(vectors, 1).tobytes() == map_plane(vectors * np.float32(4), 1).tobytes()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 10])
def test_few_equal_and_zero_vectors_have_a_place(count: int) -> None:
    for vectors in (np.ones((count, 3), np.float32), np.zeros((count, 3), np.float32)):
        places = map_plane(vectors, 1)
        assert places.shape == (count, 2)
        assert np.isfinite(places).all()
