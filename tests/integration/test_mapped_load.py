"""A mapping in SQL through a whole load: what becomes of every record, and what a changed mapping does."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from pinakes.database import Database
from pinakes.load.load import LoadRequest, load
from pinakes.loaders import staging
from pinakes.report.present.load import load_tables

pytestmark = pytest.mark.in_turn

MAPPING = "-- name: papers\nSELECT id AS source_id, title FROM input WHERE lang = 'en'\n"


@pytest.fixture
def request_(tmp_path: Path) -> LoadRequest:
    languages = ["en" if number % 3 else "de" for number in range(12)]
    records = [{"id": f"p{number}", "title": "T", "lang": name} for number, name in enumerate(languages)]
    lines = [*map(orjson.dumps, records), b"{", orjson.dumps(records[1])]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    (tmp_path / "mapping.sql").write_text(MAPPING, encoding="utf-8")
    options = {"mapping": str(tmp_path / "mapping.sql")}
    return LoadRequest("jsonl", tmp_path / "a.jsonl", options, corpus="toy")


def test_records_that_the_mapping_passes_over_are_counted_and_said(
    database: Database, request_: LoadRequest
) -> None:
    summary = load(database, request_)
    (file,) = summary.files
    assert (file.rows_in, file.rows_loaded, file.rows_rejected, file.rows_skipped) == (14, 12, 2, 4)
    assert (summary.papers, summary.reasons) == (8, {"duplicate_id": 1, "not_json": 1})
    tables = load_tables("c", summary)
    assert "The mapping makes no row of 4 of the accepted records." in str(tables[0].note)


@pytest.mark.in_turn
@pytest.mark.parametrize("limit", [1, 4, 5, 13])
def test_a_load_in_parts_gives_what_one_load_gives(
    database: Database, request_: LoadRequest, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(staging, "BULK_CHUNK_ROWS", 3)
    first = load(database, replace(request_, limit=limit)).files[0]
    rest = load(database, request_)
    assert first.rows_in == limit
    (second,) = rest.files
    assert first.rows_in + second.rows_in == 14
    assert first.rows_rejected + second.rows_rejected == 2
    assert first.rows_skipped + second.rows_skipped == 4
    assert rest.papers == 8


def test_a_changed_mapping_is_a_new_load_of_the_same_file(database: Database, request_: LoadRequest) -> None:
    load(database, request_)
    assert load(database, request_).rows_in == 0
    mapping = Path(request_.options["mapping"])
    mapping.write_text(MAPPING.replace("WHERE lang = 'en'", ""), encoding="utf-8")
    assert load(database, request_).papers == 12
