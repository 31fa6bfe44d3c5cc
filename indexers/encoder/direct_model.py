"""A transformer's weights as modules that `packed_families` packs, without the library transformers.

Importing that library takes longer than everything else that one search does. It is needed once for a folder
(`kept_models`); from then on the weights are read as they are.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import torch
from safetensors import safe_open
from torch import Tensor, nn

ACTIVATIONS: Final = {"gelu": nn.functional.gelu}
"""the activations that are the same function here and in the library"""
_TYPED: Final = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})
"""the families that add the embedding of a text's type, of which there is one here"""
_NORMS: Final = frozenset({"LayerNorm", "layer_norm", "sa_layer_norm", "output_layer_norm"})
_BUCKETS, _FARTHEST = 32, 128
"""of MPNet's relative positions"""


class DirectModel(nn.Module):
    """The modules that a family's reader looks for, with their weights and no forward pass of their own.

    Attributes:
        config: what is read of a model's configuration, by the library's names.
    """

    def __init__(self, config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.config = SimpleNamespace(**config)
        self.embeddings = _Embeddings(self.config.model_type in _TYPED, self.config.padding_idx)
        self.encoder = _Encoder()
        for name, tensor in weights.items():
            *path, leaf = name.split(".")
            module = _find_module(self, path, self.config.layer_norm_eps, tensor)
            module.register_parameter(leaf, nn.Parameter(tensor, requires_grad=False))
        activation = ACTIVATIONS[self.config.activation]
        for name, module in self.named_modules():
            if name.endswith(".intermediate"):
                module.intermediate_act_fn = activation
            elif name.endswith(".ffn"):  # DistilBERT's
                module.activation = activation


def read_weights(folder: Path, names: Mapping[str, str], dtype: torch.dtype) -> dict[str, Tensor]:
    """The tensors of a folder's safetensors files: `names` has the file's name of each, by the model's name.

    What is in no file is not in the result either.
    """
    found: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            held = frozenset(file.keys())
            for name, stored in names.items():
                if stored in held:
                    found[name] = file.get_tensor(stored).to(dtype)
    return {name: found[name] for name in names if name in found}


def find_relative_buckets(length: int) -> Tensor:
    """MPNet's bucket (length, length) of each pair of positions, of the second seen from the first.

    >>> find_relative_buckets(3).tolist()
    [[0, 17, 18], [1, 0, 17], [2, 1, 0]]
    """
    positions = torch.arange(length)
    behind = positions[:, None] - positions[None, :]
    each_way = _BUCKETS // 2
    exact = each_way // 2
    distance = behind.abs()
    scale = math.log(_FARTHEST / exact)
    far = exact + (torch.log(distance.float() / exact) / scale * (each_way - exact)).to(torch.long)
    far = far.clamp(max=each_way - 1)
    return (behind < 0).to(torch.long) * each_way + torch.where(distance < exact, distance, far)


class _Embeddings(nn.Module):
    """The sum of a token's embeddings, brought to the same length: the operations of transformers."""

    word_embeddings: nn.Module
    token_type_embeddings: nn.Module
    position_embeddings: nn.Module
    LayerNorm: nn.LayerNorm

    def __init__(self, has_types: bool, padding_idx: int) -> None:
        super().__init__()
        self.padding_idx, self._has_types = padding_idx, has_types

    def forward(self, input_ids: Tensor, position_ids: Tensor) -> Tensor:
        states = nn.functional.embedding(input_ids, _weight(self.word_embeddings))
        if self._has_types:
            states = states + _weight(self.token_type_embeddings)[0]
        states = states + nn.functional.embedding(position_ids, _weight(self.position_embeddings))
        normalized: Tensor = self.LayerNorm(states)
        return normalized


class _Encoder(nn.Module):
    """The layers; of MPNet with the bias of relative positions."""

    relative_attention_bias: nn.Module

    def compute_position_bias(self, like: Tensor) -> Tensor:
        """The bias (1, heads, length, length) of texts of the length of `like` (1, length, any)."""
        buckets = find_relative_buckets(like.shape[1]).to(like.device)
        values = nn.functional.embedding(buckets, _weight(self.relative_attention_bias))
        return values.permute(2, 0, 1).unsqueeze(0).contiguous()


def _find_module(root: nn.Module, path: list[str], eps: float, tensor: Tensor) -> nn.Module:
    module = root
    for part in path:
        following = dict(module.named_children()).get(part)
        if following is None:
            following = nn.LayerNorm(tensor.shape, eps) if part in _NORMS else nn.ModuleList()
            module.add_module(part, following)
        module = following
    return module


def _weight(module: nn.Module) -> Tensor:
    weight: Tensor = module.weight  # type: ignore[assignment]
    return weight
