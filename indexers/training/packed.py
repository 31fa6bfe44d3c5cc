"""Training's forward pass without padding: a BERT's own modules over the tokens of all texts end to end.

On a CPU attention is computed by groups of one length, which cost little beside padding. A CUDA device waits
for its orders then: there a kernel for all lengths has to run, which takes half precision.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from pinakes.indexers.encoder.encoder import WEIGHT_TYPES
from pinakes.indexers.encoder.packed import (
    PackedBatch,
    attend_at_once,
    attend_by_length,
    has_varlen_kernel,
    pack_tokens,
)
from pinakes.indexers.names import Precision


def can_run_packed(base: Any, device: str, precision: Precision) -> bool:
    """Whether `run_packed` runs the transformer there, with products of that precision."""
    config = base.config
    if config.model_type != "bert" or getattr(config, "is_decoder", False):
        return False
    head_width = config.hidden_size // config.num_attention_heads
    return device == "cpu" or has_varlen_kernel(torch.device(device), WEIGHT_TYPES[precision], head_width)


def run_packed(
    base: Any, tokens: Sequence[Sequence[int]], place: int, recompute: bool, device: str = "cpu"
) -> Tensor:
    """The last layer's states (texts, width) of the token at `place` of each text, in the texts' order.

    `recompute`: states within layers are computed again for the gradient.
    """
    batch = pack_tokens(tokens, device, None)
    hidden = base.embeddings(input_ids=batch.ids, position_ids=batch.positions)[0]
    layers = base.encoder.layer
    for number, layer in enumerate(layers):
        rows = batch.ends[:-1].long() + place if number == len(layers) - 1 else None
        run = partial(_run_layer, layer, batch=batch, rows=rows)
        is_again = recompute and base.training
        hidden = checkpoint(run, hidden, use_reentrant=False) if is_again else run(hidden)
    found: Tensor = hidden[torch.from_numpy(np.argsort(batch.order)).to(device)]
    return found


def _run_layer(layer: Any, hidden: Tensor, *, batch: PackedBatch, rows: Tensor | None) -> Tensor:
    """The layer's output (tokens, width), or of those tokens alone whose `rows` are given."""
    own = layer.attention.self
    dropout = own.dropout.p if layer.training else 0.0

    def attend(projected: Tensor, heads: int) -> Tensor:
        if projected.device.type == "cuda":
            return attend_at_once(projected, heads, batch, dropout)
        return attend_by_length(projected, heads, batch.groups, dropout=dropout)

    attended = attend(_project([own.query, own.key, own.value], hidden), own.num_attention_heads)
    pal = getattr(layer, "pal", None)
    beside = pal(hidden, attend) if pal is not None else None
    if rows is not None:
        attended, hidden = attended[rows], hidden[rows]
        beside = beside[rows] if beside is not None else None
    middle = layer.attention.output(attended, hidden)
    summand = middle if beside is None else middle + beside
    found: Tensor = layer.output(layer.intermediate(middle), summand)
    return found


def _project(parts: Sequence[nn.Linear], hidden: Tensor) -> Tensor:
    """The outputs of linear layers side by side, by one product."""
    weight, bias = torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
    return nn.functional.linear(hidden, weight, bias)
