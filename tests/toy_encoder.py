"""A BERT of two small layers with random weights and its own WordPiece tokenizer, made in milliseconds.

It lets the whole pipeline run without the weights of a real model. Its vectors mean nothing, and they are
the same on every machine up to float32 rounding.
"""

import json
from pathlib import Path
from string import ascii_lowercase, digits

import torch
from transformers import BertConfig, BertModel, BertTokenizer

DIMENSIONS = 16
MAX_TOKENS = 32
SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CHARACTERS = list(ascii_lowercase + digits)
WORDS = ["citation", "paper", "graph", "retrieval", "model", "the", "of", "query"]


def build_toy_encoder(folder: Path, seed: int = 7, sentence_transformers_layout: bool = True) -> Path:
    """Save the model and its tokenizer in `folder` and return it.

    With the layout of sentence-transformers the folder asks for mean pooling, normalised vectors and 32
    tokens; without it the folder holds the bare transformer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = [*SPECIAL_TOKENS, *WORDS, *CHARACTERS, *(f"##{character}" for character in CHARACTERS)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    BertTokenizer(
        vocab={token: number for number, token in enumerate(vocabulary)}, model_max_length=64
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=DIMENSIONS,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertModel(config)
    model.save_pretrained(folder)
    if sentence_transformers_layout:
        _write_layout(folder)
    return folder


def _write_layout(folder: Path) -> None:
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path) in enumerate(kinds)
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS, "do_lower_case": False})
    pooling = {"word_embedding_dimension": DIMENSIONS, "pooling_mode_mean_tokens": True}
    write_json(folder / "1_Pooling" / "config.json", pooling)


def write_json(path: Path, content: object) -> None:
    """Write one file of a model's folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
