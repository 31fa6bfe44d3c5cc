"""Which transformers run packed, and where each keeps the parts of its layers.

BERT, RoBERTa, XLM-R, CamemBERT, DistilBERT and MPNet; another architecture runs padded, by its own code.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn

from pinakes.indexers.encoder.packed import Linear, PackedLayer, PackedModel, prepare_linear


def pack_model(model: nn.Module) -> PackedModel | None:
    """The transformer as a packed one with the same weights; None where it has to run padded.

    The projections of query, key and value become views of one matrix, so that nothing is held twice. A
    model whose modules were replaced or hooked (by adapters, say) is not packed.
    """
    return _FAMILIES[model.config.model_type](model) if is_packed(model) else None  # type: ignore[index, union-attr]


def is_packed(model: nn.Module) -> bool:
    """Whether `pack_model` packs the transformer."""
    config: Any = model.config
    known = config.model_type in _FAMILIES and not getattr(config, "is_decoder", False)
    return known and not _is_altered(model)


def _is_altered(model: nn.Module) -> bool:
    hooks = [
        hook
        for module in model.modules()
        for hook in (*module._forward_hooks.values(), *module._forward_pre_hooks.values())
        # The library's own hooks collect hidden states once these were asked for, and change nothing.
        if not getattr(hook, "__module__", "").startswith("transformers.")
    ]
    derived = any(
        isinstance(module, nn.Linear) and type(module) is not nn.Linear for module in model.modules()
    )
    return bool(hooks) or derived


def _join_projections(parts: Sequence[nn.Linear]) -> Linear:
    weight = torch.cat([part.weight.data for part in parts])
    bias = torch.cat([part.bias.data for part in parts])
    width = len(parts[0].weight)
    for number, part in enumerate(parts):
        rows = slice(number * width, (number + 1) * width)
        part.weight.data, part.bias.data = weight[rows], bias[rows]
    return prepare_linear(weight, bias)


def _take_linear(module: nn.Linear, activation: Callable[[Tensor], Tensor] | None = None) -> Linear:
    return prepare_linear(module.weight.data, module.bias.data, activation)


def _read_bert_layer(layer: Any) -> PackedLayer:
    attention = layer.attention.self
    return PackedLayer(
        query_key_value=_join_projections([attention.query, attention.key, attention.value]),
        output=_take_linear(layer.attention.output.dense),
        attention_norm=layer.attention.output.LayerNorm,
        up=_take_linear(layer.intermediate.dense, layer.intermediate.intermediate_act_fn),
        down=_take_linear(layer.output.dense),
        output_norm=layer.output.LayerNorm,
        attention_adapter=getattr(layer.attention.output, "bottleneck", None),
        output_adapter=getattr(layer.output, "bottleneck", None),
        pal=getattr(layer, "pal", None),
    )


def _read_mpnet_layer(layer: Any) -> PackedLayer:
    attention = layer.attention.attn
    return PackedLayer(
        query_key_value=_join_projections([attention.q, attention.k, attention.v]),
        output=_take_linear(attention.o),
        attention_norm=layer.attention.LayerNorm,
        up=_take_linear(layer.intermediate.dense, layer.intermediate.intermediate_act_fn),
        down=_take_linear(layer.output.dense),
        output_norm=layer.output.LayerNorm,
    )


def _read_distilbert_layer(layer: Any) -> PackedLayer:
    attention = layer.attention
    return PackedLayer(
        query_key_value=_join_projections([attention.q_lin, attention.k_lin, attention.v_lin]),
        output=_take_linear(attention.out_lin),
        attention_norm=layer.sa_layer_norm,
        up=_take_linear(layer.ffn.lin1, layer.ffn.activation),
        down=_take_linear(layer.ffn.lin2),
        output_norm=layer.output_layer_norm,
    )


def _pack_bert(model: Any) -> PackedModel:
    layers = [_read_bert_layer(layer) for layer in model.encoder.layer]
    return PackedModel(model.embeddings, layers, model.config.num_attention_heads)


def _pack_roberta(model: Any) -> PackedModel:
    layers = [_read_bert_layer(layer) for layer in model.encoder.layer]
    padding_id = int(model.embeddings.padding_idx)
    return PackedModel(model.embeddings, layers, model.config.num_attention_heads, padding_id)


def _pack_distilbert(model: Any) -> PackedModel:
    layers = [_read_distilbert_layer(layer) for layer in model.transformer.layer]
    return PackedModel(model.embeddings, layers, model.config.num_attention_heads)


def _pack_mpnet(model: Any) -> PackedModel:
    def bias(length: int) -> Tensor:
        found: Tensor = model.encoder.compute_position_bias(
            model.embeddings.word_embeddings.weight.new_empty(1, length, 0)
        )
        return found

    layers = [_read_mpnet_layer(layer) for layer in model.encoder.layer]
    padding_id = int(model.embeddings.padding_idx)
    return PackedModel(model.embeddings, layers, model.config.num_attention_heads, padding_id, bias)


_FAMILIES: Final[dict[str, Callable[[Any], PackedModel]]] = {
    "bert": _pack_bert,
    "roberta": _pack_roberta,
    "xlm-roberta": _pack_roberta,
    "camembert": _pack_roberta,
    "distilbert": _pack_distilbert,
    "mpnet": _pack_mpnet,
}
