"""Which examples train, choose and test: by example as published, and by paper."""

import hashlib
import math
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

Part = Literal["train", "dev", "test"]
SCHEMES: Final = ("by_example", "by_paper")


def split_as_published(count: int, seed: int, test: float, dev: float) -> list[Part]:
    """The part of each of so many examples, in their order, as two calls of scikit-learn make it.

    These are `train_test_split(test_size=test + dev, random_state=seed)` over the examples, then over what it
    held out, in its order, with `test_size=test / (test + dev)`. Where scikit-learn
    refuses: of 2 to 5 examples the one that is held out is for testing, and a single one for training.

    >>> split_as_published(10, 1, 0.1, 0.1)
    ['train', 'train', 'test', 'train', 'train', 'train', 'train', 'train', 'train', 'dev']
    """
    parts: list[Part] = ["train"] * count
    if count < 2:
        return parts
    _, held_out = _split(np.arange(count), test + dev, seed)
    chosen, tested = _split(held_out, test / (test + dev), seed)
    for place in chosen:
        parts[place] = "dev"
    for place in tested:
        parts[place] = "test"
    return parts


def _split(
    places: npt.NDArray[np.int64], share: float, seed: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """What stays and what is held out, as scikit-learn's ShuffleSplit takes it."""
    held = math.ceil(share * len(places))
    order = np.random.RandomState(seed).permutation(len(places))
    return places[order[held:]], places[order[:held]]


def split_by_paper(corpus: str, papers: Sequence[str], seed: int, test: float, dev: float) -> list[Part]:
    """The part of each example, of which `papers` says the source's ids of its paper.

    The papers are ordered by the MD5 of seed, corpus and id; the first are for testing, the next for
    choosing; as many as `split_as_published` would take.

    >>> split_by_paper("toy", ["a", "a", "b", "c"], 1, 0.1, 0.1)
    ['test', 'test', 'train', 'train']
    """
    named = sorted(set(papers), key=lambda paper: _digest(seed, corpus, paper))
    parts = split_as_published(len(named), seed, test, dev)
    tested, chosen = parts.count("test"), parts.count("dev")
    part_of: dict[str, Part] = dict.fromkeys(named, "train")
    part_of |= dict.fromkeys(named[tested : tested + chosen], "dev")
    part_of |= dict.fromkeys(named[:tested], "test")
    return [part_of[paper] for paper in papers]


def _digest(seed: int, corpus: str, paper: str) -> bytes:
    written = f"{seed}\x1f{corpus}\x1f{paper}".encode("utf-8", "surrogatepass")
    return hashlib.md5(written, usedforsecurity=False).digest()
