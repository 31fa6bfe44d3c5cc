"""A bottleneck adapter gives what the library `adapters` gives; what is not run here is refused by name."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import layer_norm, linear
from transformers import AutoModel, BertModel, RobertaConfig, RobertaModel

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.adapters import attach_adapter
from pinakes.indexers.encoder.model import digest_weights, load_encoder
from pinakes.indexers.encoder.packed_families import pack_model
from pinakes.indexers.encoder.presets import encoder_name, find_base, list_presets, resolve_model
from tests.toy_adapter import HOULSBY, PFEIFFER, build_toy_adapter
from tests.toy_encoder import DIMENSIONS, build_toy_encoder, write_json

CASES: dict[str, dict[str, Any]] = {
    "pfeiffer": PFEIFFER,
    "houlsby": HOULSBY,
    "norms": {**PFEIFFER, "ln_before": True, "ln_after": True, "non_linearity": "gelu", "scaling": 0.5},
    "norms_before": {
        **HOULSBY,
        "ln_after": True,
        "adapter_residual_before_ln": True,
        "non_linearity": "leakyrelu",
    },
    "post_add": {**PFEIFFER, "residual_before_ln": "post_add", "non_linearity": "gelu_new"},
    "after": {
        **PFEIFFER,
        "residual_before_ln": False,
        "original_ln_after": False,
        "non_linearity": "tanh",
    },
    "learned": {**PFEIFFER, "scaling": "learned"},
    "channel": {**HOULSBY, "scaling": "channel"},
}
# What the library `adapters` 1.2.0 (transformers 4.51.3) gives: four numbers of the first token's state. All
# numbers of all tokens were equal to the bit to ours, on one machine.
LIBRARY: dict[str, list[float]] = {
    "pfeiffer": [0.7475405, 1.1868919, 1.7807645, -0.2590366],
    "houlsby": [0.5405225, 1.1421423, 1.6760845, -1.1983681],
    "norms": [0.3610116, 1.332418, 1.686691, -0.1598547],
    "norms_before": [-1.6159123, -0.8586836, -0.5498808, 0.4837264],
    "post_add": [0.5981771, 1.2850552, 1.3341547, -0.0432118],
    "after": [1.0729519, 0.8489227, 2.3694353, -0.096387],
    "learned": [0.473537, 1.2078913, 1.859478, -0.2133484],
    "channel": [0.4296472, 1.4456869, 1.8416033, -0.0071172],
}
IDS = [2, 7, 9, 20, 3]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_encoder(tmp_path_factory.mktemp("toy") / "toy", sentence_transformers_layout=False)


def load_toy(toy: Path) -> Any:
    return AutoModel.from_pretrained(toy, attn_implementation="sdpa").eval()


def run_padded(model: Any) -> Tensor:
    ids = torch.tensor([IDS, [2, 14, 33, 3, 0]])
    with torch.inference_mode():
        found: Tensor = model(input_ids=ids, attention_mask=(ids > 0).long()).last_hidden_state
    return found


@pytest.mark.parametrize("case", CASES)
def test_states_are_those_of_the_library_packed_and_padded(toy: Path, tmp_path: Path, case: str) -> None:
    model = load_toy(toy)
    before = run_padded(model)
    attach_adapter(model, build_toy_adapter(tmp_path / "adapter", config=CASES[case]))
    padded = run_padded(model)
    np.testing.assert_allclose(padded[0, 0, :4].numpy(), LIBRARY[case], atol=2e-5)
    assert (padded - before)[0].abs().max() > 0.05
    packed = pack_model(model)
    assert packed is not None
    with torch.inference_mode():
        batch = packed.pack([IDS, [2, 14, 33, 3]], "cpu")
        *_, last = packed.states(batch)
        *_, firsts = packed.states(batch, last_of=0)
    expected = torch.cat([padded[0], padded[1, :4]])
    torch.testing.assert_close(last, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(firsts, expected[[0, 5]], atol=1e-5, rtol=1e-5)


def test_pfeiffers_adapter_is_what_his_paper_and_the_library_say(toy: Path, tmp_path: Path) -> None:
    """By hand: norm(up(relu(down(norm(f + x)))) + f + x), f the feed-forward output, x its input."""
    folder = build_toy_adapter(tmp_path / "adapter")
    weights = load_file(folder / "adapter.safetensors")
    model: BertModel = load_toy(toy)

    def adapt(layer: int, output: Any) -> Any:
        part = {
            name: weights[f"bert.encoder.layer.{layer}.output.adapters.[PRX].{name}"]
            for name in (
                "adapter_down.0.weight",
                "adapter_down.0.bias",
                "adapter_up.weight",
                "adapter_up.bias",
            )
        }

        def norm(states: Tensor) -> Tensor:
            return layer_norm(
                states, [DIMENSIONS], output.LayerNorm.weight, output.LayerNorm.bias, output.LayerNorm.eps
            )

        def forward(hidden: Tensor, summand: Tensor) -> Tensor:
            fed = linear(hidden, output.dense.weight, output.dense.bias)
            down = linear(norm(fed + summand), part["adapter_down.0.weight"], part["adapter_down.0.bias"])
            up = linear(torch.relu(down), part["adapter_up.weight"], part["adapter_up.bias"])
            return norm(up + fed + summand)

        return forward

    layers: Any = model.encoder.layer
    for number, layer in enumerate(layers):
        layer.output.forward = adapt(number, layer.output)
    ours = load_toy(toy)
    attach_adapter(ours, folder)
    torch.testing.assert_close(run_padded(ours), run_padded(model), atol=1e-6, rtol=1e-5)


def test_an_adapted_encoder_is_known_by_both_names_weights_and_revisions(toy: Path, tmp_path: Path) -> None:
    folder = build_toy_adapter(tmp_path / "proximity")
    source = resolve_model(f"{toy}+{folder}")
    assert source.name == "toy_proximity"
    encoder, bare = load_encoder(source, "fp32"), load_encoder(resolve_model(toy), "fp32")
    assert encoder.origin == f"{toy}+{folder}"
    assert encoder.revision.split("+")[0] == bare.digest == digest_weights(toy)
    assert encoder.digest != bare.digest
    other = build_toy_adapter(tmp_path / "other" / "proximity", seed=4)
    assert load_encoder(resolve_model(f"{toy}+{other}"), "fp32").digest != encoder.digest
    tokens = encoder.tokenize(["graph model"])
    assert np.abs(encoder.embed(tokens) - bare.embed(tokens)).max() > 0.05
    assert find_base(f"scincl+{folder}") == list_presets()["scincl"]


def test_long_names_of_adapted_encoders_stay_apart(toy: Path, tmp_path: Path) -> None:
    base = shutil.copytree(toy, tmp_path / "an_encoder_with_a_name_that_is_long")
    names = [
        resolve_model(f"{base}+{build_toy_adapter(tmp_path / f'adapter_{code}')}").name
        for code in ("clf", "rgn")
    ]
    assert names[0] != names[1]
    assert all(encoder_name(name) == name for name in names)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"is_parallel": True}, "is_parallel = True, which is not run here"),
        ({"use_gating": True}, "use_gating = True, which is not run here"),
        ({"phm_layer": True}, "phm_layer = True, which is not run here"),
        ({"inv_adapter": "nice"}, "inv_adapter = 'nice', which is not run here"),
        ({"cross_adapter": True}, "cross_adapter = True, which is not run here"),
        ({"architecture": "lora"}, "architecture 'lora'; expected a bottleneck adapter"),
        ({"shared_over_layers": True}, "shared_over_layers = True, which is not run here"),
        ({"scaling": "double"}, "scaling = 'double', which is not run here"),
        ({"residual_before_ln": "post_add", "original_ln_before": False}, "without original_ln_before"),
        ({"non_linearity": "maxout"}, "non_linearity = 'maxout'; expected one of relu"),
        ({"mh_adapter": True}, "says mh_adapter, output_adapter"),
        ({"reduction_factor": 8}, r"the shape \(4,\) in layer 0; its configuration and the model say \(2,\)"),
        ({"ln_after": True}, "adapter_norm_after.bias of the shape nothing in layer 0"),
    ],
)
def test_a_setting_that_is_not_run_or_not_so_is_named(
    toy: Path, tmp_path: Path, config: dict[str, Any], said: str
) -> None:
    folder = build_toy_adapter(tmp_path / "adapter")
    described = json.loads((folder / "adapter_config.json").read_text())
    described["config"] |= config
    write_json(folder / "adapter_config.json", described)
    with pytest.raises(IndexingError, match=said):
        attach_adapter(load_toy(toy), folder)


def test_what_decides_nothing_in_use_is_taken_and_old_names_of_activations_too(
    toy: Path, tmp_path: Path
) -> None:
    config = {**PFEIFFER, "dropout": 0.5, "stochastic_depth": 0.1, "leave_out": [1], "non_linearity": "gelu"}
    folder = build_toy_adapter(tmp_path / "adapter", config=config, layers=1)
    described = json.loads((folder / "adapter_config.json").read_text())
    states = []
    for version in ("adapters.1.2.0", None):
        described["version"] = version
        write_json(folder / "adapter_config.json", {key: value for key, value in described.items() if value})
        model = load_toy(toy)
        attach_adapter(model, folder)
        states.append(run_padded(model))
    # Without a version `gelu` was the approximation by tanh.
    assert 0 < (states[0] - states[1]).abs().max() < 0.05


@pytest.mark.parametrize(
    "key", ["bert.encoder.layer.2.output.adapters.[PRX].adapter_up.bias", "heads.x.weight", "other"]
)
def test_a_weight_that_has_no_place_is_named(toy: Path, tmp_path: Path, key: str) -> None:
    folder = build_toy_adapter(tmp_path / "adapter")
    weights = load_file(folder / "adapter.safetensors")
    other = "bert.encoder.layer.0.output.adapters.[CLF].adapter_up.bias" if key == "other" else key
    save_file({**weights, other: torch.zeros(16)}, folder / "adapter.safetensors")
    with pytest.raises(IndexingError, match=f"has the weight {re.escape(other)}; expected weights of the"):
        attach_adapter(load_toy(toy), folder)


def test_an_adapter_of_another_model_is_refused(toy: Path, tmp_path: Path) -> None:
    folder = build_toy_adapter(tmp_path / "adapter")
    roberta = RobertaModel(
        RobertaConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    )
    with pytest.raises(IndexingError, match="is of a bert and the model is a roberta; expected a BERT"):
        attach_adapter(roberta, folder)
    described = json.loads((folder / "adapter_config.json").read_text())
    write_json(folder / "adapter_config.json", described | {"model_type": "roberta"})
    with pytest.raises(IndexingError, match="is of a roberta and the model is a bert; expected a BERT"):
        attach_adapter(load_toy(toy), folder)
    write_json(folder / "adapter_config.json", described | {"hidden_size": 768})
    with pytest.raises(IndexingError, match="is for vectors of 768 numbers; the model has 16"):
        attach_adapter(load_toy(toy), folder)


def test_the_command_of_the_message_converts_pickled_weights(toy: Path, tmp_path: Path) -> None:
    folder = build_toy_adapter(tmp_path / "adapter")
    weights = load_file(folder / "adapter.safetensors")
    torch.save(weights, folder / "pytorch_adapter.bin")
    (folder / "adapter.safetensors").unlink()
    with pytest.raises(IndexingError, match="Convert it once") as error:
        resolve_model(f"{toy}+{folder}")
    (command,) = re.findall(r'`python -c "(.+)"`', str(error.value))
    subprocess.run([sys.executable, "-c", command], check=True, capture_output=True)
    after = load_file(folder / "adapter.safetensors")
    assert weights.keys() == after.keys()
    assert all(torch.equal(weights[name], after[name]) for name in weights)
    assert resolve_model(f"{toy}+{folder}").adapter is not None


def test_an_adapter_of_the_hub_without_safetensors_has_a_command_of_its_own(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {"allenai/specter2_base": toy, "allenai/specter2": tmp_path / "adapter"}
    write_json(tmp_path / "adapter" / "adapter_config.json", {})
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda hub_id, **_: str(folders[hub_id]))
    with pytest.raises(IndexingError, match=r"allenai/specter2 has no adapter\.safetensors") as error:
        resolve_model("specter2")
    assert "hf_hub_download('allenai/specter2', 'pytorch_adapter.bin')" in str(error.value)
    build_toy_adapter(tmp_path / "adapter")
    assert resolve_model("specter2").adapter is not None
    with pytest.raises(
        IndexingError, match="specter2 has the adapter allenai/specter2; expected one without"
    ):
        resolve_model(f"specter2+{tmp_path / 'adapter'}")
    with pytest.raises(IndexingError, match="there is no adapter 'nowhere'; expected a local folder"):
        resolve_model(f"{toy}+nowhere")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(IndexingError, match=r"has no adapter_config.json and no adapter.safetensors \(it"):
        resolve_model(f"{toy}+{empty}")


def test_a_bottleneck_has_no_layer_that_keeps_the_model_from_being_packed(toy: Path, tmp_path: Path) -> None:
    model = load_toy(toy)
    attach_adapter(model, build_toy_adapter(tmp_path / "adapter"))
    assert {type(part) for part in model.modules() if isinstance(part, nn.Linear)} == {nn.Linear}
