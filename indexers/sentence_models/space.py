"""What a random search draws from; no torch, so that options can name it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

import numpy as np

from pinakes.errors import InputError
from pinakes.indexers.sentence_models.settings import Kind, ModelSettings

HIDDEN: Final = tuple(range(100, 501, 50))
WEIGHT_DECAYS: Final = (0.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
LAYERS: Final[dict[Kind, tuple[int, ...]]] = {
    "mlp": (1, 2, 3, 4),
    "lstm": (1, 2, 3, 4),
    "transformer": (2, 3, 4),
}
HEADS: Final[dict[Kind, tuple[int, ...]]] = {"mlp": (1,), "lstm": (1,), "transformer": (2, 3, 4)}


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """The values of each setting that a trial can have; all other settings are those of `base`."""

    base: ModelSettings
    hidden: Sequence[int] = HIDDEN
    layers: Sequence[int] = (1, 2, 3, 4)
    heads: Sequence[int] = (1,)
    weight_decay: Sequence[float] = WEIGHT_DECAYS

    def list_all(self) -> list[dict[str, Any]]:
        """Each choice of values, in the order of the fields."""
        names = ("hidden", "layers", "heads", "weight_decay")
        values = product(*(getattr(self, name) for name in names))
        return [dict(zip(names, one, strict=True)) for one in values]


def make_space(base: ModelSettings, dimensions: int, **fixed: float | None) -> SearchSpace:
    """The published ranges (appendix A) for the kind of `base`, less heads that do not divide the width.

    Args:
        dimensions: of the vectors.
        fixed: settings of `SearchSpace` that every trial has; None: drawn.

    Raises:
        InputError: no number of heads divides the width of the Transformer.
    """
    width = base.count_inputs(dimensions) if base.as_published or not base.width else base.width
    is_transformer = base.kind == "transformer"
    heads = tuple(one for one in HEADS[base.kind] if not is_transformer or width % one == 0)
    given = {name: (value,) for name, value in fixed.items() if value is not None}
    space = replace(SearchSpace(base, layers=LAYERS[base.kind], heads=heads), **given)  # type: ignore[arg-type]
    if is_transformer and not [one for one in space.heads if width % one == 0]:
        raise InputError(
            f"no number of attention heads ({given.get('heads', HEADS[base.kind])}) divides {width}."
        )
    return space


def draw_settings(space: SearchSpace, trials: int, seed: int) -> list[ModelSettings]:
    """So many different settings in an order that the seed decides; all of the space where it has no more.

    A search of more trials begins with those of a search of fewer.
    """
    if trials < 1:
        raise InputError(f"a search of {trials} trials; expected 1 or more.")
    choices = space.list_all()
    order = np.random.default_rng(seed).permutation(len(choices))[:trials]
    return [replace(space.base, **choices[row]) for row in order]
