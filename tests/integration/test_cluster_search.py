"""Exact search on a cluster finds what one machine finds, to the bit, whoever is killed meanwhile."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pinakes.cluster.exact import SharedVectors, share_vectors
from pinakes.errors import IndexingError
from pinakes.indexers.exact.passes import Block
from pinakes.indexers.exact.search import score_pools, search_exact, search_nested
from pinakes.indexers.names import DISTANCES, Distance
from tests.clusters import LocalCluster, killing
from tests.long import sample

DOCUMENTS, QUERIES, WIDTH = 3_000, 40, 32
DRAWN = np.random.default_rng(5)
# Rows of which many are the same, so that the order of equals decides.
VECTORS = DRAWN.standard_normal((300, WIDTH)).astype(np.float32)[DRAWN.integers(0, 300, DOCUMENTS)]
ASKED = DRAWN.standard_normal((QUERIES, WIDTH)).astype(np.float32)
TIES = 3 * DRAWN.permutation(DOCUMENTS) + 1
OWN = [DRAWN.choice(DOCUMENTS, size, replace=False) for size in DRAWN.integers(0, 60, QUERIES)]
ORDER = DRAWN.permutation(DOCUMENTS)
NESTED = [np.sort(ORDER[:size]) for size in (3, 700, 2_900)]


def read_blocks() -> Iterator[Block]:
    order = np.random.default_rng(6).permutation(DOCUMENTS)
    for start in range(0, DOCUMENTS, 170):
        rows = order[start : start + 170]
        yield Block(rows, VECTORS[rows])


def compare(shared: SharedVectors, distance: Distance, k: int) -> None:
    """Each way to search, beside that of one machine."""
    pairs = [(shared.search(ASKED, k, distance), search_exact(ASKED, VECTORS, k, distance, TIES))]
    pairs += zip(
        shared.score_pools(ASKED, OWN, distance),
        score_pools(ASKED, VECTORS, OWN, distance, TIES),
        strict=True,
    )
    pairs += zip(
        shared.search_nested(ASKED, NESTED, k, distance),
        search_nested(ASKED, VECTORS, NESTED, k, distance, TIES),
        strict=True,
    )
    for (rows, scores), (expected, exact) in pairs:
        np.testing.assert_array_equal(rows, expected)
        np.testing.assert_array_equal(scores.view(np.uint32), exact.view(np.uint32))


@pytest.mark.parametrize("distance", sample(DISTANCES, 2))
def test_what_is_found_is_what_one_machine_finds(
    cluster: LocalCluster, distance: Distance, tmp_path: Path
) -> None:
    with share_vectors(cluster.address, tmp_path / "set", read_blocks(), TIES, fragment_rows=400) as shared:
        compare(shared, distance, 50)
        compare(shared, distance, 2 * DOCUMENTS)


def test_workers_that_are_killed_change_nothing(cluster: LocalCluster, tmp_path: Path) -> None:
    with share_vectors(cluster.address, tmp_path / "set", read_blocks(), TIES, fragment_rows=100) as shared:
        with killing(seed=1, kills=3, between_s=0.2) as killed:
            for _ in range(2):
                compare(shared, "cosine", 100)
        assert killed


def test_a_fragment_that_is_gone_is_told_in_words(cluster: LocalCluster, tmp_path: Path) -> None:
    with share_vectors(cluster.address, tmp_path / "set", read_blocks(), TIES, fragment_rows=400) as shared:
        shared.complete()
        next((tmp_path / "set").glob("fragment-00003*")).unlink()
        with pytest.raises(IndexingError, match=r"a worker of the cluster: .*fragment-00003.* is not there"):
            shared.search(ASKED, 5, "cosine")
