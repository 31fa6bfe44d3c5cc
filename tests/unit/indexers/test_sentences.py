"""A sentence's vector is the mean of its tokens' states in the context of the whole text."""

from pathlib import Path

import numpy as np
import pytest
import torch

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model
from pinakes.indexers.encoder.sentences import SENTENCE_MARK, encode_sentences
from tests.toy_encoder import build_toy_encoder

TEXT = f"Graph [SEP] the paper of the model{SENTENCE_MARK}query retrieval"
# [CLS] graph [SEP] the paper of the model query retrieval [SEP]
SPANS = [(3, 8), (8, 10)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_encoder(tmp_path_factory.mktemp("models") / "toy", sentence_transformers_layout=False)


def load(folder: Path, pooling: str = "mean", max_tokens: int | None = None) -> Encoder:
    return load_encoder(resolve_model(folder), "fp32", pooling=pooling, max_tokens=max_tokens)  # type: ignore[arg-type]


def read_states(encoder: Encoder, text: str) -> list[torch.Tensor]:
    ids = torch.tensor([encoder.tokenizer(text)["input_ids"]])
    with torch.inference_mode():
        return [state[0] for state in encoder.model(input_ids=ids, output_hidden_states=True).hidden_states]


def test_each_sentence_is_the_mean_of_its_tokens_in_context(folder: Path) -> None:
    encoder = load(folder)
    (batch,) = encode_sentences(encoder, [("p", TEXT)])
    last = read_states(encoder, "Graph [SEP] the paper of the model query retrieval")[-1]
    expected = torch.stack([last[start:end].mean(dim=0) for start, end in SPANS])
    np.testing.assert_allclose(batch.vectors, expected.numpy(), atol=1e-6)
    assert (batch.keys, batch.positions.tolist(), batch.token_counts.tolist(), batch.texts) == (
        ("p", "p"),
        [1, 2],
        [5, 2],
        1,
    )


def test_all_layers_count_alike_where_that_is_requested_for(folder: Path) -> None:
    encoder = load(folder, "layers_mean")
    (batch,) = encode_sentences(encoder, [("p", TEXT)])
    states = read_states(encoder, "Graph [SEP] the paper of the model query retrieval")
    assert len(states) == 3  # the embeddings and two layers
    mean = torch.stack(states).mean(dim=0)
    expected = torch.stack([mean[start:end].mean(dim=0) for start, end in SPANS])
    np.testing.assert_allclose(batch.vectors, expected.numpy(), atol=1e-6)


def test_the_context_changes_a_sentences_vector(folder: Path) -> None:
    other = TEXT.replace("Graph", "citation")
    (batch,) = encode_sentences(load(folder), [("a", TEXT), ("b", other)])
    of = {key: batch.vectors[[own == key for own in batch.keys]] for key in "ab"}
    assert np.abs(of["a"] - of["b"]).max() > 1e-3


def test_a_sentence_behind_the_limit_has_no_vector_and_a_cut_one_has_what_is_left(folder: Path) -> None:
    encoder = load(folder, max_tokens=7)  # [CLS] graph [SEP] the paper of [SEP]
    (batch,) = encode_sentences(encoder, [("p", TEXT)])
    assert batch.token_counts.tolist() == [3, 0]
    assert batch.positions.tolist() == [1, 2]
    last = read_states(encoder, "Graph [SEP] the paper of")[-1]
    np.testing.assert_allclose(batch.vectors[0], last[3:6].mean(dim=0).numpy(), atol=1e-6)
    assert not batch.vectors[1].any()


def test_what_shares_a_batch_changes_nothing(folder: Path) -> None:
    encoder = load(folder)
    texts = [(number, f"graph [SEP] {'the paper ' * number}{SENTENCE_MARK}model") for number in range(1, 9)]
    together = [
        (key, position, vector)
        for batch in encode_sentences(encoder, texts)
        for key, position, vector in zip(batch.keys, batch.positions, batch.vectors, strict=True)
    ]
    alone = [
        (key, position, vector)
        for batch in encode_sentences(encoder, texts, token_budget=1)
        for key, position, vector in zip(batch.keys, batch.positions, batch.vectors, strict=True)
    ]
    assert len(together) == len(alone) == 16
    for left, right in zip(
        sorted(together, key=lambda row: row[:2]), sorted(alone, key=lambda row: row[:2]), strict=True
    ):
        assert left[:2] == right[:2]
        np.testing.assert_allclose(left[2], right[2], atol=1e-5)


def test_a_pooling_that_a_sentence_has_not_is_refused(folder: Path) -> None:
    with pytest.raises(IndexingError, match="toy pools by cls; expected mean or layers_mean"):
        next(encode_sentences(load(folder, "cls"), [("p", TEXT)]))
