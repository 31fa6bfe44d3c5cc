"""Random search: settings drawn by a seed, each trained in a folder of its own, the best on dev chosen."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pinakes.indexers.sentence_models.settings import ModelSettings, Schedule
from pinakes.indexers.sentence_models.space import SearchSpace, draw_settings
from pinakes.indexers.sentence_models.training import (
    Examples,
    OnEpoch,
    Trained,
    digest_examples,
    train_model,
)


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a search may train.

    Attributes:
        trials: at most.
        seconds: after which no further trial begins; None: no limit. With one, the number of trials depends
            on the speed of the machine, and so can the choice.
    """

    trials: int = 4
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One training of a search.

    Attributes:
        number: from 1, in the order drawn.
        chosen: whether it is the best on dev: by mean average precision, as published by the global one; the
            first of equals.
    """

    number: int
    trained: Trained
    chosen: bool = False


def search_models(
    train: Examples,
    dev: Examples,
    space: SearchSpace,
    budget: Budget,
    seed: int,
    schedule: Schedule,
    folder: Path,
    *,
    on_epoch: OnEpoch | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Trial]:
    """The trials of a search, trained in `trial-1`, `trial-2`, … of `folder`; one of them is chosen.

    A search that was killed goes on: what is finished is read, what was begun is resumed.

    Raises:
        IndexingError: as `train_model`.
    """
    started = clock()
    digest = digest_examples([*train, *dev])
    found: list[Trained] = []
    for number, settings in enumerate(draw_settings(space, budget.trials, seed), start=1):
        if found and budget.seconds is not None and clock() - started >= budget.seconds:
            break
        place = folder / f"trial-{number}"
        found.append(train_model(train, dev, settings, schedule, place, digest=digest, on_epoch=on_epoch))
    return _choose(found)


def _choose(found: Sequence[Trained]) -> list[Trial]:
    best = max(range(len(found)), key=lambda row: _judge(found[row].settings, found[row]))
    trials = [Trial(number, one) for number, one in enumerate(found, start=1)]
    return [replace(trial, chosen=row == best) for row, trial in enumerate(trials)]


def _judge(settings: ModelSettings, trained: Trained) -> float:
    return trained.dev_global if settings.as_published else trained.dev_score
