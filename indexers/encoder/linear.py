"""A linear layer that only infers: weights where they lie, or laid out once for the processor's units."""

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor, nn

ROWS_EXPECTED: Final = 2048
"""tokens a batch on a CPU; the best layout of a weight depends on how many rows it is multiplied with"""

Linear = Callable[[Tensor], Tensor]
"""(rows, inputs) to a new (rows, outputs), with the activation if there is one"""


def prepare_linear(
    weight: Tensor, bias: Tensor, activation: Callable[[Tensor], Tensor] | None = None
) -> Linear:
    """The fastest form of `activation(x @ weight.T + bias)` that gives the same numbers.

    Half precision on a CPU with instructions for it: the weight is laid out once for these, and an exact
    GELU is computed on the product's tiles before they are stored; else the library would lay the weight out
    anew for each batch. Anything else, float32 on a CPU too, is fastest as it is.
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
