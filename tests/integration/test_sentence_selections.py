"""Selections of sentences in the database: what is refused, replaced, resumed and deleted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from pinakes.database import Database
from pinakes.errors import UnknownNameError
from pinakes.load.load import LoadRequest, LoadSummary, load
from pinakes.loaders import staging
from pinakes.report.status import find_orphans
from tests.benching import change
from tests.loading import DATA

pytestmark = pytest.mark.in_turn


def select(
    database: Database, folder: Path, *records: tuple[str, str, list[int]], name: str = "mine"
) -> LoadSummary:
    """Load (query, selection, positions) into the corpus csfcube."""
    file = folder / f"{name}.jsonl"
    keys = ("query_id", "selection", "positions")
    lines = [orjson.dumps(dict(zip(keys, record, strict=True))) + b"\n" for record in records]
    file.write_bytes(b"".join(lines))
    return load(database, LoadRequest("sentence-selections", file, corpus="csfcube"))


def read_selections(database: Database) -> list[tuple[Any, ...]]:
    with database.read() as session:
        rows = session.rows(
            "SELECT query_id, selection, position FROM sentence_selections "
            "ORDER BY query_id, selection, position"
        )
    return [tuple(row.values()) for row in rows]


def count_outcomes(summary: LoadSummary) -> tuple[int, int, int, int]:
    """Records loaded, of these updated and unchanged, and rejected."""
    (file,) = summary.files
    return file.rows_loaded, file.rows_updated, file.rows_unchanged, file.rows_rejected


def test_a_newer_record_takes_the_place_of_the_older_one(prepared: Database, tmp_path: Path) -> None:
    first = select(
        prepared, tmp_path, ("1_method", "a", [2, 1]), ("1_method", "b", [1]), ("2_result", "a", [2])
    )
    assert count_outcomes(first) == (3, 0, 0, 0)
    assert read_selections(prepared) == [
        ("1_method", "a", 1),
        ("1_method", "a", 2),
        ("1_method", "b", 1),
        ("2_result", "a", 2),
    ]
    newer = select(prepared, tmp_path, ("1_method", "a", [2]), ("1_method", "b", [1]), ("2_method", "a", [1]))
    assert count_outcomes(newer) == (3, 1, 1, 0)
    assert read_selections(prepared) == [
        ("1_method", "a", 2),
        ("1_method", "b", 1),
        ("2_method", "a", 1),
        ("2_result", "a", 2),
    ]
    # Another set of the same size, and the older file again.
    swapped = select(prepared, tmp_path, ("1_method", "a", [1]), name="other")
    assert (count_outcomes(swapped), read_selections(prepared)[0]) == ((1, 1, 0, 0), ("1_method", "a", 1))
    assert find_orphans(prepared) == {}


def test_what_names_nothing_that_is_there_is_rejected_with_a_reason(
    prepared: Database, tmp_path: Path
) -> None:
    change(prepared, "UPDATE benchmark_queries SET paper_id = NULL WHERE query_id = '2_background'")
    summary = select(
        prepared,
        tmp_path,
        ("1_method", "a", [1, 3, 4]),
        ("9_method", "a", [1]),
        ("2_background", "a", [1]),
        ("1_method", "b", [2]),
    )
    assert count_outcomes(summary) == (1, 0, 0, 3)
    assert summary.reasons == {"unknown_sentence": 2, "unknown_query": 1}
    with prepared.read() as session:
        rows = session.rows(
            "SELECT row_number, reason, message, raw FROM rejected_rows WHERE batch_id = "
            "(SELECT MAX(batch_id) FROM load_batches) ORDER BY row_number"
        )
    sentence = "the row names a sentence that the abstract of its query's paper does not have"
    assert [tuple(row.values())[:3] for row in rows] == [
        (1, "unknown_sentence", f"{sentence}: 1_method has no sentence 3"),
        (2, "unknown_query", "the row names a query that the corpus does not hold: 9_method"),
        (3, "unknown_sentence", f"{sentence}: 2_background is no paper"),
    ]
    assert rows[0]["raw"] == '{"query_id":"1_method","selection":"a","positions":[1,3,4]}'
    assert read_selections(prepared) == [("1_method", "b", 2)]


def test_only_sentences_of_the_abstract_can_be_selected(prepared: Database, tmp_path: Path) -> None:
    change(
        prepared,
        "INSERT INTO sentences (paper_id, section_number, position, text) "
        "SELECT paper_id, 1, 7, 'Of the body.' FROM papers WHERE source_id = '1'",
    )
    assert select(prepared, tmp_path, ("1_method", "a", [7])).reasons == {"unknown_sentence": 1}


def test_a_load_in_parts_gives_what_one_load_gives(
    prepared: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 2)
    records = [("1_method", "a", [1, 2]), ("2_result", "a", [1]), ("2_result", "b", [1, 2])]
    lines = [orjson.dumps(dict(zip(("query_id", "selection", "positions"), r, strict=True))) for r in records]
    file = tmp_path / "mine.jsonl"
    file.write_bytes(b"\n".join([*lines, lines[0]]) + b"\n")
    request = LoadRequest("sentence-selections", file, corpus="csfcube")
    assert load(prepared, replace(request, limit=1)).rows_in == 1
    rest = load(prepared, request)
    assert (rest.rows_in, rest.reasons) == (3, {"duplicate_id": 1})
    assert read_selections(prepared) == [
        ("1_method", "a", 1),
        ("1_method", "a", 2),
        ("2_result", "a", 1),
        ("2_result", "b", 1),
        ("2_result", "b", 2),
    ]


def test_a_mapping_can_say_selections_too(prepared: Database, tmp_path: Path) -> None:
    (tmp_path / "mapping.sql").write_text(
        "-- name: sentence_selections\nSELECT query AS query_id, 'mapped' AS selection, "
        "unnest(CAST(sentences AS JSON[])) AS position FROM input\n"
    )
    (tmp_path / "mine.jsonl").write_text('{"query": "1_method", "sentences": [1, 2]}\n')
    options = {"mapping": str(tmp_path / "mapping.sql")}
    load(prepared, LoadRequest("jsonl", tmp_path / "mine.jsonl", options, corpus="csfcube"))
    assert read_selections(prepared) == [("1_method", "mapped", 1), ("1_method", "mapped", 2)]


def test_a_deleted_paper_takes_the_selections_of_its_queries_with_it(
    prepared: Database, tmp_path: Path
) -> None:
    select(prepared, tmp_path, ("1_method", "a", [1]), ("2_result", "a", [1]))
    (tmp_path / "delete.sql").write_text(
        "-- name: deletions\nSELECT 'papers' AS kind, id AS key FROM input\n", encoding="utf-8"
    )
    (tmp_path / "gone.jsonl").write_text('{"id": "1"}\n')
    options = {"mapping": str(tmp_path / "delete.sql")}
    load(prepared, LoadRequest("jsonl", tmp_path / "gone.jsonl", options, corpus="csfcube"))
    assert read_selections(prepared) == [("2_result", "a", 1)]
    assert find_orphans(prepared) == {}


def test_a_selection_of_a_sentence_that_is_gone_is_an_orphan(prepared: Database, tmp_path: Path) -> None:
    select(prepared, tmp_path, ("1_method", "a", [1, 2]))
    change(prepared, "DELETE FROM sentences WHERE text = 'A model of the graph.'")
    assert find_orphans(prepared) == {"sentence_selections.position": 1}


def test_a_corpus_that_is_not_loaded_is_refused(prepared: Database) -> None:
    request = LoadRequest("sentence-selections", DATA / "sentence_selections", corpus="nowhere")
    with pytest.raises(UnknownNameError, match=r"unknown corpus 'nowhere'.*Load its papers first"):
        load(prepared, request)
