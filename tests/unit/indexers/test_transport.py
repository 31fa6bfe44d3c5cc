"""A transport is the plan of the least cost, weighed as ASPIRE has it, and the same in any order of work."""

import math
import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import ot
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.exact.scores import Vectors
from pinakes.indexers.transport import entropic as transport_entropic
from pinakes.indexers.transport import plans as transport
from pinakes.indexers.transport.best_pairs import VectorGroups, group_vectors, score_best_pairs
from pinakes.indexers.transport.entropic import plan_entropic
from pinakes.indexers.transport.plans import (
    TransportSettings,
    measure_transport,
    score_transports,
    search_transports,
    weigh_sentences,
)

UNIFORM = TransportSettings("uniform")
EVERY = [
    TransportSettings(),
    UNIFORM,
    TransportSettings(temperature=0.1),
    TransportSettings(regularisation=0.05),
    TransportSettings("uniform", regularisation=0.5),
]


def floats(values: object) -> Vectors:
    return np.asarray(values, dtype=np.float32)


def make_groups(seed: int, sizes: list[int], dimensions: int = 5) -> VectorGroups:
    values = np.random.default_rng(seed).normal(size=(sum(sizes), dimensions)).astype(np.float32)
    return VectorGroups(values, np.repeat(np.arange(len(sizes)), sizes), len(sizes))


def measure(distances: list[list[float]], settings: TransportSettings) -> float:
    return measure_transport(np.array(distances), settings)


@pytest.mark.parametrize(
    ("distances", "cost"),
    [
        ([[1.0, 2.0], [3.0, 1.0]], 1.0),  # the diagonal, half of the weight each
        ([[1.0, 2.0], [2.0, 5.0]], 2.0),  # not the smallest distance first: that would cost 3
        # A third of the weight to each column: 1/3 x 0 + 1/6 x 2 from the first row, 1/6 x 1 + 1/3 x 1 from
        # the second. No cheaper one: the potentials (0, -1) and (0, 2, 2) are below every distance.
        ([[0.0, 2.0, 4.0], [3.0, 1.0, 1.0]], 5 / 6),
        ([[4.0]], 4.0),
        ([[1.0, 2.0, 6.0]], 3.0),  # one sentence has one plan
    ],
)
def test_the_plan_of_the_least_cost_is_found(distances: list[list[float]], cost: float) -> None:
    assert measure(distances, UNIFORM) == pytest.approx(cost, rel=1e-14)
    turned = [list(column) for column in zip(*distances, strict=True)]
    assert measure(turned, UNIFORM) == pytest.approx(cost, rel=1e-14)


def test_a_sentence_weighs_by_its_distance_to_the_nearest_of_the_other_side() -> None:
    far = math.log(3)
    rows, columns = weigh_sentences(np.array([[0.0, 2.0], [3.0, far]]), TransportSettings())
    assert rows.tolist() == pytest.approx([3 / 4, 1 / 4], rel=1e-15)
    assert columns.tolist() == pytest.approx([3 / 4, 1 / 4], rel=1e-15)
    # Both sides weigh alike, so each sentence goes to its nearest: a quarter of the weight over log 3.
    assert measure([[0.0, 2.0], [3.0, far]], TransportSettings()) == pytest.approx(far / 4, rel=1e-14)


@pytest.mark.parametrize(("temperature", "share"), [(1.0, 1 / 3), (0.5, 1 / 5), (5000.0, 0.49996)])
def test_the_temperature_divides_the_distances_that_weigh(temperature: float, share: float) -> None:
    settings = TransportSettings(temperature=temperature)
    assert measure([[0.0, math.log(2)]], settings) == pytest.approx(share * math.log(2), rel=1e-4)


@pytest.mark.parametrize("regularisation", [0.0, 0.05])
def test_a_weight_too_small_for_a_float_moves_nothing(regularisation: float) -> None:
    settings = TransportSettings(temperature=1e-4, regularisation=regularisation)
    assert measure([[0.25, 1.0, 2.0], [3.0, 3.0, 3.0]], settings) == 0.25


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("settings", EVERY[:3])
def test_a_paper_costs_nothing_from_itself(distance: Any, settings: TransportSettings) -> None:
    paper = make_groups(1, [6])
    found = score_transports(paper.vectors, paper, np.array([0]), distance, settings)
    assert found.tolist() == [0.0]
    assert not np.signbit(found[0])


@pytest.mark.parametrize("settings", EVERY)
def test_single_sentences_score_as_their_pair_does(settings: TransportSettings) -> None:
    documents, query, pool = make_groups(2, [1] * 9), make_groups(3, [1]).vectors, np.arange(9)
    by_length = score_transports(query, documents, pool, "l2", settings)
    assert by_length.tolist() == score_best_pairs(query, documents, pool, "l2").tolist()
    by_angle = score_transports(query, documents, pool, "cosine", settings)
    cosines = score_best_pairs(query, documents, pool, "cosine").astype(np.float64)
    assert by_angle.tolist() == (cosines - 1).astype(np.float32).tolist()


@pytest.mark.parametrize("settings", EVERY)
def test_the_order_of_sentences_changes_last_bits_at_most_and_positions_fix_it(
    settings: TransportSettings,
) -> None:
    paper, query = make_groups(4, [9]), make_groups(5, [4]).vectors
    whole = score_transports(query, paper, np.array([0]), "l2", settings)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(9)
        turned = VectorGroups(paper.vectors[order], paper.owners, 1)
        found = score_transports(query[::-1], turned, np.array([0]), "l2", settings)
        assert found[0] == pytest.approx(whole[0], rel=1e-6)
        sorted_again = group_vectors(paper.vectors[order], paper.owners, order, 1)
        assert score_transports(query, sorted_again, np.array([0]), "l2", settings).tolist() == whole.tolist()


def test_an_entropic_plan_is_that_of_pots_solver_of_one_pair() -> None:
    random = np.random.default_rng(6)
    for _ in range(60):
        distances = random.uniform(0.2, 1.4, (random.integers(1, 6), random.integers(1, 12)))
        rows, columns = weigh_sentences(distances, TransportSettings())
        expected = ot.sinkhorn(
            rows, columns, distances, 0.1, method="sinkhorn_log", numItermax=100_000, stopThr=1e-12
        )
        np.testing.assert_allclose(plan_entropic(rows, columns, distances, 0.1), expected, atol=1e-9)
        cost = measure_transport(distances, TransportSettings(regularisation=0.1))
        assert cost == pytest.approx(float((expected * distances).sum()), abs=1e-9)


def test_the_entropic_cost_falls_to_the_exact_one_with_the_regularisation() -> None:
    distances = np.random.default_rng(7).uniform(0.2, 1.4, (4, 7))
    exact = measure_transport(distances, TransportSettings())
    costs = [
        measure_transport(distances, TransportSettings(regularisation=epsilon))
        for epsilon in (100.0, 1.0, 0.1, 0.05, 0.01)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == pytest.approx(exact, abs=1e-3)
    assert costs[-1] >= exact
    # With a large epsilon everything goes everywhere: the product of the weights.
    rows, columns = weigh_sentences(distances, TransportSettings())
    assert costs[0] == pytest.approx(float(rows @ distances @ columns), abs=1e-2)


def test_a_plan_whose_sweeps_end_early_keeps_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_entropic, "MOST_SWEEPS", 3)
    distances = np.random.default_rng(8).uniform(10, 30, (5, 9))
    rows, columns = weigh_sentences(distances, UNIFORM)
    plan = plan_entropic(rows, columns, distances, 0.05)
    np.testing.assert_allclose(plan.sum(axis=1), rows, atol=1e-15)
    np.testing.assert_allclose(plan.sum(axis=0), columns, atol=1e-15)
    assert (plan >= 0).all()
    assert float((plan * distances).sum()) >= measure_transport(distances, UNIFORM)


def test_an_exact_plan_is_no_dearer_than_any_assignment_of_sentences() -> None:
    random = np.random.default_rng(9)
    for _ in range(20):
        distances = random.uniform(0, 2, (4, 4))
        # With equal weights some assignment is among the plans of the least cost (Birkhoff).
        best = min(sum(distances[row, order[row]] for row in range(4)) for order in permutations(range(4)))
        assert measure_transport(distances, UNIFORM) == pytest.approx(best / 4, rel=1e-12)


@settings(deadline=None)  # the kernel is compiled in the first call
@given(
    rows=st.integers(1, 5),
    columns=st.integers(1, 8),
    seed=st.integers(0, 2**32 - 1),
    settings=st.sampled_from(EVERY),
    scale=st.sampled_from([0.01, 1.0, 40.0]),
)
def test_a_cost_lies_between_the_smallest_and_the_largest_distance(
    rows: int, columns: int, seed: int, settings: TransportSettings, scale: float
) -> None:
    distances = np.random.default_rng(seed).uniform(0, scale, (rows, columns))
    cost = measure_transport(distances, settings)
    assert distances.min() * (1 - 1e-12) <= cost <= distances.max() * (1 + 1e-12)


@pytest.mark.parametrize("settings", [EVERY[0], EVERY[3]])
@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_the_same_bits_alone_in_a_pool_in_a_search_and_at_any_thread_count(
    settings: TransportSettings, distance: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [(number * 7) % 5 for number in range(40)]  # some papers have no sentence
    documents, queries = make_groups(10, sizes), make_groups(11, [3, 0, 1])
    pool, ties = np.flatnonzero(sizes), np.random.default_rng(12).permutation(40)
    requested = queries.vectors[:3]
    whole = score_transports(requested, documents, pool, distance, settings)
    alone = [
        score_transports(requested, documents, pool[[place]], distance, settings)[0]
        for place in range(len(pool))
    ]
    assert whole.tolist() == [float(score) for score in alone]
    order = np.lexsort((ties[pool], -whole))

    def search() -> list[tuple[list[int], list[float]]]:
        found = search_transports(queries, documents, 6, distance, ties, settings)
        return [(rows.tolist(), scores.tolist()) for rows, scores in found]

    first = search()
    assert first[0] == (pool[order][:6].tolist(), whole[order][:6].tolist())
    assert first[1] == ([], [])
    assert len(first[2][0]) == 6
    monkeypatch.setattr(transport, "PAPERS_AT_ONCE", 3)
    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        try:
            assert search() == first
        finally:
            torch.set_num_threads(before)


def test_equal_costs_are_ordered_by_the_tie_order() -> None:
    documents = VectorGroups(floats([[0, 2], [1, 0], [0, 2], [2, 0]]), np.array([0, 1, 2, 2]), 3)
    (found,) = search_transports(
        VectorGroups(floats([[1, 0]]), np.array([0]), 1), documents, 3, "l2", np.array([0, 2, 1]), UNIFORM
    )
    assert found[0].tolist() == [1, 2, 0]
    (tied,) = search_transports(
        VectorGroups(floats([[0, 0]]), np.array([0]), 1), documents, 3, "l2", np.array([1, 2, 0]), UNIFORM
    )
    assert (tied[0].tolist(), tied[1].tolist()) == ([1, 2, 0], [-1.0, -2.0, -2.0])


def test_a_collection_without_vectors_has_an_empty_ranking() -> None:
    nothing = VectorGroups(np.empty((0, 5), np.float32), np.empty(0, np.int64), 2)
    found = search_transports(make_groups(13, [2]), nothing, 3, "l2", np.arange(2), UNIFORM)
    assert [len(rows) for rows, _ in found] == [0]
    empty = score_transports(floats([[1, 0]]), nothing, np.empty(0, np.int64), "l2", UNIFORM)
    assert empty.tolist() == []


def test_a_paper_without_a_vector_is_never_scored() -> None:
    documents = VectorGroups(floats([[1, 0]]), np.array([1]), 2)
    with pytest.raises(IndexingError, match="has no vector to pair"):
        score_transports(floats([[1, 0]]), documents, np.array([0]), "l2", UNIFORM)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: TransportSettings("sum"), UnknownNameError, "aspire, uniform"),
        (
            lambda: TransportSettings(temperature=0.0),
            IndexingError,
            "temperature is 0.0; expected a number above",
        ),
        (lambda: TransportSettings(temperature=math.inf), IndexingError, "temperature is inf"),
        (
            lambda: TransportSettings(regularisation=-1.0),
            IndexingError,
            "regularisation is -1.0; expected 0 or",
        ),
        (lambda: TransportSettings(regularisation=math.nan), IndexingError, "regularisation is nan"),
        (
            lambda: score_transports(
                floats([[1]]), make_groups(1, [1], 1), np.array([0]), "inner_product", UNIFORM
            ),
            UnknownNameError,
            "distance of a transport",
        ),
    ],
)
def test_what_cannot_be_transported_is_refused(
    make: Callable[[], object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        make()


def test_a_solver_that_gives_up_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(rows: Any, columns: Any, distances: Any, **_: object) -> tuple[Any, dict[str, str]]:
        return distances, {"warning": "numItermax reached before optimality"}

    monkeypatch.setattr(ot.lp, "emd", give_up)
    with pytest.raises(IndexingError, match="no plan of transport was found: numItermax reached"):
        measure([[1.0, 2.0]], UNIFORM)


def test_the_library_of_transport_is_not_read_at_import() -> None:
    read = "import sys, pinakes.indexers.transport.plans; sys.exit('ot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", read], check=False).returncode == 0
