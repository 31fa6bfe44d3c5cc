"""AdapterFusion: at each place of a BERT, attention over the adapters of all formats (Pfeiffer et al. 2021).

https://arxiv.org/abs/2005.00247. A fusion is a folder with `adapter_fusion_config.json` and
`model_adapter_fusion.safetensors`, as the library `adapters` saves it; its adapters lie beside it, each in
the folder that has its name in small letters. What is computed is what `adapters` 1.2 computes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_settings import (
    CONFIG_NAME,
    FUSION_WEIGHTS_NAME,
    find_fused,
    read_fusion_settings,
)
from pinakes.indexers.encoder.adapters import AdaptedOutput, Bottleneck, read_bottlenecks

_KEY: Final = re.compile(
    r"^(?:\w+\.)?encoder\.layer\.(?P<layer>\d+)\.output\.adapter_fusion_layer\.(?P<rest>.+)$"
)
_PLACE: Final = "output"
"""where fusions stand here: behind the feed-forward part"""


class FusedBottlenecks(nn.Module):
    """The adapters of all formats at one place, and one format's attention over them.

    The library computes `softmax(query(s) · key(u_i)) · value(u_i)` with `s` the state and `u_i` what adapter
    i makes of it; key and value are applied to the query and to the mixture here, which gives the same and
    takes a product in place of one for each adapter.
    """

    def __init__(self, bottlenecks: Sequence[Bottleneck], width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.bottlenecks = nn.ModuleList(bottlenecks)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value = nn.Linear(width, width, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, summand: Tensor, norm: nn.LayerNorm) -> Tensor:
        """As `Bottleneck.forward`; the last adapter says where the norms are, as in the library."""
        last: Any = self.bottlenecks[-1]
        states, residual = last.enter(hidden, summand, norm)
        made = torch.stack([one.transform(states) for one in self.bottlenecks], dim=-2)  # type: ignore[operator]
        found: Tensor = last.leave(self.fuse(states, made) + residual, summand, norm)
        return found

    def fuse(self, states: Tensor, made: Tensor) -> Tensor:
        """The mixture (…, width) of what the adapters made (…, adapters, width), by the states (…, width)."""
        asked = self.query(states)
        scores = (made @ (asked @ self.key.weight)[..., None])[..., 0]
        scores = scores + (asked @ self.key.bias)[..., None]
        # The library drops scores, not shares.
        shares = torch.softmax(self.dropout(scores), dim=-1)
        mixture: Tensor = self.value((shares[..., None, :] @ made)[..., 0, :])
        return mixture

    def name_weights(self) -> dict[str, Tensor]:
        """The weights of the attention, by the library's names."""
        return {
            "query.weight": self.query.weight,
            "query.bias": self.query.bias,
            "key.weight": self.key.weight,
            "key.bias": self.key.bias,
            "value.weight": self.value.weight,
        }


@dataclass(frozen=True, slots=True)
class AdaptersEncoder:
    """The folders of an encoder with an adapter for each format, as `pinakes train` writes it.

    Attributes:
        base: the transformer.
        adapters: by code, in the order of the file.
    """

    base: Path
    adapters: Mapping[str, Path]


def find_adapters(members: Mapping[str, str]) -> AdaptersEncoder | None:
    """The folders of an encoder that is one adapter a format on one base; None where it is another kind."""
    parts = {code: member.split("+") for code, member in members.items()}
    bases = {part[0] for part in parts.values()}
    if len(bases) != 1 or any(len(part) != 2 for part in parts.values()):
        return None
    adapters = {code: Path(part[1]) for code, part in parts.items()}
    if not all((folder / CONFIG_NAME).is_file() for folder in adapters.values()):
        return None
    return AdaptersEncoder(Path(bases.pop()), adapters)


def stack_bottlenecks(model: Any, folders: Mapping[str, Path]) -> list[dict[str, Bottleneck]]:
    """The adapters of each layer by name; `IndexingError` for those that cannot be fused here."""
    found: list[dict[str, Bottleneck]] = [{} for _ in model.encoder.layer]
    for name, folder in folders.items():
        places = read_bottlenecks(model, folder)
        if set(places) != {(number, _PLACE) for number in range(len(found))}:
            raise IndexingError(
                f"the adapter in {folder} is not behind each layer's feed-forward part, and there alone; "
                "expected one that is, to fuse. Train the adapters with `pinakes train --method adapters`"
            )
        for (layer, _), bottleneck in places.items():
            found[layer][name] = bottleneck
    return found


def attach_fusion(model: Any, folder: Path) -> None:
    """Put the adapters that a folder's fusion names, and the fusion, into a BERT, in the model's precision.

    Raises:
        IndexingError: the folder or an adapter is incomplete, asks for a part that is not run here, or does
            not fit the model.
    """
    settings = read_fusion_settings(folder)
    width = model.config.hidden_size
    bottlenecks = stack_bottlenecks(model, find_fused(folder))
    weights = _read_weights(folder, settings.name, len(bottlenecks))
    for number, layer in enumerate(model.encoder.layer):
        fused = FusedBottlenecks([bottlenecks[number][name] for name in settings.adapter_names], width)
        _fill(folder, number, fused, weights[number])
        layer.output = AdaptedOutput(layer.output, fused.to(model.dtype)).train(model.training)


def _fill(folder: Path, layer: int, fused: FusedBottlenecks, weights: Mapping[str, Tensor]) -> None:
    expected = fused.name_weights()
    for name in sorted(expected.keys() | weights.keys()):
        shapes = [tuple(part[name].shape) if name in part else "nothing" for part in (weights, expected)]
        if shapes[0] != shapes[1]:
            raise IndexingError(
                f"the fusion in {folder} has {name} of the shape {shapes[0]} in layer {layer}; the model "
                f"says {shapes[1]}. Name the model that it was trained on, or save the fusion again"
            )
    with torch.no_grad():
        for name, value in expected.items():
            value.copy_(weights[name])


def _read_weights(folder: Path, fusion: str, layers: int) -> list[dict[str, Tensor]]:
    """The weights of each layer by their names within the fusion; none is passed over."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = folder / FUSION_WEIGHTS_NAME
    try:
        tensors: dict[str, Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise IndexingError(f"{path} cannot be read ({error}); save or copy the fusion again") from error
    found: list[dict[str, Tensor]] = [{} for _ in range(layers)]
    for key, tensor in tensors.items():
        match = _KEY.match(key)
        inner = match["rest"].removeprefix(f"{fusion}.") if match else ""
        if match is None or inner == match["rest"] or int(match["layer"]) >= layers:
            raise IndexingError(
                f"{path} has the weight {key}; expected weights of the fusion {fusion!r} in layers 0 to "
                f"{layers - 1} alone. Save the fusion alone, or name the model that it was trained on"
            )
        found[int(match["layer"])][inner] = tensor
    return found
