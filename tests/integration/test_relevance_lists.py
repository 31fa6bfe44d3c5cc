"""Relevance lists are read by the ids of the corpus that they are for, in every way of loading."""

from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.database import Database
from pinakes.errors import InputError
from pinakes.load.load import LoadRequest, load
from tests.loading import DATA, dump_tables, paper, write_beir
from tests.real_data import REAL_DATA, needs_real_data

pytestmark = pytest.mark.in_turn

JUDGED = "SELECT query_id, source_id, grade FROM judged_papers ORDER BY query_id, source_id"


def _read_judged(database: Database) -> list[tuple[str, str, int]]:
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(JUDGED)]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A collection of SMART with a document 0, whose relevance list has the columns of TREC."""
    folder = tmp_path / "toy"
    folder.mkdir()
    records = "".join(f".I {number}\n.T\nTitle {number}\n" for number in range(30))
    (folder / "toy.all").write_text(records, encoding="utf-8")
    (folder / "toy.qry").write_text(".I 1\n.W\none\n.I 2\n.W\ntwo\n", encoding="utf-8")
    lines = [f"{query} 0 {query * 10 + paper} 1\n" for query in (1, 2) for paper in range(6)]
    (folder / "toy.rel").write_text("".join(lines), encoding="utf-8")
    return folder


EXPECTED = [(str(query), str(query * 10 + paper), 1) for query in (1, 2) for paper in range(6)]


def test_a_list_of_another_layout_judges_the_papers_that_it_names(
    database: Database, collection: Path
) -> None:
    request = LoadRequest("smart", collection)
    dry = load(database, replace(request, dry_run=True))
    summary = load(database, request)
    assert _read_judged(database) == EXPECTED
    assert [file.rows_in for file in summary.files] == [30, 2, 12]
    assert dry.rows_rejected == summary.rows_rejected == 0
    before = dump_tables(database)
    load(database, request)
    assert dump_tables(database) == before


def test_what_the_loaded_ids_tell_is_not_read_ahead_of_them(
    duckdb_database: Database, collection: Path
) -> None:
    summary = load(duckdb_database, LoadRequest("smart", collection, jobs=2))
    assert _read_judged(duckdb_database) == EXPECTED
    assert summary.rows_rejected == 0


def test_a_list_that_fits_two_layouts_stops_the_load_until_it_is_said(
    database: Database, collection: Path
) -> None:
    (collection / "toy.rel").write_text("1 0 5 1\n2 0 6 1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"toy\.rel: the loaded ids fit its columns as .* --option columns="):
        load(database, LoadRequest("smart", collection))
    assert _read_judged(database) == []
    options = {"columns": "query,iteration,document,grade"}
    load(database, LoadRequest("smart", collection, options))
    assert _read_judged(database) == [("1", "5", 1), ("2", "6", 1)]


def test_qrels_of_a_corpus_that_another_loader_brought_are_told_by_it(
    database: Database, collection: Path, tmp_path: Path
) -> None:
    load(database, LoadRequest("smart", collection))
    (tmp_path / "more.txt").write_text("01 03 0 0\n01 05 0 0\n02 04 0 0\n02 06 0 0\n", encoding="utf-8")
    summary = load(database, LoadRequest("trec", tmp_path / "more.txt", corpus="toy"))
    assert summary.rows_rejected == 0
    assert _read_judged(database) == sorted(
        [*EXPECTED, ("1", "3", 1), ("1", "5", 1), ("2", "4", 1), ("2", "6", 1)]
    )


def test_qrels_of_trec_in_a_beir_folder_are_read_as_such(database: Database, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "b", [paper(1), paper(2)])
    (folder / "qrels" / "test.tsv").write_text("q1 0 p1 2\nq1 0 p2 0\n", encoding="utf-8")
    assert load(database, LoadRequest("beir", folder)).rows_rejected == 0
    assert _read_judged(database) == [("q1", "p1", 2), ("q1", "p2", 0)]


def test_a_folder_of_trec_becomes_a_corpus(database: Database) -> None:
    summary = load(database, LoadRequest("trec", DATA / "trec_documents"))
    assert (summary.corpus, summary.files_read, summary.rows_rejected) == ("trec_documents", 3, 0)
    assert [row["file"] for row in summary.unread] == ["README.md", "run.txt"]
    assert _read_judged(database) == [
        ("51", "2", 0),
        ("51", "AP880212-0001", 1),
        ("52", "2", 1),
        ("52", "3", 1),
    ]


@needs_real_data
@pytest.mark.parametrize(
    ("loader", "source", "papers", "judged"),
    [
        ("smart", "smart/med.tar.gz", 1033, 696),
        ("smart", "cacm", 3204, 796),
        ("trec", "trec/vaswani", 11429, 2083),
    ],
)
def test_published_collections_have_their_published_judgments(
    database: Database, loader: str, source: str, papers: int, judged: int
) -> None:
    summary = load(database, LoadRequest(loader, REAL_DATA / source))
    assert (summary.papers, len(_read_judged(database)), summary.rows_rejected) == (papers, judged, 0)
    if source == "cacm":
        with database.read() as session:
            assert session.scalar("SELECT COUNT(*) FROM citation_links") == 2720
