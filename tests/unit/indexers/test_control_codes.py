"""A text that begins with a control code has the state of the code's own token, and no other text has one."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.encode import encode_texts
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model
from tests.toy_codes import build_toy_codes
from tests.toy_encoder import build_toy_encoder

TEXTS = ["[PRX] graph model [SEP] the paper", "[CLF] graph model [SEP] the paper", "[QRY] query", "[PRX] "]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_codes(tmp_path_factory.mktemp("codes") / "codes")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return load_encoder(resolve_model(folder), "fp32", pooling="control_code")


def read_states(folder: Path, texts: Sequence[str]) -> torch.Tensor:
    """The last layer's states at position 1, one text at a time, by transformers alone."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        outputs = [model(**tokenizer(text, return_tensors="pt")) for text in texts]
    return torch.stack([output.last_hidden_state[0, 1] for output in outputs])


def test_the_vector_is_the_state_of_the_code_packed_and_padded(folder: Path, encoder: Encoder) -> None:
    expected = read_states(folder, TEXTS).numpy()
    tokens = encoder.tokenize(TEXTS)
    assert encoder.packed is not None
    np.testing.assert_allclose(encoder.embed(tokens), expected, atol=2e-6)
    with torch.inference_mode():
        np.testing.assert_allclose(encoder._embed_padded(tokens).numpy(), expected, atol=2e-6)
    found = {
        key: vector
        for batch in encode_texts(encoder, enumerate(TEXTS))
        for key, vector in zip(batch.keys, batch.vectors, strict=True)
    }
    np.testing.assert_allclose(np.stack([found[row] for row in range(4)]), expected, atol=2e-6)
    assert np.abs(expected[0] - expected[1]).max() > 0.1


def test_the_tokens_of_the_separator_are_the_same_with_and_without_spaces(encoder: Encoder) -> None:
    spaced, bare = encoder.tokenize(["[PRX] graph [SEP] paper", "[PRX] graph[SEP]paper"])
    assert spaced == bare
    assert encoder.tokenizer.convert_ids_to_tokens(bare) == [
        "[CLS]",
        "[PRX]",
        "graph",
        "[SEP]",
        "paper",
        "[SEP]",
    ]


def test_a_code_that_the_tokenizer_splits_is_refused_with_its_pieces(tmp_path: Path) -> None:
    plain = build_toy_encoder(tmp_path / "plain", sentence_transformers_layout=False)
    encoder = load_encoder(resolve_model(plain), "fp32", pooling="control_code")
    with pytest.raises(IndexingError) as error:
        encoder.tokenize(["[PRX] graph"])
    assert "the tokenizer of plain splits the control code [PRX] into [UNK], p, ##r, ##x, [UNK]" in str(
        error.value
    )


@pytest.mark.parametrize("text", ["graph model", "", "[ graph", "Graph [PRX] model"])
def test_a_text_without_a_code_is_refused(encoder: Encoder, text: str) -> None:
    with pytest.raises(IndexingError, match="expected a code such as"):
        encoder.tokenize(["[PRX] graph", text])


def test_a_code_that_is_cut_or_lower_cased_away_is_refused(folder: Path) -> None:
    lowered = load_encoder(resolve_model(folder), "fp32", pooling="control_code")
    object.__setattr__(lowered, "lower_case", True)
    with pytest.raises(IndexingError, match=r"where the control code '\[PRX\]' should be"):
        lowered.tokenize(["[PRX] graph"])
