"""Columns against records: whatever a batch holds, both ways of mapping it stage and reject the same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinakes.loaders import mapped
from pinakes.loaders.base import InputFile
from pinakes.loaders.mapped.json_schema import infer_schema
from pinakes.loaders.mapped.mapping_file import read_mapping
from pinakes.loaders.mapped.rows import make_parser
from pinakes.loaders.mapped.tabular import read_parquet
from pinakes.loaders.mapped.vectors import make_project
from pinakes.loaders.reading.gathering import gather_chunks
from pinakes.loaders.reading.json_records import read_json_lines
from pinakes.loaders.staging import Accepted, Chunk, Rejected
from tests.fuzzing import mutations

MAPPING = """
[papers]
source_id = { from = "id", missing = ["NA"] }
title = { from = ["title", "info.name"], value = "untitled" }
year = { from = "year", missing = ["NA", "1"] }
venue = { from = "venue", prefix = "at ", optional = true }
citation_count = "count"
[identifiers]
scheme = { value = "doi" }
identifier = "doi"
[fields]
each = "tags"
field = "."
assigned_by = { value = "us" }
[authorships]
each = "people"
author_name = "name"
author_source_id = { from = "orcid", normalise = "arxiv", prefix = "orcid:" }
[labels]
task = { value = "length" }
value = "length"
"""

_TEXTS = st.none() | st.sampled_from(
    ["a", " b\u2003", "", "  ", "NA", "1", "0", "2019", "20199", "2019.0", "x\x00y", "doi:10.1/A"]
)
_WHOLES = st.none() | st.sampled_from([0, 1, 7, 2019, -1, 10_000, 2**31, 2**40])
_REALS = st.none() | st.sampled_from([0.0, 1.0, 2019.0, 2.5, float("nan"), float("inf"), 1e300])


def _column(values: st.SearchStrategy[Any], rows: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=rows, max_size=rows)


@st.composite
def _tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(1, 6))
    numbers = {pa.int64(): _WHOLES, pa.float64(): _REALS, pa.string(): _TEXTS, pa.bool_(): st.booleans()}
    texts = {pa.string(): _TEXTS, pa.large_string(): _TEXTS, pa.int64(): _WHOLES}
    person = pa.struct([("name", pa.string()), ("orcid", pa.string())])
    people = st.none() | st.lists(
        st.fixed_dictionaries({"name": _TEXTS, "orcid": _TEXTS}) | st.none(), max_size=3
    )
    types = {
        "id": draw(st.sampled_from(list(texts))),
        "title": pa.string(),
        "year": draw(st.sampled_from(list(numbers))),
        "count": draw(st.sampled_from([pa.int64(), pa.float64(), pa.string()])),
        "doi": pa.string(),
        "length": draw(st.sampled_from([pa.int64(), pa.float64(), pa.string()])),
    }
    columns = {
        name: pa.array(draw(_column({**texts, **numbers}[type_], rows)), type_)
        for name, type_ in types.items()
    }
    columns["info"] = pa.array(
        draw(_column(st.none() | st.fixed_dictionaries({"name": _TEXTS}), rows)),
        pa.struct([("name", pa.string())]),
    )
    columns["tags"] = pa.array(
        draw(_column(st.none() | st.lists(_TEXTS, max_size=3), rows)), pa.list_(pa.string())
    )
    columns["people"] = pa.array(draw(_column(people, rows)), pa.list_(person))
    if draw(st.booleans()):
        columns["venue"] = pa.array(draw(_column(_TEXTS, rows)), pa.string())
    return pa.table(columns)


def _collect(chunks: Iterator[Chunk]) -> tuple[dict[str, list[Any]], list[tuple[Any, ...]], int]:
    staged: dict[str, list[Any]] = {}
    rejected: list[tuple[Any, ...]] = []
    rows_in = 0
    for chunk in chunks:
        rows_in += chunk.rows_in
        rejected.extend(
            (row.row_number, row.location, row.reason, row.message, row.raw) for row in chunk.rejected
        )
        for name, rows in chunk.tables.items():
            staged.setdefault(name, []).extend(rows.to_pylist())
    return {name: rows for name, rows in staged.items() if rows}, rejected, rows_in


_SETTINGS = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    path = tmp_path / "mapping.toml"
    path.write_text(MAPPING, encoding="utf-8")
    return path


@_SETTINGS
@given(table=_tables(), batch_rows=st.integers(1, 6), first_row=st.integers(1, 6))
def test_columns_of_parquet_give_what_its_records_give(
    tmp_path: Path, mapping: Path, table: pa.Table, batch_rows: int, first_row: int
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    file = InputFile(path, path.name, "papers")
    columns = read_mapping(mapping)
    assert make_project(columns) is not None
    records = read_parquet(file, columns, make_parser(columns))
    expected = _collect(gather_chunks(records, first_row=first_row))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pinakes.loaders.mapped.tabular.BATCH_ROWS", batch_rows)
        found = _collect(mapped.PARQUET.read_chunks(file, {"mapping": str(mapping)}, first_row))
    assert found == expected


LINES: list[dict[str, Any]] = [
    {"id": "p", "title": "T", "year": 2019, "count": 3, "doi": "10.1/A", "length": 1.5, "tags": ["x", " y "]},
    {
        "id": "q",
        "info": {"name": "N"},
        "venue": "V",
        "people": [{"name": "Ada", "orcid": "0"}, {"name": "G."}],
    },
    {"id": "p", "title": None, "year": None, "people": []},
]


def _read_exactly(file: InputFile, mapping: Path) -> Iterator[Accepted | Rejected]:
    return read_json_lines(file, make_parser(read_mapping(mapping)))


@_SETTINGS
@given(
    data=mutations(b"".join(orjson.dumps(record) + b"\n" for record in LINES)), first_row=st.integers(1, 3)
)
def test_columns_of_json_lines_give_what_its_records_give(
    tmp_path: Path, mapping: Path, data: bytes, first_row: int
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    file = InputFile(path, path.name, "papers")
    expected = _collect(gather_chunks(_read_exactly(file, mapping), first_row=first_row))
    assert _collect(mapped.JSONL.read_chunks(file, {"mapping": str(mapping)}, first_row)) == expected


def test_the_types_of_json_lines_are_told_from_the_first_lines(tmp_path: Path, mapping: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in LINES))
    person = pa.struct([("name", pa.string()), ("orcid", pa.string())])
    assert infer_schema(InputFile(path, path.name, ""), read_mapping(mapping)) == pa.schema(
        {
            "id": pa.string(),
            "title": pa.string(),
            "info": pa.struct([("name", pa.string())]),
            "year": pa.int64(),
            "venue": pa.string(),
            "count": pa.int64(),
            "doi": pa.string(),
            "tags": pa.list_(pa.string()),
            "people": pa.list_(person),
            "length": pa.float64(),
        }
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"id": 7},
        {"info": "N"},
        {"info.name": "a whole key"},
        {"tags": "x"},
        {"people": ["Ada"]},
        {"year": 2.5},
    ],
)
def test_types_that_differ_from_line_to_line_are_for_the_exact_way(
    tmp_path: Path, mapping: Path, changed: dict[str, Any]
) -> None:
    path = tmp_path / "a.jsonl"
    records = [*LINES, {**LINES[0], **LINES[1], "id": "r", **changed}]
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    file = InputFile(path, path.name, "")
    assert infer_schema(file, read_mapping(mapping)) is None
    found = _collect(mapped.JSONL.read_chunks(file, {"mapping": str(mapping)}, 1))
    assert found == _collect(gather_chunks(_read_exactly(file, mapping)))


@pytest.mark.parametrize(
    "changed",
    [
        MAPPING.replace('each = "tags"', 'each = "tags"\nseparator = ";"'),
        MAPPING.replace('"doi" }', '"doi" }\n', 1).replace(
            'identifier = "doi"', 'identifier = { from = "doi", split = "/" }'
        ),
        MAPPING.replace('scheme = { value = "doi" }', 'scheme = "doi"'),
        MAPPING.replace("[identifiers]", "[[identifiers]]")
        + '[[identifiers]]\nscheme = { value = "s2" }\nidentifier = "s2"\n',
        MAPPING + '[citations]\nreference_key = "cites"\n',
    ],
)
def test_a_mapping_that_does_more_than_columns_can_is_for_the_exact_way(tmp_path: Path, changed: str) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text(changed, encoding="utf-8")
    assert make_project(read_mapping(path)) is None
