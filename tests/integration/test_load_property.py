"""Whatever the lines of a file are, every record is loaded or rejected, and no rejected one is lost."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pinakes.database import Database, connect
from pinakes.load.load import LoadRequest, load
from pinakes.loaders import staging
from pinakes.schema import create_schema
from tests.loading import write_beir
from tests.long import long

GOOD = st.builds(
    lambda number, text: orjson.dumps({"_id": f"p{number}", "text": text}),
    st.integers(0, 5),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8),
)
GOOD |= st.just(b'{"_id":"p9","metadata":{"year":99999999999}}')
BAD = st.sampled_from(
    [
        b"[]",
        b"7",
        b"{",
        b"null",
        b'{"_id": ""}',
        b'{"title": "no id"}',
        b'{"_id": {}}',
        b'{"_id": "n\\u0000"}',
        b'{"_id": "y", "text": []}',
        b'"\xc3\x28"',
        b"\xff\x00",
    ]
)


KEPT = ("load_batches", "rejected_rows", "left_out_items")


@pytest.fixture(scope="module")
def scratch() -> Iterator[Database]:
    with connect("duckdb:///:memory:") as database:
        create_schema(database)
        yield database


@pytest.mark.parametrize("examples", [6, long(12)])
def test_every_record_is_loaded_or_in_rejected_rows(scratch: Database, examples: int) -> None:
    @settings(max_examples=examples)
    @given(lines=st.lists(GOOD | BAD, max_size=10), chunk_rows=st.integers(2, 5))
    def check(lines: list[bytes], chunk_rows: int) -> None:
        assume(lines[:1] != [b"[]"])  # an array is read member by member
        check_load(scratch, lines, chunk_rows)

    check()


def check_load(scratch: Database, lines: list[bytes], chunk_rows: int) -> None:
    """Load a file of these lines: each is a paper, or one of the rejected rows."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(staging, "CHUNK_ROWS", chunk_rows)
        patched.setattr(staging, "BULK_CHUNK_ROWS", chunk_rows)
        patched.setattr(staging, "TRANSACTION_ROWS", 1)
        with scratch.begin() as session:
            for table in ("corpora", "papers", "benchmark_queries", *KEPT):
                session.execute(f"DELETE FROM {table}")
        summary = load(scratch, LoadRequest("beir", write_beir(Path(folder), lines), corpus="c")).files[0]
    seen: set[str] = set()
    bad = []
    for number, line in enumerate(lines, start=1):
        source_id = _read_good_id(line)
        if source_id is None or source_id in seen:
            bad.append((number, line.decode("utf-8", "backslashreplace").replace("\x00", "\\x00")))
        else:
            seen.add(source_id)
    assert (summary.rows_in, summary.rows_loaded, summary.rows_rejected) == (len(lines), len(seen), len(bad))
    with scratch.read() as session:
        found = session.rows("SELECT row_number, raw FROM rejected_rows ORDER BY row_number")
        papers = session.rows("SELECT source_id FROM papers ORDER BY source_id")
    assert [tuple(row.values()) for row in found] == bad
    assert [row["source_id"] for row in papers] == sorted(seen)


def _read_good_id(line: bytes) -> str | None:
    return str(orjson.loads(line)["_id"]) if line.startswith(b'{"_id":"p') else None
