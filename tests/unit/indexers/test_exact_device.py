"""The search that runs on an accelerator entirely, here with the CPU for one: the bits of the plain one."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.exact import device as exact_device
from pinakes.indexers.exact import passes, search
from pinakes.indexers.exact.passes import Pass
from pinakes.indexers.exact.scores import check_vectors, score_pairs
from pinakes.indexers.exact.search import prepare_documents, search_exact, search_nested, search_prepared
from pinakes.indexers.names import DISTANCES, Distance

Vectors = NDArray[np.float32]
Found = tuple[NDArray[np.int64], Vectors]
KINDS: tuple[Pass, ...] = ("tf32", "fp32", "bf16", "fp16")
CASES = {
    "even": (48, 1),
    "one": (1, 1),
    "odd": (7, 1),
    "tiny": (48, 1e-30),
    "large": (3, 1e16),
    "close": (60, 1),
}


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the CPU taken for an accelerator."""
    for module in (passes, search):
        monkeypatch.setattr(module, "is_accelerator", lambda device: device == "cpu")


def make_case(name: str) -> tuple[Vectors, Vectors, NDArray[np.int64]]:
    """Queries, 400 documents with equal ones and one of zeros, and an order of equals."""
    width, scale = CASES[name]
    random = np.random.default_rng(len(name))
    documents = random.standard_normal((400, width))
    if name == "close":
        documents = documents[:1] + 1e-7 * documents
    documents[40:80], documents[399] = documents[:40], 0
    queries = np.concatenate((random.standard_normal((9, width)), documents[[3, 399]]))
    return (
        (queries * scale).astype(np.float32),
        (documents * scale).astype(np.float32),
        random.permutation(400),
    )


def require_same(found: Found, expected: Found) -> None:
    assert found[0].tolist() == expected[0].tolist()
    assert found[1].tobytes() == expected[1].tobytes()


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", CASES)
def test_it_gives_the_bits_of_the_search_that_scores_every_document(
    name: str, distance: Distance, there: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, documents, tie_order = make_case(name)
    for k in (1, 50, 400):
        expected = search_exact(queries, documents, k, distance, tie_order, method="float64")
        for kind in KINDS:
            for block_rows in (None, 97):
                found = search_exact(
                    queries, documents, k, distance, tie_order, block_rows=block_rows, method=kind
                )
                require_same(found, expected)
        require_same(search_prepared(queries, prepare_documents(documents, distance, tie_order), k), expected)
    for setting in ("SCORES_AT_ONCE", "NUMBERS_AT_ONCE", "NUMBERS_STAGED"):
        monkeypatch.setattr(exact_device, setting, 500)
    require_same(search_exact(queries, documents, 400, distance, tie_order), expected)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", CASES)
def test_its_scores_and_lengths_have_the_bits_of_the_compiled_ones(name: str, distance: Distance) -> None:
    queries, documents, _ = make_case(name)
    pairs = np.stack(np.meshgrid(range(len(queries)), range(400), indexing="ij"), axis=-1).reshape(-1, 2)
    left, right = (check_vectors(vectors, "test") for vectors in (queries, documents))
    assert (
        exact_device.measure_lengths(torch.from_numpy(documents)).numpy().tobytes() == right.lengths.tobytes()
    )
    query, document = pairs.T
    found = exact_device.score_pairs(
        torch.from_numpy(left.values[query]),
        torch.from_numpy(right.values[document]),
        torch.from_numpy(left.lengths[query]),
        torch.from_numpy(right.lengths[document]),
        distance,
    )
    assert found.numpy().tobytes() == score_pairs(queries, documents, pairs, distance).tobytes()


def test_nested_pools_grow_as_on_the_cpu(there: None, monkeypatch: pytest.MonkeyPatch) -> None:
    queries, documents, tie_order = make_case("even")
    pools = [np.arange(0, 30), np.arange(0, 200), np.arange(0, 400)]
    found = list(search_nested(queries, documents, pools, 40, "cosine", tie_order, block_rows=50))
    monkeypatch.undo()
    expected = search_nested(queries, documents, pools, 40, "cosine", tie_order)
    for one, other in zip(found, expected, strict=True):
        require_same(one, other)


@pytest.mark.usefixtures("there")
def test_prepared_documents_that_the_device_does_not_hold_move_for_each_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queries, documents, tie_order = make_case("even")
    monkeypatch.setattr(passes, "DEVICE_BLOCK_ROWS", 150)
    expected = search_exact(queries, documents, 20, "l2", tie_order, method="float64")
    prepared = prepare_documents(documents, "l2", tie_order)
    assert len(prepared.moved) == 3
    require_same(search_prepared(queries, prepared, 20), expected)

    def refuse(vectors: Vectors, *_: object) -> None:
        raise torch.OutOfMemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(passes, "move_block", refuse)
        prepared = prepare_documents(documents, "l2", tie_order)
    assert prepared.moved == []
    require_same(search_prepared(queries, prepared, 20), expected)


@pytest.mark.usefixtures("there")
def test_what_cannot_be_searched_is_refused_as_on_the_cpu() -> None:
    queries, documents, _ = make_case("even")
    broken = documents.copy()
    broken[123, 4] = np.inf
    with pytest.raises(IndexingError, match="document vector 123 is not finite"):
        search_exact(queries, broken, 5, block_rows=100)
    with pytest.raises(IndexingError, match="queries have 48 dimensions and documents 7"):
        search_exact(queries, documents[:, :7], 5)
    with pytest.raises(IndexingError, match=r"the shape \(400,\); expected"):
        search_exact(queries, [documents[:, 0]], 5)
    with pytest.raises(IndexingError, match="longer than 1e"):
        search_exact(queries, documents * np.float32(1e20), 5, "l2")
    with pytest.raises(IndexingError, match="longer than 1e"):
        search_exact(queries * np.float32(1e20), documents, 5, "l2")
    rows, scores = search_exact(queries, documents[:0], 5)
    assert (rows.shape, scores.shape) == ((11, 0), (11, 0))
    rows, scores = search_exact(queries[:0], documents, 5)
    assert (rows.shape, scores.shape) == ((0, 5), (0, 5))
