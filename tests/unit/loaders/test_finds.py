"""A round of fuzzing, and every input that a loader once went wrong on."""

import random
from pathlib import Path

import pytest

from tests.fuzz.mutate import mutate, mutate_json
from tests.fuzz.run import FINDS, check_input, fuzz, list_sources
from tests.long import long
from tests.sources import SOURCES

KEPT = sorted(folder for folder in FINDS.glob("*/*") if folder.is_dir())


@pytest.mark.parametrize("folder", KEPT, ids=[f"{one.parent.name}-{one.name}" for one in KEPT])
def test_what_a_loader_went_wrong_on_is_read_or_refused(folder: Path) -> None:
    request = next(one for one in SOURCES.values() if one.loader == folder.parent.name)
    assert request.source is not None
    path = folder if request.source.is_dir() else folder / request.source.name
    accepted, rejected, refused = check_input(request, path, random.Random(1))
    assert accepted + rejected or refused


@pytest.mark.parametrize("rounds", [2, long(40)])
def test_mutated_sources_are_read_or_refused(rounds: int) -> None:
    sources = list_sources()
    tally = fuzz(sources, seed=1, seconds=600, rounds=rounds)
    assert tally.finds == {}
    assert set(tally.inputs) == {source.name for source in sources}
    assert tally.accepted.total() > 300
    assert tally.rejected.total() > 300


def test_mutations_are_those_of_their_seed() -> None:
    data = b'{"id": "1", "year": 1999, "tags": ["a", {"b": null}]}'
    drawn = [[mutate(random.Random(seed), data) for seed in range(200)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 150
    documents = {mutate_json(random.Random(seed), data, seed) for seed in range(200)}
    assert len(documents) > 150
    assert mutate_json(random.Random(3), b"no JSON", 1) != b"no JSON"
