"""What the options of trained scorers of sentences mean: by the mode, by the vectors, and what is drawn."""

import pytest

from pinakes.indexers.sentence_models.settings import ModelSettings, Schedule
from pinakes.systems.trained_sentences.options import (
    SentenceModelOptions,
    SentenceTransformerOptions,
    make_plan,
)


def test_corrected_mode_trains_ours_and_published_mode_the_published_ones() -> None:
    own = SentenceModelOptions()
    ours, published = (make_plan("lstm", own, mode, "cpu") for mode in ("corrected", "published"))
    assert ours.base == ModelSettings("lstm", width=0)
    assert ours.schedule == Schedule(epochs=10, batch=8, learning_rate=1e-3, patience=3, threads=2)
    assert published.base == ModelSettings("lstm", width=0, as_published=True)
    expected = Schedule(
        epochs=2_000, batch=8, learning_rate=1e-4, patience=None, threads=2, checkpoint_every=10
    )
    assert published.schedule == expected
    assert (
        make_plan("lstm", SentenceModelOptions(as_published=True), "corrected", "cpu").base == published.base
    )
    assert make_plan("lstm", SentenceModelOptions(as_published=False), "published", "cpu").base == ours.base


def test_published_mlp_over_tfidf_reads_the_sentence_alone() -> None:
    plan = make_plan("mlp", SentenceModelOptions(), "published", "cpu", over_tfidf=True)
    assert plan.base == ModelSettings("mlp", dropout=0.0, features="sentence", width=0)
    assert plan.schedule == Schedule(epochs=16, batch=1, learning_rate=1e-3, patience=None, threads=2)
    space = plan.make_space(128)
    assert (list(space.hidden), list(space.layers), list(space.weight_decay)) == (
        [100, 200, 300, 400],
        [1, 2, 3, 4],
        [1e-4],
    )
    assert make_plan("lstm", SentenceModelOptions(), "published", "cpu", over_tfidf=True).base.as_published


def test_given_settings_are_not_drawn() -> None:
    own = SentenceTransformerOptions(hidden=64, heads=3, width=12)
    plan = make_plan("transformer", own, "corrected", "cpu")
    space = plan.make_space(16)
    assert (list(space.hidden), list(space.heads), list(space.layers)) == ([64], [3], [2, 3, 4])
    described = plan.describe()
    drawn = {name: described[name] for name in ("hidden", "heads", "layers", "weight_decay")}
    assert drawn == {"hidden": 64, "heads": 3, "layers": "drawn", "weight_decay": "drawn"}


@pytest.mark.parametrize(
    "changed", [{"trials": 4}, {"seed": 2}, {"threads": 1}, {"batch": 4}, {"seconds": 9.0}]
)
def test_description_holds_what_decides_the_scores(changed: dict[str, int]) -> None:
    plans = [
        make_plan("mlp", own, "corrected", "cpu").describe()
        for own in (SentenceModelOptions(), SentenceModelOptions(**changed))  # type: ignore[arg-type]
    ]
    assert plans[0] != plans[1]
