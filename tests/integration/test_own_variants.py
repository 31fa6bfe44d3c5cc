"""Variants of a user's own: a CSV of texts beside the papers that another loader has brought."""

from pathlib import Path
from typing import Any

import pytest

from pinakes.database import Database
from pinakes.errors import InputError, UnknownNameError
from pinakes.load.load import LoadRequest, LoadSummary, load
from pinakes.texts.derive import derive
from tests.integration.toy_codes_of_texts import make_generator
from tests.loading import dump_tables, paper, write_beir

pytestmark = pytest.mark.in_turn

HEADER = "source_id,code,title,abstract\n"


@pytest.fixture
def toy(database: Database, tmp_path: Path) -> Database:
    """A corpus of two papers with variants of a generator."""
    load(database, LoadRequest("beir", write_beir(tmp_path / "beir", [paper(1), paper(2)]), corpus="toy"))
    derive(database, "toy", make_generator("UPPER"))
    return database


def load_csv(database: Database, folder: Path, name: str, text: str, **options: str) -> LoadSummary:
    (folder / name).write_text(text, encoding="utf-8")
    given = options or {"table": "variants"}
    return load(database, LoadRequest("csv", folder / name, given, corpus="toy"))


def read_own(database: Database) -> list[tuple[Any, ...]]:
    query = "SELECT paper_id, code, title, abstract FROM paper_variants WHERE producer = 'csv'"
    with database.read() as session:
        return [tuple(row.values()) for row in session.rows(f"{query} ORDER BY paper_id, code")]


def test_variants_out_of_csv_stand_beside_all_other_rows(toy: Database, tmp_path: Path) -> None:
    before = dump_tables(toy)
    text = f"{HEADER}p1,MINE,My title,My abstract\np1,LESS,Title,\np2,MINE,,Only this\np9,MINE,No paper,\n"
    summary = load_csv(toy, tmp_path, "mine.csv", text)
    assert read_own(toy) == [
        (1, "LESS", "Title", None),
        (1, "MINE", "My title", "My abstract"),
        (2, "MINE", None, "Only this"),
    ]
    (file,) = summary.files
    assert (file.rows_in, file.rows_loaded, summary.reasons) == (4, 3, {"unknown_paper": 1})
    after = dump_tables(toy)
    own = {"paper_variants", "load_batches", "load_reports", "rejected_rows"}
    assert {name: rows for name, rows in after.items() if name not in own} == {
        name: rows for name, rows in before.items() if name not in own
    }
    assert set(before["paper_variants"]) < set(after["paper_variants"])


def test_another_file_of_variants_adds_to_the_first_and_a_newer_row_replaces(
    toy: Database, tmp_path: Path
) -> None:
    load_csv(toy, tmp_path, "mine.csv", f"{HEADER}p1,MINE,One,\np2,MINE,Two,\n")
    summary = load_csv(toy, tmp_path, "more.csv", f"{HEADER}p1,MORE,Three,\np2,MINE,Newer,\np1,MINE,One,\n")
    assert read_own(toy) == [(1, "MINE", "One", None), (1, "MORE", "Three", None), (2, "MINE", "Newer", None)]
    (file,) = summary.files
    assert (file.rows_loaded, file.rows_updated, file.rows_unchanged) == (3, 1, 1)


def test_a_mapping_makes_variants_of_the_columns_of_a_file(toy: Database, tmp_path: Path) -> None:
    (tmp_path / "wide.sql").write_text(
        "-- name: variants\nSELECT id AS source_id, 'SHORT' AS code, short AS title FROM input "
        "UNION ALL SELECT id, 'LONG', long FROM input\n",
        encoding="utf-8",
    )
    load_csv(toy, tmp_path, "wide.csv", "id,short,long\np1,a,b\np2,c,d\n", mapping=str(tmp_path / "wide.sql"))
    assert [row[:3] for row in read_own(toy)] == [
        (1, "LONG", "b"),
        (1, "SHORT", "a"),
        (2, "LONG", "d"),
        (2, "SHORT", "c"),
    ]


def test_variants_need_a_corpus_that_is_there(toy: Database, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(f"{HEADER}p1,MINE,One,\n", encoding="utf-8")
    for corpus, message in ((None, "needs a corpus"), ("other", "unknown corpus 'other'; known: toy")):
        request = LoadRequest("csv", tmp_path / "mine.csv", {"table": "variants"}, corpus=corpus)
        with pytest.raises((InputError, UnknownNameError), match=message):
            load(toy, request)


def test_a_mapping_without_papers_still_refuses_child_rows(toy: Database, tmp_path: Path) -> None:
    (tmp_path / "fields.sql").write_text(
        "-- name: fields\nSELECT id AS source_id, 'x' AS field, 'me' AS assigned_by FROM input\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="its rows belong to the record's paper; add a block papers"):
        load_csv(toy, tmp_path, "f.csv", "id\np1\n", mapping=str(tmp_path / "fields.sql"))
