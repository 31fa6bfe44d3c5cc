"""Generators start as torch's own function starts them."""

import pytest

torch = pytest.importorskip("torch")

from pinakes.indexers.repeatable import compute_repeatably, seed_generators  # noqa: E402


def test_seeded_numbers_are_those_that_torch_gives_for_the_seed() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    seed_generators("cpu", 8)
    assert not torch.equal(torch.rand(3), expected)
    seed_generators("cpu", 7)
    assert torch.equal(torch.rand(3), expected)


def test_the_numbers_after_it_are_those_that_would_have_come_without_it() -> None:
    torch.manual_seed(7)
    torch.rand(2)
    expected = torch.rand(3)
    torch.manual_seed(7)
    torch.rand(2)
    with compute_repeatably("cpu", 1):
        seed_generators("cpu", 9)
        torch.rand(5)
    assert torch.equal(torch.rand(3), expected)
