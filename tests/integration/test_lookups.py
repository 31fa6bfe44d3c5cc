"""How a merge finds the rows of keys: the same ids on both databases, few of many by their index alone."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa

from pinakes.database import Database, Session, connect
from pinakes.database.packed_numbers import Numbers, pack_numbers
from pinakes.database.postgres_backend import PostgresBackend
from pinakes.load.load import LoadRequest, load
from pinakes.loaders.merge.context import UNKNOWN, find_keys

FILL = """
INSERT INTO papers (paper_id, corpus_id, source_id, abstract, batch_id)
SELECT number, 1, 'key ' || CAST(number AS TEXT), REPEAT('long ', 100), 1
FROM GENERATE_SERIES(1, 20000) AS numbers (number)
"""
FILL_OTHERS = """
INSERT INTO {table} ({id}, corpus_id, {key}{more})
SELECT number, 1, 'key ' || CAST(number AS TEXT){said} FROM GENERATE_SERIES(1, 20000) AS numbers (number)
"""
FILLED = {
    "papers": FILL,
    "authors": FILL_OTHERS.format(
        table="authors", id="author_id", key="source_id", more=", name", said=", 'Name'"
    ),
    "cited_references": FILL_OTHERS.format(
        table="cited_references", id="reference_id", key="reference_key", more="", said=""
    ),
}
"""kind of key -> what makes 20,000 rows"""
INDEXES = {
    "papers": "papers_source_key",
    "authors": "authors_source_key",
    "cited_references": "cited_references_key",
}
SETTINGS = ("enable_hashjoin", "enable_mergejoin")


def show(session: Session) -> list[str]:
    return [session.scalar(f"SHOW {name}") for name in SETTINGS]


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How Postgres finds the numbers that a merge asks for, in order."""
    explained: list[str] = []
    fetch = PostgresBackend.fetch_numbers

    def explain(backend: PostgresBackend, connection: sa.Connection, query: sa.Select[Any]) -> list[Numbers]:
        compiled = pack_numbers(query).compile(connection, compile_kwargs={"render_postcompile": True})
        rows = connection.exec_driver_sql(f"EXPLAIN {compiled}", compiled.params)
        explained.append("\n".join(row[0] for row in rows))
        return fetch(backend, connection, query)

    monkeypatch.setattr(PostgresBackend, "fetch_numbers", explain)
    return explained


@pytest.mark.parametrize("count", [2_000, 40_000])
@pytest.mark.parametrize("kind", FILLED)
def test_keys_are_found_among_many_rows(database: Database, kind: str, count: int) -> None:
    """Few keys, which Postgres finds by their index, and many; in the order in which they are named."""
    numbers = (np.random.default_rng(1).permutation(40_000) + 1)[:count]
    keys = pa.chunked_array([[f"key {number}" for number in numbers]], pa.string())
    with database.begin() as session:
        session.execute(FILLED[kind])
        found = find_keys(session, kind, 1, [keys])
        assert found.keys.equals(keys.chunk(0))
        assert np.array_equal(found.ids, np.where(numbers <= 20_000, numbers, UNKNOWN))
        assert (find_keys(session, kind, 2, [keys]).ids == UNKNOWN).all()


@pytest.mark.parametrize("kind", FILLED)
def test_postgres_finds_few_keys_by_their_index_and_does_not_read_all_rows(
    postgres_database: Database, plans: list[str], kind: str
) -> None:
    with postgres_database.begin() as session:
        session.execute(FILLED[kind])
        session.execute(f"ANALYZE {kind}")
        for count in (2_000, 10_000):
            keys = [f"new {number}" for number in range(count)]
            find_keys(session, kind, 1, [pa.chunked_array([keys], pa.string())])
    few, many = plans
    assert "Nested Loop" in few
    assert INDEXES[kind] in few
    assert "Join" not in few
    assert "Nested Loop" not in many  # as the planner thinks best


def test_mentions_that_another_file_has_are_noted_by_no_nested_loop(
    postgres_database: Database, tmp_path: Path
) -> None:
    """It would read, for each, all that were noted before, those of the same statement too."""
    for name in ("papers", "citations"):
        (tmp_path / name).mkdir()
    papers = [{"corpusid": number, "title": "A title"} for number in range(1, 301)]
    cited = [
        {"citationid": 10 * number + place, "citingcorpusid": number, "citedcorpusid": 1_000 * place}
        for number in range(1, 301)
        for place in range(1, 11)
    ]
    plans: list[str] = []

    @sa.event.listens_for(postgres_database.engine, "before_cursor_execute")
    def explain(connection: Any, cursor: Any, text: str, parameters: Any, *_: Any) -> None:
        if text.startswith("INSERT INTO repeated_rows") and "citation_id" in text:
            cursor.execute(f"EXPLAIN {text}", parameters)
            plans.append("\n".join(row[0] for row in cursor.fetchall()))

    for newer in ("", "\n"):  # another digest, so another file
        for name, rows in (("papers", papers), ("citations", cited)):
            (tmp_path / name / "0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + newer)
        load(postgres_database, LoadRequest("s2orc", tmp_path, corpus="toy"))
    with postgres_database.read() as session:
        noted = session.scalar("SELECT COUNT(*) FROM repeated_rows WHERE table_name = 'citations'")
    assert noted == len(cited)
    assert plans
    assert not [plan for plan in plans if "Nested Loop" in plan]


def test_postgres_looks_for_a_mention_at_one_place_of_its_index(
    postgres_database: Database, tmp_path: Path, plans: list[str]
) -> None:
    """Files share citing papers: by the paper alone, each mention would read all that its paper has."""
    for name in ("papers", "citations"):
        (tmp_path / name).mkdir()
    paper = {"corpusid": 1, "title": "A title"}
    (tmp_path / "papers" / "0.jsonl").write_text(json.dumps(paper) + "\n")
    for file in range(4):
        mentions = [
            {"citationid": number, "citingcorpusid": 1, "citedcorpusid": number}
            for number in range(1_000 * file + 1, 1_000 * file + (1_001 if file < 3 else 11))
        ]
        written = "".join(json.dumps(one) + "\n" for one in mentions)
        (tmp_path / "citations" / f"{file}.jsonl").write_text(written)
    load(postgres_database, LoadRequest("s2orc", tmp_path, corpus="toy"))
    asked = [plan for plan in plans if "citations_citing_index" in plan]
    assert asked
    found = re.search("using citations_citing_index.*\n *Index Cond: (.*)", asked[-1])
    assert found
    assert "citing_paper_id" in found[1]
    assert "reference_id" in found[1]


@pytest.mark.parametrize("before", ["on", "off"])
def test_a_session_joins_afterwards_as_it_did_before(postgres_url: str, before: str) -> None:
    name = sa.make_url(postgres_url).database
    with connect(postgres_url) as opened, opened.begin() as session:
        session.execute(f'ALTER DATABASE "{name}" SET enable_hashjoin = {before}')
    with connect(postgres_url) as opened, opened.begin() as session:
        assert show(session) == [before, "on"]
        with session.joined_by_index():
            assert show(session) == ["off", "off"]
        assert show(session) == [before, "on"]
        with session.joined_in_order():
            assert show(session) == ["off", "on"]
        assert show(session) == [before, "on"]
