"""Ranks, overlaps and similarities of weighted terms against all scores, one by one."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pinakes.indexers.self_retrieval import sparse
from pinakes.indexers.self_retrieval.space import (
    PairStatistics,
    SparseRows,
    SparseTexts,
    find_overlaps,
    measure_pairs,
    rank_own,
)

Rows = list[dict[int, float]]


def pack(rows: Rows) -> SparseRows:
    terms = [term for row in rows for term in sorted(row)]
    weights = [row[term] for row in rows for term in sorted(row)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return SparseRows(starts, np.array(terms, dtype=np.int32), np.array(weights, dtype=np.float64))


def score(query: dict[int, float], document: dict[int, float]) -> float:
    total = 0.0
    for term in sorted(query.keys() & document.keys()):
        total += query[term] * document[term]
    return float(np.float32(total))


class Made:
    """Random rows of few terms, some equal and some empty, with what they are packed from."""

    def __init__(self, seed: int, papers: int, missing: int, weights: int, symmetric: bool = False) -> None:
        random = np.random.default_rng(seed)
        self.rows = np.sort(random.choice(papers, papers - missing, replace=False))
        self.queries, self.documents = (self._draw(random, weights) for _ in range(2))
        if symmetric:
            self.queries = self.documents
        self.texts = SparseTexts(self.rows, pack(self.queries), pack(self.documents))

    def _draw(self, random: np.random.Generator, weights: int) -> Rows:
        made: Rows = []
        for number in range(len(self.rows)):
            terms = random.choice(12, random.integers(0, 6), replace=False).tolist()
            row = {int(term): float(random.integers(1, weights + 1)) / 3 for term in terms}
            made.append(made[0] if number % 5 == 4 else row)
        return made

    def of(self, paper: int) -> int:
        return int(np.searchsorted(self.rows, paper))


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def naive_ranks(queries: Made, matrices: list[Made], ties: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    ranked = []
    for paper, query in zip(queries.rows.tolist(), queries.queries, strict=True):
        if paper not in matrices[0].rows:
            continue
        candidates = sorted(
            (-score(query, document), int(ties[row]), number, row)
            for number, made in enumerate(matrices)
            for row, document in zip(made.rows.tolist(), made.documents, strict=True)
            if number == 0 or row != paper
        )
        place = next(i for i, one in enumerate(candidates) if one[2:] == (0, paper))
        ranked.append((paper, place + 1, sum(one[0] == candidates[place][0] for one in candidates) - 1))
    return ranked


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("papers", "missing"), [(1, 0), (9, 3), (150, 20)])
@pytest.mark.parametrize("weights", [1, 100])
def test_ranks_are_those_of_sorting_all_candidates(
    seed: int, papers: int, missing: int, weights: int
) -> None:
    ties = np.random.default_rng(seed).permutation(papers)
    queries, originals, others = (Made(10 * seed + i, papers, missing, weights) for i in range(3))
    one = rank_own(queries.texts, originals.texts, ties)
    assert list(zip(one.rows, one.rank, one.ties, strict=True)) == naive_ranks(queries, [originals], ties)
    both = rank_own(queries.texts, originals.texts, ties, others.texts)
    expected = naive_ranks(queries, [originals, others], ties)
    assert list(zip(both.rows, both.rank, both.ties, strict=True)) == expected


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("papers", "missing"), [(1, 0), (11, 2), (120, 30)])
def test_overlaps_are_those_of_sorted_lists(seed: int, papers: int, missing: int) -> None:
    random = np.random.default_rng(seed)
    ties, sample = random.permutation(papers), random.permutation(papers)[: papers // 2 + 1]
    near, far = (Made(10 * seed + i, papers, missing, 3) for i in range(2))
    found = find_overlaps(near.texts, far.texts, sample, ties)
    both = {1: near, 0: far}
    candidates = [(row, kind) for kind, made in both.items() for row in made.rows.tolist()]
    for paper, shared in zip(found.rows.tolist(), found.shared.tolist(), strict=True):
        order = {}
        for kind, made in both.items():
            query = made.queries[made.of(paper)]
            order[kind] = sorted(
                candidates,
                key=lambda one, query=query: (  # type: ignore[misc]
                    -score(query, both[one[1]].documents[both[one[1]].of(one[0])]),
                    ties[one[0]],
                    one[1],
                ),
            )
        for reading, dropped in enumerate(((), ("own",), ("own", "other"))):
            lists = []
            for kind in both:
                out = [(paper, kind)] * ("own" in dropped) + [(paper, 1 - kind)] * ("other" in dropped)
                lists.append([one for one in order[kind] if one not in out])
            expected = [len(set(lists[0][:depth]) & set(lists[1][:depth])) for depth in (10, 20)]
            assert shared[reading] == expected
    assert found.rows.tolist() == sorted({*sample.tolist()} & {*near.rows.tolist()} & {*far.rows.tolist()})


def test_texts_are_the_same_if_they_ask_and_are_found_alike() -> None:
    queries, others = pack([{0: 1.0}, {1: 1.0}, {2: 1.0}]), pack([{0: 1.0}, {1: 1.0}, {3: 1.0}])
    documents, weighted = pack([{0: 2.0}, {1: 2.0}, {2: 2.0}]), pack([{0: 2.0}, {1: 3.0}, {2: 2.0}])
    found = find_overlaps(
        SparseTexts(np.arange(3), queries, documents),
        SparseTexts(np.arange(3), others, weighted),
        np.arange(3),
        np.arange(3),
    )
    assert found.same.tolist() == [True, False, False]


def test_bags_of_words_by_hand() -> None:
    # The altered text of paper 1 asks for term 0, which both documents hold: they tie, paper 0 is first.
    documents = pack([{0: 1.0, 1: 1.0}, {0: 1.0, 2: 1.0}])
    originals = SparseTexts(np.arange(2), documents, documents)
    asked = SparseTexts(np.array([1]), pack([{0: 2.0, 9: 4.0}]), pack([{0: 1.0}]))
    ranked = rank_own(asked, originals, np.array([0, 1]))
    assert (ranked.rows.tolist(), ranked.rank.tolist(), ranked.ties.tolist()) == ([1], [2], [1])
    assert rank_own(asked, originals, np.array([1, 0])).rank.tolist() == [1]


def test_pairs_are_compared_by_the_cosine_of_their_documents() -> None:
    texts = SparseTexts(np.arange(3), pack([{}, {}, {}]), pack([{0: 1.0}, {1: 2.0}, {0: 3.0}]))
    found = measure_pairs(texts)
    assert found is not None
    assert (found.papers, found.pairs, found.lowest, found.highest, found.above_mean) == (3, 3, 0.0, 1.0, 1)
    assert found.mean == pytest.approx(1 / 3)
    assert found.deviation == pytest.approx(2**0.5 / 3)


@pytest.mark.parametrize("papers", [2, 30, 300])
def test_pairs_are_measured_as_all_cosines_are(papers: int) -> None:
    made = Made(papers, papers, 0, 100)
    dense = np.zeros((papers, 12))
    for row, terms in enumerate(made.documents):
        dense[row, list(terms)] = list(terms.values())
    lengths = np.linalg.norm(dense, axis=1, keepdims=True)
    dense = np.divide(dense, lengths, out=np.zeros_like(dense), where=lengths > 0)
    cosines = (dense @ dense.T)[np.triu_indices(papers, 1)]
    found = measure_pairs(made.texts)
    assert found is not None
    assert (found.papers, found.pairs) == (papers, len(cosines))
    assert found.lowest == cosines.astype(np.float32).min()
    assert found.highest == cosines.astype(np.float32).max()
    assert found.mean == pytest.approx(cosines.mean(), rel=1e-12)
    assert found.deviation == pytest.approx(cosines.std(), rel=1e-9, abs=1e-15)
    assert found.above_mean == int((cosines.astype(np.float32) > np.float32(cosines.mean())).sum())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("queries", "common"), [(3, 1e-9), (64, 2), (64, 1e9)])
def test_results_are_the_same_for_every_part_thread_count_and_share_of_common_terms(
    threads: int, queries: int, common: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, far = (Made(seed, 200, 10, 7) for seed in (1, 2))

    def compute() -> tuple[list[int], list[int], list[int], PairStatistics | None]:
        ranked = rank_own(near.texts, far.texts, np.arange(200), near.texts)
        shared = find_overlaps(near.texts, far.texts, np.arange(0, 200, 3), np.arange(200)).shared
        return ranked.rank.tolist(), ranked.ties.tolist(), shared.tolist(), measure_pairs(far.texts)

    torch.set_num_threads(2)
    whole = compute()
    torch.set_num_threads(threads)
    monkeypatch.setattr(sparse, "QUERIES_AT_ONCE", queries)
    monkeypatch.setattr(sparse, "COMMON", common)
    assert compute() == whole


def test_taken_rows_are_those_asked_for_in_their_order() -> None:
    taken = sparse.take(pack([{0: 1.0}, {}, {3: 2.0, 1: 5.0}]), np.array([2, 1, 0]))
    assert (taken.starts.tolist(), taken.terms.tolist(), taken.weights.tolist()) == (
        [0, 2, 2, 3],
        [1, 3, 0],
        [5.0, 2.0, 1.0],
    )
