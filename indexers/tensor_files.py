"""Weights and states of training in safetensors files, whole or not there at all; no pickle."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from pinakes.errors import IndexingError

_STATE = "state"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write tensors and what JSON can say beside them; the file has its name once it is whole on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writing = path.with_name(f".{path.name}.writing")
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(on_cpu, writing, metadata={_STATE: json.dumps(state, sort_keys=True)})
    with writing.open("rb") as file:
        os.fsync(file.fileno())
    writing.replace(path)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What `write_tensors` wrote, on the CPU; IndexingError where the file is missing or damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            state = json.loads((file.metadata() or {})[_STATE])
            return {name: file.get_tensor(name) for name in file.keys()}, state  # noqa: SIM118
    except (OSError, ValueError, KeyError, SafetensorError) as problem:
        raise IndexingError(f"{path} cannot be read ({problem}); delete it and train again") from problem
