"""A fusion of adapters gives what the library `adapters` says, packed and padded; other files are refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoModel

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapter_fusion import attach_fusion
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.packed_families import pack_model
from pinakes.indexers.encoder.presets import resolve_model
from tests.toy_adapter import build_toy_adapter
from tests.toy_encoder import DIMENSIONS, build_toy_encoder, write_json

NAMES = ["PRX", "CLF", "RGN"]
FUSION = "PRX,CLF,RGN"
DYNAMIC: dict[str, Any] = {
    "dropout_prob": None,
    "key": True,
    "query": True,
    "query_before_ln": False,
    "regularization": True,
    "residual_before": False,
    "temperature": False,
    "value": True,
    "value_before_softmax": True,
    "value_initialized": True,
}
IDS = [2, 7, 9, 20, 3]
# What the library `adapters` 1.3.0 (transformers 4.57.6) gives: four numbers of the first state of IDS.
LIBRARY = [0.3871996, 1.216459, 1.8143359, -0.2114025]
SHORT = [2, 14, 33, 3]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_encoder(tmp_path_factory.mktemp("toy") / "toy", sentence_transformers_layout=False)


@pytest.fixture
def fusion(tmp_path: Path) -> Path:
    """A fusion as the library saves it, of a model with a head, beside its adapters."""
    for seed, name in enumerate(NAMES):
        build_toy_adapter(tmp_path / name.lower(), name, seed=seed)
    generator = torch.Generator().manual_seed(5)
    weights = {}
    for layer in range(2):
        prefix = f"bert.encoder.layer.{layer}.output.adapter_fusion_layer.{FUSION}"
        for part in ("query", "key", "value"):
            weights[f"{prefix}.{part}.weight"] = (
                torch.randn(DIMENSIONS, DIMENSIONS, generator=generator) * 0.3
            )
            if part != "value":
                weights[f"{prefix}.{part}.bias"] = torch.randn(DIMENSIONS, generator=generator)
    folder = tmp_path / "prx_fusion"
    described = {"config": DYNAMIC, "hidden_size": DIMENSIONS, "name": FUSION, "adapter_names": NAMES}
    write_json(folder / "adapter_fusion_config.json", described)
    save_file(weights, folder / "model_adapter_fusion.safetensors")
    return folder


def load_toy(toy: Path) -> Any:
    return AutoModel.from_pretrained(toy).eval()


def work_out(model: Any, folder: Path, ids: list[int]) -> Tensor:
    """By hand, token by token, as the library's `BertFusion` does, with the adapters of Pfeiffer et al."""
    of_fusion = load_file(folder / "model_adapter_fusion.safetensors")
    of_adapters = {name: load_file(folder.parent / name.lower() / "adapter.safetensors") for name in NAMES}

    def linear(weights: dict[str, Tensor], name: str, states: Tensor) -> Tensor:
        return states @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", torch.zeros(()))

    def fuse(number: int, output: Any, hidden: Tensor, middle: Tensor) -> Tensor:
        fed = output.dense(hidden)
        entered = output.LayerNorm(fed + middle)
        made = []
        for name, weights in of_adapters.items():
            prefix = f"bert.encoder.layer.{number}.output.adapters.{name}"
            down = torch.relu(linear(weights, f"{prefix}.adapter_down.0", entered))
            made.append(linear(weights, f"{prefix}.adapter_up", down))
        prefix = f"bert.encoder.layer.{number}.output.adapter_fusion_layer.{FUSION}"
        query = linear(of_fusion, f"{prefix}.query", entered)
        scores = torch.stack(
            [(query * linear(of_fusion, f"{prefix}.key", one)).sum(1) for one in made], dim=1
        )
        shares = torch.softmax(scores, dim=1)
        values = [linear(of_fusion, f"{prefix}.value", one) for one in made]
        mixed = sum((shares[:, [place]] * value for place, value in enumerate(values)), torch.zeros(()))
        found: Tensor = output.LayerNorm(mixed + fed + middle)
        return found

    with torch.no_grad():
        states = model.embeddings(input_ids=torch.tensor([ids]))[0]
        for number, layer in enumerate(model.encoder.layer):
            middle = layer.attention(states[None], None)[0][0]
            states = fuse(number, layer.output, layer.intermediate(middle), middle)
    found: Tensor = states
    return found


def test_states_are_those_of_the_library_packed_and_padded(toy: Path, fusion: Path) -> None:
    expected = [work_out(load_toy(toy), fusion, ids) for ids in (IDS, SHORT)]
    model = load_toy(toy)
    attach_fusion(model, fusion)
    ids = torch.tensor([IDS, [*SHORT, 0]])
    with torch.inference_mode():
        padded = model(input_ids=ids, attention_mask=(ids > 0).long()).last_hidden_state
        packed = pack_model(model)
        assert packed is not None
        *_, last = packed.states(packed.pack([IDS, SHORT], "cpu"))
    torch.testing.assert_close(padded[0], expected[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(padded[1, :4], expected[1], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(last, torch.cat(expected), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(padded[0, 0, :4], torch.tensor(LIBRARY), atol=2e-5, rtol=0)


def test_a_fused_encoder_is_known_by_the_weights_of_its_adapters_too(toy: Path, fusion: Path) -> None:
    source = resolve_model(f"{toy}+{fusion}")
    before = load_encoder(source, "fp32").digest
    build_toy_adapter(fusion.parent / "rgn", "RGN", seed=9)
    assert load_encoder(source, "fp32").digest != before
    shutil.rmtree(fusion.parent / "rgn")
    with pytest.raises(
        IndexingError, match=r"has no \.\./rgn/adapter_config\.json and no \.\./rgn/adapter\.saf"
    ):
        resolve_model(f"{toy}+{fusion}")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"config": {**DYNAMIC, "value": False}}, "has value = False, which is not run here"),
        ({"config": {**DYNAMIC, "temperature": True}}, "has temperature = True, which is not run here"),
        ({"config": {**DYNAMIC, "other": 1}}, "has other = 1, which is not run here"),
        ({"config": None}, "has no configuration of a fusion"),
        ({"adapter_names": ["PRX"]}, "expected two adapters or more"),
        ({"adapter_names": ["PRX", "../CLF"]}, "expected adapters whose folders lie beside it"),
        ({"name": "CLF,PRX"}, "has the weight bert.encoder.layer.0.output.adapter_fusion_layer.PRX,CLF,RGN"),
    ],
)
def test_a_setting_that_is_not_run_is_named(
    toy: Path, fusion: Path, changed: dict[str, Any], said: str
) -> None:
    path = fusion / "adapter_fusion_config.json"
    write_json(path, json.loads(path.read_text(encoding="utf-8")) | changed)
    with pytest.raises(IndexingError, match=said):
        attach_fusion(load_toy(toy), fusion)


def test_weights_that_do_not_fit_are_named(toy: Path, fusion: Path) -> None:
    path = fusion / "model_adapter_fusion.safetensors"
    weights = load_file(path)
    name = f"bert.encoder.layer.1.output.adapter_fusion_layer.{FUSION}.query.weight"
    for wrong, said in (
        (
            {**weights, name: torch.zeros(3, 3)},
            r"query.weight of the shape \(3, 3\) in layer 1; the model says",
        ),
        ({one: value for one, value in weights.items() if one != name}, "query.weight of the shape nothing"),
        ({**weights, "heads.0.weight": torch.zeros(1)}, "has the weight heads.0.weight"),
    ):
        save_file(wrong, path)
        with pytest.raises(IndexingError, match=said):
            attach_fusion(load_toy(toy), fusion)
    build_toy_adapter(fusion.parent / "clf", "CLF", layers=1)
    with pytest.raises(IndexingError, match="is not behind each layer's feed-forward part"):
        attach_fusion(load_toy(toy), fusion)
