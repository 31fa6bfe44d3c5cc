"""A trained encoder as files that transformers and the library `adapters` open, and our encoders read."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from safetensors.torch import save_file

from pinakes.indexers.encoder.adapter_settings import (
    CONFIG_NAME,
    FUSION_CONFIG_NAME,
    FUSION_WEIGHTS_NAME,
    WEIGHTS_NAME,
)
from pinakes.indexers.encoder.adapter_source import list_files
from pinakes.indexers.encoder.pals import PalLayer, write_pals
from pinakes.indexers.encoder.trained import RECORD_FILE, write_trained
from pinakes.indexers.training.additions import SwitchedOutput, describe_adapter, describe_pals, order_fused
from pinakes.indexers.training.bases import Base
from pinakes.indexers.training.methods import MultiFormatModel, hide_bars
from pinakes.indexers.training.settings import Method

_OF_LIBRARY: Final[dict[str, Any]] = {
    "cross_adapter": False,
    "dropout": 0.0,
    "init_weights": "bert",
    "inv_adapter": None,
    "inv_adapter_reduction_factor": None,
    "is_parallel": False,
    "leave_out": [],
    "phm_layer": False,
    "use_gating": False,
}
"""settings of the library `adapters` that none of ours decides"""
_FUSION_OF_LIBRARY: Final[dict[str, Any]] = {
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
"""the library's dynamic fusion, which is the paper's"""


def write_encoder(model: MultiFormatModel, base: Base, folder: Path, record: dict[str, Any]) -> None:
    """Write the encoder into `folder`, named as this, and last `training.json` with `record`.

    `cls` and `ctrl`: the transformer and its tokenizer. `adapters` and `pals`: these in a folder within, the
    base of adapters unchanged, and beside it an adapter or PALs for each code. `fusion`: the adapters as they
    were, and a fusion for each code beside them.
    """
    method = model.settings.method
    settings = {
        "paper_template": None,
        "query_template": None,
        "pooling": "control_code" if method == "ctrl" else "cls",
        "normalize": False,
        "max_tokens": model.settings.max_tokens,
        "distance": "l2",
    }
    if method in _WRITE:
        _write_members(model, folder, settings, _WRITE[method](model, base, folder))
    else:
        prefixes = {code: f"[{code}] " for code in model.codes} if method == "ctrl" else {}
        _write_model(model, folder)
        write_trained(folder, settings, model.codes, prefixes=prefixes)
    writing = folder / f".{RECORD_FILE}.writing"
    with writing.open("w", encoding="utf-8") as file:
        json.dump({"base_folder": base.folder.name, **record}, file, indent=2, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    writing.replace(folder / RECORD_FILE)


def _write_model(model: MultiFormatModel, folder: Path) -> None:
    with hide_bars():
        model.base.save_pretrained(folder, safe_serialization=True)
    model.tokenizer.save_pretrained(folder)
    for weights in folder.glob("*.safetensors"):  # which transformers makes for its owner alone
        shutil.copymode(folder / "config.json", weights)


def _write_members(
    model: MultiFormatModel, folder: Path, settings: dict[str, Any], parts: Mapping[str, str]
) -> None:
    """Write the transformer in a folder within, and which folders make the encoder of each format.

    `parts` are the folders of what is put into the transformer, by code.
    """
    inner = folder / folder.resolve().name
    _write_model(model, inner)
    write_trained(inner, settings, ())
    members = {code: f"{inner.name}+{part}" for code, part in parts.items()}
    write_trained(folder, settings, model.codes, members=members)


def _write_pals(model: MultiFormatModel, base: Base, folder: Path) -> dict[str, str]:
    layers = model.base.encoder.layer
    held = [layer for layer in layers if isinstance(layer, PalLayer)]
    for code in model.codes:
        pals: Any = [layer.pal.parts[code] for layer in held]  # type: ignore[index]
        write_pals(folder / code.lower(), describe_pals(code, model.base.config, model.settings), pals)
    for number, layer in enumerate(held):
        layers[number] = layer.restore()
    return {code: code.lower() for code in model.codes}


def _write_adapters(model: MultiFormatModel, base: Base, folder: Path) -> dict[str, str]:
    switched = _take_out(model)
    for code in model.codes:
        _write_adapter(model, code, switched, folder / code.lower())
    return {code: code.lower() for code in model.codes}


def _write_fusions(model: MultiFormatModel, base: Base, folder: Path) -> dict[str, str]:
    for code, adapter in base.adapters.items():
        (folder / code.lower()).mkdir(parents=True, exist_ok=True)
        for path in list_files(adapter):
            shutil.copyfile(path, folder / code.lower() / path.name)
    switched = _take_out(model)
    parts = {code: f"{code.lower()}_fusion" for code in model.codes}
    for code, part in parts.items():
        _write_fusion(model, base, code, switched, folder / part)
    return parts


def _take_out(model: MultiFormatModel) -> list[SwitchedOutput]:
    """What the method put into each layer, which is then as the base has it."""
    found = []
    for layer in model.base.encoder.layer:
        found.append(layer.output)
        layer.output = layer.output.restore()
    return found


_WRITE: Final[dict[Method, Callable[[MultiFormatModel, Base, Path], dict[str, str]]]] = {
    "adapters": _write_adapters,
    "pals": _write_pals,
    "fusion": _write_fusions,
}
"""what writes each format's part and takes it out of the base, of the methods that have such parts"""


def _write_adapter(
    model: MultiFormatModel, code: str, switched: Sequence[SwitchedOutput], folder: Path
) -> None:
    described = asdict(describe_adapter(code, int(model.base.config.hidden_size), model.settings))
    for name in ("name", "hidden_size", "model_type"):  # which stand beside the configuration
        del described[name]
    _write_config(model, folder / CONFIG_NAME, code, {**_OF_LIBRARY, **described})
    weights = {
        f"encoder.layer.{number}.output.adapters.{code}.{part}": value.detach().cpu().contiguous()
        for number, output in enumerate(switched)
        for part, value in _list_weights(output, code).items()
    }
    save_file(weights, folder / WEIGHTS_NAME)


def _write_fusion(
    model: MultiFormatModel, base: Base, code: str, switched: Sequence[SwitchedOutput], folder: Path
) -> None:
    fused = order_fused(code, base.adapters)
    name = ",".join(fused)
    _write_config(model, folder / FUSION_CONFIG_NAME, name, _FUSION_OF_LIBRARY, adapter_names=fused)
    fusions: list[Any] = [output.parts[code] for output in switched]
    weights = {
        f"encoder.layer.{number}.output.adapter_fusion_layer.{name}.{part}": value.detach().cpu().contiguous()
        for number, fusion in enumerate(fusions)
        for part, value in fusion.name_weights().items()
    }
    save_file(weights, folder / FUSION_WEIGHTS_NAME)


def _write_config(
    model: MultiFormatModel, path: Path, name: str, config: Mapping[str, Any], **others: Any
) -> None:
    """Write a configuration as the library `adapters` does, with the folder that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    described = {
        "config": dict(config),
        "hidden_size": int(model.base.config.hidden_size),
        "model_class": "BertModel",
        "model_name": path.parent.parent.name,
        "model_type": "bert",
        "name": name,
        "version": "adapters.1.2.0",
        **others,
    }
    path.write_text(json.dumps(described, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _list_weights(output: SwitchedOutput, code: str) -> dict[str, Any]:
    bottleneck: Any = output.parts[code]
    return {
        "adapter_down.0.weight": bottleneck.down.weight,
        "adapter_down.0.bias": bottleneck.down.bias,
        "adapter_up.weight": bottleneck.up.weight,
        "adapter_up.bias": bottleneck.up.bias,
    }
