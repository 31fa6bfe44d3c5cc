"""Trained scorers of sentences in a database: trained once, killed and resumed, required, and answering."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from safetensors.numpy import load_file

from pinakes.database import Database
from pinakes.errors import IndexingError, RunError, UnknownNameError
from pinakes.index.index import index
from pinakes.progress import Silent
from pinakes.run.run import RunRequest, run
from pinakes.schema import sentence_scores, side_indexes, summary_labels, trained_models
from pinakes.systems.base import IndexSummary, SystemOptions
from pinakes.systems.registry import find_system
from tests.summary_worlds import SMALL, Cited, World, add_world
from tests.toy_encoder import build_toy_encoder

pytestmark = pytest.mark.in_turn

OPTIONS = {"trials": "2", "epochs": "3", "hidden": "4", "layers": "1", "threads": "1", "batch": "1"}
TFIDF = "sentence_mlp:tfidf"
WORLD: World = {
    **SMALL,
    "p6": ([["Cells divide.", "", "Cells grow and divide."]], {"r6": Cited("cells", [3], by_paper="train")}),
    "p7": ([[]], {"r7": Cited("nothing", [], by_paper="train")}),
    "p8": ([["Stars burn.", "Stars cool."]], {"r8": Cited("stars", [1, 2], by_paper="dev")}),
}


class KilledError(Exception):
    """What stops a training in a test."""


class Killer(Silent):
    """Raises behind so many units of a task whose name begins with `train`."""

    def __init__(self, units: int) -> None:
        self._left, self._counts = units, False

    def start(self, task: str, total: int | None) -> None:
        self._counts = task.startswith("train")

    def advance(self, units: int) -> None:
        self._left -= units if self._counts else 0
        if self._left <= 0:
            raise KilledError


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    return str(build_toy_encoder(tmp_path / "toy"))


def make_options(folder: Path, **own: str) -> SystemOptions:
    return SystemOptions(folder, precision="fp32", device="cpu", parameters={**OPTIONS, **own})


def train(database: Database, system: str, options: SystemOptions, units: int = 10_000) -> IndexSummary:
    return index(database, "sciqfs", system, options=options, corpus="toy", progress=Killer(units))


def answer(database: Database, system: str, options: SystemOptions) -> int:
    return run(database, RunRequest("sciqfs", system, options, corpus="toy")).run_id


def test_trained_scorer_answers_each_sentence_and_its_trials_are_stored(
    database: Database, tmp_path: Path
) -> None:
    add_world(database, WORLD)
    options = make_options(tmp_path, dimensions="3")
    with pytest.raises(RunError, match=r"`pinakes index sciqfs --corpus toy --system sentence_mlp:tfidf"):
        answer(database, TFIDF, options)
    made = train(database, TFIDF, options)
    assert (made.system, made.added, made.existing) == (TFIDF, 3, 0)
    again = train(database, TFIDF, options)
    assert (again.added, again.existing) == (0, 3)
    run_id = answer(database, TFIDF, options)
    with database.read() as session:
        scores = list(session.rows(sa.select(sentence_scores).where(sentence_scores.c.run_id == run_id)))
        columns = (trained_models.c.trial, trained_models.c.epochs, trained_models.c.dev_score)
        trials = list(session.rows(sa.select(*columns, trained_models.c.chosen).order_by("trial")))
    assert len(scores) == 4 + 4 + 3 + 3
    assert all(0 < row["score"] < 1 for row in scores)
    assert [row["trial"] for row in trials] == [1, 2]
    assert [row["chosen"] for row in trials].count(True) == 1
    assert max(row["dev_score"] for row in trials) == next(
        row["dev_score"] for row in trials if row["chosen"]
    )
    assert all(1 <= row["epochs"] <= 3 for row in trials)
    assert answer(database, TFIDF, options) == run_id


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_scorer_over_an_encoder_encodes_each_text_once(
    kind: str, initialised_duckdb: Database, tmp_path: Path, encoder: str
) -> None:
    add_world(initialised_duckdb, WORLD)
    own = {"heads": "2", "width": "8"} if kind == "transformer" else {}
    options = make_options(tmp_path / "index", **own)
    texts = {text for parts, _ in WORLD.values() for part in parts for text in part} - {""}
    queries = {cited.query for _, cites in WORLD.values() for cited in cites.values()}
    first = train(initialised_duckdb, f"sentence_{kind}:{encoder}", options)
    assert (first.added, first.existing) == (len(texts | queries) + 3, 0)
    other = train(initialised_duckdb, f"sentence_mlp:{encoder}", make_options(tmp_path / "index"))
    assert (other.added, other.existing) == (3, len(texts | queries))
    assert answer(initialised_duckdb, f"sentence_{kind}:{encoder}", options)


def test_killed_search_goes_on_and_ends_with_the_same_model(
    initialised_duckdb: Database, tmp_path: Path
) -> None:
    add_world(initialised_duckdb, WORLD)
    whole, killed = (
        make_options(tmp_path / "whole", dimensions="3"),
        make_options(tmp_path / "killed", dimensions="3"),
    )
    train(initialised_duckdb, TFIDF, whole)
    model = find_model(tmp_path / "whole")
    weights = {name: value.tobytes() for name, value in load_file(model).items()}
    for units in (2, 3):
        with pytest.raises(KilledError):
            train(initialised_duckdb, TFIDF, killed, units)
    (working,) = (tmp_path / "killed" / "sentence_mlp").iterdir()
    assert working.name.startswith(".")
    train(initialised_duckdb, TFIDF, killed)
    resumed = find_model(tmp_path / "killed")
    assert {name: value.tobytes() for name, value in load_file(resumed).items()} == weights
    assert not working.exists()


def find_model(folder: Path) -> Path:
    (model,) = folder.rglob("model.safetensors")
    return model


def test_trained_models_are_stale_when_labels_or_settings_change(
    initialised_duckdb: Database, tmp_path: Path
) -> None:
    add_world(initialised_duckdb, WORLD)
    options = make_options(tmp_path, dimensions="3")
    train(initialised_duckdb, TFIDF, options)
    with pytest.raises(RunError, match=r"other examples, vectors or settings"):
        answer(initialised_duckdb, TFIDF, make_options(tmp_path, dimensions="3", seed="2"))
    answer(initialised_duckdb, TFIDF, options)
    with initialised_duckdb.begin() as session:
        session.execute(
            sa.delete(summary_labels).where(summary_labels.c.paper_id == 3, summary_labels.c.step == 2)
        )
    with pytest.raises(RunError, match=r"build it again with `pinakes index sciqfs --corpus toy"):
        answer(initialised_duckdb, TFIDF, options)
    with initialised_duckdb.read() as session:
        row = session.first(sa.select(side_indexes.c.kind, side_indexes.c.scope, side_indexes.c.encoder))
    assert row == {"kind": "sentence_mlp", "scope": "sciqfs:toy:corrected", "encoder": "tfidf"}


def test_damaged_model_is_refused(initialised_duckdb: Database, tmp_path: Path) -> None:
    add_world(initialised_duckdb, WORLD)
    options = make_options(tmp_path, dimensions="3")
    train(initialised_duckdb, TFIDF, options)
    model = find_model(tmp_path)
    model.write_bytes(model.read_bytes()[:-4] + b"\0\0\0\1")
    with pytest.raises(IndexingError, match=r"damaged"):
        answer(initialised_duckdb, TFIDF, options)
    assert train(initialised_duckdb, TFIDF, options).added == 3
    assert answer(initialised_duckdb, TFIDF, options)


def test_corpus_without_a_relevant_sentence_to_learn_from_is_refused(
    initialised_duckdb: Database, tmp_path: Path
) -> None:
    world = {key: value for key, value in WORLD.items() if key not in ("p4", "p8")}
    add_world(initialised_duckdb, world)
    with pytest.raises(IndexingError, match=r"3 training examples and 0 of dev: expected one of each"):
        train(initialised_duckdb, TFIDF, make_options(tmp_path, dimensions="3"))
    with pytest.raises(UnknownNameError, match=r"unknown system 'sentence_mlp'"):
        find_system("sentence_mlp", make_options(tmp_path))


def test_published_mode_trains_the_published_networks(initialised_duckdb: Database, tmp_path: Path) -> None:
    add_world(initialised_duckdb, WORLD)
    options = make_options(tmp_path, dimensions="3", trials="1")
    world_options = {"options": options, "corpus": "toy", "mode": "published"}
    index(initialised_duckdb, "sciqfs", "sentence_lstm:tfidf", **world_options)  # type: ignore[arg-type]
    request = RunRequest("sciqfs", "sentence_lstm:tfidf", options, corpus="toy", mode="published")
    assert run(initialised_duckdb, request).queries_answered == 5
    with initialised_duckdb.read() as session:
        settings = str(session.scalar(sa.select(trained_models.c.settings)))
    for said in ('"as_published":true', '"patience":null', '"learning_rate":0.0001', '"epochs":3'):
        assert said in settings
