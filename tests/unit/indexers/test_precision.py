"""Half precision is measured against float32, and refused above the limit."""

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from pinakes.errors import IndexingError
from pinakes.indexers.encoder.batches import EncodedBatch
from pinakes.indexers.encoder.encode import check_precision, choose_sample, cosine_error, encode_texts
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.encoder.model import load_encoder
from pinakes.indexers.encoder.presets import resolve_model
from tests.toy_encoder import build_toy_encoder

TEXTS = ["paper", "the graph of x1", "query", "paper"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return load_encoder(resolve_model(build_toy_encoder(tmp_path_factory.mktemp("model") / "toy")), "fp32")


def turn(encoder: Encoder, texts: Iterable[tuple[int, str]], angle: float) -> Iterator[EncodedBatch[int]]:
    """Vectors that lie by the angle from those of the encoder."""
    for batch in encode_texts(encoder, texts):
        other = np.roll(batch.vectors, 1, axis=1)
        other -= (other * batch.vectors).sum(axis=1, keepdims=True) * batch.vectors
        other /= np.linalg.norm(other, axis=1, keepdims=True)
        turned = np.cos(angle) * batch.vectors + np.sin(angle) * other
        yield EncodedBatch(batch.keys, turned.astype(np.float32), batch.tokens)


def test_the_error_is_one_minus_the_cosine_of_the_worst_vector() -> None:
    vectors = np.array([[1.0, 0.0], [3.0, 4.0]])
    assert cosine_error(vectors, np.array([[5.0, 0.0], [1.0, 0.0]])) == pytest.approx(0.4)


def test_the_sample_is_the_same_whatever_the_order() -> None:
    texts = [f"text {number}" for number in range(100)]
    assert choose_sample(texts, 5) == choose_sample(reversed(texts), 5)
    assert len(set(choose_sample(texts, 5))) == 5


def test_an_error_below_the_limit_is_told_and_one_above_it_refused(encoder: Encoder) -> None:
    angle = 0.02  # 1 - cos(0.02) = 2.0e-4
    found = check_precision(lambda texts: turn(encoder, texts, angle), encoder, TEXTS)
    assert found == pytest.approx(2e-4, rel=0.01)
    with pytest.raises(
        IndexingError, match=r"up to 2\.00e-04 .*3 texts.*at most 1e-04.*precision fp32.*max-cosine-error"
    ):
        check_precision(lambda texts: turn(encoder, texts, angle), encoder, TEXTS, limit=1e-4)


def test_an_error_that_is_no_number_is_refused(encoder: Encoder) -> None:
    with pytest.raises(IndexingError, match="nan"):
        check_precision(lambda texts: turn(encoder, texts, float("nan")), encoder, TEXTS)


def test_no_texts_have_no_error(encoder: Encoder) -> None:
    assert check_precision(lambda texts: encode_texts(encoder, texts), encoder, []) == 0.0
