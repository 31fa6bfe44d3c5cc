"""Sentence models learn a toy problem, are batched without a trace, and repeat and resume to the last bit."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

torch = pytest.importorskip("torch")

from pinakes.errors import IndexingError, InputError  # noqa: E402
from pinakes.indexers.sentence_models.batches import cut_pieces, make_batch  # noqa: E402
from pinakes.indexers.sentence_models.checkpoints import CHECKPOINT_FILE  # noqa: E402
from pinakes.indexers.sentence_models.measures import average_precision  # noqa: E402
from pinakes.indexers.sentence_models.model import MODEL_FILE, SentenceModel, predict  # noqa: E402
from pinakes.indexers.sentence_models.networks import build_network, make_features  # noqa: E402
from pinakes.indexers.sentence_models.search import Budget, search_models  # noqa: E402
from pinakes.indexers.sentence_models.settings import (  # noqa: E402
    KINDS,
    Kind,
    ModelSettings,
    Schedule,
    SentenceExample,
)
from pinakes.indexers.sentence_models.space import draw_settings, make_space  # noqa: E402
from pinakes.indexers.sentence_models.training import Trained, train_model  # noqa: E402

WIDTH = 6
SMALL = {"hidden": 24, "layers": 2, "heads": 2, "width": 12}


def make_examples(seed: int, count: int, longest: int = 14) -> list[SentenceExample]:
    """A fifth of the sentences is relevant: their first number has the sign of the query's, and is large."""
    generator = np.random.default_rng(seed)
    examples = []
    for _ in range(count):
        size = int(generator.integers(6, longest))
        query = generator.normal(size=WIDTH).astype(np.float32)
        query[0] = 3 * np.sign(query[0])
        sentences = generator.normal(size=(size, WIDTH)).astype(np.float32)
        labels = generator.random(size) < 0.2
        labels[-1] = True
        sentences[:, 0] = np.where(labels, query[0], -query[0])
        examples.append(SentenceExample(query, sentences, labels))
    return examples


def make_settings(kind: Kind, **changed: Any) -> ModelSettings:
    return ModelSettings(kind, **{**SMALL, **changed})


def make_model(settings: ModelSettings, width: int = WIDTH) -> SentenceModel:
    torch.manual_seed(3)
    return SentenceModel(build_network(settings, width), settings, width, threads=1)


def train(folder: Path, settings: ModelSettings, **changed: Any) -> Trained:
    schedule = Schedule(**{"epochs": 3, "batch": 4, "threads": 1, **changed})
    return train_model(make_examples(1, 12), make_examples(2, 6), settings, schedule, folder)


@pytest.mark.parametrize("kind", KINDS)
def test_learnable_problem_is_learnt(kind: Kind, tmp_path: Path) -> None:
    settings = make_settings(kind, dropout=0.0)
    schedule = Schedule(epochs=10, batch=4, learning_rate=1e-2, patience=10, threads=1)
    trained = train_model(make_examples(1, 30), make_examples(2, 10), settings, schedule, tmp_path)
    model, unseen = SentenceModel.open(tmp_path), make_examples(3, 20)
    found, misled = (
        np.mean(
            [average_precision(one.labels, predict(model, sign * one.query, one.sentences)) for one in unseen]
        )
        for sign in (1, -1)
    )
    assert found > 0.9
    assert misled < 0.4  # by the opposite query: so the query is read
    assert trained.dev_score > 0.9
    assert trained.epoch <= trained.epochs_run <= 10


@pytest.mark.parametrize("kind", KINDS)
def test_padding_and_other_documents_change_no_logit(kind: Kind) -> None:
    examples = make_examples(4, 5, longest=30)
    network = build_network(make_settings(kind), WIDTH).eval()
    queries, sentences = [one.query for one in examples], [one.sentences for one in examples]
    with torch.inference_mode():
        together = network(make_batch(queries, sentences, cut_pieces(list(map(len, sentences)), None), "cpu"))
        for row, one in enumerate(examples):
            alone = network(
                make_batch([one.query], [one.sentences], cut_pieces([len(one.labels)], None), "cpu")
            )
            np.testing.assert_allclose(together[row, : len(one.labels)], alone[0], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_document_is_scored_alike_whatever_stands_beside_it(kind: Kind) -> None:
    model = make_model(make_settings(kind))
    pairs = [(one.query, one.sentences) for one in make_examples(5, 4)]
    together = list(model.predict_documents(pairs))
    for pair, scores in zip(reversed(pairs), reversed(together), strict=True):
        assert scores.dtype == np.float32
        assert scores.tobytes() == model.predict(*pair).tobytes()


def test_lstm_equals_torch_s_bidirectional_one_over_packed_sequences() -> None:
    network: Any = build_network(make_settings("lstm", hidden=5), WIDTH).eval()
    reference = torch.nn.LSTM(2 * WIDTH, 5, 2, batch_first=True, bidirectional=True)
    given = network.state_dict()
    weights = {
        name: given[f"{'behind' if 'reverse' in name else 'onward'}.{layer}.{part}_l0"]
        for name in reference.state_dict()
        for part, layer in [name.removesuffix("_reverse").rsplit("_l", 1)]
    }
    reference.load_state_dict(weights)
    examples = make_examples(13, 3)
    sentences = [one.sentences for one in examples]
    batch = make_batch(
        [one.query for one in examples], sentences, cut_pieces(list(map(len, sentences)), None), "cpu"
    )
    with torch.inference_mode():
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            make_features(batch, "pair"), batch.lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = torch.nn.utils.rnn.pad_packed_sequence(reference(packed)[0], batch_first=True)
        expected = network.output(states).squeeze(-1)
        np.testing.assert_allclose(network(batch)[batch.mask], expected[batch.mask], atol=1e-6)


def test_average_precision_is_scikit_learn_s_with_ties_too() -> None:
    from sklearn.metrics import average_precision_score

    generator = np.random.default_rng(14)
    for _ in range(50):
        size = int(generator.integers(1, 30))
        labels = generator.random(size) < 0.4
        labels[0] = True
        scores = generator.integers(0, 6, size).astype(np.float32)
        assert average_precision(labels, scores) == pytest.approx(average_precision_score(labels, scores))
    assert average_precision(np.zeros(2, bool), np.ones(2)) == 0.0


def test_transformer_scores_a_document_of_ten_thousand_sentences_in_windows() -> None:
    generator = np.random.default_rng(6)
    sentences = generator.normal(size=(10_000, 4)).astype(np.float32)
    model = make_model(make_settings("transformer", layers=1, width=4), 4)
    scores = model.predict(sentences[0], sentences)
    assert scores.shape == (10_000,)
    assert (scores > 0).all()
    changed = sentences.copy()
    changed[9_999] = -changed[9_999]
    differing = np.flatnonzero(model.predict(sentences[0], changed) != scores)
    assert differing[0] >= 9_000
    np.testing.assert_array_equal(model.predict(sentences[0], sentences[:512]).shape, (512,))


def test_windows_score_each_sentence_once() -> None:
    for length in (1, 511, 512, 513, 897, 10_000):
        pieces = cut_pieces([length], 512)
        scored = [row for piece in pieces for row in range(piece.first, piece.last)]
        assert scored == list(range(length))
        assert all(piece.start <= piece.first < piece.last <= piece.stop for piece in pieces)
        assert {piece.stop - piece.start for piece in pieces} == {min(length, 512)}


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_gives_same_weights_and_another_seed_others(kind: Kind, tmp_path: Path) -> None:
    settings = make_settings(kind)
    state = torch.random.get_rng_state()
    train(tmp_path / "a", settings)
    torch.manual_seed(99)
    train(tmp_path / "b", settings)
    train(tmp_path / "c", settings, seed=2)
    a, b, c = ((tmp_path / name / MODEL_FILE) for name in "abc")
    assert read_weights(a) == read_weights(b) != read_weights(c)
    torch.random.set_rng_state(state)
    before = torch.rand(1)
    torch.random.set_rng_state(state)
    train(tmp_path / "d", settings, epochs=1)
    assert torch.rand(1) == before  # the caller's generator is as it was
    assert not torch.are_deterministic_algorithms_enabled()


def read_weights(path: Path) -> dict[str, bytes]:
    return {name: value.tobytes() for name, value in load_file(path).items()}


class KilledError(Exception):
    """What stops a training in a test."""


@pytest.mark.parametrize(
    ("kind", "published", "every"),
    [("mlp", False, 1), ("lstm", False, 2), ("transformer", False, 1), ("lstm", True, 1)],
)
def test_killed_training_ends_with_the_same_weights(
    kind: Kind, published: bool, every: int, tmp_path: Path
) -> None:
    settings = make_settings(kind, as_published=published)
    schedule = Schedule(
        epochs=4, batch=4, patience=None if published else 4, threads=1, checkpoint_every=every
    )
    parts = make_examples(1, 6), make_examples(2, 3)
    whole = train_model(*parts, settings, schedule, tmp_path / "whole")

    def kill(epoch: int) -> None:
        if epoch == 3:
            raise KilledError

    with pytest.raises(KilledError):
        train_model(*parts, settings, schedule, tmp_path / "killed", on_epoch=kill)
    assert (tmp_path / "killed" / CHECKPOINT_FILE).exists()
    epochs: list[int] = []
    resumed = train_model(*parts, settings, schedule, tmp_path / "killed", on_epoch=epochs.append)
    assert epochs == ([4] if every == 1 else [3, 4])
    assert read_weights(tmp_path / "whole" / MODEL_FILE) == read_weights(tmp_path / "killed" / MODEL_FILE)
    assert resumed == replace(whole, folder=tmp_path / "killed", elapsed_s=resumed.elapsed_s)
    assert [path.name for path in (tmp_path / "killed").iterdir()] == [MODEL_FILE]
    again = train_model(*parts, settings, schedule, tmp_path / "killed", on_epoch=epochs.append)
    assert (again, len(epochs)) == (resumed, 1 if every == 1 else 2)


def test_folder_of_another_training_is_refused(tmp_path: Path) -> None:
    train(tmp_path, make_settings("mlp"), epochs=1)
    with pytest.raises(IndexingError, match=r"its schedule are different"):
        train(tmp_path, make_settings("mlp"), epochs=2)
    (tmp_path / MODEL_FILE).write_bytes(b"\0" * 40)
    with pytest.raises(IndexingError, match=r"delete it and train again"):
        train(tmp_path, make_settings("mlp"), epochs=1)


def test_training_stops_when_dev_gets_no_better(tmp_path: Path) -> None:
    examples = make_examples(1, 12)
    dev = [replace(one, sentences=np.zeros_like(one.sentences)) for one in make_examples(2, 6)]
    schedule = Schedule(epochs=20, patience=3, threads=1)  # every score of dev is the same at every epoch
    trained = train_model(examples, dev, make_settings("mlp"), schedule, tmp_path)
    assert (trained.epoch, trained.epochs_run) == (1, 4)


def test_positive_weight_moves_the_scores_up(tmp_path: Path) -> None:
    light, heavy = (
        train(tmp_path / str(weight), make_settings("mlp", positive_weight=weight), learning_rate=1e-2)
        for weight in (1.0, 20.0)
    )
    (example,) = make_examples(7, 1)
    scores = [
        SentenceModel.open(one.folder).predict(example.query, example.sentences).mean()
        for one in (light, heavy)
    ]
    assert scores[1] > scores[0] + 0.1


def test_model_is_opened_as_it_was_trained(tmp_path: Path) -> None:
    settings = make_settings("lstm")
    trained = train(tmp_path, settings)
    model = SentenceModel.open(tmp_path)
    assert model.settings == settings
    assert model.trained["settings"] == asdict(settings)
    assert model.trained["progress"]["best_score"] == trained.dev_score
    assert model.predict(np.zeros(WIDTH, np.float32), np.empty((0, WIDTH), np.float32)).shape == (0,)
    with pytest.raises(IndexingError, match=r"expected vectors of 6 numbers"):
        model.predict(np.zeros(5, np.float32), np.zeros((2, 5), np.float32))


def test_examples_without_anything_to_learn_are_refused(tmp_path: Path) -> None:
    negatives = [replace(one, labels=np.zeros_like(one.labels)) for one in make_examples(1, 3)]
    for train_part, dev in ((negatives, make_examples(2, 2)), (make_examples(1, 3), negatives), ([], [])):
        with pytest.raises(IndexingError, match=r"expected one of each with a relevant sentence"):
            train_model(train_part, dev, make_settings("mlp"), Schedule(threads=1), tmp_path)
    with pytest.raises(IndexingError, match=r"not finite"):
        SentenceExample(np.full(2, np.nan, np.float32), np.zeros((1, 2), np.float32), np.zeros(1, bool))
    with pytest.raises(IndexingError, match=r"expected \(d,\), \(n, d\) and \(n,\)"):
        SentenceExample(np.zeros(2, np.float32), np.zeros((1, 3), np.float32), np.zeros(1, bool))


def test_search_draws_by_its_seed_and_chooses_the_best_on_dev(tmp_path: Path) -> None:
    space = replace(
        make_space(make_settings("mlp"), WIDTH), hidden=(4, 8), layers=(1, 2), weight_decay=(0.0,)
    )
    schedule = Schedule(epochs=2, batch=4, threads=1)
    parts = make_examples(1, 12), make_examples(2, 6)
    trials = search_models(*parts, space, Budget(3), 5, schedule, tmp_path)
    assert [trial.number for trial in trials] == [1, 2, 3]
    scores = [trial.trained.dev_score for trial in trials]
    assert [trial.chosen for trial in trials] == [row == int(np.argmax(scores)) for row in range(3)]
    assert [trial.trained.settings for trial in trials] == draw_settings(space, 3, 5)
    assert search_models(*parts, space, Budget(3), 5, schedule, tmp_path) == trials
    times = iter([0.0, 61.0])
    limited = search_models(*parts, space, Budget(3, 60), 5, schedule, tmp_path, clock=lambda: next(times))
    assert [trial.trained for trial in limited] == [trials[0].trained]
    assert limited[0].chosen


def test_space_has_the_published_ranges() -> None:
    space = make_space(ModelSettings("transformer", as_published=True), 384)
    assert list(space.hidden) == [100, 150, 200, 250, 300, 350, 400, 450, 500]
    assert list(space.layers) == [2, 3, 4]
    assert list(space.heads) == [2, 3, 4]
    assert list(space.weight_decay) == [0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5]
    assert len(make_space(ModelSettings("mlp"), 384).list_all()) == 9 * 4 * 6
    drawn = draw_settings(space, 10_000, 1)
    assert len(set(drawn)) == len(drawn) == 9 * 3 * 3 * 6
    assert draw_settings(space, 7, 1) == drawn[:7]
    assert draw_settings(space, 7, 2) != drawn[:7]
    fixed = make_space(ModelSettings("lstm"), 384, hidden=70, layers=None, weight_decay=0.5)
    assert (list(fixed.hidden), list(fixed.layers), list(fixed.weight_decay)) == ([70], [1, 2, 3, 4], [0.5])
    assert list(make_space(ModelSettings("transformer", as_published=True), 5).heads) == [2]
    with pytest.raises(InputError, match=r"divides 10"):
        make_space(ModelSettings("transformer", as_published=True), 5, heads=3)


def test_published_mlp_is_an_affine_map_and_ours_is_not() -> None:
    generator = np.random.default_rng(8)
    query, a, b = generator.normal(size=(3, WIDTH)).astype(np.float32)
    for published in (True, False):
        network = build_network(make_settings("mlp", as_published=published), WIDTH).eval()
        rows = np.stack([a, b, (a + b) / 2])
        with torch.inference_mode():
            ends, _, middle = network(make_batch([query], [rows], cut_pieces([3], None), "cpu"))[0].split(1)
            other = network(make_batch([query], [rows], cut_pieces([3], None), "cpu"))[0, 1]
        assert (abs(float((ends + other) / 2 - middle)) < 1e-6) == published


def test_published_lstm_recurs_over_the_batch_and_ours_over_the_document() -> None:
    examples = [(one.query, one.sentences) for one in make_examples(9, 3)]
    published, ours = (make_model(make_settings("lstm", as_published=value)) for value in (True, False))
    # Other documents of a batch change the scores as published, and no others.
    assert not np.allclose(next(published.predict_documents(examples)), published.predict(*examples[0]))
    # The order of a document's own sentences changes the scores of ours alone.
    query, sentences = examples[0]
    order = np.random.default_rng(1).permutation(len(sentences))
    np.testing.assert_allclose(
        published.predict(query, sentences[order]), published.predict(query, sentences)[order], atol=1e-6
    )
    assert not np.allclose(ours.predict(query, sentences[order]), ours.predict(query, sentences)[order])


def test_published_transformer_attends_to_padding_and_drops_out_while_it_predicts() -> None:
    settings = make_settings("transformer", as_published=True)
    network = build_network(settings, WIDTH).eval()
    (one,) = make_examples(10, 1)
    pieces = cut_pieces([len(one.labels)], None)
    with torch.inference_mode():
        padded = network(make_batch([one.query], [one.sentences], pieces, "cpu", 512))
        bare = network(make_batch([one.query], [one.sentences], pieces, "cpu"))
    assert not torch.allclose(padded[0, : len(one.labels)], bare[0], atol=1e-4)
    model = make_model(settings)
    assert (
        model.predict(one.query, one.sentences).tobytes() == model.predict(one.query, one.sentences).tobytes()
    )
    assert model.network.training


def test_published_model_reads_the_first_512_sentences() -> None:
    sentences = np.random.default_rng(11).normal(size=(600, 2)).astype(np.float32)
    model = make_model(make_settings("mlp", as_published=True), 2)
    scores = model.predict(sentences[0], sentences)
    assert (scores[:512] > 0).all()
    assert scores[512:].tolist() == [0.0] * 88
    found = list(model.predict_documents([(sentences[0], sentences[:0]), (sentences[0], sentences[:5])]))
    assert [len(one) for one in found] == [0, 5]


def test_published_loss_counts_padding(tmp_path: Path) -> None:
    """512 positions a document, of which few are sentences: the mean loss is that of irrelevant padding."""
    losses = []
    for published in (True, False):
        settings = make_settings("mlp", as_published=published)
        trained = train(tmp_path / str(published), settings, epochs=8, patience=None, learning_rate=1e-2)
        losses.append(trained.history[-1][1])
        assert [score is None for score, _ in trained.history] == [True] * 7 + [False]
        assert trained.epoch == 8
    assert losses[0] < 0.1 < losses[1]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("kind", KINDS)
def test_training_on_cuda_repeats_and_is_read_on_a_cpu(kind: Kind, tmp_path: Path) -> None:
    for name in "ab":
        train(tmp_path / name, make_settings(kind), device="cuda")
    assert read_weights(tmp_path / "a" / MODEL_FILE) == read_weights(tmp_path / "b" / MODEL_FILE)
    (one,) = make_examples(12, 1)
    there, here = (
        SentenceModel.open(tmp_path / "a", device).predict(one.query, one.sentences)
        for device in ("cuda", "cpu")
    )
    np.testing.assert_allclose(there, here, atol=1e-4)
