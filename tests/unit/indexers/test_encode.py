"""Texts are encoded in batches of about one length, and no vector depends on its neighbours."""

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.batches import plan_batches
from pinakes.indexers.encoder.encode import _tokenize_windows, encode_texts, text_digest
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.model_settings import Pooling
from pinakes.indexers.encoder.presets import resolve_model
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


def test_windows_of_an_accelerator_begin_small_and_double(encoder: Encoder) -> None:
    windows = list(_tokenize_windows(encoder, enumerate(TEXTS * 2), 10, 2))
    sizes = [len(window.keys) for window in windows]
    assert sizes[:5] == [2, 4, 8, 10, 10]
    assert [key for window in windows for key in window.keys] == list(range(2 * len(TEXTS)))


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


@pytest.mark.parametrize("pooling", ["cls", "mean", "max", "layers_cls", "layers_mean"])
def test_every_pooling_gives_the_same_packed_and_padded(encoder: Encoder, pooling: Pooling) -> None:
    requested = replace(encoder, pooling=pooling, normalize=False)
    padded = replace(requested)
    padded.__dict__["packed"] = None
    assert requested.packed is not None
    np.testing.assert_allclose(encode_all(requested, TEXTS), encode_all(padded, TEXTS), atol=1e-5)


def test_pooling_over_layers_is_the_mean_of_all_hidden_states_the_embeddings_among_them(
    encoder: Encoder,
) -> None:
    tokens = encoder.tokenize(["the graph of x1"])
    with torch.inference_mode():
        output = encoder.model(input_ids=torch.tensor(tokens), output_hidden_states=True)
    states = [state[0].numpy() for state in output.hidden_states]
    assert len(states) == 3
    cases: list[tuple[Pooling, list[NDArray[np.float32]]]] = [
        ("layers_cls", [state[0] for state in states]),
        ("layers_mean", [state.mean(axis=0) for state in states]),
    ]
    for pooling, pooled in cases:
        requested = replace(encoder, pooling=pooling, normalize=False)
        np.testing.assert_allclose(requested.embed(tokens)[0], np.mean(pooled, axis=0), atol=2e-6)


def test_a_model_that_cannot_be_packed_is_padded(encoder: Encoder) -> None:
    config = transformers.ElectraConfig(
        vocab_size=len(encoder.tokenizer),
        hidden_size=16,
        embedding_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    model: Any = transformers.ElectraModel(config)
    electra = replace(encoder, model=model.eval())
    assert electra.packed is None
    np.testing.assert_allclose(
        encode_all(electra, TEXTS, 4096), encode_all(electra, TEXTS, token_budget=1), atol=2e-6
    )


def test_tokens_are_those_of_the_tokenizer_as_it_is_called(encoder: Encoder) -> None:
    texts = [*TEXTS, "", "Ünïcödé [SEP] paper", "paper " * 100]
    expected = encoder.tokenizer(texts, truncation=True, max_length=32)["input_ids"]
    assert encoder.tokenize(texts) == expected
    slow = replace(encoder, tokenizer=lambda texts, **options: encoder.tokenizer(texts, **options))
    assert slow.tokenize(TEXTS) == expected[: len(TEXTS)]


def test_a_separator_is_the_models_own_and_survives_lower_casing(encoder: Encoder) -> None:
    assert encoder.tokenize(["Paper[SEP]graph"])[0].count(encoder.tokenizer.sep_token_id) == 2
    lowered = replace(encoder, lower_case=True)
    assert lowered.tokenize(["Paper[SEP]Graph"]) == encoder.tokenize(["paper[SEP]graph"])


@dataclass
class SmallMemory:
    """An encoder whose memory holds so many tokens, padding included."""

    tokens: int
    error: Callable[[], BaseException]
    name: str = "small"
    device: str = "cpu"
    batches: list[int] = field(default_factory=list)

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        return [[1] * len(text) for text in texts]

    def start(self, tokens: Sequence[Sequence[int]]) -> Callable[[], NDArray[np.float32]]:
        if len(tokens) * max(map(len, tokens)) > self.tokens:
            raise self.error()
        self.batches.append(len(tokens))
        lengths = np.array([[len(row)] for row in tokens], dtype=np.float32)
        return lambda: lengths


OUT_OF_MEMORY: list[Callable[[], BaseException]] = [
    lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    lambda: RuntimeError("[enforce fail at alloc_cpu.cpp:127] . DefaultCPUAllocator: can't allocate memory"),
    lambda: MemoryError(),
]


@pytest.mark.parametrize("error", OUT_OF_MEMORY)
@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_where_memory_runs_out_the_budget_is_halved_for_good_and_no_text_is_lost(
    error: Callable[[], BaseException], device: str
) -> None:
    small: Any = SmallMemory(40, error, device=device)
    texts = ["xxxxx"] * 30 + ["xx"] * 10
    budgets: list[int] = []
    batches = list(encode_texts(small, enumerate(texts), 1000, on_smaller_budget=budgets.append))
    assert budgets == [100, 50, 25]
    assert small.batches == [5, 5, 5, 5, 5, 5, 10]
    vectors = {key: row[0] for batch in batches for key, row in zip(batch.keys, batch.vectors, strict=True)}
    assert vectors == {key: len(text) for key, text in enumerate(texts)}


def test_a_text_that_does_not_fit_alone_is_named() -> None:
    small: Any = SmallMemory(4, OUT_OF_MEMORY[0])
    with pytest.raises(IndexingError, match=r"one text of 5 tokens alone \(digest fb0e22c7.*max_tokens"):
        list(encode_texts(small, enumerate(["xxxxx", "xx"])))


def test_another_error_of_the_model_is_raised_as_it_is() -> None:
    small: Any = SmallMemory(0, lambda: RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        list(encode_texts(small, enumerate(["xxxxx"])))


def test_off_the_cpu_the_next_batch_is_started_before_one_is_waited_for() -> None:
    small: Any = SmallMemory(100, OUT_OF_MEMORY[0], device="cuda:0")
    batches = iter(encode_texts(small, enumerate(["xxxxx"] * 4), token_budget=5))
    started = [(next(batches).keys, len(small.batches)) for _ in range(4)]
    assert started == [((0,), 2), ((1,), 3), ((2,), 4), ((3,), 4)]


@pytest.mark.parametrize(("precision", "kind"), [("bf16", torch.bfloat16), ("fp16", torch.float16)])
def test_half_precision_gives_float32_vectors_near_those_of_fp32(
    tmp_path: Path, precision: Literal["bf16", "fp16"], kind: torch.dtype
) -> None:
    source = resolve_model(build_toy_encoder(tmp_path / "toy"))
    half = load_encoder(source, precision)
    assert next(half.model.parameters()).dtype == kind
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
