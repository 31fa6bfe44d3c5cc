"""One training by several processes ends as one process's; losses in fp16 are scaled as before a kill."""

import json
import multiprocessing
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import nn

from pinakes.errors import IndexingError
from pinakes.indexers.training import training
from pinakes.indexers.training.together import Ranks
from tests.toy_encoder import build_toy_encoder
from tests.unit.indexers.test_training import FAST, KilledError, kill_at, make_diverging, train

BOTH = ("cpu", "cpu")
SETTINGS = replace(FAST, epochs=2, checkpoint_steps=2, micro_tokens=24, learning_rate=0.001)
"""parts of an instance or two; a rate at which AdamW does not make much of the last bit of a gradient"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_encoder(tmp_path_factory.mktemp("base") / "toy", sentence_transformers_layout=False)


def flatten(losses: list[list[float | None]]) -> list[float]:
    return [np.nan if value is None else value for row in losses for value in row]


@pytest.mark.usefixtures("spawned")
def test_two_processes_give_the_losses_of_one(base: Path, tmp_path: Path) -> None:
    told: list[int] = []
    alone = train(base, tmp_path / "alone" / "it", SETTINGS)
    together = train(
        base,
        tmp_path / "together" / "it",
        SETTINGS,
        devices=BOTH,
        on_step=lambda step, steps, losses: told.append(step),
    )
    np.testing.assert_allclose(flatten(together.losses), flatten(alone.losses), atol=1e-5)
    np.testing.assert_allclose(flatten(together.validation), flatten(alone.validation), atol=1e-5)
    assert told == list(range(1, alone.steps + 1))


@pytest.mark.long  # `make test` compares the losses, of which the processes find the epochs alike
def test_two_processes_keep_the_epochs_of_one(base: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, method="adapters", patience=1)
    given: dict[str, Any] = {"settings": settings, "tasks": make_diverging()}
    alone = train(base, tmp_path / "alone" / "it", **given)
    together = train(base, tmp_path / "together" / "it", devices=BOTH, **given)
    assert together.kept_epoch == alone.kept_epoch
    assert set(alone.kept_epoch.values()) == {1, 2}
    for code in alone.kept_epoch:
        place = Path("it", code.lower(), "adapter.safetensors")
        weights = [load_file(tmp_path / name / place) for name in ("alone", "together")]
        for name, value in weights[0].items():
            torch.testing.assert_close(weights[1][name], value, atol=1e-5, rtol=0)


@pytest.mark.long  # `make test` kills the one process of a training, and has one of two end by an error
def test_a_killed_process_ends_all_and_the_rest_ends_with_the_same_bytes(base: Path, tmp_path: Path) -> None:
    together = train(base, tmp_path / "together" / "it", SETTINGS, devices=BOTH)

    def kill(step: int, steps: int, losses: dict[str, float]) -> None:
        if step == 5:
            os.kill(multiprocessing.active_children()[1].pid or 0, signal.SIGKILL)

    with pytest.raises(IndexingError, match="process that trains on cpu ended with exit code -9"):
        train(base, tmp_path / "killed" / "it", SETTINGS, devices=BOTH, on_step=kill)
    assert multiprocessing.active_children() == []
    with pytest.raises(IndexingError, match="other processes"):
        train(base, tmp_path / "killed" / "it", SETTINGS)
    resumed = train(base, tmp_path / "killed" / "it", SETTINGS, devices=BOTH)
    assert resumed.losses == together.losses
    files = [tmp_path / name / "it" / "model.safetensors" for name in ("killed", "together")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_one_process_finds_wrong_is_said_once(base: Path, tmp_path: Path) -> None:
    settings = replace(FAST, learning_rate=1e30, warmup_steps=0)
    with pytest.raises(IndexingError, match=r"the loss of \w+ is no number in step \d"):
        train(base, tmp_path / "it", settings, devices=BOTH)


@pytest.mark.parametrize("costs", [[5, 9, 3, 2, 2, 1], [1], []])
def test_each_part_is_of_one_process(costs: list[int]) -> None:
    chosen = [Ranks(rank, 3).choose(costs) for rank in range(3)]
    assert sorted(part for parts in chosen for part in parts) == list(range(len(costs)))
    loads = [sum(costs[part] for part in parts) for parts in chosen]
    assert max(loads, default=0) <= max([-(-sum(costs) // 3) + 1, *costs])


def test_one_process_sums_nothing() -> None:
    weight = nn.Parameter(torch.zeros(2))
    Ranks().add_gradients([weight])
    assert weight.grad is None
    assert (Ranks().agree(2), Ranks().add_numbers([0.1])) == (2, [0.1])


def test_devices_that_cannot_be_used_are_named(base: Path, tmp_path: Path) -> None:
    refused: dict[str, tuple[Any, ...]] = {
        "the devices are none; expected cpu": (),
        "the devices are cpu, cuda:0; expected cpu, or": ("cpu", "cuda:0"),
        "the devices are gpu; expected cpu": ("gpu",),
        "there is no cuda:97 among the": ("cuda:97",),
    }
    for message, devices in refused.items():
        with pytest.raises(IndexingError, match=message):
            train(base, tmp_path / "it", FAST, devices=devices)
    with pytest.raises(IndexingError, match="precision is fp16 on a CPU; expected a CUDA device"):
        train(base, tmp_path / "it", replace(FAST, precision="fp16"))
    with pytest.raises(IndexingError, match="precision is 'fp8'; expected one of fp32, bf16, fp16"):
        replace(FAST, precision="fp8")  # type: ignore[arg-type]
    assert not (tmp_path / "it").exists()


def test_the_scale_of_losses_in_fp16_goes_on_behind_a_kill(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "_require_devices", lambda *_: None)  # torch scales on a CPU too
    settings = replace(FAST, precision="fp16", epochs=2, checkpoint_steps=2)
    whole = train(base, tmp_path / "a" / "it", settings)
    with pytest.raises(KilledError):
        train(base, tmp_path / "b" / "it", settings, on_step=kill_at(5))
    with safe_open(tmp_path / "b" / "it" / "checkpoint" / "checkpoint.safetensors", framework="pt") as file:
        scaler = json.loads(file.metadata()["state"])["progress"]["scaler"]
    assert 0 < scaler["_growth_tracker"] <= 4  # steps since the last that overflowed
    assert scaler["scale"] <= 65536
    resumed = train(base, tmp_path / "b" / "it", settings)
    assert resumed.losses == whole.losses
    assert whole.losses != train(base, tmp_path / "c" / "it", replace(settings, precision="fp32")).losses
