"""The attention kernel against float64, in each shape that this processor can run, and where it is used."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from pinakes.indexers.encoder import attention_kernel
from pinakes.indexers.encoder.attention_kernel import attend, has_attention_kernel
from pinakes.indexers.encoder.attention_tiles import write_tile_attention
from pinakes.machine_code import has_instructions, has_tiles

WITH_KERNEL = has_instructions("avx2") and has_instructions("fma")
SHAPES = [(8, 6)] + ([(16, 8)] if has_instructions("avx512f") else [])
KINDS = [torch.float32] + ([torch.bfloat16] if has_instructions("avx512bf16") else [])
LENGTHS = [1, 2, 3, 16, 31, 32, 33, 70, 129]

halves = pytest.mark.skipif(torch.bfloat16 not in KINDS, reason="for processors with bf16 products")
pytestmark = pytest.mark.skipif(not WITH_KERNEL, reason="the kernel is for x86-64 processors with AVX2")


@pytest.fixture(params=[False, True], ids=["registers", "tiles"])
def tiles(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Products of bf16 in AMX's tile registers, or as on processors that have none."""
    wanted = bool(request.param)
    if wanted and not has_tiles("amx-bf16"):
        pytest.skip("for processors with AMX")
    monkeypatch.setattr(attention_kernel, "has_tiles", lambda products: wanted)
    return wanted


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    chosen: tuple[int, int] = request.param
    monkeypatch.setattr(attention_kernel, "choose_shape", lambda: chosen)
    return chosen


def make_projected(
    lengths: list[int], heads: int, head_width: int, kind: torch.dtype, seed: int = 3
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sum(lengths), 3 * heads * head_width, generator=generator).mul_(2).to(kind)


def make_ends(lengths: list[int]) -> Tensor:
    return torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))


def attend_in_double(projected: Tensor, heads: int, lengths: list[int]) -> Tensor:
    parts = []
    for text in torch.split(projected.double(), lengths):
        query, key, value = text.view(len(text), 3, heads, -1).permute(1, 2, 0, 3)
        scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
        parts.append((scores.softmax(-1) @ value).transpose(0, 1).reshape(len(text), -1))
    return torch.cat(parts)


def run(projected: Tensor, heads: int, lengths: list[int]) -> Tensor:
    assert has_attention_kernel(projected, heads)
    return attend(projected, heads, make_ends(lengths), max(lengths))


@pytest.mark.parametrize(("heads", "head_width"), [(2, 32), (3, 64), (1, 96), (1, 128), (1, 160)])
def test_it_is_attention(shape: tuple[int, int], heads: int, head_width: int) -> None:
    projected = make_projected(LENGTHS, heads, head_width, torch.float32)
    expected = attend_in_double(projected, heads, LENGTHS)
    torch.testing.assert_close(run(projected, heads, LENGTHS).double(), expected, atol=3e-5, rtol=3e-5)


@halves
@pytest.mark.parametrize(("heads", "head_width"), [(2, 32), (3, 64), (1, 96), (1, 128)])
def test_it_is_attention_in_bf16(tiles: bool, heads: int, head_width: int) -> None:
    projected = make_projected(LENGTHS, heads, head_width, torch.bfloat16)
    expected = attend_in_double(projected, heads, LENGTHS)
    torch.testing.assert_close(run(projected, heads, LENGTHS).double(), expected, atol=0.02, rtol=0.02)


@halves
def test_tiles_are_used_where_they_are_there(tiles: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[int] = []
    load = attention_kernel.load_tile_kernel

    def record(head_width: int) -> Any:
        loaded.append(head_width)
        return load(head_width)

    monkeypatch.setattr(attention_kernel, "load_tile_kernel", record)
    for kind in (torch.bfloat16, torch.float32):
        run(make_projected([20], 1, 64, kind), 1, [20])
    assert loaded == ([64] if tiles else [])


@pytest.mark.parametrize("head_width", [32, 128])
def test_tiles_are_machine_code_on_a_processor_that_cannot_run_it(head_width: int) -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(write_tile_attention(head_width))
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu="sapphirerapids", opt=3)
    code = machine.emit_assembly(module)
    halves = head_width // 32  # of a query; then weights meet the values, 32 numbers of a head a turn
    assert [code.count(name) for name in ("tdpbf16ps", "tilestored", "ldtilecfg")] == [2 * halves + 2, 4, 1]


@halves
def test_heads_for_which_there_are_too_few_tiles_are_left_to_torch(tiles: bool) -> None:
    for head_width, fits in ((128, True), (160, not tiles)):
        assert has_attention_kernel(make_projected([20], 1, head_width, torch.bfloat16), 1) is fits


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_is_about_as_exact_as_torchs(tiles: bool, kind: torch.dtype) -> None:
    projected = make_projected([200], 12, 32, kind)
    expected = attend_in_double(projected, 12, [200])
    query, key, value = projected.view(1, 200, 3, 12, 32).permute(2, 0, 3, 1, 4)  # its fast way takes four
    theirs = torch.nn.functional.scaled_dot_product_attention(query, key, value)[0].transpose(0, 1)
    theirs = theirs.reshape(200, -1)
    error = (run(projected, 12, [200]).double() - expected).square().mean()
    assert error <= (1.05 if kind is torch.bfloat16 else 2) * (theirs.double() - expected).square().mean()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_text_gets_the_same_bits_beside_others_and_at_any_number_of_threads(
    tiles: bool, kind: torch.dtype
) -> None:
    projected = make_projected(LENGTHS, 4, 32, kind)
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            found.append(run(projected, 4, LENGTHS))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(found[0], other) for other in found[1:])
    for alone, text in zip(*(torch.split(one, LENGTHS) for one in (projected, found[0])), strict=True):
        assert torch.equal(run(alone.contiguous(), 4, [len(alone)]), text)


def test_large_scores_and_scores_far_apart_do_not_overflow(shape: tuple[int, int]) -> None:
    projected = make_projected(LENGTHS, 2, 32, torch.float32).mul_(60)
    expected = attend_in_double(projected, 2, LENGTHS)
    torch.testing.assert_close(run(projected, 2, LENGTHS).double(), expected, atol=0.1, rtol=1e-3)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_stays_none_and_stays_in_its_text(shape: tuple[int, int], number: float) -> None:
    projected = make_projected([40, 40], 1, 32, torch.float32)
    projected[45, 33] = number  # a key of the second text
    require_not_finite_alike(projected)


@halves
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_stays_none_in_bf16(tiles: bool, number: float) -> None:
    projected = make_projected([40, 40], 1, 32, torch.bfloat16)
    projected[45, 33] = number
    require_not_finite_alike(projected)


def require_not_finite_alike(projected: Tensor) -> None:
    attended = run(projected, 1, [40, 40])
    assert attended[:40].isfinite().all()
    expected = attend_in_double(projected, 1, [40, 40])
    assert torch.equal(attended.isnan(), expected.isnan())
    assert attended[40:].isnan().any()


@halves
def test_scores_far_apart_do_not_overflow_in_bf16(tiles: bool) -> None:
    projected = make_projected(LENGTHS, 2, 32, torch.bfloat16).mul_(60)
    expected = attend_in_double(projected, 2, LENGTHS)
    torch.testing.assert_close(run(projected, 2, LENGTHS).double(), expected, atol=0.1, rtol=0.01)


def test_a_text_of_no_tokens_is_passed_over() -> None:
    projected = make_projected([3, 5], 1, 32, torch.float32)
    ends = torch.tensor([0, 3, 3, 8], dtype=torch.int32)
    assert torch.equal(attend(projected, 1, ends, 5), run(projected, 1, [3, 5]))


def test_it_is_not_used_where_it_does_not_fit() -> None:
    projected = make_projected([3], 2, 32, torch.float32)
    assert has_attention_kernel(projected, 2)
    assert not has_attention_kernel(projected, 3)  # heads do not divide the width into whole registers
    assert not has_attention_kernel(projected, 64)  # heads of one number
    assert not has_attention_kernel(projected.half(), 2)
    assert not has_attention_kernel(projected.double(), 2)
    assert not has_attention_kernel(projected.T, 1)
    assert not has_attention_kernel(projected.requires_grad_(), 2)


def test_without_threads_of_torchs_kind_it_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_kernel, "_find_threads", lambda: None)
    assert not has_attention_kernel(make_projected([3], 2, 32, torch.float32), 2)
