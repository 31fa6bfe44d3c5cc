"""Every loader can be found by its name."""

import pytest

from pinakes.errors import UnknownNameError
from pinakes.loaders.registry import LOADERS, find_loader


@pytest.mark.parametrize("name", LOADERS)
def test_every_entry_is_a_loader_of_that_name(name: str) -> None:
    loader = find_loader(name)
    assert loader.name == name
    assert loader.summary


def test_an_unknown_name_lists_the_known_ones() -> None:
    message = f"unknown loader 'nothing'; known: {', '.join(sorted(LOADERS))}"
    with pytest.raises(UnknownNameError, match=f"^{message}$"):
        find_loader("nothing")
    with pytest.raises(UnknownNameError, match=r"known: .*\bbeir, .* and \d+ more\. Did you mean beir"):
        find_loader("bier")
