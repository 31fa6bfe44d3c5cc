"""The ids that a file has brought: found again however many there are, and nothing else."""

import random

import numpy as np
import pyarrow as pa
import pytest

from pinakes.loaders.reading import seen_ids
from pinakes.loaders.reading.seen_ids import SeenIds

IDS = ["0", "7", "10" * 9, "07", "-7", "W7", "", "7 ", "1" * 19, "é", "\u0661"]


def test_each_id_is_told_from_all_others() -> None:
    for one in IDS:
        seen = SeenIds()
        seen.add(pa.array([one]))
        assert seen.find(pa.array(IDS)).tolist() == [other == one for other in IDS]


@pytest.mark.parametrize("make", [str, "W{}".format])
def test_all_ids_are_found_when_runs_are_merged_and_go_to_disk(
    make: type[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_ids, "SPILL_CODES", 64)
    numbers = random.Random(1).sample(range(10_000), 1_000)
    seen = SeenIds()
    for start in range(0, 1_000, 10):
        seen.add(pa.array([make(number) for number in numbers[start : start + 10]]))
    found = seen.find(pa.array([make(number) for number in range(10_000)]))
    assert np.flatnonzero(found).tolist() == sorted(numbers)
    runs = [*seen._numbers._runs, *seen._digests._runs]
    assert sum(isinstance(run, np.memmap) for run in runs) > 5
    assert sum(len(run) for run in runs) == 1_000


def test_nothing_is_found_in_nothing() -> None:
    assert SeenIds().find(pa.array(["1", "a"])).tolist() == [False, False]
    assert SeenIds().find(pa.array([], pa.string())).tolist() == []
