"""A toy encoder whose tokenizer has the control codes of SciRepEval as special tokens."""

from pathlib import Path

import torch
from transformers import AutoModel, AutoTokenizer

from pinakes.workload.readers import CODES
from tests.toy_encoder import build_toy_encoder


def build_toy_codes(folder: Path, seed: int = 7) -> Path:
    """Save the toy encoder, with a token for each code, in `folder` and return it."""
    build_toy_encoder(folder, seed, sentence_transformers_layout=False)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": [f"[{code}]" for code in CODES]})
    tokenizer.save_pretrained(folder)
    model = AutoModel.from_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        # As far apart as the other tokens are: new ones start alike.
        torch.nn.init.normal_(model.embeddings.word_embeddings.weight.data[-len(CODES) :], std=0.5)
    model.save_pretrained(folder)
    return folder
