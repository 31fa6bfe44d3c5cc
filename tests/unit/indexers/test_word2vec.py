"""Averages of word vectors: the same for the same texts in any process, and by hand for a few words."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pinakes.errors import IndexingError
from pinakes.indexers.analysis import english_analysis
from pinakes.indexers.word2vec import VECTORS_FILE, Word2Vec, build_word2vec

TEXTS = ["The graph of citations", "a citation graph", "graph retrieval of the papers", ""] * 5

BUILD = """
from pathlib import Path
from pinakes.indexers.word2vec import build_word2vec
from tests.unit.indexers.test_word2vec import TEXTS
build_word2vec(Path(r"{folder}"), TEXTS, dimensions=8, passes=3)
"""


def make_model() -> Word2Vec:
    vectors = np.array([[1, 0], [0, 1], [2, 2]], dtype=np.float32)
    idf = np.array([1, 3, 2], dtype=np.float32)
    return Word2Vec(["graph", "the", "paper"], vectors, idf, english_analysis("none", "none"))


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / VECTORS_FILE).read_bytes()).hexdigest()


def test_a_text_is_the_mean_of_its_words_as_often_as_they_occur() -> None:
    vectors, known = make_model().average(["The graph, graph unheard-of"], tfidf=False)
    assert vectors.tolist() == pytest.approx(np.array([[2 / 3, 1 / 3]]))
    assert known.tolist() == [True]


def test_weights_are_counts_times_idf_over_their_sum() -> None:
    vectors, _ = make_model().average(["the graph graph"], tfidf=True)
    np.testing.assert_allclose(vectors, [[2 * 1 / (2 * 1 + 3), 3 / (2 * 1 + 3)]])


def test_a_text_without_a_known_word_says_so() -> None:
    vectors, known = make_model().average(["", "unheard of", "paper"], tfidf=True)
    assert known.tolist() == [False, False, True]
    assert vectors.tolist() == [[0, 0], [0, 0], [2, 2]]


def test_the_order_of_words_changes_no_bit() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(200)]
    model = Word2Vec(
        words,
        rng.standard_normal((200, 50)).astype(np.float32),
        rng.random(200).astype(np.float32),
        english_analysis("none", "none"),
    )
    vectors, _ = model.average([" ".join(words), " ".join(reversed(words))], tfidf=True)
    assert (vectors[0] == vectors[1]).all()


def test_the_same_texts_give_the_same_bytes_in_processes_that_hash_otherwise(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{root / 'src'}:{root}"}
        program = BUILD.format(folder=tmp_path / seed)
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    build_word2vec(tmp_path / "here", TEXTS, dimensions=8, passes=3)
    assert digest(tmp_path / "1") == digest(tmp_path / "2") == digest(tmp_path / "here")


def test_a_build_keeps_the_frequent_words_and_their_idf(tmp_path: Path) -> None:
    built = build_word2vec(tmp_path / "index", TEXTS, dimensions=8, passes=1)
    assert (built.row_count, built.parameters["words"], built.parameters["passes"]) == (20, 8, 1)
    model = Word2Vec.open(tmp_path / "index")
    assert model.dimensions == 8
    # "graph" is in 15 of 20 texts, "papers" in 5.
    both, _ = model.average(["graph papers"], tfidf=True)
    alone, _ = model.average(["graph", "papers"], tfidf=False)
    weights = np.log(21 / np.array([16, 6])) + 1
    np.testing.assert_allclose(both[0], (weights @ alone) / weights.sum(), rtol=1e-5)
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == [
        "files.json",
        "parameters.json",
        "vectors.safetensors",
        "vocabulary.json",
    ]


def test_words_that_are_all_rare_are_an_error_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="no word of the texts occurs 5 times"):
        build_word2vec(tmp_path / "index", ["graph", "paper"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [VECTORS_FILE, "vocabulary.json"])
def test_a_damaged_file_is_never_read(tmp_path: Path, name: str) -> None:
    build_word2vec(tmp_path / "index", TEXTS, dimensions=8, passes=1)
    file = tmp_path / "index" / name
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(content)
    with pytest.raises(IndexingError, match=rf"is damaged: {name} changed after the build; build the index"):
        Word2Vec.open(tmp_path / "index")
