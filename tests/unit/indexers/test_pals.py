"""Projected attention layers give what their formula says, packed and padded; other files are refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoModel, BertConfig, BertModel

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.packed_families import pack_model
from pinakes.indexers.encoder.pals import PalSettings, attach_pals, make_pals, write_pals
from pinakes.indexers.encoder.presets import resolve_model
from tests.toy_encoder import DIMENSIONS, build_toy_encoder, write_json

SETTINGS = PalSettings("CLF", DIMENSIONS, layers=2, width=12, heads=6)
IDS = [2, 7, 9, 20, 3]
SHORT = [2, 14, 33, 3]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_encoder(tmp_path_factory.mktemp("toy") / "toy", sentence_transformers_layout=False)


def build_toy_pals(folder: Path, seed: int = 3) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        write_pals(folder, SETTINGS, make_pals(SETTINGS))
    return folder


def load_toy(toy: Path) -> Any:
    return AutoModel.from_pretrained(toy).eval()


def work_out(model: Any, weights: dict[str, Tensor], ids: list[int]) -> Tensor:
    """By hand, of one text: norm(f(a) + a + gelu(up(heads(down(x))))), head by head."""

    def linear(name: str, states: Tensor) -> Tensor:
        return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    with torch.no_grad():
        states = model.embeddings(input_ids=torch.tensor([ids]))[0]
        for number, layer in enumerate(model.encoder.layer):
            middle = layer.attention(states[None], None)[0][0]
            joined = linear(f"layer.{number}.query_key_value", linear("down", states))
            query, key, value = joined.view(len(ids), 3, 6, 2).unbind(1)
            attended = [
                torch.softmax(query[:, head] @ key[:, head].T / 2**0.5, dim=1) @ value[:, head]
                for head in range(6)
            ]
            extra = torch.nn.functional.gelu(linear("up", torch.cat(attended, dim=1)))
            fed = layer.output.dense(layer.intermediate(middle))
            states = layer.output.LayerNorm(fed + middle + extra)
    found: Tensor = states
    return found


def test_states_are_those_of_the_formula_packed_and_padded(toy: Path, tmp_path: Path) -> None:
    folder = build_toy_pals(tmp_path / "clf")
    weights = load_file(folder / "pal.safetensors")
    expected = [work_out(load_toy(toy), weights, ids) for ids in (IDS, SHORT)]
    model = load_toy(toy)
    attach_pals(model, folder)
    ids = torch.tensor([IDS, [*SHORT, 0]])
    with torch.inference_mode():
        padded = model(input_ids=ids, attention_mask=(ids > 0).long()).last_hidden_state
        packed = pack_model(model)
        assert packed is not None
        batch = packed.pack([IDS, SHORT], "cpu")
        *_, last = packed.states(batch)
        *_, firsts = packed.states(batch, last_of=0)
    torch.testing.assert_close(padded[0], expected[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(padded[1, :4], expected[1], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(last, torch.cat(expected), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(firsts, torch.stack([one[0] for one in expected]), atol=1e-5, rtol=1e-5)


def test_an_encoder_with_pals_is_known_by_both_weights(toy: Path, tmp_path: Path) -> None:
    first, second = (
        load_encoder(resolve_model(f"{toy}+{build_toy_pals(tmp_path / str(seed) / 'clf', seed)}"), "fp32")
        for seed in (3, 4)
    )
    assert first.name == second.name == "toy_clf"
    assert first.digest != second.digest
    assert first.digest != load_encoder(resolve_model(toy), "fp32").digest


def test_pals_of_another_model_or_with_other_weights_are_refused(toy: Path, tmp_path: Path) -> None:
    folder = build_toy_pals(tmp_path / "clf")
    config = BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    with pytest.raises(IndexingError, match="are for a bert of 2 layers and 16 numbers; the model is a bert"):
        attach_pals(BertModel(config), folder)
    weights = load_file(folder / "pal.safetensors")
    for wrong in (
        {**weights, "down.weight": torch.zeros(3, 3)},
        {**weights, "other": torch.zeros(1)},
        {name: value for name, value in weights.items() if name != "up.bias"},
    ):
        save_file(wrong, folder / "pal.safetensors")
        with pytest.raises(IndexingError, match="expected the weights of its configuration alone"):
            attach_pals(load_toy(toy), folder)
    (folder / "pal.safetensors").write_bytes(b"no")
    with pytest.raises(IndexingError, match="cannot be read"):
        attach_pals(load_toy(toy), folder)
    (folder / "pal.safetensors").unlink()
    with pytest.raises(IndexingError, match=r"has no pal\.safetensors"):
        resolve_model(f"{toy}+{folder}")
    described = json.loads((folder / "pal_config.json").read_text(encoding="utf-8"))
    refused: list[Any] = [described | {"layout": 2}, described | {"more": 1}, [], {"layout": 1, "note": ""}]
    for wrong_config in refused:
        write_json(folder / "pal_config.json", wrong_config)
        with pytest.raises(IndexingError, match="is not as this version writes it"):
            attach_pals(load_toy(toy), folder)
