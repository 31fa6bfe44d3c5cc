"""Documents rounded to bytes: numba's loop and each kernel keep the bounds, and give the same bytes."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pinakes.indexers.exact import int8 as exact_int8
from pinakes.indexers.exact import rounding as exact_rounding
from pinakes.indexers.exact.int8 import Int8Block, quantise_block
from pinakes.indexers.exact.kernel import TILE
from pinakes.indexers.exact.panels import AVX2, VNNI, Kernel
from pinakes.indexers.exact.rounding import (
    LANES,
    SIGNATURE,
    WIDE_LANES,
    has_rounding_kernel,
    write_rounding_kernel,
)
from pinakes.indexers.exact.scores import check_vectors
from pinakes.indexers.names import Distance
from pinakes.machine_code import compile_function, has_instructions
from tests.long import alternate
from tests.unit.indexers.test_exact_passes import CASES, DISTANCES

ROWS = 75  # no whole tile
needs_kernel = pytest.mark.skipif(not has_rounding_kernel(64), reason="for processors with AVX2 and FMA")


def make_documents(case: str, width: int) -> NDArray[np.float32]:
    random = np.random.default_rng(width)
    documents = random.standard_normal((ROWS, width)).astype(np.float32)
    if case == "near ties":
        documents = documents[:1] + documents * np.float32(1e-6)
    elif case == "all norms":
        documents *= (10.0 ** random.uniform(-12, 12, (ROWS, 1))).astype(np.float32)
    elif case == "zeros":
        documents[::3] = 0
    elif case == "denormals":
        documents *= np.float32(1e-42)
    elif case == "far away":
        documents += np.float32(3000)
    elif case == "one large dimension":
        documents[:, 3] *= 1000
    elif case == "equal signs":
        documents = np.sign(documents)
    return documents.astype(np.float32)


def round_by(
    lanes: int, documents: NDArray[np.float32], distance: Distance, kernel: Kernel, monkeypatch: Any
) -> tuple[exact_int8.Frame, NDArray[np.float64], Int8Block]:
    """The frame, each document's bytes as whole numbers, and the block, by registers of so many numbers.

    0: numba's loop.
    """

    def load(width: int, interleaved: int, offset: int) -> Any:
        text = write_rounding_kernel(width, interleaved, offset, lanes)
        return compile_function(text, "round_documents", SIGNATURE)

    monkeypatch.setattr(exact_int8, "has_rounding_kernel", lambda width: lanes > 0)
    monkeypatch.setattr(exact_int8, "load_rounding_kernel", load)
    block = check_vectors(documents, "document")
    frame = exact_int8.choose_frame(block, distance, kernel)
    packed = quantise_block(block, frame)
    width = documents.shape[1]
    tiles = packed.bytes.reshape(-1, width // 4, kernel.interleaved, 4)
    rows = tiles.transpose(0, 2, 1, 3).reshape(-1, width)[:ROWS]
    whole = rows.astype(np.int64) - kernel.offset if kernel.offset else rows.view(np.int8).astype(np.int64)
    return frame, whole.astype(np.float64), packed


@needs_kernel
@pytest.mark.parametrize("width", [64, 192])
@pytest.mark.parametrize(("case", "distance"), alternate(CASES, DISTANCES))
def test_bytes_and_bounds_are_those_of_numbas_loop_and_hold(
    case: str, distance: Distance, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = make_documents(case, width)
    for kernel in (AVX2, VNNI):
        _, expected, block = round_by(0, documents, distance, kernel, monkeypatch)
        for lanes in [LANES] + [WIDE_LANES] * has_instructions("avx512f"):
            frame, found, other = round_by(lanes, documents, distance, kernel, monkeypatch)
            # A number that lies between two may be rounded to either.
            assert np.abs(found - expected).max() <= 1
            assert (found != expected).mean() < 0.001
            assert other.bytes[-TILE:].tolist() == block.bytes[-TILE:].tolist()
            for ours, theirs in zip(other.terms, block.terms, strict=True):
                np.testing.assert_allclose(ours[:ROWS], theirs[:ROWS], rtol=1e-4, atol=1e-6)
            require_bounds(documents, frame, found, other)


def require_bounds(
    documents: NDArray[np.float32], frame: exact_int8.Frame, whole: NDArray[np.float64], block: Int8Block
) -> None:
    """What the head of `int8` promises of each document."""
    values = documents.astype(np.longdouble)
    if frame.distance == "cosine":
        lengths = np.sqrt((values**2).sum(axis=1, keepdims=True))
        values = np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)
    z = values - frame.mean
    da, dg, dd = (term[:ROWS].astype(np.longdouble) for term in block.terms)
    lost = np.sqrt(((z - whole / da[:, None]) ** 2).sum(axis=1))
    # `da` is rounded to float32, which moves each whole number by as much of itself.
    moved = np.sqrt((whole**2).sum(axis=1)) * 2.0**-23
    assert (lost * da <= dd + moved).all()
    np.testing.assert_allclose(dg / da * 2, (z**2).sum(axis=1).astype(np.float64), rtol=1e-5, atol=1e-30)
    assert np.abs(whole).max() <= 127
    lanes = whole.reshape(ROWS, -1, 16, 2, 2)
    assert np.sqrt((lanes**2).sum(axis=(2, 4))).max() <= 255


@needs_kernel
def test_the_kernel_is_taken_for_whole_chunks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    load = exact_rounding.load_rounding_kernel

    def record(width: int, interleaved: int, offset: int) -> Any:
        taken.append(width)
        return load(width, interleaved, offset)

    monkeypatch.setattr(exact_int8, "load_rounding_kernel", record)
    for width in (1, 63, 64, 70, 128):
        block = check_vectors(make_documents("plain", width), "document")
        quantise_block(block, exact_int8.choose_frame(block, "cosine"))
    assert sorted(set(taken)) == [64, 128]
