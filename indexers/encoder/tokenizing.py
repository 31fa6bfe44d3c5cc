"""Texts to token ids, many at a time; torch-free.

The tokenizers library is compiled, works on all cores, and spends nearly all its time outside Python, so a
thread tokenises ahead of a GPU, without the start and the copies of processes.
"""

from collections.abc import Callable, Sequence
from typing import Any


def make_tokenize(tokenizer: Any, max_tokens: int) -> Callable[[list[str]], list[list[int]]]:
    """A function from texts to their token ids, special tokens included, cut at `max_tokens`.

    A tokenizer of the tokenizers library is used without its record of where each token stood in the text,
    which takes a fifth of the time; one in Python is called as it is.
    """
    backend: Any = getattr(tokenizer, "backend_tokenizer", None)
    if not hasattr(backend, "encode_batch_fast"):
        return lambda texts: _call_tokenizer(tokenizer, max_tokens, texts)
    # A copy: the length is the encoder's, and others may use the tokenizer with another.
    own: Any = type(backend).from_str(backend.to_str())
    own.enable_truncation(max_tokens, direction=getattr(tokenizer, "truncation_side", "right"))
    own.no_padding()
    return lambda texts: [found.ids for found in own.encode_batch_fast(texts)]


def _call_tokenizer(tokenizer: Any, max_tokens: int, texts: Sequence[str]) -> list[list[int]]:
    found: list[list[int]] = tokenizer(
        list(texts),
        truncation=True,
        max_length=max_tokens,
        padding=False,
        return_attention_mask=False,
        return_token_type_ids=False,
    )["input_ids"]
    return found
