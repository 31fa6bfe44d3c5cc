"""Trainings of sentence scorers that are killed, whose next start ends with an undisturbed one's models."""

import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from safetensors.numpy import load_file

from pinakes.database import connect
from pinakes.schema import trained_models
from tests.long import long
from tests.summary_worlds import SMALL, Cited, World, add_world
from tests.warm import Warm

WORLD: World = {
    **SMALL,
    "p6": ([["Cells divide.", "Cells grow and divide."]], {"r6": Cited("cells", [2], by_paper="train")}),
    "p8": ([["Stars burn.", "Stars cool."]], {"r8": Cited("stars", [1], by_paper="dev")}),
}
SYSTEM = ["--corpus", "toy", "--system", "sentence_lstm:tfidf"]
OWN = {"trials": 2, "epochs": 3, "hidden": 4, "layers": 1, "threads": 1, "batch": 1, "dimensions": 3}
OPTIONS = [part for name, value in OWN.items() for part in ("--option", f"{name}={value}")]

# The command line, which kills itself behind so many checkpoints, written or on their way.
PROGRAM = """
import os, pathlib, signal, sys
from pinakes.cli import main
from pinakes.indexers.sentence_models import training

os.environ["PINAKES_INDEX_FOLDER"] = sys.argv.pop(1)
last, half = int(sys.argv.pop(1)), sys.argv.pop(1) == "half"
write, written = training.write_checkpoint, []

def kill_after(*given):
    written.append(given)
    if len(written) == last and half:
        pathlib.Path.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
    write(*given)
    if len(written) == last:
        os.kill(os.getpid(), signal.SIGKILL)

training.write_checkpoint = kill_after
main()
"""


def call(warm: Warm, folder: Path, *arguments: str, last: int = 0, half: str = "whole") -> int:
    """Exit code of a command that is killed behind its last checkpoint; 0: it is not."""
    options = ("--db", make_url(folder), "--quiet")
    ended = warm.run(PROGRAM, folder / "indexes", last, half, *arguments, *options)
    assert "Traceback" not in ended.err, ended.err
    return ended.code


def make_url(folder: Path) -> str:
    return f"duckdb:///{folder / 'toy.duckdb'}"


def train(warm: Warm, folder: Path, last: int = 0, half: str = "whole") -> int:
    return call(warm, folder, "index", "sciqfs", *SYSTEM, *OPTIONS, last=last, half=half)


def read_models(warm: Warm, folder: Path) -> tuple[dict[str, bytes], list[tuple[Any, ...]]]:
    """The weights that answer, byte by byte, and what is kept of each trial."""
    (weights,) = (folder / "indexes").rglob("model.safetensors")
    assert call(warm, folder, "run", "sciqfs", *SYSTEM, *OPTIONS) == 0
    with connect(make_url(folder)) as database, database.read() as session:
        trials = session.rows(sa.select(trained_models).order_by(trained_models.c.trial))
    return (
        {name: value.tobytes() for name, value in load_file(weights).items()},
        [tuple(row.values()) for row in trials],
    )


@pytest.fixture(scope="module")
def filled(benchmarks_duckdb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    shutil.copy(benchmarks_duckdb, folder / "toy.duckdb")
    with connect(make_url(folder)) as database:
        add_world(database, WORLD)
    return folder


@pytest.fixture(scope="module")
def undisturbed(warm: Warm, filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("undisturbed")
    shutil.copytree(filled, folder, dirs_exist_ok=True)
    assert train(warm, folder) == 0
    return read_models(warm, folder)


@pytest.mark.parametrize(
    "place", [long("1 whole"), "2 half", long("3 whole"), long("4 half"), long("5 whole")]
)
def test_a_killed_training_ends_with_the_models_of_an_undisturbed_one(
    warm: Warm, filled: Path, undisturbed: Any, tmp_path: Path, place: str
) -> None:
    last, half = place.split()
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    assert train(warm, tmp_path, int(last), half) == -signal.SIGKILL
    assert not list((tmp_path / "indexes").glob("sentence_lstm/[!.]*"))
    assert train(warm, tmp_path) == 0
    assert read_models(warm, tmp_path) == undisturbed
    folders = [path for path in (tmp_path / "indexes").rglob(".*") if path.is_dir()]
    assert folders == []
