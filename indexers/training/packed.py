"""Training's forward pass without padding: a BERT's own modules over the tokens of all texts end to end.

On a CPU alone: there the groups of one length, by which attention is computed, cost little beside padding.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from pinakes.indexers.encoder.packed import PackedBatch, attend_by_length, pack_tokens


def can_run_packed(base: Any, device: str) -> bool:
    """Whether `run_packed` runs the transformer there."""
    config = base.config
    return device == "cpu" and config.model_type == "bert" and not getattr(config, "is_decoder", False)


def run_packed(base: Any, tokens: Sequence[Sequence[int]], place: int, recompute: bool) -> Tensor:
    """The last layer's states (texts, width) of the token at `place` of each text, in the texts' order.

    `recompute`: states within layers are computed again for the gradient.
    """
    batch = pack_tokens(tokens, "cpu", None)
    hidden = base.embeddings(input_ids=batch.ids, position_ids=batch.positions)[0]
    layers = base.encoder.layer
    for number, layer in enumerate(layers):
        rows = batch.ends[:-1].long() + place if number == len(layers) - 1 else None
        run = partial(_run_layer, layer, batch=batch, rows=rows)
        is_again = recompute and base.training
        hidden = checkpoint(run, hidden, use_reentrant=False) if is_again else run(hidden)
    found: Tensor = hidden[torch.from_numpy(np.argsort(batch.order))]
    return found


def _run_layer(layer: Any, hidden: Tensor, *, batch: PackedBatch, rows: Tensor | None) -> Tensor:
    """The layer's output (tokens, width), or of those tokens alone whose `rows` are given."""
    own = layer.attention.self
    dropout = own.dropout.p if layer.training else 0.0

    def attend(projected: Tensor, heads: int) -> Tensor:
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
