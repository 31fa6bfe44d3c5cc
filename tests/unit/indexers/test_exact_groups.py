"""Groups of queries in the quantised pass: any size gives the same rankings; what a k-th best seems to be."""

import numpy as np
import pytest
import torch

from pinakes.indexers.exact import passes as exact_passes
from pinakes.indexers.exact import scan as exact_scan
from pinakes.indexers.exact.kernel import has_kernel
from pinakes.indexers.exact.scan import LARGE_GROUPS, SMALL_GROUPS, AtOnce, choose_groups, find_seeming
from pinakes.indexers.exact.search import prepare_documents, search_prepared

MADE = AtOnce(96, 512)


@pytest.mark.skipif(not has_kernel(), reason="the int8 pass needs a processor with AVX2")
def test_groups_of_any_size_give_the_same_rankings(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    queries = random.standard_normal((900, 64)).astype(np.float32)
    documents = prepare_documents(random.standard_normal((5000, 64)).astype(np.float32))
    sizes: list[int] = []
    scan = exact_scan.scan_block

    def record(queries: object, block: object, part: slice, *rest: object) -> None:
        sizes.append(part.stop - part.start)
        scan(queries, block, part, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(exact_passes, "scan_block", record)
    found, most = [], []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for groups in (MADE, SMALL_GROUPS, LARGE_GROUPS):
            for module in (exact_passes, exact_scan):
                monkeypatch.setattr(module, "choose_groups", lambda groups=groups: groups)
            rows, scores = search_prepared(queries, documents, 20)
            found.append((rows.tolist(), scores.tobytes()))
            most.append(max(sizes))
            sizes.clear()
    finally:
        torch.set_num_threads(threads)
    assert found[0] == found[1] == found[2]
    assert most[0] <= 96 < most[1] <= 384 < most[2] <= 768


@pytest.mark.parametrize(("size", "groups"), [(0, SMALL_GROUPS), (1, SMALL_GROUPS), (2, LARGE_GROUPS)])
def test_groups_are_large_where_the_second_cache_is(
    size: int, groups: AtOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_scan, "read_second_cache", lambda: size << 20)
    assert choose_groups() == groups


@pytest.mark.parametrize("count", [10, 63, 64, 1000])
@pytest.mark.parametrize("wanted", [1, 5, 10])
def test_what_a_kth_best_seems_is_reached_by_that_many_documents(count: int, wanted: int) -> None:
    random = np.random.default_rng(count)
    sums = random.integers(-9000, 9000, (7, count)).astype(np.int32)
    sums[3] = np.sort(sums[3])
    sums[4] = sums[3][::-1]
    ends = random.integers(-500, 500, 7).astype(np.int32)
    scales = random.random(7).astype(np.float32)
    steps = (0.5 + random.random(count)).astype(np.float32)
    squares = random.random(count).astype(np.float32)
    found = np.empty(7, dtype=np.float32)
    find_seeming(sums, ends, scales, steps, squares, wanted, found)
    seeming = ((sums + ends[:, None]).astype(np.float32) - scales[:, None] * squares) / steps
    # A score that is the guess itself may be rounded to either side of it here.
    clearly, about = (seeming > found[:, None] + 0.1), (seeming >= found[:, None] - 0.1)
    assert (about.sum(axis=1) >= wanted).all()
    assert (clearly.sum(axis=1) <= wanted + wanted // 32).all()
