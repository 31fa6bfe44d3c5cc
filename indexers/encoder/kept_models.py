"""What the library transformers made of a model's folder, kept in the user's own cache folder.

A folder that is known is loaded without that library: its tokenizer as the library configured it, its weights
as they are in the files (`direct_model`). Kept is only what gave the library's weights and states to the bit
when it was compared with them, once; a file of the folder that changed, or another version of a library, and
the folder is unknown. It is JSON, and holds the sha256 of the weights, so that they are not read whole again.
"""

import hashlib
import importlib.util
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import tokenizers
import torch
from safetensors import SafetensorError

from pinakes.cache_folder import find_cache_folder
from pinakes.errors import PinakesError
from pinakes.indexers.encoder.direct_model import ACTIVATIONS, DirectModel, read_weights
from pinakes.indexers.encoder.packed_families import is_packed, pack_model
from pinakes.writing.files import open_whole

_FORMAT: Final = 1
_UNUSED: Final = "pooler."
"""begins the names of weights that no vector depends on"""
_SAMPLE_TOKENS: Final = 48


@dataclass(frozen=True, slots=True)
class KeptTokenizer:
    """A tokenizer of the tokenizers library with what is asked of it to encode whole texts.

    Attributes:
        serialized: the tokenizer itself, as that library writes it.
        special_tokens: how many it adds to a text.
    """

    serialized: str
    sep_token: str | None
    pad_token_id: int | None
    truncation_side: str
    model_max_length: int
    special_tokens: int

    def num_special_tokens_to_add(self) -> int:
        """As the library's tokenizers have it."""
        return self.special_tokens


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A transformer, its tokenizer, and the sha256 of its weights' files."""

    model: Any
    tokenizer: Any
    digest: str


def describe_folder(folder: Path) -> dict[str, Any]:
    """What tells a model's folder from that of another time without reading it; fit for JSON."""
    library = importlib.util.find_spec("transformers")  # found, not imported
    return {
        "format": _FORMAT,
        "folder": str(folder.resolve()),
        "files": {path.name: _describe_file(path) for path in sorted(folder.iterdir()) if path.is_file()},
        "versions": [torch.__version__, tokenizers.__version__],
        "transformers": library and library.origin and _describe_file(Path(library.origin)),
    }


def find_kept(state: Mapping[str, Any], folder: Path, dtype: torch.dtype, device: str) -> LoadedModel | None:
    """The model of a folder in that state; None where it is not known."""
    path = _find_file(state)
    with suppress(OSError, ValueError, TypeError, KeyError, SafetensorError):
        kept = orjson.loads(path.read_bytes()) if path else None
        if kept and kept["state"] == state:
            model = DirectModel(kept["config"], read_weights(folder, kept["weights"], dtype))
            return LoadedModel(model.to(device), KeptTokenizer(**kept["tokenizer"]), kept["digest"])
    return None


def keep_model(state: Mapping[str, Any], folder: Path, loaded: LoadedModel) -> None:
    """Keep what a folder in that state was loaded as, if it can be loaded the same without transformers."""
    path = _find_file(state)
    config, tokenizer = _read_config(loaded.model), _read_tokenizer(loaded.tokenizer)
    if path is None or config is None or tokenizer is None:
        return
    names = _find_names(loaded.model, folder)
    if names is None or not _gives_the_same(loaded.model, config, names, folder):
        return
    kept = {
        "state": state,
        "config": config,
        "weights": names,
        "tokenizer": asdict(tokenizer),
        "digest": loaded.digest,
    }
    with suppress(OSError, PinakesError, TypeError):  # a name that is not UTF-8 is a TypeError of orjson's
        _remove_gone(path.parent)
        with open_whole(path) as file:
            file.write(orjson.dumps(kept))


def _describe_file(path: Path) -> list[int]:
    seen = path.stat()
    return [seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns]


def _find_file(state: Mapping[str, Any]) -> Path | None:
    folder = find_cache_folder("models")
    name = hashlib.sha256(state["folder"].encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return None if folder is None else folder / f"{name}_{state['precision']}.json"


def _remove_gone(folder: Path) -> None:
    """Remove what is kept of folders that are gone."""
    for path in folder.glob("*.json"):
        with suppress(ValueError, TypeError, KeyError):
            if not Path(orjson.loads(path.read_bytes())["state"]["folder"]).is_dir():
                path.unlink(missing_ok=True)


def _read_config(model: Any) -> dict[str, Any] | None:
    """What is read of a model's configuration; None where it cannot run without its library."""
    config = model.config
    activation = getattr(config, "hidden_act", None) or getattr(config, "activation", None)
    if activation not in ACTIVATIONS or not is_packed(model):
        return None
    return {
        "model_type": config.model_type,
        "hidden_size": int(config.hidden_size),
        "num_attention_heads": int(config.num_attention_heads),
        "max_position_embeddings": int(config.max_position_embeddings),
        "pad_token_id": config.pad_token_id,
        "padding_idx": getattr(model.embeddings, "padding_idx", None),
        "layer_norm_eps": float(model.embeddings.LayerNorm.eps),
        "activation": activation,
    }


def _read_tokenizer(tokenizer: Any) -> KeptTokenizer | None:
    backend: Any = getattr(tokenizer, "backend_tokenizer", None)
    special = int(tokenizer.num_special_tokens_to_add())
    if not hasattr(backend, "encode_batch_fast") or not special:  # without one an empty text has no token
        return None
    return KeptTokenizer(
        serialized=backend.to_str(),
        sep_token=tokenizer.sep_token,
        pad_token_id=tokenizer.pad_token_id,
        truncation_side=tokenizer.truncation_side,
        model_max_length=min(int(tokenizer.model_max_length), 1 << 62),
        special_tokens=special,
    )


def _find_names(model: Any, folder: Path) -> dict[str, str] | None:
    """What the files call each of the model's weights; None where one is not in them as it is."""
    weights = {name: one for name, one in model.state_dict().items() if not name.startswith(_UNUSED)}
    for prefix in ("", f"{model.base_model_prefix}."):
        names = {name: prefix + name for name in weights}
        stored = read_weights(folder, names, next(model.parameters()).dtype)
        if stored.keys() == weights.keys():
            same = all(torch.equal(stored[name], one.cpu()) for name, one in weights.items())
            return names if same else None
    return None


def _gives_the_same(model: Any, config: Mapping[str, Any], names: Mapping[str, str], folder: Path) -> bool:
    """Whether the states of some tokens are the same to the bit."""
    first = next(model.parameters())
    direct = DirectModel(config, read_weights(folder, names, first.dtype)).to(first.device)
    known = len(model.get_input_embeddings().weight)
    count = min(_SAMPLE_TOKENS, config["max_position_embeddings"] - 2, known)
    tokens = [list(range(count)), list(range(count))[:1]]
    with torch.inference_mode():
        found = []
        for one in (model, direct):
            packed = pack_model(one)
            if packed is None:
                return False
            found.append(list(packed.states(packed.pack(tokens, str(first.device)))))
    return all(torch.equal(left, right) for left, right in zip(*found, strict=True))
