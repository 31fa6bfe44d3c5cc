"""The manual's tables of published corpora: each command, run on the real files, gives the counts told."""

import shlex
from typing import Any

import pytest

from pinakes.cli.options import parse_options
from pinakes.database import Database
from pinakes.load.load import LoadRequest, load
from tests.documents import list_tables, read_manual
from tests.long import long
from tests.real_data import REAL_DATA, needs_real_data

Row = dict[str, str]

PLACES = {"csfcube": "csfcube", "scifact": "scifact", "cran.tar.gz": "smart/cran.tar.gz"} | {
    "adi.tar.gz": "smart/adi.tar.gz",
    "covid": "trec/covid",
}
"""sources that the manual names as a user would have them -> where they lie here"""
LARGE = ("load paperlists", "load tweetpap", "scisumm-train")
"""half of the time of all; see test_paperlists, test_tweetpap and test_scisumm of tests/unit/loaders"""


def list_rows(heading: str) -> list[Row]:
    """The rows of the manual's tables of loads whose first column is headed so."""
    tables = [
        table for table in list_tables(read_manual()) if table[0][0] == heading and "command" in table[0]
    ]
    assert tables, f"the manual has no table of loads headed {heading}"
    return [dict(zip(table[0], row, strict=True)) for table in tables for row in table[1:]]


def name_row(row: Row) -> str:
    return row["command"].strip("`")


def list_samples() -> list[Any]:
    """Rows of published samples; `make test-long` alone loads the large ones, which unit tests count too."""
    rows = list_rows("published sample")
    return [long(row) if any(word in row["command"] for word in LARGE) else row for row in rows]


def read_request(command: str) -> LoadRequest:
    """The load that a command of the manual asks for."""
    _, _, loader, *words = shlex.split(command.strip("`"))
    options, corpus, source = [], "sample", None
    while words:
        word = words.pop(0)
        if word == "--option":
            options.append(words.pop(0))
        elif word == "--corpus":
            corpus = words.pop(0)
        elif word.startswith("--"):
            words.pop(0)
        else:
            source = REAL_DATA / PLACES.get(word, word)
    return LoadRequest(loader, source, parse_options(options), corpus)


def count(database: Database, table: str) -> str:
    with database.read() as session:
        return f"{session.scalar(f'SELECT COUNT(*) FROM {table}'):,}"


@needs_real_data
@pytest.mark.parametrize("row", list_samples(), ids=name_row)
def test_a_published_sample_gives_the_counts_of_the_manual(duckdb_database: Database, row: Row) -> None:
    summary = load(duckdb_database, read_request(row["command"]))
    found = [f"{summary.rows_in:,}", f"{summary.rows_rejected:,}", f"{summary.papers:,}"]
    assert [*found, f"{summary.quality['citations']:,}"] == [
        row[heading] for heading in ("records", "rejected", "papers", "citations")
    ]


@needs_real_data
@pytest.mark.parametrize("row", list_rows("corpus"), ids=name_row)
def test_a_published_collection_gives_the_counts_of_the_manual(duckdb_database: Database, row: Row) -> None:
    summary = load(duckdb_database, read_request(row["command"]))
    assert summary.rows_rejected == 0
    found = [count(duckdb_database, table) for table in ("papers", "benchmark_queries", "judgments")]
    assert found == [row[heading] for heading in ("papers", "queries", "judgments")]
