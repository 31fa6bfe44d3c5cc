"""Contextual sentence vectors: one pass over title, separator and sentences, one vector a sentence.

A sentence's vector is the mean over its tokens' states: of the last layer, as in ASPIRE's multi-vector
models, or (`layers_mean`) of all layers, as in MDCR. The title is read and gets no vector. A sentence that
lies behind the length limit has no token, and none either; one that is cut has the mean of what is left.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.batches import plan_batches
from pinakes.indexers.encoder.encoder import Encoder, pad_tokens
from pinakes.indexers.encoder.model_settings import SEPARATOR, prepare_text

Key = TypeVar("Key")
Span = tuple[int, int]
"""where something starts, and where it ends (one behind its last place)"""

SENTENCE_MARK = "\x1f"
"""what stands between two sentences of a text"""

TOKEN_BUDGET = 4096
WINDOW = 1024


@dataclass(frozen=True, slots=True, eq=False)
class SentenceBatch(Generic[Key]):
    """The vectors of some texts' sentences: row i is of sentence `positions[i]`, from 1, of `keys[i]`.

    `token_counts[i]` is how many tokens the length limit left of it; where that is 0, so is the vector.
    """

    keys: tuple[Key, ...]
    positions: NDArray[np.int64]
    vectors: NDArray[np.float32]
    token_counts: NDArray[np.int64]
    texts: int


def encode_sentences(
    encoder: Encoder, texts: Iterable[tuple[Key, str]], token_budget: int = TOKEN_BUDGET
) -> Iterator[SentenceBatch[Key]]:
    """Yield the sentences' vectors of every text, all those of one text in one batch.

    A text is a title, ` [SEP] ` and its sentences with `SENTENCE_MARK` between them. Raises
    `IndexingError` for a pooling that is not of a sentence's tokens, or a tokenizer that does not say where
    a token stood in the text.
    """
    _require_usable(encoder)
    pairs = iter(texts)
    while window := list(islice(pairs, WINDOW)):
        read = [_tokenize(encoder, text) for _, text in window]
        for rows in plan_batches([len(ids) for ids, _ in read], token_budget):
            spans = [read[row][1] for row in rows]
            vectors = _embed(encoder, [read[row][0] for row in rows], spans)
            yield _make_batch([window[row][0] for row in rows], spans, vectors)


def locate_sentences(title: str, separator: str, sentences: Sequence[str]) -> tuple[str, list[Span]]:
    """The text that a model reads, and where in it each sentence stands.

    >>> locate_sentences("On graphs", "[SEP]", ["We search.", "We find."])
    ('On graphs [SEP] We search. We find.', [(16, 26), (27, 35)])
    """
    text = f"{title} {separator} "
    spans = []
    for sentence in sentences:
        spans.append((len(text), len(text) + len(sentence)))
        text += f"{sentence} "
    return text.rstrip(" "), spans


def find_token_spans(offsets: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    """The tokens of each span: those that lie in it by their places in the text, ascending.

    Special tokens have no width and are in no span; a span without a token is (0, 0).

    >>> find_token_spans([(0, 0), (0, 2), (3, 5), (5, 6), (0, 0)], [(0, 2), (3, 6), (7, 9)])
    [(1, 2), (2, 4), (0, 0)]
    """
    found = []
    for start, end in spans:
        inside = [number for number, (left, right) in enumerate(offsets) if start <= left < right <= end]
        found.append((inside[0], inside[-1] + 1) if inside else (0, 0))
    return found


def pool_spans(states: torch.Tensor, spans: Sequence[Span]) -> torch.Tensor:
    """The mean state (n, d) of each span of tokens (tokens, d); zeros for a span without one.

    >>> pool_spans(torch.tensor([[9.0], [1.0], [3.0]]), [(1, 3), (0, 0)]).tolist()
    [[2.0], [0.0]]
    """
    rows = [
        states[start:end].mean(dim=0) if end > start else torch.zeros_like(states[0]) for start, end in spans
    ]
    return torch.stack(rows) if rows else states[:0]


def _require_usable(encoder: Encoder) -> None:
    if encoder.pooling not in ("mean", "layers_mean"):
        raise IndexingError(
            f"{encoder.name} pools by {encoder.pooling}; expected mean or layers_mean, which a sentence "
            "within a text has too. Give one of them"
        )
    if not encoder.tokenizer.is_fast:
        raise IndexingError(
            f"the tokenizer of {encoder.name} does not say where a token stands; expected one with a "
            "tokenizer.json. Save it again with a current save_pretrained"
        )


def _tokenize(encoder: Encoder, text: str) -> tuple[list[int], list[Span]]:
    title, _, body = text.partition(f" {SEPARATOR} ")
    separator = encoder.tokenizer.sep_token
    # Prepared part by part: lower-casing may change a text's length, and a span counts characters.
    parts = [title, *body.split(SENTENCE_MARK)]
    prepared = [prepare_text(part, separator, encoder.lower_case) for part in parts]
    whole, spans = locate_sentences(prepared[0], separator or "", prepared[1:])
    read = encoder.tokenizer(
        whole,
        truncation=True,
        max_length=encoder.max_tokens,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
    )
    return read["input_ids"], find_token_spans(read["offset_mapping"], spans)


def _embed(encoder: Encoder, tokens: list[list[int]], spans: list[list[Span]]) -> NDArray[np.float32]:
    ids, mask = pad_tokens(tokens, encoder.tokenizer.pad_token_id or 0)
    every_layer = encoder.pooling == "layers_mean"
    with torch.inference_mode():
        output: Any = encoder.model(
            input_ids=ids.to(encoder.device),
            attention_mask=mask.long().to(encoder.device),
            output_hidden_states=every_layer,
        )
        layers = output.hidden_states if every_layer else [output.last_hidden_state]
        states = torch.stack([layer.float() for layer in layers]).mean(dim=0)
        pooled = torch.cat([pool_spans(states[row], of_row) for row, of_row in enumerate(spans)])
        if encoder.normalize:
            pooled = torch.nn.functional.normalize(pooled, dim=1)
    vectors: NDArray[np.float32] = pooled.cpu().numpy()
    return vectors


def _make_batch(keys: list[Key], spans: list[list[Span]], vectors: NDArray[np.float32]) -> SentenceBatch[Key]:
    if not np.isfinite(vectors).all():
        raise IndexingError("a sentence's vector is not finite; encode with precision fp32")
    return SentenceBatch(
        keys=tuple(key for key, of_key in zip(keys, spans, strict=True) for _ in of_key),
        positions=np.array(
            [place for of_key in spans for place in range(1, len(of_key) + 1)], dtype=np.int64
        ),
        vectors=vectors,
        token_counts=np.array([end - start for of_key in spans for start, end in of_key], dtype=np.int64),
        texts=len(keys),
    )
