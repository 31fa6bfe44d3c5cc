"""What the folder of an adapter of the library `adapters` says about it; torch-free.

A setting that is not run here is an error that names it, never a vector that is a little wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.model_settings import read_json

CONFIG_NAME: Final = "adapter_config.json"
WEIGHTS_NAME: Final = "adapter.safetensors"
PICKLED_NAME: Final = "pytorch_adapter.bin"
FUSION_CONFIG_NAME: Final = "adapter_fusion_config.json"
FUSION_WEIGHTS_NAME: Final = "model_adapter_fusion.safetensors"
PAL_CONFIG_NAME: Final = "pal_config.json"
PAL_WEIGHTS_NAME: Final = "pal.safetensors"

CONVERT: Final = (
    '`python -c "import torch; from safetensors.torch import save_file; save_file('
    "{{name: part.contiguous() for name, part in torch.load('{folder}/pytorch_adapter.bin', "
    "map_location='cpu', weights_only=True).items()}}, '{folder}/adapter.safetensors')\"`"
)
FETCH_AND_CONVERT: Final = (
    '`python -c "import torch; from huggingface_hub import hf_hub_download; '
    "from safetensors.torch import save_file; path = hf_hub_download('{hub_id}', 'pytorch_adapter.bin'); "
    "save_file({{name: part.contiguous() for name, part in torch.load(path, map_location='cpu', "
    "weights_only=True).items()}}, path.replace('pytorch_adapter.bin', 'adapter.safetensors'))\"`"
)

_RUN: Final = "encode with the library `adapters` and import the ranking by `pinakes import-run`"
_ABSENT: Final = {
    "is_parallel": False,
    "use_gating": False,
    "phm_layer": False,
    "inv_adapter": None,
    "invertible_adapter": None,
    "cross_adapter": False,
}
"""what an adapter can have that is not run here, and its value where it has not"""
_WITHOUT_EFFECT: Final = frozenset(
    {
        "architecture", "dropout", "stochastic_depth", "init_weights", "init_weights_seed",
        "inv_adapter_reduction_factor", "leave_out", "phm_dim", "factorized_phm_W", "shared_W_phm",
        "shared_phm_rule", "factorized_phm_rule", "phm_c_init", "phm_init_range", "learn_phm",
        "hypercomplex_nonlinearity", "phm_rank", "phm_bias",
    }
)  # fmt: skip
"""settings of training, of parts that are refused, or (`leave_out`) that the weights say too"""
_FUSED: Final[dict[str, Any]] = {
    "key": True,
    "query": True,
    "value": True,
    "query_before_ln": False,
    "residual_before": False,
    "temperature": False,
}
"""how a fusion's attention is run here; of the library's two it is the dynamic one"""
_FUSED_WITHOUT_EFFECT: Final = frozenset(
    {"architecture", "dropout_prob", "regularization", "value_before_softmax", "value_initialized"}
)
# Before configurations named a version, `gelu` was the approximation by tanh.
_OLD_ACTIVATIONS: Final = {"gelu": "gelu_new", "gelu_orig": "gelu"}


@dataclass(frozen=True, slots=True)
class AdapterSettings:
    """The settings that decide what an adapter computes, by the names that the library gives them.

    Attributes:
        name: what the adapter is called in the names of its weights.
        hidden_size, model_type: of the model that it was trained on; None: it does not say.
        mh_adapter, output_adapter: whether it stands behind attention, and behind the feed-forward layer.
        reduction_factor: the model's width through that of the bottleneck, one a layer where it is a mapping.
        original_ln_before, original_ln_after: whether the transformer's own sum and norm come before the
            adapter, and after it.
        residual_before_ln: whether what is added around the adapter is taken before that first norm
            (`post_add`: between its sum and its norm).
        ln_before, ln_after: whether the adapter has norms of its own.
        adapter_residual_before_ln: whether what is added around it is added before its own last norm.
        scaling: what its output is multiplied by; `learned` and `channel` are among the weights.
    """

    name: str
    hidden_size: int | None
    model_type: str | None
    mh_adapter: bool
    output_adapter: bool
    reduction_factor: float | Mapping[str, float]
    non_linearity: str
    original_ln_before: bool = False
    original_ln_after: bool = True
    ln_before: bool = False
    ln_after: bool = False
    scaling: float | str = 1.0
    residual_before_ln: bool | str = True
    adapter_residual_before_ln: bool = False

    def reduce(self, layer: int, width: int) -> int:
        """How many numbers the bottleneck of a layer has."""
        factor = self.reduction_factor
        if isinstance(factor, Mapping):
            factor = factor.get(str(layer), factor.get("default", 1))
        return max(1, int(width // factor))


def read_adapter_settings(folder: Path) -> AdapterSettings:
    """The settings in a folder's `adapter_config.json`.

    Raises:
        IndexingError: there is no such file, or it asks for a part that is not run here.
    """
    path = folder / CONFIG_NAME
    described = read_json(path)
    config = described.get("config")
    if not isinstance(config, Mapping):
        raise IndexingError(
            f"{path} has the configuration {config!r}; expected an object with a bottleneck adapter's "
            f"settings. Save the adapter again with a later version of the library, or {_RUN}"
        )
    _require_run(path, config)
    given = {one.name: config[one.name] for one in fields(AdapterSettings) if one.name in config}
    if "version" not in described and "non_linearity" in given:
        given["non_linearity"] = _OLD_ACTIVATIONS.get(given["non_linearity"], given["non_linearity"])
    try:
        trained_on = {name: described.get(name) for name in ("hidden_size", "model_type")}
        settings = AdapterSettings(**{**given, "name": described["name"], **trained_on})
    except (KeyError, TypeError) as error:
        raise IndexingError(f"{path} is incomplete ({error}); save or download the adapter again") from error
    _require_sensible(path, settings)
    return settings


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """What a fusion's folder says: its name in the names of its weights, and the adapters that it fuses."""

    name: str
    adapter_names: tuple[str, ...]


def read_fusion_settings(folder: Path) -> FusionSettings:
    """The settings in a folder's `adapter_fusion_config.json`.

    Raises:
        IndexingError: there is no such file, or it asks for what is not run here.
    """
    path = folder / FUSION_CONFIG_NAME
    described = read_json(path)
    config = described.get("config") if isinstance(described, Mapping) else None
    if not isinstance(config, Mapping):
        raise IndexingError(f"{path} has no configuration of a fusion; expected one. Save the fusion again")
    for key, value in config.items():
        if key not in _FUSED_WITHOUT_EFFECT and (key not in _FUSED or value != _FUSED[key]):
            raise IndexingError(f"{path} has {key} = {value!r}, which is not run here; {_RUN}")
    name, names = described.get("name"), described.get("adapter_names")
    if isinstance(names, str):
        names = names.split(",")
    if not (isinstance(name, str) and isinstance(names, list) and len(names) > 1):
        raise IndexingError(
            f"{path} names {names!r} to fuse; expected two adapters or more. Save the fusion again"
        )
    outside = [one for one in names if not isinstance(one, str) or Path(one).name != one]
    if outside:
        raise IndexingError(f"{path} names {outside[0]!r}; expected adapters whose folders lie beside it.")
    return FusionSettings(name, tuple(names))


def find_fused(folder: Path) -> dict[str, Path]:
    """The folders of the adapters that a folder's fusion names: beside it, by the name in small letters."""
    names = read_fusion_settings(folder).adapter_names
    return {name: folder.parent / name.lower() for name in names}


def _require_run(path: Path, config: Mapping[str, Any]) -> None:
    if config.get("architecture") is not None:
        raise IndexingError(
            f"{path} is of the architecture {config['architecture']!r}; expected a bottleneck adapter, the "
            f"only kind that is run here. Else {_RUN}"
        )
    known = {one.name for one in fields(AdapterSettings)} | _WITHOUT_EFFECT
    for key, value in config.items():
        if key in known or (key in _ABSENT and value in (_ABSENT[key], False, None)):
            continue
        raise IndexingError(f"{path} has {key} = {value!r}, which is not run here; {_RUN}")


def _require_sensible(path: Path, settings: AdapterSettings) -> None:
    if settings.residual_before_ln == "post_add" and not settings.original_ln_before:
        raise IndexingError(
            f"{path} has residual_before_ln = 'post_add' without original_ln_before; expected both, since "
            "there is no sum to take the residual after. Correct the configuration"
        )
    if isinstance(settings.scaling, str) and settings.scaling not in ("learned", "channel"):
        raise IndexingError(f"{path} has scaling = {settings.scaling!r}, which is not run here; {_RUN}")
