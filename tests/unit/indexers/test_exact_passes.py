"""Each pass of the exact search finds the same rows and bits, on data that is made to mislead a bound."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.exact import amx as exact_amx
from pinakes.indexers.exact import int8 as exact_int8
from pinakes.indexers.exact import scan as exact_scan
from pinakes.indexers.exact import scores as exact_scores
from pinakes.indexers.exact.kernel import CHUNK, TILE, has_kernel
from pinakes.indexers.exact.panels import AMX, AVX2, VNNI, Kernel
from pinakes.indexers.exact.passes import FEWEST_SHARED, Search, cut_queries
from pinakes.indexers.exact.scan import scan_block
from pinakes.indexers.exact.scores import check_vectors, score_pairs
from pinakes.indexers.exact.search import (
    Pass,
    prepare_documents,
    score_pools,
    search_exact,
    search_prepared,
)
from pinakes.indexers.names import Distance
from pinakes.machine_code import has_tiles
from tests.long import alternate

Vectors = NDArray[np.float32]
KERNELS = [
    pytest.param(AVX2, id="avx2"),
    pytest.param(VNNI, id="vnni"),
    pytest.param(
        AMX, id="amx", marks=pytest.mark.skipif(not has_tiles("amx-int8"), reason="for processors with AMX")
    ),
]
DISTANCES: list[Distance] = ["cosine", "l2", "inner_product"]
PASSES: list[Pass] = [name for name in get_args(Pass) if name != "int8" or has_kernel()]
needs_kernel = pytest.mark.skipif(not has_kernel(), reason="the int8 pass needs a processor with AVX2")


def make_case(name: str) -> tuple[Vectors, Vectors]:
    """37 queries and 700 documents."""
    random = np.random.default_rng(11)
    queries = random.standard_normal((37, 70)).astype(np.float32)
    documents = random.standard_normal((700, 70)).astype(np.float32)
    if name == "duplicates":
        documents = documents[random.integers(0, 20, 700)]
    elif name == "near ties":
        documents = queries[:1] + queries[1:2] + documents * np.float32(1e-6)
    elif name == "all norms":
        documents *= (10.0 ** random.uniform(-12, 12, (700, 1))).astype(np.float32)
        queries *= (10.0 ** random.uniform(-6, 6, (37, 1))).astype(np.float32)
    elif name == "zeros":
        documents[::3] = 0
        queries[::5] = 0
    elif name == "denormals":
        documents *= np.float32(1e-42)
        queries[::2] *= np.float32(1e-42)
    elif name == "one dimension":
        queries, documents = queries[:, :1].copy(), documents[:, :1].copy()
    elif name == "far away":
        documents += np.float32(3000)
        queries += np.float32(3000)
    elif name == "one large dimension":
        documents[:, 3] *= 1000
    elif name == "copies of queries":
        documents[:37], documents[100:137] = queries, -queries
    elif name == "equal signs":
        queries, documents = np.abs(queries) * 0 + 1, np.sign(documents)
    return queries, documents.astype(np.float32)


CASES = [
    "plain",
    "duplicates",
    "near ties",
    "all norms",
    "zeros",
    "denormals",
    "one dimension",
    "far away",
    "one large dimension",
    "copies of queries",
    "equal signs",
]


@pytest.mark.parametrize(("case", "distance"), alternate(CASES, DISTANCES))
def test_every_pass_ranks_as_a_full_sort_of_the_exact_scores(case: str, distance: Distance) -> None:
    queries, documents = make_case(case)
    tie_order = np.random.default_rng(1).permutation(700)
    pairs = np.stack(np.meshgrid(range(37), range(700), indexing="ij"), axis=-1).reshape(-1, 2)
    exact = score_pairs(queries, documents, pairs, distance).reshape(37, 700)
    expected = np.lexsort((np.broadcast_to(tie_order, exact.shape), -exact))
    for kind in PASSES:
        for k, block_rows in ((1, 700), (20, 64), (900, 333)):
            rows, scores = search_exact(
                queries, documents, k, distance, tie_order, block_rows=block_rows, method=kind
            )
            assert rows.tolist() == expected[:, :k].tolist(), (kind, k)
            assert scores.tobytes() == np.take_along_axis(exact, rows, axis=1).tobytes(), (kind, k)


@pytest.mark.parametrize("kind", PASSES)
def test_a_pass_gives_the_same_bits_at_any_number_of_threads(kind: Pass) -> None:
    random = np.random.default_rng(2)
    queries = random.standard_normal((800, 40)).astype(np.float32)
    documents = random.standard_normal((5000, 40)).astype(np.float32).round(1)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            rows, scores = search_exact(queries, documents, 30, block_rows=1024, method=kind)
            found.append(rows.tobytes() + scores.tobytes())
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kind", PASSES)
def test_a_pass_leaves_most_documents_out(kind: Pass, monkeypatch: pytest.MonkeyPatch) -> None:
    # A bound that lets everything through would be right, and of no use.
    scored = []

    def count(queries: object, block: object, query: NDArray[np.int64], *rest: object) -> object:
        scored.append(len(query))
        return original(queries, block, query, *rest)  # type: ignore[arg-type]

    original = exact_scores.score_rows
    monkeypatch.setattr("pinakes.indexers.exact.passes.score_rows", count)
    random = np.random.default_rng(4)
    queries = random.standard_normal((60, 384)).astype(np.float32)
    documents = random.standard_normal((40_000, 384)).astype(np.float32)
    if kind == "float64":
        pytest.skip("this pass leaves nothing out")
    search_exact(queries, documents, 10, block_rows=2000, method=kind)
    assert 60 * 10 <= sum(scored) < 60 * 40_000 // 10


@needs_kernel
@pytest.mark.parametrize("case", CASES)
def test_a_lane_of_a_chunk_never_overflows_16_bits(case: str) -> None:
    queries, documents = make_case(case)
    block = check_vectors(documents, "document")
    frame = exact_int8.choose_frame(block, "l2", AVX2)
    quantised = exact_int8.quantise_queries(check_vectors(queries, "query"), frame)
    packed = exact_int8.quantise_block(block, frame)
    width = -(-documents.shape[1] // CHUNK) * CHUNK
    left = quantised.packed[0].transpose(0, 2, 1, 3).reshape(-1, width).astype(np.int64)
    tiles = packed.bytes.astype(np.int64).reshape(-1, width // 4, 16, 4)
    right = tiles.transpose(0, 2, 1, 3).reshape(-1, width) - 128
    assert np.abs(left).max() <= 64
    assert np.abs(right).max() <= 127
    lanes = [side.reshape(len(side), -1, 16, 2, 2) for side in (left, right)]
    lengths = [np.sqrt((side**2).sum(axis=(2, 4))).max() for side in lanes]
    assert lengths[0] <= 128
    assert lengths[1] <= 255


def find_pairs(case: str, distance: Distance, kernel: Kernel) -> tuple[set[tuple[int, int]], int]:
    """The pairs that a kernel keeps where the k-th best are the medians, and how many are better."""
    queries, documents = make_case(case)
    left, right = check_vectors(queries, "query"), check_vectors(documents, "document")
    pairs = np.stack(np.meshgrid(range(37), range(700), indexing="ij"), axis=-1).reshape(-1, 2)
    scores = score_pairs(queries, documents, pairs, distance).reshape(37, 700).astype(np.float64)
    lowest = np.median(scores, axis=1)
    frame = exact_int8.choose_frame(right, distance, kernel)
    quantised = exact_int8.quantise_queries(left, frame)
    block = exact_int8.quantise_block(right, frame)
    kept: set[tuple[int, int]] = set()

    def take(query: NDArray[np.int64], row: NDArray[np.int64], limits: object) -> None:
        kept.update(zip(query.tolist(), row.tolist(), strict=True))

    scan_block(quantised, block, slice(0, 37), 5, lambda part: lowest[part], take)
    better = {(int(query), int(row)) for query, row in np.argwhere(scores > lowest[:, None])}
    assert better <= kept
    return kept, len(better)


@needs_kernel
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("case", CASES)
def test_the_avx2_kernel_keeps_every_better_pair(case: str, distance: Distance) -> None:
    kept, better = find_pairs(case, distance, AVX2)
    if case == "plain":
        assert better < len(kept) < 37 * 700 * 0.7


@needs_kernel
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("case", CASES)
def test_the_librarys_product_keeps_every_better_pair(case: str, distance: Distance) -> None:
    # On a processor without its instructions it is slow, and right.
    kept, better = find_pairs(case, distance, VNNI)
    if case == "plain":
        # Queries of more steps than the AVX2 kernel takes let fewer through.
        assert better < len(kept) < len(find_pairs(case, distance, AVX2)[0])


@pytest.mark.skipif(not has_tiles("amx-int8"), reason="the kernel needs a processor with AMX")
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("case", CASES)
def test_the_amx_kernel_keeps_the_same_pairs_as_the_librarys_product(case: str, distance: Distance) -> None:
    assert find_pairs(case, distance, AMX) == find_pairs(case, distance, VNNI)


@needs_kernel
def test_the_amx_kernel_is_machine_code_on_a_processor_that_cannot_run_it() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly("\n".join(exact_amx.list_lines()))
    module.verify()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu="sapphirerapids", features="+amx-tile,+amx-int8", opt=3)
    code = machine.emit_assembly(module)
    assert [code.count(name) for name in ("tdpbsud", "tilestored", "tilezero")] == [4, 4, 4]


@needs_kernel
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("case", ["duplicates", "all norms"])
def test_a_search_by_each_kernel_is_the_same_search(
    case: str, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, documents = make_case(case)
    queries = np.concatenate([queries] * 15)  # several parts, each in a thread
    expected = search_exact(queries, documents, 50, block_rows=90, method="float64")
    monkeypatch.setattr(exact_int8, "choose_kernel", lambda: kernel)
    rows, scores = search_exact(queries, documents, 50, block_rows=90, method="int8")
    assert rows.tolist() == expected[0].tolist()
    assert scores.tobytes() == expected[1].tobytes()


@needs_kernel
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("case", ["plain", "duplicates", "all norms"])
@pytest.mark.parametrize("is_too_high", [False, True])
def test_a_guess_by_a_sample_changes_nothing(
    case: str, distance: Distance, kernel: Kernel, is_too_high: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, documents = make_case(case)
    sample_few(monkeypatch)
    if is_too_high:  # the sample has the best documents of the first query
        sampled = list_sampled(len(documents))
        best = search_exact(queries[:1], documents, len(documents), distance, method="float64")[0][0]
        others = np.setdiff1d(np.arange(len(documents)), sampled)
        order = np.empty(len(documents), dtype=np.int64)
        order[sampled], order[others] = best[: len(sampled)], best[len(sampled) :]
        documents = np.ascontiguousarray(documents[order])
    ties = np.random.default_rng(1).permutation(len(documents)).astype(np.uint32)
    expected = search_exact(queries, documents, 20, distance, ties, method="float64")
    missed = record_missed(monkeypatch)
    monkeypatch.setattr(exact_int8, "choose_kernel", lambda: kernel)
    for found in (
        search_exact(queries, documents, 20, distance, ties, block_rows=96, method="int8"),
        search_prepared(queries, prepare_documents(documents, distance, ties), 20),
    ):
        assert found[0].tolist() == expected[0].tolist()
        assert found[1].tobytes() == expected[1].tobytes()
    if case == "plain":
        assert missed == [is_too_high] * 2


def sample_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have 128 documents of some hundred be a sample that pays."""
    monkeypatch.setattr(exact_scan, "LEAST_SAMPLED", 128)
    monkeypatch.setattr(exact_scan, "SCORES_A_READING", 1)


def list_sampled(count: int) -> NDArray[np.int64]:
    """The rows of the sample of so many documents."""
    tiles = exact_int8.choose_tiles(count, exact_scan.count_sampled(count, 20, 37, is_packed=True)[0])
    return (tiles[:, None] * TILE + np.arange(TILE)).ravel()


def record_missed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether a guess was too high, of each search that follows."""
    missed: list[bool] = []
    ask = Search.has_missed

    def record(search: Search) -> bool:
        missed.append(ask(search))
        return missed[-1]

    monkeypatch.setattr(Search, "has_missed", record)
    return missed


@needs_kernel
def test_a_document_that_is_not_finite_is_named_also_where_it_is_sampled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queries, documents = make_case("plain")
    sample_few(monkeypatch)
    row = int(list_sampled(len(documents))[53])
    documents[row, 2] = np.nan
    with pytest.raises(IndexingError, match=f"document vector {row} is not finite"):
        search_exact(queries, documents, 20, block_rows=90)


@needs_kernel
def test_the_most_dimensions_stay_whole_numbers_in_float32() -> None:
    # A query and its copy in numbers of one size: the largest sum that there can be.
    signs = np.where(np.random.default_rng(5).random((8, exact_int8.MOST_DIMENSIONS)) < 0.5, -1, 1)
    vectors = check_vectors(signs.astype(np.float32), "query")
    for kernel in (AVX2, VNNI):
        frame = exact_int8.choose_frame(vectors, "inner_product", kernel)
        queries = exact_int8.quantise_queries(vectors, frame)
        block = exact_int8.quantise_block(vectors, frame)
        sums = exact_int8.multiply(queries, block, slice(0, 8), 0, 8)[:, :8] + queries.ends[:8, None]
        assert 2**20 < np.abs(sums).max() < 2**24


@pytest.mark.parametrize("kind", PASSES)
def test_a_search_of_a_pool_finds_the_best_of_its_rows_and_no_other(kind: Pass) -> None:
    queries, documents = make_case("duplicates")
    tie_order = np.random.default_rng(1).permutation(700)
    pool = np.flatnonzero(np.random.default_rng(6).random(700) < 0.1)
    all_rows, all_scores = search_exact(queries, documents, 700, "l2", tie_order)
    inside = np.isin(all_rows, pool)
    for k in (9, 500):
        rows, scores = search_exact(
            queries, documents, k, "l2", tie_order, block_rows=90, pool=pool[::-1], method=kind
        )
        depth = min(k, len(pool))
        assert rows.tolist() == all_rows[inside].reshape(37, -1)[:, :depth].tolist()
        assert scores.tobytes() == all_scores[inside].reshape(37, -1)[:, :depth].tobytes()


def test_a_pool_beyond_the_documents_is_refused() -> None:
    queries, documents = make_case("plain")
    with pytest.raises(IndexingError, match="the pool names rows 3 to 700; expected 0 to 699"):
        search_exact(queries, documents, 5, pool=np.array([700, 3]))


def test_an_empty_pool_gives_an_empty_ranking() -> None:
    queries, documents = make_case("plain")
    assert search_exact(queries, documents, 5, pool=np.empty(0, np.int64))[0].shape == (37, 0)


def test_an_unknown_pass_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="known: auto, bf16, float64, fp16, fp32, int8"):
        search_exact(*make_case("plain"), 5, method="int4")  # type: ignore[arg-type]


@needs_kernel
@pytest.mark.parametrize("change", [-1.0, 0.0, 1e-3, 1e6])
@pytest.mark.parametrize(("case", "distance"), alternate(CASES, DISTANCES))
def test_a_wrong_guess_of_the_kth_best_changes_no_ranking(
    case: str, distance: Distance, change: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, documents = make_case(case)
    guess = exact_int8.seeming_scores
    expected = search_exact(queries, documents, 50, distance, method="float64")

    def guess_wrongly(*given: object) -> NDArray[np.float64]:
        scores = guess(*given)  # type: ignore[arg-type]
        return scores + change * np.abs(scores)

    monkeypatch.setattr(exact_int8, "seeming_scores", guess_wrongly)
    rows, scores = search_exact(queries, documents, 50, distance, method="int8")
    assert rows.tolist() == expected[0].tolist()
    assert scores.tobytes() == expected[1].tobytes()


@pytest.mark.parametrize(("case", "distance"), alternate(CASES, DISTANCES))
def test_prepared_documents_are_found_as_others_by_many_queries_and_by_one(
    case: str, distance: Distance
) -> None:
    queries, documents = make_case(case)
    tie_order = np.random.default_rng(1).permutation(700)
    prepared = prepare_documents(documents, distance, tie_order)
    for k in (1, 30, 900):
        rows, scores = search_exact(queries, documents, k, distance, tie_order)
        many = search_prepared(queries, prepared, k)
        few = [search_prepared(query[None], prepared, k) for query in queries]
        for found in (many, tuple(np.concatenate(parts) for parts in zip(*few, strict=True))):
            assert found[0].tolist() == rows.tolist()
            assert found[1].tobytes() == scores.tobytes()


def test_prepared_documents_are_checked_as_others_are() -> None:
    queries, documents = make_case("plain")
    with pytest.raises(IndexingError, match="tie_order ranks 3 documents; expected all 700"):
        prepare_documents(documents, tie_order=np.arange(3))
    with pytest.raises(IndexingError, match="queries have 3 dimensions and documents 70"):
        search_prepared(queries[:, :3], prepare_documents(documents), 5)
    assert search_prepared(queries, prepare_documents(documents[:0]), 5)[0].shape == (37, 0)
    documents[5, 2] = np.nan
    with pytest.raises(IndexingError, match="document vector 5 is not finite"):
        prepare_documents(documents)


@pytest.mark.parametrize("distance", DISTANCES)
def test_pools_are_ranked_like_one_pool_after_another(distance: Distance) -> None:
    queries, documents = make_case("duplicates")
    random = np.random.default_rng(9)
    tie_order = random.permutation(700)
    pools = [random.choice(700, size, replace=False) for size in range(0, 370, 10)]
    found = list(score_pools(queries, documents, pools, distance, tie_order))
    for query, pool, (rows, scores) in zip(queries, pools, found, strict=True):
        (alone,) = score_pools(query[None], documents, [pool], distance, tie_order)
        searched = search_exact(query[None], documents, 700, distance, tie_order, pool=pool)
        assert rows.tolist() == alone[0].tolist() == searched[0][0].tolist()
        assert scores.tobytes() == alone[1].tobytes() == searched[1][0].tobytes()


def test_a_pool_too_few_is_refused() -> None:
    queries, documents = make_case("plain")
    with pytest.raises(IndexingError, match="1 pools for 37 queries; expected one for each"):
        list(score_pools(queries, documents, [np.arange(3)]))


@pytest.mark.parametrize("rows", [[3, 700], [-1, 3]])
def test_a_pool_of_rows_that_are_not_there_is_refused(rows: list[int]) -> None:
    queries, documents = make_case("plain")
    with pytest.raises(IndexingError, match=r"pools 0 to 8 names rows (0 to 700|-1 to 3); expected 0 to 699"):
        list(score_pools(queries[:36], documents, [np.arange(3), np.array(rows)] * 18))


def test_threads_rank_pools_of_a_file_and_look_at_their_vectors_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, documents = make_case("plain")
    documents[9, 2] = np.nan
    pools = [np.arange(9), np.arange(10, 700)] * 18
    file = np.memmap(tmp_path / "vectors", np.float32, "w+", shape=documents.shape)
    file[:] = documents
    expected = list(score_pools(queries[:36], documents, pools))
    monkeypatch.setattr("pinakes.indexers.exact.search.count_threads", lambda: 3)
    found = list(score_pools(queries[:36], file, pools))
    for (rows, scores), (others, same) in zip(found, expected, strict=True):
        assert rows.tolist() == others.tolist()
        assert scores.tobytes() == same.tobytes()
    with pytest.raises(IndexingError, match="document vector 9 is not finite"):
        list(score_pools(queries[:2], documents, [np.arange(9), np.arange(1, 12)]))


@given(st.integers(1, 5000), st.integers(1, 64), st.sampled_from([1, 6, 32]), st.sampled_from([384, 768]))
def test_queries_are_cut_into_parts_alike_as_many_for_each_thread(
    total: int, threads: int, panel: int, most: int
) -> None:
    parts = cut_queries(total, threads, panel, most)
    assert [number for part in parts for number in range(part.start, part.stop)] == list(range(total))
    assert all(part.start % panel == 0 for part in parts)
    sizes = [part.stop - part.start for part in parts]
    assert max(sizes) <= most
    assert len(set(sizes[:-1])) <= 1
    assert sizes[-1] <= sizes[0]
    # Parts that are rounded up to panels may be fewer.
    wanted = max(1, min(threads, total // FEWEST_SHARED))
    assert len(parts) >= wanted or len(parts) * (sizes[0] - panel) < total
