"""A short name finds its model on the hub, with the pooling, length and templates of its publication."""

import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from pinakes.errors import IndexingError, UnknownNameError
from pinakes.indexers.encoder import presets
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import (
    PROMPTS,
    encoder_name,
    explain_absence,
    find_preset,
    find_prompts,
    list_presets,
    list_prompts,
    resolve_model,
)
from pinakes.queries.relations import list_templates
from pinakes.workload.readers import CODES
from tests.toy_encoder import build_toy_encoder

DOCUMENT = ("specter", "specter", "cls", False, 512, "l2")
SENTENCE = (None, None, None, None, None, "cosine")
BARE_SENTENCE = (None, None, "cls", False, None, "cosine")
E5 = (None, None, "mean", True, 512, "cosine")
IN_CONTEXT = (None, None, "mean", False, 502, "l2")
USES = {
    "minilm": (None, None, None, None, None, None),
    "scibert": DOCUMENT,
    "scibert_cased": DOCUMENT,
    "specter": DOCUMENT,
    "specter2_base": DOCUMENT,
    **dict.fromkeys(
        ("specter2", "specter2_adhoc_query", "specter2_classification", "specter2_regression"), DOCUMENT
    ),
    "specter2_formats": (None, None, None, None, None, None),
    "scincl": DOCUMENT,
    **{f"scirepeval_adapters_{code}": DOCUMENT for code in ("clf", "rgn", "prx", "qry")},
    "scirepeval_adapters": (None, None, None, None, None, None),
    "scirepeval_ctrl": ("specter", "specter", "control_code", False, 512, "l2"),
    "scirepeval_pals": (None, None, None, None, None, None),
    "scirepeval_fusion": (None, None, None, None, None, None),
    "e5": E5,
    "e5_large": E5,
    "instructor": (None, None, None, None, None, None),
    "aspire_biomed": DOCUMENT,
    "aspire_biomed_scib": DOCUMENT,
    "aspire_cs": DOCUMENT,
    "ts_aspire_biomed": IN_CONTEXT,
    "ts_aspire_cs": IN_CONTEXT,
    "ot_aspire_biomed": IN_CONTEXT,
    "ot_aspire_cs": IN_CONTEXT,
    "oagbert": (None, None, None, None, None, None),
    "simcse_unsup": BARE_SENTENCE,
    "simcse_sup": BARE_SENTENCE,
    "sentbert_pp": SENTENCE,
    "sentbert_nli": SENTENCE,
}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[tuple[str, str | None], Path]:
    """A hub that has what a test puts into it, by id and revision."""
    held: dict[tuple[str, str | None], Path] = {}

    def download(hub_id: str, *, revision: str | None, **_: object) -> str:
        return str(held[hub_id, revision])

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    monkeypatch.setattr(presets, "_package_folder", lambda preset: None)
    return held


def test_every_preset_is_used_as_its_publication_says() -> None:
    assert {
        name: (
            preset.paper_template,
            preset.query_template,
            preset.pooling,
            preset.normalize,
            preset.max_tokens,
            preset.distance,
        )
        for name, preset in list_presets().items()
    } == USES


@pytest.mark.parametrize("name", sorted(list_presets()))
def test_a_preset_has_a_name_a_source_and_templates_that_are_there(name: str) -> None:
    preset = list_presets()[name]
    assert encoder_name(name) == name == preset.name
    assert preset.source
    assert bool(preset.hub_id) or bool(preset.refusal) or bool(preset.members)
    assert set(preset.members) in (set(), set(CODES))
    assert set(preset.prefixes) in (set(), set(CODES))
    assert set(preset.members.values()) <= set(list_presets())
    assert preset.paper_template in (None, *list_templates("papers"))
    assert preset.query_template in (None, *list_templates("queries"))


def test_a_revision_is_a_whole_commit_or_a_pull_request_or_said_to_be_unpinned() -> None:
    for preset in list_presets().values():
        if preset.revision is None:
            assert preset.refusal or preset.members or preset.source.endswith("Unpinned.")
        else:
            assert len(preset.revision) == 40 or preset.revision.startswith("refs/pr/")


def test_a_bare_checkpoint_of_the_hub_is_used_as_the_preset_says(
    hub: dict[tuple[str, str | None], Path], tmp_path: Path
) -> None:
    bare = build_toy_encoder(tmp_path / "bare", sentence_transformers_layout=False)
    hub["allenai/specter", list_presets()["specter"].revision] = bare
    source = resolve_model("specter")
    assert (source.name, source.origin, source.preset) == (
        "specter",
        "allenai/specter",
        list_presets()["specter"],
    )
    encoder = load_encoder(source, "fp32")
    # The toy has 64 positions, which limit the 512 that are asked for.
    assert (encoder.pooling, encoder.normalize, encoder.max_tokens) == ("cls", False, 64)


def test_what_the_preset_leaves_open_is_as_the_folder_says(
    hub: dict[tuple[str, str | None], Path], tmp_path: Path
) -> None:
    layout = build_toy_encoder(tmp_path / "layout")
    hub["sentence-transformers/nli-roberta-base-v2", None] = layout
    encoder = load_encoder(resolve_model("sentbert_nli"), "fp32")
    assert (encoder.pooling, encoder.normalize, encoder.max_tokens) == ("mean", True, 32)


def test_a_preset_goes_before_the_layout_of_its_folder_and_the_caller_before_both(
    hub: dict[tuple[str, str | None], Path], tmp_path: Path
) -> None:
    hub["malteos/scincl", None] = build_toy_encoder(tmp_path / "layout")
    source = resolve_model("scincl")
    encoder = load_encoder(source, "fp32")
    assert (encoder.pooling, encoder.normalize) == ("cls", False)
    assert load_encoder(source, "fp32", pooling="max", normalize=True).pooling == "max"


def test_a_revision_can_be_given_with_the_short_name(
    hub: dict[tuple[str, str | None], Path], tmp_path: Path
) -> None:
    folder = build_toy_encoder(tmp_path / "abc")
    hub["allenai/specter", "refs/pr/13"] = folder
    assert resolve_model("specter@refs/pr/13").folder == folder
    assert resolve_model("specter", revision="refs/pr/13").folder == folder
    assert find_preset("specter@refs/pr/13") == list_presets()["specter"]
    assert find_preset("allenai/specter") is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("oagbert", "not on the model hub"),
        ("scirepeval_pals", "use scirepeval_adapters or scirepeval_ctrl"),
        ("scirepeval_fusion", "which runs one adapter at a time"),
        ("instructor", "with --option prompts=instructor"),
    ],
)
def test_a_model_that_needs_code_of_its_own_is_refused_with_what_to_do(name: str, said: str) -> None:
    with pytest.raises(IndexingError, match=f"the encoder {name} cannot be loaded: .*{said}"):
        resolve_model(name)


def test_pickled_weights_of_the_hub_are_refused_with_the_ways_to_safetensors(
    hub: dict[tuple[str, str | None], Path], tmp_path: Path
) -> None:
    folder = build_toy_encoder(tmp_path / "pickled")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    hub["malteos/scincl", None] = folder
    with pytest.raises(IndexingError) as error:
        resolve_model("scincl")
    said = str(error.value)
    assert "malteos/scincl at revision main" in said
    assert "pytorch_model.bin" in said
    assert "give malteos/scincl@refs/pr/N" in said
    assert "snapshot_download('malteos/scincl', local_dir='converted')" in said
    assert "AutoModel.from_pretrained('converted').save_pretrained('converted')" in said


def test_the_command_of_the_message_converts_a_folder_and_leaves_its_other_files(tmp_path: Path) -> None:
    folder = build_toy_encoder(tmp_path / "toy")
    before = load_file(folder / "model.safetensors")
    torch.save(before, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(IndexingError, match="Convert it once") as error:
        resolve_model(folder)
    (command,) = re.findall(r'`python -c "(.+)"`', str(error.value))
    exec(command, {})
    after = load_file(folder / "model.safetensors")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert load_encoder(resolve_model(folder), "fp32").pooling == "mean"


def test_a_separator_of_a_template_is_the_models_own_token(tmp_path: Path) -> None:
    encoder = load_encoder(resolve_model(build_toy_encoder(tmp_path / "toy")), "fp32")
    (tokens,) = encoder.tokenize(["paper[SEP]graph"])
    assert encoder.tokenizer.convert_ids_to_tokens(tokens) == ["[CLS]", "paper", "[SEP]", "graph", "[SEP]"]


def test_a_preset_of_several_encoders_is_as_absent_as_the_first_that_is(
    hub: dict[tuple[str, str | None], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(IndexingError, match="scirepeval_adapters is several encoders, one for each format"):
        resolve_model("scirepeval_adapters")
    monkeypatch.setattr("huggingface_hub.snapshot_download", _refuse)
    assert (
        explain_absence("scirepeval_adapters")
        == "the model malteos/scincl at revision main is not on this machine"
    )


def _refuse(hub_id: str, **_: object) -> str:
    raise OSError(f"no {hub_id}")


def test_prompts_are_those_that_were_published() -> None:
    assert {name: set(prompts.prefixes) for name, prompts in list_prompts().items()} == {
        name: set(CODES) for name in PROMPTS
    }
    instructor = find_prompts("instructor")
    assert instructor.prefixes["RGN"] == "Represent the Science document for regression: "
    assert instructor.query_prefix == "Represent the Science query for retrieving supporting documents: "
    with pytest.raises(UnknownNameError, match="prompts 'gpt'; known: gemma, instructor, qwen3"):
        find_prompts("gpt")
