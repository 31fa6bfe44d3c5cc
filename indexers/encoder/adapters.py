"""Bottleneck adapters of the library `adapters`, run without it: small layers within each layer of a BERT.

An adapter is a folder with `adapter_config.json` and `adapter.safetensors`. What is computed is what
`adapters` 1.2 computes when one adapter is active (Pfeiffer et al. 2020, https://arxiv.org/abs/2005.00247;
Houlsby et al. 2019, https://arxiv.org/abs/1902.00751), without what it does in training alone.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_settings import WEIGHTS_NAME, AdapterSettings, read_adapter_settings

_PLACES: Final = {"attention.output": "mh_adapter", "output": "output_adapter"}
"""where an adapter lies within a layer -> the flag of its configuration that says so"""
_KEY: Final = re.compile(
    r"^(?:\w+\.)?encoder\.layer\.(?P<layer>\d+)\.(?P<place>attention\.output|output)\."
    r"(?:adapters|attention_text_task_adapters|layer_text_task_adapters)\.(?P<rest>.+)$"
)
"""a weight's name; those of the last part before the adapter's own name are of older versions"""


_ACTIVATIONS: Final[dict[str, Callable[[Tensor], Tensor]]] = {
    "relu": nn.functional.relu,
    "leakyrelu": nn.functional.leaky_relu,
    "gelu": nn.functional.gelu,
    "gelu_new": lambda states: nn.functional.gelu(states, approximate="tanh"),
    "swish": nn.functional.silu,
    "silu": nn.functional.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}
"""the non-linearities by the names that the library and transformers give them"""


class Bottleneck(nn.Module):
    """One adapter behind a linear layer, with the sum and the norm that the transformer has there.

    Attributes:
        down, up: to fewer numbers and back; between them the activation.
        norm_before, norm_after: norms of the adapter's own, where it has them.
        scaling: what the adapter's output is multiplied by: one number, or one a channel.
    """

    scaling: Tensor

    def __init__(self, settings: AdapterSettings, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self._settings = settings
        self._activation = _ACTIVATIONS[settings.non_linearity.lower()]
        first = 1 if settings.ln_before else 0
        self.down = _make_linear(weights, f"adapter_down.{first}")
        self.up = _make_linear(weights, "adapter_up")
        self.norm_before = _make_norm(weights, "adapter_norm_before") if settings.ln_before else None
        self.norm_after = _make_norm(weights, "adapter_norm_after") if settings.ln_after else None
        scaling = weights["scaling"] if "scaling" in weights else torch.tensor(settings.scaling)
        self.register_buffer("scaling", scaling)

    def forward(self, hidden: Tensor, summand: Tensor, norm: nn.LayerNorm) -> Tensor:
        """The layer's output from that of its linear layer and from what the transformer adds to it."""
        states, residual = self.enter(hidden, summand, norm)
        found = self.transform(states)
        # In place: nobody else holds these states, and each new matrix is a pass through memory.
        if self._settings.adapter_residual_before_ln:
            found.add_(residual)
        if self.norm_after is not None:
            found = self.norm_after(found)
        if not self._settings.adapter_residual_before_ln:
            found.add_(residual)
        return self.leave(found, summand, norm)

    def enter(self, hidden: Tensor, summand: Tensor, norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
        """What goes through the bottleneck, and what is added around it."""
        settings = self._settings
        residual, states = hidden, hidden
        if settings.original_ln_before:
            states = hidden + summand
            if settings.residual_before_ln == "post_add":
                residual = states
            states = norm(states)
        if not settings.residual_before_ln:
            residual = states
        return states, residual

    def leave(self, found: Tensor, summand: Tensor, norm: nn.LayerNorm) -> Tensor:
        """The layer's output from what the adapter gave, which is overwritten."""
        return norm(found.add_(summand)) if self._settings.original_ln_after else found

    def transform(self, states: Tensor) -> Tensor:
        """What the bottleneck makes of states (…, width)."""
        if self.norm_before is not None:
            states = self.norm_before(states)
        found: Tensor = self.up(self._activation(self.down(states)))
        return found if self._settings.scaling == 1 else found.mul_(self.scaling)


class AdaptedOutput(nn.Module):
    """A BERT's `output` of a layer or of its attention, with an adapter; called as the one it replaces."""

    def __init__(self, output: Any, bottleneck: nn.Module) -> None:
        super().__init__()
        self.dense = output.dense
        self.LayerNorm = output.LayerNorm
        self.bottleneck = bottleneck

    def forward(self, hidden_states: Tensor, input_tensor: Tensor) -> Tensor:
        """The states (…, width); the names are those that the transformer calls it with."""
        found: Tensor = self.bottleneck(self.dense(hidden_states), input_tensor, self.LayerNorm)
        return found


def attach_adapter(model: Any, folder: Path) -> None:
    """Put the adapter of a folder into a BERT, in the model's precision; raises as `read_bottlenecks`."""
    layers = model.encoder.layer
    for (layer, place), bottleneck in read_bottlenecks(model, folder).items():
        owner = layers[layer].attention if place == "attention.output" else layers[layer]
        owner.output = AdaptedOutput(owner.output, bottleneck.to(model.dtype))


def read_bottlenecks(model: Any, folder: Path) -> dict[tuple[int, str], Bottleneck]:
    """The adapter of a folder as modules for a BERT, by layer and place within it.

    Raises:
        IndexingError: the folder is incomplete, the adapter has a part that is not run here, its weights are
            not those of its configuration, or the model is no BERT or one of another width.
    """
    settings = read_adapter_settings(folder)
    if (model.config.model_type, settings.model_type or "bert") != ("bert", "bert"):
        raise IndexingError(
            f"the adapter in {folder} is of a {settings.model_type} and the model is a "
            f"{model.config.model_type}; expected a BERT, the only kind that adapters are put into here. "
            "Encode with the library `adapters` and import the ranking by `pinakes import-run`"
        )
    if settings.hidden_size not in (None, model.config.hidden_size):
        raise IndexingError(
            f"the adapter in {folder} is for vectors of {settings.hidden_size} numbers; the model has "
            f"{model.config.hidden_size}. Name the model that it was trained on, as BASE+ADAPTER"
        )
    _require_activation(folder, settings)
    found = _read_weights(folder, settings, len(model.encoder.layer))
    for (layer, _), weights in found.items():
        _require_shapes(folder, settings, layer, weights, model.config.hidden_size)
    return {key: Bottleneck(settings, weights) for key, weights in found.items()}


def _require_activation(folder: Path, settings: AdapterSettings) -> None:
    if settings.non_linearity.lower() not in _ACTIVATIONS:
        raise IndexingError(
            f"the adapter in {folder} has non_linearity = {settings.non_linearity!r}; expected one of "
            f"{', '.join(_ACTIVATIONS)}. Encode with the library `adapters` and import the ranking by "
            "`pinakes import-run`"
        )


def _read_weights(
    folder: Path, settings: AdapterSettings, layers: int
) -> dict[tuple[int, str], dict[str, Tensor]]:
    """The weights by layer and place within it, by their names within the adapter; none is passed over."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = folder / WEIGHTS_NAME
    try:
        tensors: dict[str, Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise IndexingError(f"{path} cannot be read ({error}); save or download the adapter again") from error
    found: dict[tuple[int, str], dict[str, Tensor]] = defaultdict(dict)
    for key, tensor in tensors.items():
        match = _KEY.match(key)
        inner = match["rest"].removeprefix(f"{settings.name}.") if match else ""
        if match is None or inner == match["rest"] or int(match["layer"]) >= layers:
            raise IndexingError(
                f"{path} has the weight {key}; expected weights of the adapter {settings.name!r} in layers 0 "
                f"to {layers - 1} alone. Save the adapter alone, or name the model that it was trained on"
            )
        found[int(match["layer"]), match["place"]][inner] = tensor
    _require_places(path, settings, found)
    return dict(found)


def _require_places(
    path: Path, settings: AdapterSettings, found: Mapping[tuple[int, str], Mapping[str, Tensor]]
) -> None:
    held = {_PLACES[place] for _, place in found}
    expected = {flag for flag in _PLACES.values() if getattr(settings, flag)}
    if held != expected:
        raise IndexingError(
            f"{path} has weights for {', '.join(sorted(held)) or 'nothing'}; its configuration says "
            f"{', '.join(sorted(expected)) or 'nothing'}. Save or download the adapter again"
        )


def _require_shapes(
    folder: Path, settings: AdapterSettings, layer: int, weights: Mapping[str, Tensor], width: int
) -> None:
    narrow = settings.reduce(layer, width)
    first = 1 if settings.ln_before else 0
    expected: dict[str, tuple[int, ...]] = {
        f"adapter_down.{first}.weight": (narrow, width),
        f"adapter_down.{first}.bias": (narrow,),
        "adapter_up.weight": (width, narrow),
        "adapter_up.bias": (width,),
    }
    norms = {"adapter_norm_before": settings.ln_before, "adapter_norm_after": settings.ln_after}
    for norm in (name for name, has in norms.items() if has):
        expected |= {f"{norm}.weight": (width,), f"{norm}.bias": (width,)}
    if isinstance(settings.scaling, str):
        expected["scaling"] = (1,) if settings.scaling == "learned" else (width,)
    # The library saves a norm of the adapter's own before it twice, the second time as its first step.
    twice = {"adapter_down.0.weight", "adapter_down.0.bias"} if settings.ln_before else set()
    found = {name: tuple(tensor.shape) for name, tensor in weights.items() if name not in twice}
    if found != expected:
        different = sorted(name for name in found.keys() | expected if found.get(name) != expected.get(name))
        name = different[0]
        raise IndexingError(
            f"the adapter in {folder} has {name} of the shape {found.get(name, 'nothing')} in layer {layer}; "
            f"its configuration and the model say {expected.get(name, 'nothing')}. Name the model that it "
            "was trained on, or save the adapter again"
        )


def _make_linear(weights: Mapping[str, Tensor], name: str) -> nn.Linear:
    outputs, inputs = weights[f"{name}.weight"].shape
    linear = nn.Linear(inputs, outputs)
    linear.load_state_dict({part: weights[f"{name}.{part}"] for part in ("weight", "bias")})
    return linear


def _make_norm(weights: Mapping[str, Tensor], name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(len(weights[f"{name}.weight"]))
    norm.load_state_dict({part: weights[f"{name}.{part}"] for part in ("weight", "bias")})
    return norm
