"""A trained encoder as files that transformers and the library `adapters` open, and our encoders read."""

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from safetensors.torch import save_file

from pinakes.indexers.encoder.adapter_settings import CONFIG_NAME, WEIGHTS_NAME
from pinakes.indexers.encoder.pals import PalLayer, write_pals
from pinakes.indexers.encoder.trained import RECORD_FILE, write_trained
from pinakes.indexers.training.additions import SwitchedOutput, describe_adapter, describe_pals
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


def write_encoder(model: MultiFormatModel, base: Path, folder: Path, record: dict[str, Any]) -> None:
    """Write the encoder into `folder`, named as this, and last `training.json` with `record`.

    `cls` and `ctrl`: the transformer and its tokenizer. `adapters` and `pals`: these in a folder within, the
    base of adapters unchanged, and beside it an adapter or PALs for each code.
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
        _WRITE[method](model, folder)
        _write_members(model, folder, settings)
    else:
        prefixes = {code: f"[{code}] " for code in model.codes} if method == "ctrl" else {}
        _write_model(model, folder)
        write_trained(folder, settings, model.codes, prefixes=prefixes)
    writing = folder / f".{RECORD_FILE}.writing"
    with writing.open("w", encoding="utf-8") as file:
        json.dump({"base_folder": base.name, **record}, file, indent=2, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    writing.replace(folder / RECORD_FILE)


def _write_model(model: MultiFormatModel, folder: Path) -> None:
    with hide_bars():
        model.base.save_pretrained(folder, safe_serialization=True)
    model.tokenizer.save_pretrained(folder)


def _write_members(model: MultiFormatModel, folder: Path, settings: dict[str, Any]) -> None:
    """Write the transformer in a folder within, and which folders make the encoder of each format."""
    inner = folder / folder.resolve().name
    _write_model(model, inner)
    write_trained(inner, settings, ())
    members = {code: f"{inner.name}+{code.lower()}" for code in model.codes}
    write_trained(folder, settings, model.codes, members=members)


def _write_pals(model: MultiFormatModel, folder: Path) -> None:
    layers = model.base.encoder.layer
    held = [layer for layer in layers if isinstance(layer, PalLayer)]
    for code in model.codes:
        pals: Any = [layer.pal.pals[code] for layer in held]  # type: ignore[index]
        write_pals(folder / code.lower(), describe_pals(code, model.base.config, model.settings), pals)
    for number, layer in enumerate(held):
        layers[number] = layer.restore()


def _write_adapters(model: MultiFormatModel, folder: Path) -> None:
    switched = [
        (number, layer.output)
        for number, layer in enumerate(model.base.encoder.layer)
        if isinstance(layer.output, SwitchedOutput)
    ]
    for code in model.codes:
        _write_adapter(model, code, switched, folder / code.lower())
    for number, output in switched:
        model.base.encoder.layer[number].output = output.restore()


_WRITE: Final[dict[Method, Callable[[MultiFormatModel, Path], None]]] = {
    "adapters": _write_adapters,
    "pals": _write_pals,
}
"""what writes each format's part and takes it out of the base, of the methods that have such parts"""


def _write_adapter(
    model: MultiFormatModel, code: str, switched: list[tuple[int, SwitchedOutput]], folder: Path
) -> None:
    described = asdict(describe_adapter(code, int(model.base.config.hidden_size), model.settings))
    name, width = described.pop("name"), described.pop("hidden_size")
    kind = described.pop("model_type")
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "config": {**_OF_LIBRARY, **described},
        "hidden_size": width,
        "model_class": "BertModel",
        "model_name": folder.parent.name,
        "model_type": kind,
        "name": name,
        "version": "adapters.1.2.0",
    }
    text = json.dumps(config, indent=2, sort_keys=True) + "\n"
    (folder / CONFIG_NAME).write_text(text, encoding="utf-8")
    weights = {
        f"encoder.layer.{number}.output.adapters.{name}.{part}": value.detach().cpu().contiguous()
        for number, output in switched
        for part, value in _list_weights(output, code).items()
    }
    save_file(weights, folder / WEIGHTS_NAME)


def _list_weights(output: SwitchedOutput, code: str) -> dict[str, Any]:
    bottleneck: Any = output.bottlenecks[code]
    return {
        "adapter_down.0.weight": bottleneck.down.weight,
        "adapter_down.0.bias": bottleneck.down.bias,
        "adapter_up.weight": bottleneck.up.weight,
        "adapter_up.bias": bottleneck.up.bias,
    }
