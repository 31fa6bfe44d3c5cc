"""Projected attention layers (PALs): small attention beside each layer of a BERT, one set a format.

Stickland & Murray 2019 (https://arxiv.org/abs/1902.02671), as their code has it: a layer's output is
`norm(feed_forward(a) + a + gelu(up(attend(down(x)))))`, with `x` the layer's input and `a` its attention's
output. `down` and `up` are shared by all layers. The folder is of this project's own layout: transformers
and the library `adapters` know no PALs.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_settings import PAL_CONFIG_NAME, PAL_WEIGHTS_NAME
from pinakes.indexers.encoder.model_settings import read_json

_LAYOUT: Final = 1
_NOTE: Final = "projected attention layers of Pinakes, which reads them; transformers and adapters do not"

Attend = Callable[[Tensor, int], Tensor]
"""attention: (…, 3 width) queries, keys and values of some heads to (…, width)"""


@dataclass(frozen=True, slots=True)
class PalSettings:
    """What decides the shape of one format's PALs.

    Attributes:
        name: the format's code.
        hidden_size, layers: of the BERT that they stand in.
        width: how many numbers attention works on.
    """

    name: str
    hidden_size: int
    layers: int
    width: int
    heads: int


class Pal(nn.Module):
    """One format's PAL of one layer; `down` and `up` are those of all layers."""

    def __init__(self, down: nn.Linear, up: nn.Linear, heads: int) -> None:
        super().__init__()
        self.down, self.up, self.heads = down, up, heads
        width = down.out_features
        self.query_key_value = nn.Linear(width, 3 * width)

    def forward(self, hidden: Tensor, attend: Attend) -> Tensor:
        """What is added to the layer's last sum (…, width), from the layer's input."""
        attended = attend(self.query_key_value(self.down(hidden)), self.heads)
        return nn.functional.gelu(self.up(attended))


class PalLayer(nn.Module):
    """A layer of a BERT with a PAL, called as the one that it replaces.

    Attributes:
        pal: a `Pal`, or what chooses one.
        gradient_checkpointing: set by transformers, as of its own layers.
    """

    gradient_checkpointing = False

    def __init__(self, layer: Any, pal: nn.Module) -> None:
        super().__init__()
        self.attention, self.intermediate, self.output = layer.attention, layer.intermediate, layer.output
        self.pal = pal
        self._replaced = (layer,)  # in a tuple, so that its parameters are not named twice

    def forward(
        self, hidden_states: Tensor, attention_mask: Tensor | None = None, *_: Any, **__: Any
    ) -> Tensor:
        """The states (texts, tokens, width); the names are those that the transformer calls it with."""
        if self.gradient_checkpointing and self.training:
            recomputed: Any = self._gradient_checkpointing_func
            return recomputed(self._compute, hidden_states, attention_mask)  # type: ignore[no-any-return]
        return self._compute(hidden_states, attention_mask)

    def _compute(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        dropout = self.attention.self.dropout.p if self.training else 0.0
        middle = self.attention(hidden, mask)[0]
        extra = self.pal(hidden, lambda projected, heads: attend_padded(projected, heads, mask, dropout))
        found: Tensor = self.output(self.intermediate(middle), middle + extra)
        return found

    def restore(self) -> Any:
        """The layer that this one replaced."""
        return self._replaced[0]


def make_pals(settings: PalSettings) -> list[Pal]:
    """One format's PALs, a layer each, with the weights that torch gives them."""
    down = nn.Linear(settings.hidden_size, settings.width)
    up = nn.Linear(settings.width, settings.hidden_size)
    return [Pal(down, up, settings.heads) for _ in range(settings.layers)]


def attend_padded(projected: Tensor, heads: int, mask: Tensor | None, dropout: float) -> Tensor:
    """Attention within padded texts: (n, tokens, 3 width) to (n, tokens, width)."""
    texts, tokens, triple = projected.shape
    split = projected.view(texts, tokens, 3, heads, triple // 3 // heads)
    query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
    found = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
    return found.transpose(1, 2).reshape(texts, tokens, -1)


def write_pals(folder: Path, settings: PalSettings, pals: list[Pal]) -> None:
    """Write one format's PALs into a folder."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    described = {"layout": _LAYOUT, "note": _NOTE, **asdict(settings)}
    text = json.dumps(described, indent=2, sort_keys=True) + "\n"
    (folder / PAL_CONFIG_NAME).write_text(text, encoding="utf-8")
    weights = {name: value.detach().cpu().contiguous() for name, value in _list_weights(pals).items()}
    save_file(weights, folder / PAL_WEIGHTS_NAME)


def attach_pals(model: Any, folder: Path) -> None:
    """Put the PALs of a folder into a BERT, in the model's precision.

    Raises:
        IndexingError: the folder is incomplete or of a later layout, its weights are not those of its
            configuration, or the model is no BERT or one of another shape.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    settings = read_pal_settings(folder)
    config = model.config
    shape = (config.model_type, config.hidden_size, config.num_hidden_layers)
    if shape != ("bert", settings.hidden_size, settings.layers):
        raise IndexingError(
            f"the PALs in {folder} are for a bert of {settings.layers} layers and {settings.hidden_size} "
            f"numbers; the model is a {shape[0]} of {shape[2]} and {shape[1]}. Name the model that they were "
            "trained with"
        )
    path = folder / PAL_WEIGHTS_NAME
    try:
        tensors: Mapping[str, Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise IndexingError(f"{path} cannot be read ({error}); copy the encoder again") from error
    pals = make_pals(settings)
    expected = _list_weights(pals)
    different = sorted(
        name
        for name in expected.keys() | tensors.keys()
        if name not in expected or name not in tensors or expected[name].shape != tensors[name].shape
    )
    if different:
        raise IndexingError(
            f"{path} lacks {different[0]}, has it in another shape or should not have it; expected the "
            "weights of its configuration alone. Copy the encoder again"
        )
    with torch.no_grad():
        for name, value in expected.items():
            value.copy_(tensors[name])
    for number, pal in enumerate(pals):
        layer = PalLayer(model.encoder.layer[number], pal.to(model.dtype))
        model.encoder.layer[number] = layer.train(model.training)


def read_pal_settings(folder: Path) -> PalSettings:
    """The settings of a folder's PALs; `IndexingError` where they are not as this version writes them."""
    path = folder / PAL_CONFIG_NAME
    described = read_json(path)
    try:
        if described.pop("layout") != _LAYOUT:
            raise KeyError("layout")
        described.pop("note")
        return PalSettings(**described)
    except (KeyError, TypeError, AttributeError) as error:
        raise IndexingError(
            f"{path} is not as this version writes it ({error}); expected layout {_LAYOUT}. Train again, or "
            "use the version of Pinakes that wrote it"
        ) from error


def _list_weights(pals: list[Pal]) -> dict[str, Tensor]:
    """The weights by the names of the file: those of all layers, and those of each."""
    found: dict[str, Tensor] = {}
    for part in ("weight", "bias"):
        found |= {f"{name}.{part}": getattr(getattr(pals[0], name), part) for name in ("down", "up")}
        for number, pal in enumerate(pals):
            found[f"layer.{number}.query_key_value.{part}"] = getattr(pal.query_key_value, part)
    return found
