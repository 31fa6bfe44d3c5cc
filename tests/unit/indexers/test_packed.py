"""A batch without padding gives what the transformer gives with it, for every family that is packed."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import nn

from pinakes.indexers.encoder.packed import PackedModel, laid_out_linear, plain_linear
from pinakes.indexers.encoder.packed_families import pack_model

SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
    "initializer_range": 0.3,
}
DISTILBERT_SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "dim": 16,
    "n_layers": 3,
    "n_heads": 2,
    "hidden_dim": 32,
    "max_position_embeddings": 40,
    "initializer_range": 0.3,
}
FAMILIES = {
    "bert": lambda: transformers.BertModel(transformers.BertConfig(**SIZES)),
    "bert with another activation": lambda: transformers.BertModel(
        transformers.BertConfig(**SIZES, hidden_act="gelu_new")
    ),
    "roberta": lambda: transformers.RobertaModel(transformers.RobertaConfig(**SIZES, pad_token_id=1)),
    "xlm-roberta": lambda: transformers.XLMRobertaModel(
        transformers.XLMRobertaConfig(**SIZES, pad_token_id=1)
    ),
    "camembert": lambda: transformers.CamembertModel(transformers.CamembertConfig(**SIZES, pad_token_id=1)),
    "distilbert": lambda: transformers.DistilBertModel(transformers.DistilBertConfig(**DISTILBERT_SIZES)),
    "mpnet": lambda: transformers.MPNetModel(transformers.MPNetConfig(**SIZES, pad_token_id=1)),
}
LENGTHS = [5, 17, 1, 5, 30, 17, 2, 5]


def make_model(family: str) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model: nn.Module = FAMILIES[family]()  # type: ignore[no-untyped-call]
        for parameter in model.parameters():
            # Biases and norms start as zeros and ones, which would hide their absence.
            nn.init.normal_(parameter, std=0.3)
    return model.eval()


def make_tokens() -> list[list[int]]:
    generator = np.random.default_rng(5)
    tokens = [generator.integers(2, 50, length).tolist() for length in LENGTHS]
    tokens[1][3] = 1  # a text that spells out RoBERTa's padding token
    return tokens


def run_padded(model: nn.Module, row: list[int]) -> list[torch.Tensor]:
    with torch.inference_mode():
        output = model(
            input_ids=torch.tensor([row]),
            attention_mask=torch.ones(1, len(row), dtype=torch.long),
            output_hidden_states=True,
        )
    return [state[0] for state in output.hidden_states]


def pack(model: nn.Module) -> PackedModel:
    packed = pack_model(model)
    assert packed is not None
    return packed


@pytest.mark.parametrize("family", FAMILIES)
def test_every_layers_states_equal_those_of_the_transformer(family: str) -> None:
    model, tokens = make_model(family), make_tokens()
    expected = [run_padded(model, row) for row in tokens]
    packed = pack(model)
    with torch.inference_mode():
        batch = packed.pack(tokens, "cpu")
        states = list(packed.states(batch))
    assert batch.order.tolist() == [4, 1, 5, 0, 3, 7, 6, 2]
    assert batch.groups == [(0, 30, 30), (30, 64, 17), (64, 79, 5), (79, 81, 2), (81, 82, 1)]
    assert len(states) == 4
    for layer, state in enumerate(states):
        together = torch.cat([expected[row][layer] for row in batch.order])
        torch.testing.assert_close(state, together, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_transformer_itself_is_as_before_once_it_is_packed(family: str) -> None:
    model, row = make_model(family), make_tokens()[1]
    before = run_padded(model, row)
    names = {name: value.clone() for name, value in model.state_dict().items()}
    pack(model)
    assert {
        name: torch.equal(value, names[name]) for name, value in model.state_dict().items()
    } == dict.fromkeys(names, True)
    assert all(map(torch.equal, before, run_padded(model, row)))


def test_query_key_and_value_are_held_once() -> None:
    model: Any = make_model("bert")
    pack(model)
    attention = model.encoder.layer[0].attention.self
    starts = [part.weight.data_ptr() for part in (attention.query, attention.key, attention.value)]
    assert [start - starts[0] for start in starts] == [0, 16 * 16 * 4, 2 * 16 * 16 * 4]


def test_the_last_layer_is_computed_for_first_tokens_alone_where_they_are_requested_for() -> None:
    packed = pack(make_model("roberta"))
    with torch.inference_mode():
        batch = packed.pack(make_tokens(), "cpu")
        whole = list(packed.states(batch))
        firsts = list(packed.states(batch, last_of=0))
    assert [state.shape[0] for state in firsts] == [82, 82, 82, 8]
    starts = [0, 30, 47, 64, 69, 74, 79, 81]
    torch.testing.assert_close(firsts[-1], whole[-1][starts], atol=1e-6, rtol=1e-5)


def test_another_architecture_and_an_altered_model_run_padded() -> None:
    assert (
        pack_model(transformers.ElectraModel(transformers.ElectraConfig(**SIZES, embedding_size=16))) is None
    )
    hooked: Any = make_model("bert")
    hooked.encoder.layer[1].register_forward_hook(lambda module, inputs, output: output)
    assert pack_model(hooked) is None
    decoder = transformers.BertModel(transformers.BertConfig(**SIZES, is_decoder=True))
    assert pack_model(decoder) is None


@pytest.mark.parametrize("activation", [None, nn.functional.gelu, nn.functional.relu])
def test_a_laid_out_linear_layer_gives_the_numbers_of_the_plain_one(activation: Any) -> None:
    generator = torch.Generator().manual_seed(1)
    weight, bias = torch.randn(24, 16, generator=generator), torch.randn(24, generator=generator)
    rows = torch.randn(7, 16, generator=generator)
    expected = rows @ weight.T + bias
    expected = expected if activation is None else activation(expected)
    with torch.inference_mode():
        for make in (plain_linear, laid_out_linear):
            torch.testing.assert_close(make(weight, bias, activation)(rows), expected, atol=1e-5, rtol=1e-5)


def test_a_compiled_model_gives_the_same_states(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def compile_nothing(function: Any, **options: Any) -> Any:
        compiled.append(options)
        return function

    packed = pack(make_model("bert"))
    with torch.inference_mode():
        batch = packed.pack(make_tokens(), "cpu")
        before = list(packed.states(batch))
        monkeypatch.setattr(torch, "compile", compile_nothing)
        packed.compile()
        assert all(map(torch.equal, before, packed.states(batch)))
    assert compiled == [{"dynamic": True}]
