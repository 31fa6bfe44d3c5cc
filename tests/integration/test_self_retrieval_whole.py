"""From a loaded corpus to scores of altered texts: the same on both databases, whatever computes them."""

from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from pinakes.database import Database
from pinakes.evaluate.evaluate import evaluate
from pinakes.index.index import index
from pinakes.load.load import LoadRequest, load
from pinakes.run.run import RunRequest, run
from pinakes.run.stored_runs import RunSummary
from pinakes.systems.base import IndexSummary, SystemOptions
from pinakes.texts.corpus_neighbours import NeighbourRequest, derive_neighbours
from pinakes.texts.neighbours.codes import CODES
from tests.loading import dump_tables
from tests.long import long
from tests.wordnets import build_wordnet

PAPERS = 25
FEW = (*tuple(CODES)[::4], "T_ADelTopNNPH")
"""codes that `make test` makes variants of, two of which give equal texts; `make test-long` makes all"""
LEXICAL = ("word2vec", "bm25", "tfidf")
TABLES = (
    "paper_variants",
    "absent_variants",
    "text_analyses",
    "self_ranks",
    "neighbour_overlaps",
    "similarity_statistics",
    "vector_maps",
    "scores",
    "score_intervals",
)


@pytest.fixture(autouse=True)
def wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_WORDNET", str(build_wordnet(tmp_path / "wordnet")))


def _derive(database: Database, codes: tuple[str, ...], workers: int = 1) -> None:
    load(database, LoadRequest("synthetic", options={"papers": str(PAPERS), "seed": "3"}, corpus="world"))
    derive_neighbours(database, NeighbourRequest("world", codes, jobs=workers))


def _run(database: Database, system: str, options: SystemOptions) -> tuple[IndexSummary, RunSummary]:
    indexed = index(database, "self_retrieval", system, options=options, corpus="world")
    return indexed, run(database, RunRequest("self_retrieval", system, options, corpus="world"))


def _score(
    database: Database, codes: tuple[str, ...], systems: tuple[str, ...], folder: Path, workers: int
) -> dict[str, list[tuple[object, ...]]]:
    """Everything that a corpus's neighbours give, made by so many processes and threads."""
    _derive(database, codes, workers)
    with threadpool_limits(workers):
        for system in systems:
            own = {"dimensions": "8"} if system == "word2vec" else {}
            _run(database, system, SystemOptions(folder, parameters=own))
    evaluate(database, "self_retrieval")
    tables = dump_tables(database)
    return {name: tables[name] for name in TABLES}


@pytest.mark.parametrize(
    ("codes", "systems"),
    [
        (FEW, ("word2vec",)),
        pytest.param(tuple(CODES), LEXICAL, marks=pytest.mark.long),
    ],
)
def test_variants_ranks_and_scores_are_the_same_on_both_databases_with_one_worker_and_two(
    initialised_duckdb: Database,
    initialised_postgres: Database,
    codes: tuple[str, ...],
    systems: tuple[str, ...],
    tmp_path: Path,
) -> None:
    duck, post = (
        _score(database, codes, systems, tmp_path / f"indexes-{workers}", workers)
        for workers, database in enumerate((initialised_duckdb, initialised_postgres), start=1)
    )
    for name in TABLES:
        assert duck[name], name
        assert duck[name] == post[name], name
    assert len(duck["paper_variants"]) + len(duck["absent_variants"]) == PAPERS * len(codes)


@pytest.mark.parametrize("codes", [FEW, long(tuple(CODES))])
def test_an_encoder_reads_equal_texts_once_and_answers_for_every_neighbour(
    initialised_duckdb: Database, codes: tuple[str, ...], toy_folder: str, tmp_path: Path
) -> None:
    database = initialised_duckdb
    _derive(database, codes)
    options = SystemOptions(tmp_path / "indexes", precision="fp32")
    indexed, made = _run(database, toy_folder, options)
    texts = "SELECT title, abstract FROM {} UNION SELECT title, abstract FROM {}"
    with database.read() as session:
        distinct = session.scalar(
            f"SELECT COUNT(*) FROM ({texts.format('papers', 'paper_variants')}) AS texts"
        )
        variants = session.scalar("SELECT COUNT(*) FROM paper_variants")
        asked = session.scalar("SELECT COUNT(*) FROM self_ranks WHERE scheme = 'NN'")
        unanswered = session.scalar('SELECT COUNT(*) FROM self_ranks WHERE "rank" IS NULL')
    assert 0 < indexed.added <= distinct + PAPERS < variants + 2 * PAPERS  # a title alone is a text too
    assert _run(database, toy_folder, options)[0].added == 0
    assert made.queries_answered == made.queries_expected == PAPERS
    assert (asked, unanswered) == (variants, 0)
