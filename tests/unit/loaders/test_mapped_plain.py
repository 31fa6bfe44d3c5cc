"""Many records at once against one by one: the outcome is the same however a SELECT is run and a file cut."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinakes.loaders import staging
from pinakes.loaders.mapped.mapping import parse_mapping
from pinakes.loaders.mapped.plan import Plan
from pinakes.loaders.registry import find_loader
from pinakes.loaders.staging import Chunk
from tests.fuzzing import check_chunk
from tests.long import long

PLAIN = {
    "papers": "SELECT nullif(id, 'NA') AS source_id, coalesce(title, 'untitled') AS title, year, "
    "'at ' || venue AS venue, count AS citation_count FROM input WHERE title IS NULL OR title <> '0'",
    "identifiers": "SELECT 'doi' AS scheme, doi AS identifier FROM input",
    "fields": "SELECT unnest(string_split(tags, ';')) AS field, 'us' AS assigned_by FROM input",
    "labels": "SELECT 'length' AS task, CAST(length AS DOUBLE) AS value FROM input",
}
"""Staged table -> a SELECT that is run on many records at once."""

_TEXTS = st.none() | st.sampled_from(
    [
        "a",
        " b\u2003",
        "",
        "  ",
        "NA",
        "1",
        "0",
        "2019",
        "20199",
        "2019.0",
        "x\x00y",
        "doi:10.1/A",
        "a;b;;c",
        "[1]",
    ]
)
_RECORDS = st.lists(
    st.fixed_dictionaries(
        dict.fromkeys(("id", "title", "year", "venue", "count", "doi", "tags"), _TEXTS)
        | {"length": st.none() | st.sampled_from(["1.5", "2", "", "long"])}
    ),
    min_size=1,
    max_size=8,
)
_CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]

Outcome = tuple[dict[str, list[Any]], list[tuple[Any, ...]], int]


def _write_mapping(path: Path, selects: dict[str, str]) -> dict[str, str]:
    path.write_text("".join(f"-- name: {name}\n{select}\n" for name, select in selects.items()), "utf-8")
    return {"mapping": str(path)}


def _collect(chunks: Iterator[Chunk], first_row: int) -> Outcome:
    staged: dict[str, list[Any]] = {}
    rejected: list[tuple[Any, ...]] = []
    rows_in = 0
    for chunk in chunks:
        check_chunk(chunk, first_row)
        first_row = chunk.last_row + 1
        rows_in += chunk.rows_in
        rejected.extend((row.row_number, row.reason, row.message) for row in chunk.rejected)
        for name, rows in chunk.tables.items():
            staged.setdefault(name, []).extend(rows.to_pylist())
    return {name: rows for name, rows in staged.items() if rows}, rejected, rows_in


def _sort(outcome: Outcome) -> tuple[dict[str, list[str]], list[tuple[Any, ...]], int]:
    staged, rejected, rows_in = outcome
    return {name: sorted(map(str, rows)) for name, rows in staged.items()}, rejected, rows_in


def _read(format_: str, path: Path, options: dict[str, str], first_row: int = 1) -> Outcome:
    loader = find_loader(format_)
    (file,) = loader.find_files(path, options)
    return _collect(loader.read_chunks(file, options, first_row), first_row)


@pytest.mark.parametrize("examples", [5, long(15)])
def test_records_together_give_what_each_gives_alone(examples: int, tmp_path: Path) -> None:
    @settings(max_examples=examples, suppress_health_check=_CHECKS)
    @given(records=_RECORDS, rows=st.integers(1, 8), first_row=st.integers(1, 8))
    def check(records: list[dict[str, Any]], rows: int, first_row: int) -> None:
        _check_together(tmp_path, records, rows, first_row)

    check()


def _check_together(tmp_path: Path, records: list[dict[str, Any]], rows: int, first_row: int) -> None:
    first_row = min(first_row, len(records))
    lines, table = tmp_path / "a.jsonl", tmp_path / "a.parquet"
    lines.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    texts = pa.schema([(name, pa.string()) for name in records[0]])
    pq.write_table(pa.Table.from_pylist(records, texts), table)
    plain = _write_mapping(tmp_path / "plain.sql", PLAIN)
    # As no plain SELECT: each record is a relation of its own.
    lateral = _write_mapping(
        tmp_path / "lateral.sql",
        {name: f"SELECT * FROM ({select}) LIMIT 9" for name, select in PLAIN.items()},
    )
    expected = _read("jsonl", lines, plain, first_row)
    assert expected[2] == len(records) - first_row + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "BULK_CHUNK_ROWS", rows)
        patch.setattr("pinakes.loaders.mapped.parquet.BATCH_ROWS", rows)
        assert _read("jsonl", lines, plain, first_row) == expected
        assert _read("parquet", table, plain, first_row) == expected
        # Beside the records, their rows have no order but in a plain SELECT.
        assert _sort(_read("parquet", table, lateral, first_row)) == _sort(expected)


def test_which_selects_are_run_on_many_records_at_once() -> None:
    for name, select in PLAIN.items():
        papers = "" if name == "papers" else f"-- name: papers\n{PLAIN['papers']}\n"
        for sql, is_plain in ((select, True), (f"SELECT q.* FROM ({select}) AS q LIMIT 9", False)):
            names = [field.name for field in staging.STAGED[name]]
            listed = [column for column in names if f"AS {column}" in select or f", {column}" in select]
            written = sql.replace("q.*", ", ".join(f"q.{column}" for column in listed))
            plan = Plan(parse_mapping("m.sql", f"{papers}-- name: {name}\n{written}"), None, "f")
            assert ("LATERAL" not in plan.selects[-1].sql) == is_plain
            plan.close()
