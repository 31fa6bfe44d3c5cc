"""Forward passes without padding: the tokens of all texts of a batch end to end, one row each.

Embeddings, linear layers and norms see one matrix (tokens, width); attention alone sees texts, by a kernel
for all lengths (torch's on a CUDA device, `attention_kernel` on an x86-64 processor) or by groups of one
length.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pinakes.indexers.encoder.attention_kernel import attend, has_attention_kernel

ROWS_EXPECTED: Final = 2048
"""tokens a batch on a CPU; the best layout of a weight depends on how many rows it is multiplied with"""

Linear = Callable[[Tensor], Tensor]
"""(rows, inputs) to a new (rows, outputs), with the activation if there is one; it only infers"""

Adapter = Callable[[Tensor, Tensor, nn.LayerNorm], Tensor]
"""an adapter's output from a linear layer's, from what is added to it, and from the norm of that sum"""

Attend = Callable[[Tensor, int], Tensor]
"""attention: (tokens, 3 width) queries, keys and values of so many heads to (tokens, width)"""

_WIDEST_HEAD: Final = 256
"""numbers of a head, above which torch's kernel for lengths that differ takes none"""


@dataclass(frozen=True, slots=True, eq=False)
class PackedBatch:
    """Texts end to end, the longest first.

    Attributes:
        ids, positions: (1, tokens) on the model's device.
        order: which of the caller's texts each text here is.
        groups: runs of texts of one length, as (first token, end, length).
        ends: (texts + 1,) int32 on the device, where each text ends, from 0.
    """

    ids: Tensor
    positions: Tensor
    order: NDArray[np.intp]
    groups: list[tuple[int, int, int]]
    ends: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class PackedLayer:
    """The parts of one layer; what comes after attention is done token by token.

    The adapters stand behind `output` and behind `down`, and do the sum and the norm that follow. `pal` is
    attention beside the layer, from its input, which is added to the last sum.
    """

    query_key_value: Linear
    output: Linear
    attention_norm: nn.LayerNorm
    up: Linear
    down: Linear
    output_norm: nn.LayerNorm
    attention_adapter: Adapter | None = None
    output_adapter: Adapter | None = None
    pal: Callable[[Tensor, Attend], Tensor] | None = None

    def finish(
        self, attended: Tensor, hidden: Tensor, beside: Tensor | None, add_normalized: "AddNormalized"
    ) -> Tensor:
        """The layer's output (tokens, width) from its attention's output, its input, and what `pal` gave."""

        def add(summand: Tensor, states: Tensor, norm: nn.LayerNorm, adapter: Adapter | None) -> Tensor:
            if adapter is not None:
                return adapter(summand, states, norm)
            return add_normalized(summand, states, norm.weight, norm.bias, norm.eps)

        middle = add(self.output(attended), hidden, self.attention_norm, self.attention_adapter)
        summand = middle if beside is None else middle + beside
        return add(self.down(self.up(middle)), summand, self.output_norm, self.output_adapter)


AddNormalized = Callable[[Tensor, Tensor, Tensor, Tensor, float], Tensor]
"""the layer norm of a sum; the first summand may be overwritten"""


class PackedModel:
    """A transformer that runs over packed batches; made by `packed_families.pack_model`."""

    def __init__(
        self,
        embeddings: nn.Module,
        layers: Sequence[PackedLayer],
        heads: int,
        padding_id: int | None = None,
        attention_bias: Callable[[int], Tensor] | None = None,
    ) -> None:
        self._embeddings = embeddings
        self._layers = layers
        self._heads = heads
        self._padding_id = padding_id
        self._attention_bias = attention_bias
        self._add_normalized: AddNormalized = _add_normalized

    def compile(self) -> None:
        """Let `torch.compile` make one kernel of sums and norms; the first batch takes longer.

        Compiled is what takes its weights as arguments: else each layer would be compiled for itself.
        """
        self._add_normalized = torch.compile(_add_normalized, dynamic=True)

    def pack(self, tokens: Sequence[Sequence[int]], device: str) -> PackedBatch:
        """The texts' token ids as a batch on the device."""
        return pack_tokens(tokens, device, self._padding_id)

    def states(self, batch: PackedBatch, last_of: int | None = None) -> Iterator[Tensor]:
        """Yield the states (tokens, width): the embeddings' output, then that of each layer.

        With `last_of` the last one has a row for the token at that place of each text alone, from 0; each
        text has one.
        """
        hidden = self._embeddings(input_ids=batch.ids, position_ids=batch.positions)[0]
        yield hidden
        attend = self._choose_attention(batch)
        for number, layer in enumerate(self._layers):
            attended = attend(layer.query_key_value(hidden), self._heads)
            beside = layer.pal(hidden, attend) if layer.pal is not None else None
            if last_of is not None and number == len(self._layers) - 1:
                rows = batch.ends[:-1].long() + last_of
                attended, hidden = attended[rows], hidden[rows]
                beside = beside[rows] if beside is not None else None
            hidden = layer.finish(attended, hidden, beside, self._add_normalized)
            yield hidden

    def _choose_attention(self, batch: PackedBatch) -> Attend:
        bias = self._attention_bias
        biases = [bias(length) if bias else None for _, _, length in batch.groups]

        def choose(projected: Tensor, heads: int) -> Tensor:
            if bias is None and has_varlen_kernel(
                projected.device, projected.dtype, projected.shape[1] // 3 // heads
            ):
                return attend_at_once(projected, heads, batch)
            if bias is None and has_attention_kernel(projected, heads):
                return attend(projected, heads, batch.ends, batch.groups[0][2])
            return attend_by_length(projected, heads, batch.groups, biases)

        return choose


def pack_tokens(tokens: Sequence[Sequence[int]], device: str, padding_id: int | None) -> PackedBatch:
    """Texts' token ids as a batch on a device; for `padding_id` see `count_positions`."""
    lengths = np.array([len(row) for row in tokens])
    order = np.argsort(-lengths, kind="stable")
    ids = np.concatenate([np.asarray(tokens[row], dtype=np.int64) for row in order])
    lengths = lengths[order]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return PackedBatch(
        ids=_move(ids[None], device),
        positions=_move(count_positions(ids, ends, padding_id)[None], device),
        order=order,
        groups=_group(lengths, ends),
        ends=_move(ends.astype(np.int32), device),
    )


def attend_by_length(
    projected: Tensor,
    heads: int,
    groups: Sequence[tuple[int, int, int]],
    biases: Sequence[Tensor | None] | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Attention within packed texts: (tokens, 3 width) to (tokens, width), a call for each length."""
    parts = []
    for (start, end, length), bias in zip(groups, biases or [None] * len(groups), strict=True):
        split = projected[start:end].view(-1, length, 3, heads, projected.shape[1] // 3 // heads)
        # No mask: that is what lets the fast kernel run.
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        attended = nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=bias, dropout_p=dropout
        )
        parts.append(attended.transpose(1, 2).reshape(end - start, -1))
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def has_varlen_kernel(device: torch.device, kind: torch.dtype, head_width: int) -> bool:
    """Whether `attend_at_once` runs there with heads of so many numbers of the type."""
    if device.type != "cuda" or kind not in (torch.bfloat16, torch.float16) or head_width > _WIDEST_HEAD:
        return False
    return torch.cuda.get_device_capability(device) >= (8, 0)


def attend_at_once(projected: Tensor, heads: int, batch: PackedBatch, dropout: float = 0.0) -> Tensor:
    """Attention within packed texts: (tokens, 3 width) to (tokens, width), a call for all lengths.

    By torch's flash attention, whose gradient is deterministic where torch's setting asks for it. Not by
    `torch.nn.attention.varlen`, which calls the same without dropout.
    """
    width = projected.shape[1] // 3 // heads
    split = projected.view(len(projected), 3, heads, width)
    if width % 8:  # the kernel takes no other widths; zeros change no product
        split = nn.functional.pad(split, (0, -width % 8))
    query, key, value = split.unbind(1)
    ends, longest = batch.ends, batch.groups[0][2]
    attended: Tensor = torch.ops.aten._flash_attention_forward(
        query, key, value, ends, ends, longest, longest, dropout, False, False, scale=width**-0.5
    )[0]
    return attended[..., :width].reshape(len(projected), -1)


def count_positions(
    ids: NDArray[np.int64], ends: NDArray[np.intp], padding_id: int | None
) -> NDArray[np.int64]:
    """Each token's position within its text: from 0, or RoBERTa's way with a `padding_id`.

    RoBERTa and its kin count from behind the padding token's id and do not count padding tokens, not even
    those that a text spells out.

    >>> ids, ends = np.array([7, 8, 9, 7, 1, 8]), np.array([0, 3, 6])
    >>> count_positions(ids, ends, None).tolist(), count_positions(ids, ends, 1).tolist()
    ([0, 1, 2, 0, 1, 2], [2, 3, 4, 2, 1, 3])
    """
    lengths = np.diff(ends)
    if padding_id is None:
        return np.arange(len(ids)) - np.repeat(ends[:-1], lengths)
    counted = ids != padding_id
    totals = np.concatenate([[0], np.cumsum(counted)])
    positions: NDArray[np.int64] = (totals[1:] - np.repeat(totals[ends[:-1]], lengths)) * counted
    positions += padding_id
    return positions


def prepare_linear(
    weight: Tensor, bias: Tensor, activation: Callable[[Tensor], Tensor] | None = None
) -> Linear:
    """The fastest form of `activation(x @ weight.T + bias)` that gives the same numbers.

    Half precision on a CPU with instructions for it: the weight is laid out once for these, and an exact
    GELU is computed on the product's tiles before they are stored; else the library would lay the weight out
    again for each batch. Anything else, float32 on a CPU too, is fastest as it is.
    """
    if weight.device.type == "cpu" and _has_half_instructions(weight.dtype):
        return laid_out_linear(weight, bias, activation)
    return plain_linear(weight, bias, activation)


def plain_linear(
    weight: Tensor, bias: Tensor, activation: Callable[[Tensor], Tensor] | None = None
) -> Linear:
    """`torch.nn.functional.linear`, and a GELU in place, which saves a matrix of memory traffic."""
    if activation is None:
        return lambda rows: nn.functional.linear(rows, weight, bias)
    if _is_exact_gelu(activation):
        return lambda rows: torch.ops.aten.gelu_(nn.functional.linear(rows, weight, bias))
    return lambda rows: activation(nn.functional.linear(rows, weight, bias))


def laid_out_linear(
    weight: Tensor, bias: Tensor, activation: Callable[[Tensor], Tensor] | None = None
) -> Linear:
    """A linear layer by oneDNN with the weight in oneDNN's own layout, a second copy."""
    operations: Any = torch.ops.mkldnn
    laid_out = operations._reorder_linear_weight(weight, ROWS_EXPECTED)
    fused = "gelu" if activation is not None and _is_exact_gelu(activation) else "none"

    def apply(rows: Tensor) -> Tensor:
        product: Tensor = operations._linear_pointwise(rows, laid_out, bias, fused, [], "none")
        return product if activation is None or fused == "gelu" else activation(product)

    return apply


def _has_half_instructions(kind: torch.dtype) -> bool:
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    operations: Any = torch.ops.mkldnn
    if kind is torch.bfloat16:
        return bool(operations._is_mkldnn_bf16_supported())
    return kind is torch.float16 and bool(operations._is_mkldnn_fp16_supported())


def _is_exact_gelu(activation: Callable[[Tensor], Tensor]) -> bool:
    return type(activation).__name__ == "GELUActivation" or activation is nn.functional.gelu


def _move(values: NDArray[Any], device: str) -> Tensor:
    tensor = torch.from_numpy(values)
    if torch.device(device).type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def _group(lengths: NDArray[np.intp], ends: NDArray[np.intp]) -> list[tuple[int, int, int]]:
    firsts = np.flatnonzero(np.diff(lengths, prepend=-1))
    stops = [*firsts[1:], len(lengths)]
    return [
        (int(ends[first]), int(ends[stop]), int(lengths[first]))
        for first, stop in zip(firsts, stops, strict=True)
    ]


def _add_normalized(summand: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    return nn.functional.layer_norm(summand.add_(hidden), weight.shape, weight, bias, eps)
