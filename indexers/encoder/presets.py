"""Which model an encoder's name means: a preset, a local folder, or an id on the model hub.

No model library is imported here, and a model whose weights are not in safetensors files is refused, so that
nothing is ever unpickled.
"""

import functools
import hashlib
import importlib.util
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pinakes.errors import IndexingError, PinakesError, UnknownNameError
from pinakes.indexers.encoder.adapter_source import AdapterSource, resolve_adapter
from pinakes.indexers.encoder.hub import download_folder
from pinakes.indexers.encoder.model_settings import Pooling
from pinakes.indexers.encoder.trained import read_trained
from pinakes.indexers.names import Distance

PRESETS_FILE: Final = Path(__file__).with_name("presets.toml")

HUB_ID = re.compile(r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")
NAME_LENGTH = 41
CONVERT = (
    '`python -c "from transformers import AutoModel; '
    "AutoModel.from_pretrained('{folder}').save_pretrained('{folder}')\"`"
)
FETCH_AND_CONVERT = (
    '`python -c "from huggingface_hub import snapshot_download; from transformers import AutoModel; '
    "snapshot_download('{hub_id}', local_dir='converted'); "
    "AutoModel.from_pretrained('converted').save_pretrained('converted')\"`"
)
PROMPTS: Final = ("instructor", "gemma", "qwen3")
"""the prompts of `presets.toml`, whose file an option's declaration does not read"""
ADAPTED: Final = "+"
"""what stands between a model and its adapter, as in malteos/scincl+./adapters/clf"""


@dataclass(frozen=True, slots=True)
class Preset:
    """A model that is known by a short name, and how it is used where it was published.

    What is None is as the model's folder says, or, for a template and the distance, as the benchmark and
    the command say.

    Attributes:
        package, package_folder: an installed package that carries the model; empty: none does.
        revision: the hub's commit or ref; None: unpinned.
        paper_template, query_template: what a paper and a query say to it.
        sentence_level: whether its publication compares sentences: each one a text of its own, or, where
            `contextual`, each the mean over its tokens within the whole title and abstract.
        transport: whether its publication ranks by optimal transport, not by the best pair of sentences.
        max_tokens: longer texts are cut here, special tokens included.
        query_prefix, paper_prefix: what goes before a query and a candidate, as `query: `, where the format
            is that of a search or not known, or where there are no `prefixes`.
        prefixes: what goes before every text, by the code of the format; of a search, where the two above say
            nothing, that of `QRY` before a query and of `PRX` before a candidate.
        adapter: the adapter within the model: its hub id, with its revision where it is pinned.
        members: the presets that this one consists of, by the code of the format; it has no model then.
        source: where these settings come from, and what to know about them.
        refusal: why this code cannot run it, and what to do instead; empty: it can.
        folder: of an encoder that was trained here; None: it is a published one.
    """

    name: str
    hub_id: str
    source: str
    revision: str | None = None
    package: str = ""
    package_folder: str = ""
    paper_template: str | None = None
    query_template: str | None = None
    sentence_level: bool = False
    contextual: bool = False
    transport: bool = False
    pooling: Pooling | None = None
    normalize: bool | None = None
    max_tokens: int | None = None
    distance: Distance | None = None
    query_prefix: str = ""
    paper_prefix: str = ""
    prefixes: Mapping[str, str] = field(default_factory=dict)
    adapter: str = ""
    members: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prefixes that were published for several encoders, by a name; the members are those of `Preset`."""

    name: str
    source: str
    query_prefix: str
    paper_prefix: str
    prefixes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model lies and what it is called.

    Attributes:
        name: the encoder's name, fit for identifiers: `^[a-z][a-z0-9_]{0,40}$`.
        folder: the local folder that holds the model's files.
        revision: the hub's commit; None for a folder, whose weights' digest then stands for it.
        origin: the package, the folder or the hub id that it was found by.
        preset: what is known of a model that was asked for by its short name.
        adapter: the adapter that is put into the model; None: none is.
    """

    name: str
    folder: Path
    revision: str | None
    origin: str
    preset: Preset | None = field(default=None, compare=False)
    adapter: AdapterSource | None = None


def resolve_model(model: str | Path, revision: str | None = None, *, download: bool = True) -> ModelSource:
    """The source of a preset, of a local folder, or of a hub id, which may carry `@revision`.

    `BASE+ADAPTER` is any of these with an adapter in it: a local folder, or a hub id.

    A preset is taken from its package where that is installed; anything on the hub that is not in the
    local cache is downloaded, unless `download` is false. Raises `UnknownNameError` for a name that is none
    of the three and `IndexingError` for a preset that needs code of its own, for a model without safetensors
    files, and for a download that fails.
    """
    text = str(model)
    preset = find_preset(text)
    if preset is not None:
        _, _, given = text.partition("@")
        return _resolve_preset(preset, given or revision, download)
    folder = Path(model).expanduser()
    if folder.is_dir():
        _require_safetensors(folder, "the model folder", "")
        return ModelSource(encoder_name(folder.resolve().name), folder, None, text)
    base, adapted, adapter = text.partition(ADAPTED)
    if adapted:
        return _adapt(resolve_model(base, revision, download=download), adapter, download)
    hub_id, _, given = text.partition("@")
    if not HUB_ID.match(hub_id):
        hint = "Or give a local folder that exists, or a hub id such as 'organisation/model@revision'."
        raise UnknownNameError("encoder model", text, list(list_presets()), hint)
    return _fetch(encoder_name(hub_id), hub_id, given or revision, None, download)


def explain_absence(model: str) -> str:
    """Why a model cannot be loaded as things are on this machine; empty where it can. Downloads nothing.

    Of a preset that is one encoder for each format: why the first that is missing cannot.
    """
    preset = find_preset(model)
    if preset is not None and preset.members:
        reasons = map(explain_absence, dict.fromkeys(preset.members.values()))
        return next((reason for reason in reasons if reason), "")
    try:
        resolve_model(model, download=False)
    except PinakesError as error:
        return str(error)
    return ""


def explain_absent_weights(system: str) -> str:
    """Why an encoder of a system cannot be loaded here; empty where all can, or it has none."""
    names = system.rpartition(":")[2].split(",")
    reasons = (explain_absence(name) for name in names if find_preset(name) is not None or "/" in name)
    return next((reason for reason in reasons if reason), "")


@functools.cache
def list_presets() -> Mapping[str, Preset]:
    """The presets of `presets.toml` by name, in its order."""
    tables = _read_tables()
    styles: dict[str, dict[str, Any]] = {"": {}, **tables["styles"]}
    return {
        name: Preset(name, **{**styles[row.pop("style", "")], **row})
        for name, row in tables["presets"].items()
    }


def list_prompts() -> Mapping[str, Prompts]:
    """The prompts of `presets.toml` by name, in its order."""
    return {name: Prompts(name, **row) for name, row in _read_tables()["prompts"].items()}


def find_prompts(name: str) -> Prompts:
    """The prompts of that name; `UnknownNameError` lists the known ones."""
    known = list_prompts()
    if name not in known:
        raise UnknownNameError("prompts", name, list(known))
    return known[name]


def _read_tables() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads(PRESETS_FILE.read_text(encoding="utf-8"))


def find_preset(text: str) -> Preset | None:
    """The preset of a short name, which may carry `@revision`, or what a folder that was trained here says.

    None where it is neither.

    >>> find_preset("specter@main").hub_id, find_preset("allenai/specter")
    ('allenai/specter', None)
    """
    return list_presets().get(text.partition("@")[0]) or _find_trained(Path(text).expanduser())


def _find_trained(folder: Path) -> Preset | None:
    """What the folder of an encoder that was trained here says of it; None where it is no such folder."""
    found = read_trained(folder)
    if found is None:
        return None
    folder = folder.resolve()
    return Preset(encoder_name(folder.name), "", "trained by `pinakes train`", folder=folder, **found)


def find_base(text: str) -> Preset | None:
    """The preset of a short name with or without an adapter, as `scincl+./adapters/clf` has one."""
    return find_preset(text.partition(ADAPTED)[0])


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


def _resolve_preset(preset: Preset, revision: str | None, download: bool) -> ModelSource:
    if preset.refusal:
        raise IndexingError(f"the encoder {preset.name} cannot be loaded: {preset.refusal}")
    if preset.members:
        known = ", ".join(f"{code}: {member}" for code, member in preset.members.items())
        raise IndexingError(
            f"{preset.name} is several encoders, one for each format ({known}); expected one of them here"
        )
    if preset.folder is not None:
        _require_safetensors(preset.folder, "the model folder", "")
        return ModelSource(preset.name, preset.folder, None, str(preset.folder), preset)
    folder = _package_folder(preset)
    if folder is not None and revision in (None, preset.revision):
        _require_safetensors(folder, "the model folder", "")
        return ModelSource(preset.name, folder, None, preset.package, preset)
    source = _fetch(preset.name, preset.hub_id, revision or preset.revision, preset, download)
    if not preset.adapter:
        return source
    return replace(source, adapter=resolve_adapter(preset.adapter, download))


def _adapt(source: ModelSource, adapter: str, download: bool) -> ModelSource:
    if source.adapter is not None:
        raise IndexingError(f"{source.name} has the adapter {source.adapter.origin}; expected one without.")
    found = resolve_adapter(adapter, download)
    name = f"{source.name}_{encoder_name(found.origin.rstrip('/').rpartition('/')[2])}"
    if len(name) > NAME_LENGTH:
        # Cut alone, the names of adapters that begin alike would be one.
        name = f"{name[: NAME_LENGTH - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return replace(source, name=name, adapter=found)


def _package_folder(preset: Preset) -> Path | None:
    if not preset.package:
        return None
    # Found, not imported: the package may load libraries that an encoder does not need.
    spec = importlib.util.find_spec(preset.package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / preset.package_folder


def _require_safetensors(folder: Path, what: str, hub_id: str) -> None:
    if any(folder.rglob("*.safetensors")):
        return
    found = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "nothing"
    command = FETCH_AND_CONVERT.format(hub_id=hub_id) if hub_id else CONVERT.format(folder=folder)
    ways = f"Convert it once, on a machine whose owner trusts its makers, by {command}"
    if hub_id:
        ways = (
            f"The hub's page of {hub_id} may have a pull request that adds a safetensors variant: then give "
            f"{hub_id}@refs/pr/N. Or c{ways[1:]}, and give the folder `converted`"
        )
    raise IndexingError(
        f"{what} {folder} holds no *.safetensors file (it holds {found}); expected a model saved with its "
        "configuration, tokenizer and weights in safetensors: weights in pickle files, which can run code, "
        f"are never read. {ways}"
    )


def _fetch(
    name: str, hub_id: str, revision: str | None, preset: Preset | None, download: bool
) -> ModelSource:
    folder = download_folder(hub_id, revision, download)
    _require_safetensors(folder, f"{hub_id} at revision {revision or 'main'}, in", hub_id)
    return ModelSource(name, folder, folder.name, hub_id, preset)
