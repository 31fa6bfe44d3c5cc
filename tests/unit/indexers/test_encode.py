"""Texts are encoded in batches of about one length, and no vector depends on its neighbours."""

import copy
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.encode import encode_texts, plan_batches, text_digest
from pinakes.indexers.encoder import Encoder
from pinakes.indexers.model import load_encoder
from pinakes.indexers.presets import resolve_model
from tests.toy_encoder import build_toy_encoder

TEXTS = [
    " ".join(["paper", "graph", "of", "citation", "x1"][: 1 + number % 5] * (1 + number % 7))
    for number in range(60)
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return load_encoder(resolve_model(build_toy_encoder(tmp_path_factory.mktemp("model") / "toy")), "fp32")


def encode_all(
    encoder: Encoder, texts: Iterable[str], token_budget: int | None = None, window: int = 8192
) -> NDArray[np.float32]:
    found: dict[int, NDArray[np.float32]] = {}
    for batch in encode_texts(encoder, enumerate(texts), token_budget, window):
        found.update(zip(batch.keys, batch.vectors, strict=True))
    return np.stack([found[row] for row in range(len(found))])


def test_batches_take_the_longest_first_and_stay_within_the_budget() -> None:
    lengths = [5, 100, 7, 7, 3, 40, 7]
    assert plan_batches(lengths, token_budget=28) == [[1], [5], [2, 3, 6, 0], [4]]
    assert plan_batches([], token_budget=28) == []


def test_every_text_is_encoded_once_whatever_the_budget_and_the_window(encoder: Encoder) -> None:
    for token_budget, window in [(1, 60), (40, 7), (4096, 1000)]:
        batches = list(encode_texts(encoder, enumerate(TEXTS), token_budget, window))
        assert sorted(key for batch in batches for key in batch.keys) == list(range(60))
        assert all(batch.vectors.shape == (len(batch.keys), 16) for batch in batches)
        assert all(batch.vectors.dtype == np.float32 for batch in batches)


def test_vectors_do_not_depend_on_what_is_in_the_batch(encoder: Encoder) -> None:
    alone = encode_all(encoder, TEXTS, token_budget=1)
    for token_budget, window in [(64, 60), (4096, 60), (100, 11)]:
        np.testing.assert_allclose(encode_all(encoder, TEXTS, token_budget, window), alone, atol=2e-6)


def test_vectors_equal_the_plain_forward_of_the_transformer(encoder: Encoder) -> None:
    expected = []
    for text in TEXTS:
        inputs = encoder.tokenizer(text, truncation=True, max_length=32, return_tensors="pt")
        with torch.inference_mode():
            mean = encoder.model(**inputs).last_hidden_state[0].mean(dim=0)
        expected.append((mean / mean.norm()).numpy())
    np.testing.assert_allclose(encode_all(encoder, TEXTS), np.stack(expected), atol=2e-6)


def test_order_and_bits_are_the_same_when_encoded_again(encoder: Encoder) -> None:
    first, second = (list(encode_texts(encoder, enumerate(TEXTS), 64, 25)) for _ in range(2))
    assert [batch.keys for batch in first] == [batch.keys for batch in second]
    assert [batch.vectors.tobytes() for batch in first] == [batch.vectors.tobytes() for batch in second]


def test_tokens_are_counted_after_truncation_and_without_padding(encoder: Encoder) -> None:
    texts = ["paper", "paper graph", "paper " * 50]
    done: list[tuple[int, int]] = []
    batches = list(
        encode_texts(
            encoder, enumerate(texts), 64, progress=lambda texts, tokens: done.append((texts, tokens))
        )
    )
    assert [(batch.keys, batch.tokens) for batch in batches] == [((2, 1), 36), ((0,), 3)]
    assert done == [(2, 36), (3, 39)]


def test_an_empty_text_has_a_vector_and_no_texts_have_none(encoder: Encoder) -> None:
    assert np.isfinite(encode_all(encoder, [""])).all()
    assert list(encode_texts(encoder, [])) == []


def test_windows_are_read_one_at_a_time(encoder: Encoder) -> None:
    read = []

    def texts() -> Iterable[tuple[int, str]]:
        for number in range(9):
            read.append(number)
            yield number, "paper"

    next(iter(encode_texts(encoder, texts(), window=3)))
    assert read == [0, 1, 2]


def test_reading_ahead_gives_the_same_batches(encoder: Encoder) -> None:
    elsewhere = replace(encoder, device="cpu:0")
    ahead = [batch.keys for batch in encode_texts(elsewhere, enumerate(TEXTS), 64, 7)]
    assert ahead == [batch.keys for batch in encode_texts(encoder, enumerate(TEXTS), 64, 7)]


def test_bf16_gives_float32_vectors_near_those_of_fp32(tmp_path: Path) -> None:
    source = resolve_model(build_toy_encoder(tmp_path / "toy"))
    half = load_encoder(source, "bf16")
    assert next(half.model.parameters()).dtype == torch.bfloat16
    vectors, exact = encode_all(half, TEXTS), encode_all(load_encoder(source, "fp32"), TEXTS)
    assert vectors.dtype == np.float32
    assert not np.array_equal(vectors, exact)
    assert (vectors * exact).sum(axis=1).min() > 0.999


def test_a_vector_that_is_not_finite_names_the_digest_of_its_text(encoder: Encoder) -> None:
    broken = replace(encoder, model=copy.deepcopy(encoder.model))
    graph = encoder.tokenizer.convert_tokens_to_ids("graph")
    with torch.no_grad():
        broken.model.embeddings.word_embeddings.weight[graph] = float("nan")
    assert text_digest("the graph") == "b94f79d5-d1fe-a129-3f32-a6c33b9a2391"
    with pytest.raises(IndexingError, match="not finite for the text with digest b94f79d5-d1fe-a129"):
        encode_all(broken, ["paper", "the graph", "query of"])
