"""Searches of a corpus: the same on both databases, in a total order, and never fewer than were asked for."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pinakes.database import Database, Session
from pinakes.errors import IndexingError, InputError, RunError, UnknownNameError
from pinakes.index.index import index_corpus
from pinakes.indexers.encoder.encoder import Encoder
from pinakes.indexers.exact.scores import score_pairs
from pinakes.search.filter import PaperFilter
from pinakes.search.found import Found
from pinakes.search.search import SearchRequest, search
from pinakes.systems.base import SystemOptions
from tests.benching import change
from tests.toy_encoder import DIMENSIONS

pytestmark = pytest.mark.in_turn

SYSTEMS = ["bm25", "tfidf", "toy"]


def ask(
    database: Database,
    tmp_path: Path,
    system: str,
    corpus: str = "synthetic",
    text: str = "graph",
    **given: object,
) -> list[Found]:
    options = SystemOptions(tmp_path / database.name, precision="fp32", device="cpu")
    request = SearchRequest(corpus, text, system, options=options, **given)  # type: ignore[arg-type]
    return search(database, request)


def prepare(database: Database, tmp_path: Path, system: str, corpus: str = "synthetic") -> None:
    options = SystemOptions(tmp_path / database.name, precision="fp32", device="cpu")
    index_corpus(database, corpus, system, options=options)


def read_vector(session: Session, text: str) -> NDArray[np.float32]:
    """The stored vector of a text by the toy encoder, (1, dimensions)."""
    statement = "SELECT embedding FROM vectors_toy_fp32 WHERE text_digest = CAST(md5(:text) AS UUID)"
    return np.array(session.fetch_arrow(statement, {"text": text})["embedding"].to_pylist(), np.float32)


def named(system: str, toy_folder: str) -> str:
    return toy_folder if system == "toy" else system


@pytest.mark.parametrize("system", SYSTEMS)
def test_both_databases_find_the_same_papers_with_the_same_scores(
    both_prepared: tuple[Database, Database], tmp_path: Path, toy_folder: str, system: str
) -> None:
    with both_prepared[0].read() as session:
        text = str(session.scalar("SELECT title FROM papers WHERE source_id = 'syn-00000007'"))
    found = []
    for database in both_prepared:
        prepare(database, tmp_path, named(system, toy_folder))
        hits = ask(database, tmp_path, named(system, toy_folder), text=text, k=25)
        found.append([(hit.rank, hit.score, hit.source_id, hit.title, hit.year) for hit in hits])
    assert found[0] == found[1]
    assert [rank for rank, *_ in found[0]] == list(range(1, len(found[0]) + 1))
    assert 0 < len(found[0]) <= 25


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_filter_gives_as_many_papers_as_pass(
    prepared: Database, tmp_path: Path, toy_folder: str, system: str
) -> None:
    with prepared.read() as session:
        rows = session.rows(
            "SELECT papers.source_id, papers.year FROM papers JOIN corpora ON "
            "corpora.corpus_id = papers.corpus_id WHERE corpora.name = 'synthetic'"
        )
    years = sorted(int(row["year"]) for row in rows)
    middle = years[len(years) // 2]
    passing = {str(row["source_id"]) for row in rows if row["year"] >= middle}
    prepare(prepared, tmp_path, named(system, toy_folder))
    wanted = PaperFilter(year_from=middle)
    everyone = ask(prepared, tmp_path, named(system, toy_folder), k=1000, wanted=wanted)
    assert {hit.source_id for hit in everyone} == passing
    assert len({hit.source_id for hit in everyone}) == len(everyone)
    first = ask(prepared, tmp_path, named(system, toy_folder), k=7, wanted=wanted)
    assert first == everyone[:7]


def test_a_dense_search_gives_the_cosines_of_the_stored_vectors(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    prepare(prepared, tmp_path, toy_folder, "scifact")
    hits = ask(prepared, tmp_path, toy_folder, "scifact", "graph models")
    # p2 and p10 hold exactly that text: the order of equal scores is the source's ids, byte-wise descending.
    assert [(hit.source_id, round(hit.score, 6)) for hit in hits[:2]] == [("p2", 1.0), ("p10", 1.0)]
    with prepared.read() as session:
        asked, document = (
            read_vector(session, text) for text in ("graph models", "Graphs citation graph retrieval")
        )
    expected = score_pairs(asked, document, np.array([[0, 0]]), "cosine")
    # The text was stored out of a batch and is asked with alone: its last bits may differ.
    assert [hit.source_id for hit in hits[2:]] == ["p1"]
    assert hits[2].score == pytest.approx(expected[0], abs=1e-5)


def test_a_dense_search_scores_the_vector_of_its_text_to_the_bit(
    prepared: Database, tmp_path: Path, toy_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(prepared, tmp_path, toy_folder, "scifact")
    vector = np.linspace(-1, 1, DIMENSIONS, dtype=np.float32)[None]
    monkeypatch.setattr(Encoder, "embed", lambda encoder, tokens: vector)
    monkeypatch.setattr(Encoder, "start", lambda encoder, tokens: lambda: vector)
    hits = ask(prepared, tmp_path, toy_folder, "scifact", "graph models")
    texts = {"p1": "Graphs citation graph retrieval", "p2": "graph models", "p10": "graph models"}
    with prepared.read() as session:
        documents = {paper: read_vector(session, text) for paper, text in texts.items()}
    expected = {
        paper: float(score_pairs(vector, document, np.array([[0, 0]]), "cosine")[0])
        for paper, document in documents.items()
    }
    assert {hit.source_id: hit.score for hit in hits} == expected


def test_every_part_of_a_filter_counts(prepared: Database, tmp_path: Path) -> None:
    prepare(prepared, tmp_path, "bm25", "scifact")
    change(prepared, "UPDATE papers SET year = 2001, venue = 'V', citation_count = 5 WHERE source_id = 'p2'")
    change(prepared, "UPDATE papers SET year = 2003, venue = 'W', citation_count = 9 WHERE source_id = 'p10'")

    def which(**conditions: object) -> list[str]:
        hits = ask(prepared, tmp_path, "bm25", "scifact", "models", wanted=PaperFilter(**conditions))  # type: ignore[arg-type]
        return [hit.source_id for hit in hits]

    assert which() == ["p2", "p10"]
    assert which(year_from=2001, year_to=2001) == which(venue="V") == which(year_to=2002) == ["p2"]
    assert which(min_citations=6) == which(year_from=2002) == ["p10"]
    with pytest.raises(InputError, match="no paper of scifact passes the filter"):
        which(venue="V", year_from=2002)
    with pytest.raises(InputError, match="no paper of scifact passes"):
        which(field="'; DROP TABLE papers; --")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"corpus": "nothing"},
            UnknownNameError,
            "unknown corpus 'nothing'; known: csfcube, scifact, synthetic",
        ),
        (
            {"system": "rrf:bm25,tfidf"},
            InputError,
            "rrf:bm25,tfidf cannot search a corpus: .* Systems that can: bm25, ",
        ),
        ({"text": " \n"}, InputError, "the text to search for is empty"),
        ({"k": 0}, IndexingError, "expected k of at least 1"),
        ({"paper_template": "no"}, UnknownNameError, "unknown text template for papers 'no'"),
        ({}, RunError, "there is no bm25 index of the corpus synthetic .* `pinakes index --corpus synthetic"),
    ],
)
def test_a_search_that_cannot_be_says_what_to_do(
    prepared: Database, tmp_path: Path, given: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ask(prepared, tmp_path, **{"system": "bm25", **given})  # type: ignore[arg-type]


def test_vectors_that_are_missing_are_refused_with_the_command_that_makes_them(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    prepare(prepared, tmp_path, toy_folder)
    change(prepared, "UPDATE papers SET title = 'A title of its own' WHERE source_id = 'syn-00000007'")
    with pytest.raises(RunError, match=r"1 texts have no vector of toy_fp32; .* index --corpus synthetic"):
        ask(prepared, tmp_path, toy_folder)


@pytest.mark.parametrize("system", ["bm25", "tfidf"])
def test_an_index_of_other_texts_is_refused_with_the_command_that_rebuilds_it(
    prepared: Database, tmp_path: Path, system: str
) -> None:
    prepare(prepared, tmp_path, system)
    change(prepared, "UPDATE papers SET title = 'A title of its own' WHERE source_id = 'syn-00000007'")
    with pytest.raises(RunError, match=r"built from other texts .* `pinakes index --corpus synthetic"):
        ask(prepared, tmp_path, system)
    prepare(prepared, tmp_path, system)
    assert ask(prepared, tmp_path, system, text="own title", k=1)[0].source_id == "syn-00000007"


def test_a_prefix_is_part_of_the_text_and_of_its_vector(
    prepared: Database, tmp_path: Path, toy_folder: str
) -> None:
    options = SystemOptions(tmp_path, precision="fp32", device="cpu")
    for template in ("title_abstract", "passage: {title_abstract}"):
        index_corpus(prepared, "scifact", toy_folder, options=options, paper_template=template)
    with prepared.read() as session:
        stored = session.scalar("SELECT COUNT(*) FROM vectors_toy_fp32")
    assert stored == 4  # two texts (two papers share one), each with and without the prefix
