"""An encoder of a given shape with random weights, as a folder: its speed is that of a trained one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from safetensors.numpy import save_file

_SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_POSITIONS: Final = 512
_HEAD: Final = 64


def write_random_encoder(folder: Path, width: int, layers: int, words: Sequence[str]) -> int:
    """Write a BERT whose words are a token each; the number of parameters of its layers' matrices."""
    folder.mkdir(parents=True)
    vocabulary = [*_SPECIAL, *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": len(vocabulary),
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": width // _HEAD if width % _HEAD == 0 else 1,
        "intermediate_size": 4 * width,
        "max_position_embeddings": _POSITIONS,
    }
    (folder / "config.json").write_bytes(orjson.dumps(config))
    settings = {"tokenizer_class": "BertTokenizer", "model_max_length": _POSITIONS, "do_lower_case": True}
    (folder / "tokenizer_config.json").write_bytes(orjson.dumps(settings))
    random = np.random.default_rng(1)
    tensors: dict[str, np.ndarray] = {}

    def linear(name: str, wide: int, high: int) -> int:
        tensors[f"{name}.weight"] = 0.02 * random.standard_normal((high, wide), dtype=np.float32)
        tensors[f"{name}.bias"] = np.zeros(high, np.float32)
        return wide * high

    def norm(name: str) -> None:
        tensors[f"{name}.weight"] = np.ones(width, np.float32)
        tensors[f"{name}.bias"] = np.zeros(width, np.float32)

    for name, rows in (("word", len(vocabulary)), ("position", _POSITIONS), ("token_type", 2)):
        table = 0.02 * random.standard_normal((rows, width), dtype=np.float32)
        tensors[f"embeddings.{name}_embeddings.weight"] = table
    norm("embeddings.LayerNorm")
    count = 0
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            count += linear(f"{layer}.attention.{part}", width, width)
        norm(f"{layer}.attention.output.LayerNorm")
        count += linear(f"{layer}.intermediate.dense", width, 4 * width)
        count += linear(f"{layer}.output.dense", 4 * width, width)
        norm(f"{layer}.output.LayerNorm")
    linear("pooler.dense", width, width)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return count
